//! What would this card do, for how long, and which card is it?
//!
//! Questions that models answer:
//! - [`whatif`]: a grid of questions about a card, and searches for the value that still holds a bound;
//! - [`campaign`]: such a grid, divided over machines;
//! - [`datasheets`]: models of drives, held against their data sheets;
//! - [`lifetime`]: a card is worn out under a load, until its cycles or its spare are used up;
//! - [`fit`]: results are turned into the card that would have measured like this.

pub mod campaign;
pub mod datasheets;
pub mod fit;
pub mod lifetime;
pub mod whatif;
