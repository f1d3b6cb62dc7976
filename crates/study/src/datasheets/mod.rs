//! What do data sheets say of drives, and do their models do it?
//!
//! `published/datasheets.csv` has the figures, and whether a card's file is derived from one (given) or not (predicted).
//! Each is measured on the model as makers measure drives: a full drive in steady state, or a fresh one where the figure
//! is that of a cache of faster cells; endurance is that of a life under the writes by which it is rated.

mod measure;
mod sheet;

pub use measure::{DatasheetError, compare};
pub use sheet::{Figure, Role, Sheet, State, sheets};
