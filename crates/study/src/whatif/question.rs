//! A question: a card, a host, a load, and the quantities that vary; and whether each point of it can exist.

use crate::whatif::axis::Axis;
use crate::whatif::setup::Setup;
use device::{Compressible, HostConfig, SECTOR_BYTES};
use load::{FileioConfig, Given, LoadConfig, LoadError};
use profile::{DeviceConfig, Host, Profile, ProfileError};
use serde_json::{Map, Value};
use target::{Measure, Pattern, pattern_of};

/// A grid: the product of the axes.
#[derive(Clone, Debug)]
pub struct Question {
    /// The card in question.
    pub profile: Profile,
    /// The host that issues the requests.
    pub host: Host,
    /// Share of the card's size to model, above 0, at most 1.
    pub scale: f64,
    /// Root seed of every point.
    pub seed: u64,
    /// Measured part of each point.
    pub measure: Measure,
    /// The load where no axis says otherwise; its file is the part in use.
    pub load: FileioConfig,
    /// Quantities that vary.
    pub axes: Vec<Axis>,
}

/// The reason why a point can't exist.
#[derive(Debug, thiserror::Error)]
#[error("{typed}: {why}")]
pub struct Refusal {
    /// The axis values that ask for it, as they are typed.
    pub typed: Given,
    /// The problem of the point.
    pub why: Why,
}

/// A problem of a point.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum Why {
    /// The card or the host.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    #[error(transparent)]
    Load(#[from] LoadError),
}

/// A point that can exist.
#[derive(Clone, Debug)]
pub(crate) struct Point {
    /// Value on each axis.
    pub at: Map<String, Value>,
    pub device: DeviceConfig,
    pub host: HostConfig,
    pub fill: f64,
    pub load: FileioConfig,
    pub state: State,
}

/// The state to which a point is brought before it is measured: points of the same state share the work.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct State {
    /// Values of the axes that change the card.
    device: Vec<usize>,
    fill: f64,
    pattern: Pattern,
    /// Bytes that the load touches, which may be fewer than are in use.
    file_bytes: u64,
    /// Compressibility of what it writes.
    compressible: Compressible,
}

impl State {
    /// Returns whether bringing a card to it writes over what is in use.
    pub(crate) fn is_written_over(&self) -> bool {
        self.pattern != Pattern::None
    }
}

impl Question {
    /// All points, the last axis fastest.
    pub(crate) fn points(&self) -> Result<Vec<Point>, Refusal> {
        (0..self.count()).map(|i| self.checked(&self.indices(i))).collect()
    }

    /// Returns whether all points can exist.
    pub fn check(&self) -> Result<(), Refusal> {
        (0..self.count()).try_for_each(|i| self.checked(&self.indices(i)).map(drop))
    }

    /// Returns the number of points.
    pub fn count(&self) -> usize {
        self.axes.iter().map(Axis::len).product()
    }

    /// Returns the value of each axis at point `i`.
    pub(crate) fn indices(&self, i: usize) -> Vec<usize> {
        let mut left = i;
        let mut indices = vec![0; self.axes.len()];
        for (index, axis) in indices.iter_mut().zip(&self.axes).rev() {
            *index = left % axis.len();
            left /= axis.len();
        }
        indices
    }

    pub(crate) fn checked(&self, indices: &[usize]) -> Result<Point, Refusal> {
        self.point(indices).map_err(|why| Refusal { typed: self.blamed(indices).into(), why })
    }

    /// The axes of which another value would make the point possible; all of them where none alone would.
    fn blamed(&self, indices: &[usize]) -> String {
        let possible = |axis: usize| {
            (0..self.axes[axis].len()).any(|other| {
                let mut changed = indices.to_vec();
                changed[axis] = other;
                self.point(&changed).is_ok()
            })
        };
        let typed = |axis: &usize| self.axes[*axis].typed(indices[*axis]);
        let axes = 0..self.axes.len();
        let guilty: Vec<String> = axes.clone().filter(|&axis| possible(axis)).map(|axis| typed(&axis)).collect();
        if guilty.is_empty() {
            return axes.map(|axis| typed(&axis)).collect::<Vec<_>>().join(" ");
        }
        guilty.join(" ")
    }

    /// The point at a value of each axis.
    pub(crate) fn point(&self, indices: &[usize]) -> Result<Point, Why> {
        let (profile, host) = (self.profile.clone(), self.host.clone());
        let mut setup = Setup { profile, host, fill: 1.0, load: self.load };
        for (axis, &i) in self.axes.iter().zip(indices) {
            axis.apply(i, &mut setup)?;
        }
        let device = setup.profile.lower(self.scale)?;
        let sectors = device.user_bytes() / SECTOR_BYTES;
        let used = ((sectors as f64 * setup.fill).round() as u64).clamp(1, sectors);
        let mut load = setup.load;
        load.file_bytes = used * SECTOR_BYTES;
        LoadConfig::Fileio(load).validate()?;
        let at = self.axes.iter().zip(indices).map(|(axis, &i)| (axis.key().to_owned(), axis.value(i))).collect();
        let state = State {
            device: self.axes.iter().zip(indices).filter(|(axis, _)| axis.changes_device()).map(|(_, &i)| i).collect(),
            fill: setup.fill,
            pattern: pattern_of(&LoadConfig::Fileio(load), load.file_bytes),
            file_bytes: load.file_bytes,
            compressible: setup.host.config().compressible,
        };
        Ok(Point { at, device, host: setup.host.config(), fill: setup.fill, load, state })
    }
}
