//! A card that is tried.

use device::HostConfig;
use profile::DeviceConfig;

/// A card and the host in front of it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Candidate {
    pub device: DeviceConfig,
    pub host: HostConfig,
    /// Collection that stops the host cleans so many times as much at once as it does in the model.
    pub stretch: f64,
}
