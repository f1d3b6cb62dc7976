//! Results on a terminal: at most 80 columns, no colour, one subject a block.

mod advantage;
mod burst;
mod cache;
mod comparison;
mod conditions;
mod control;
mod database;
mod fit;
mod fsck;
mod fsck_detail;
mod history;
mod lifetime;
mod oltp;
mod ownership;
mod plain;
mod replica;
mod result;
mod review;
mod rounding;
mod sweep;
mod tail;
mod takeovers;
mod torture;
mod tpcc;
mod trace;
mod whatif;
mod words;

pub use advantage::advantage;
pub use comparison::comparisons;
pub use conditions::{Judged, change, conditions};
pub use control::{
    clients, collection, drives, lateness, module, modules, progress, pulled, settings, smart, start_line, status,
    title, volumes,
};
pub use database::plan as database_plan;
pub use fit::fit;
pub use fsck::card_on_media;
pub use fsck_detail::{band, sectors, stripe};
pub use history::history;
pub use lifetime::{lifetime, lifetime_csv};
pub use ownership::ownership;
pub use result::{RunHeading, result};
pub use review::{plan, review};
pub use sweep::sweep;
pub use takeovers::{TookOver, takeovers};
pub use torture::{Campaigned, Found, replayed, torture};
pub use whatif::{whatif, whatif_csv};
pub use words::{device_words, load_words};

/// Text of a file or a device, without what moves a terminal's cursor or turns its direction of writing: whoever wrote
/// the file chose these characters.
pub fn printable(text: &str) -> String {
    text.chars().map(|c| if c != '\n' && is_unprintable(c) { '\u{fffd}' } else { c }).collect()
}

fn is_unprintable(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}
