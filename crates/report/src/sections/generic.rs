//! A sweep that only its writer knows: an imported one, or one of a later version.

use super::{Section, sweep};
use crate::devices::{Devices, clip};

/// Throughput and response times against whatever varies.
pub fn section(devices: &Devices, name: &str) -> Option<Section> {
    let lines = devices.lines(name)?;
    let title = &lines.first().title;
    let heading = clip(if title.trim().is_empty() { name } else { title }, 200);
    sweep::section(devices, name, &heading)
}
