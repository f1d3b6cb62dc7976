//! The host: the machine that sends requests to the device.

use crate::compressible::Compressible;

/// A host. A card's figures do not stand alone: a sweep over sessions may end at the host's CPU, not at the card.
///
/// One I/O of a session costs `session_ns` between two requests, `submit_ns` in the driver on the way down and
/// `complete_ns` on the way up (interrupt, wake-up). The last two count as part of the request's latency, as a database
/// sees it, and so does waiting for a core.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HostConfig {
    /// Cores that sessions and the driver share.
    pub cores: u32,
    /// CPU time of a session between two requests.
    pub session_ns: u64,
    /// CPU time of the driver to submit a request.
    pub submit_ns: u64,
    /// CPU time of the driver to complete a request and wake its session.
    pub complete_ns: u64,
    /// Every busy core beyond the first makes all work slower by this share (shared caches, memory, locks,
    /// hyper-threads): Gunther's linear contention.
    pub contention: f64,
    /// Hosts of this kind that share the device. The processes of a load are dealt out to them in turn; each has cores and
    /// a link of its own.
    pub count: u32,
    /// Rate of one host's link, each way: its adapter, where that is slower than the device. `u64::MAX`: it never is.
    pub link_bytes_per_s: u64,
    /// How compressible its data are.
    pub compressible: Compressible,
}

impl HostConfig {
    /// A host that never is the limit.
    pub const UNLIMITED: HostConfig = HostConfig {
        cores: 1 << 16,
        session_ns: 0,
        submit_ns: 0,
        complete_ns: 0,
        contention: 0.0,
        count: 1,
        link_bytes_per_s: u64::MAX,
        compressible: Compressible::NOT,
    };
}
