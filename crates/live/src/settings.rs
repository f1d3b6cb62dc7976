//! Settings of a live card that can be changed while it works.

use crate::engine::Engine;
use crate::error::ControlError;
use crate::state::State;
use ftl::GcMode;
use serde::{Deserialize, Deserializer, Serialize};

/// How garbage collection works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Gc {
    /// Beside the host's writes, at their pace.
    Paced,
    /// The host's writes stop meanwhile.
    StopTheWorld,
}

/// The settings that are in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// Bytes that a rebuild may program in a second; `None`: as fast as it can.
    pub rebuild_bytes_per_s: Option<u64>,
    /// How garbage collection works.
    pub gc: Gc,
    /// Free bands, above the reserve, that it works towards.
    pub target_free_bands: u32,
}

/// Settings that are to be in force from now on. `None`: as before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// Bytes that a rebuild may program in a second, more than 0; `Some(None)`: as fast as it can.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub rebuild_bytes_per_s: Option<Option<u64>>,
    /// How garbage collection works.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gc: Option<Gc>,
    /// Free bands, above the reserve, that it works towards.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_free_bands: Option<u32>,
}

/// A key that is there, with nothing as its value, is not a key that is missing.
fn given<'de, D: Deserializer<'de>>(value: D) -> Result<Option<Option<u64>>, D::Error> {
    Option::deserialize(value).map(Some)
}

/// Collection that stops the world begins with so many free bands above the reserve, where the card's file says nothing.
const START_FREE_BANDS: u32 = 1;

impl Change {
    fn gc_mode(&self, now: GcMode) -> Option<GcMode> {
        if self.gc.is_none() && self.target_free_bands.is_none() {
            return None;
        }
        let target_free_bands = self.target_free_bands.unwrap_or(now.target_free_bands());
        let start_free_bands = match now {
            GcMode::StopTheWorld { start_free_bands, .. } => start_free_bands,
            GcMode::Paced { .. } => START_FREE_BANDS,
        };
        Some(match self.gc.unwrap_or(kind(now)) {
            Gc::Paced => GcMode::Paced { target_free_bands },
            Gc::StopTheWorld => GcMode::StopTheWorld {
                start_free_bands: start_free_bands.min(target_free_bands.saturating_sub(1)),
                stop_free_bands: target_free_bands,
            },
        })
    }
}

fn kind(gc: GcMode) -> Gc {
    match gc {
        GcMode::Paced { .. } => Gc::Paced,
        GcMode::StopTheWorld { .. } => Gc::StopTheWorld,
    }
}

impl Engine {
    pub fn settings(&self) -> Settings {
        let Some(card) = &self.of_card else {
            return Settings { rebuild_bytes_per_s: None, gc: Gc::Paced, target_free_bands: 0 };
        };
        let gc = card.start.config.ftl.gc;
        Settings { rebuild_bytes_per_s: self.rebuild_rate, gc: kind(gc), target_free_bands: gc.target_free_bands() }
    }

    /// All of it or nothing. It stays in force when the power goes and comes back.
    pub fn change(&mut self, change: Change) -> Result<(), ControlError> {
        self.is_at_work()?;
        if change.rebuild_bytes_per_s == Some(Some(0)) {
            return Err(ControlError::RebuildRate);
        }
        let was = self.of_card.as_ref().expect("what is at work is a card").start.config.ftl.gc;
        if let Some(gc) = change.gc_mode(was) {
            let changed = self.with_card(|card, now, done| card.set_gc(now, gc, done));
            changed.ok_or(ControlError::NoPower)?.map_err(ControlError::Setting)?;
            let card = self.of_card.as_mut().expect("it changed");
            (card.start.config.ftl.gc, card.running.ftl.gc) = (gc, gc);
        }
        if let Some(rate) = change.rebuild_bytes_per_s {
            self.rebuild_rate = rate;
            self.restore_settings();
        }
        Ok(())
    }

    /// Sets anew what a card that was just started does not know from its configuration.
    pub fn restore_settings(&mut self) {
        let rate = self.rebuild_rate;
        if let State::On(card) = &mut self.device.state {
            card.set_rebuild_rate(rate);
        }
    }
}
