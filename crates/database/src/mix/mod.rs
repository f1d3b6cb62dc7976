//! The 80/20 mix: four transactions that select by index range to one that inserts or updates, run by pgbench.
//!
//! Tables and transactions have the shape of the modelled load (`load::OltpConfig`): a select touches as many pages,
//! which pages is uniform, the kinds have the same shares, sessions think as long. The result says where the live load
//! can't be the same.

mod config;
mod log;
mod pgbench;
mod table;

pub use config::MixConfig;
pub(crate) use pgbench::{PointOf, point};
pub(crate) use table::{KEYS, drop_table, load, warm};

/// Lists the differences of the live mix from the modelled one.
pub(crate) fn differs() -> Vec<String> {
    [
        "An insert goes to the end of the table and of the primary key and to a random place of the other index; the \
         model changes two random pages of four.",
        "An update stays in its page where there is room (one of ten is kept free); vacuum runs as it is due.",
        "PostgreSQL writes changed pages in checkpoints, a page's first change after one logs the whole page; the model \
         writes one page back for each that is changed and logs 2,000 bytes for each write.",
        "The clients run on this machine and take CPU from the server; the model's don't.",
        "Latencies are pgbench's, less the think time: they count from sending to the answer.",
    ]
    .map(str::to_owned)
    .to_vec()
}
