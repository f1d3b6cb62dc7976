//! A question with its axes applied, before it is known to be possible.

use load::FileioConfig;
use profile::{Host, Profile};

/// A question with its axes applied, before it is known to be possible.
pub(crate) struct Setup {
    pub profile: Profile,
    pub host: Host,
    pub fill: f64,
    pub load: FileioConfig,
}
