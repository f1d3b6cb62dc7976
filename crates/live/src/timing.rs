//! How long things take on a live card.

use card::{CardConfig, LinkConfig};
use media::nand::OpTiming;
use serde::{Deserialize, Serialize};

/// How long things take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Timing {
    /// As long as the medium takes.
    None,
    /// As long as on the card's own flash, link and controller.
    Model,
}

/// The card, with flash and link that take no time. The time that a medium takes comes on top.
pub fn without_timing(config: &CardConfig) -> CardConfig {
    let mut config = *config;
    let at_once = OpTiming { read_ns: 0, program_ns: 0, erase_ns: 0 };
    let timing = &mut config.nand.timing;
    (timing.native, timing.slc) = (at_once, at_once);
    // A bus that is never busy, and nothing to suspend.
    timing.bus_bytes_per_s = u64::MAX;
    timing.suspend_ns = None;
    config.link = LinkConfig {
        read_bytes_per_s: u64::MAX,
        write_bytes_per_s: u64::MAX,
        half_duplex: false,
        read_command_ns: 0,
        write_command_ns: 0,
        latency_ns: 0,
        write_latency_ns: 0,
        queue_depth: u32::MAX,
        housekeeping: None,
    };
    config
}
