//! A controller of a shared card.

use crate::table::wrap;
use control::{Ownership, Part};

/// `controller 1 owns the card: generation 7, lease for another 1.3 s; it holds 6 of 6 modules`.
pub fn ownership(of: &Ownership) -> String {
    let (number, generation) = (of.controller, of.generation);
    let last = match of.claimant {
        None => "nobody has claimed it yet".to_owned(),
        Some(claimant) => format!("the last claim is that of controller {claimant}, generation {generation}"),
    };
    let part = match of.part {
        Part::Owner => {
            let seconds = of.lease_left_ms as f64 / 1e3;
            format!("owns the card: generation {generation}, lease for another {seconds:.1} s")
        }
        Part::Standby => format!("looks on: {last}"),
        Part::Claiming => format!("claims the card, generation {generation}"),
        Part::Opening => format!("has claimed the card, generation {generation}, and opens it"),
        Part::Releasing => format!("hands the card over, generation {generation}"),
    };
    let modules = match of.part {
        Part::Standby => format!("it reaches {} of {} modules", of.reached, of.modules),
        _ => format!("it holds {} of {} modules", of.held, of.modules),
    };
    wrap("", 2, &format!("controller {number} {part}; {modules}"))
}
