//! The ways in which a power cut can end one operation.

use crate::sim::Chooser;
use media::{CutOutcome as End, Shape, UnderWay};

/// Ways in which a program can end: done, not begun, and every sector of it good, unreadable or as if never touched;
/// each of the latter with and without harm to what shares its cells.
fn program_end(shape: &Shape, chooser: &mut dyn Chooser) -> End {
    // All sectors good is done.
    let torn = 3u64.saturating_pow(shape.unit_sectors) - 1;
    let spoils = if shape.rows_sharing_cells > 1 { 2 } else { 1 };
    let chosen = match chooser.choose(torn.saturating_mul(spoils).saturating_add(2)) {
        0 => return End::Done,
        1 => return End::NotBegun,
        chosen => chosen - 2,
    };
    let (mut digits, spoil_earlier) = (chosen % torn, chosen >= torn);
    let (mut good, mut blank) = (0u64, 0u64);
    for sector in 0..shape.unit_sectors {
        match digits % 3 {
            0 => {}
            1 => good |= 1 << sector,
            _ => blank |= 1 << sector,
        }
        digits /= 3;
    }
    // All digits 1 would be the first of those left out: the last one, all of them 2, stands in its place.
    if good.count_ones() == shape.unit_sectors {
        (good, blank) = (0, good);
    }
    End::Torn { good, blank, spoil_earlier }
}

/// One way in which an operation that was under way ends.
pub(crate) fn end_of(shape: &Shape, operation: &UnderWay, chooser: &mut dyn Chooser) -> End {
    const ERASES: [End; 4] = [End::Done, End::NotBegun, End::PartlyErased, End::Weak];
    const LOGS: [End; 4] = [
        End::Done,
        End::NotBegun,
        End::Garbage { spoil_earlier: false },
        End::Torn { good: 0, blank: 0, spoil_earlier: false },
    ];
    match operation {
        UnderWay::Program { .. } => program_end(shape, chooser),
        UnderWay::Erase { .. } => ERASES[chooser.choose(4) as usize],
        UnderWay::Log { .. } => LOGS[chooser.choose(4) as usize],
    }
}

/// Ways in which the write of a header, or the marking of a block, can end.
pub(crate) fn header_end(chooser: &mut dyn Chooser) -> End {
    [End::Done, End::NotBegun, End::Garbage { spoil_earlier: false }][chooser.choose(3) as usize]
}
