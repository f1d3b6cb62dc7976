//! Several results of one device are repeats of a measurement: their middle, and how sure a difference is.
//!
//! Figures of storage differ by factors and are skewed to the right, so all is computed on logarithms: the middle is the
//! geometric mean, a difference is a ratio, and its interval is that of Welch's t test on the logarithms, with the
//! degrees of freedom of Welch and Satterthwaite (B. L. Welch, Biometrika 34, 1947; that a comparison of measured
//! performance needs such intervals: A. Georges, D. Buytaert, L. Eeckhout, "Statistically rigorous Java performance
//! evaluation", OOPSLA 2007). Where one side was measured once, it is taken to scatter as the other does. Where both
//! were, nobody knows how they scatter, and there is no interval.

mod interval;
mod sides;
mod student;

pub use interval::{CONFIDENCE, Estimate, level, middle, ratio};
pub use sides::{Side, SideTable};
