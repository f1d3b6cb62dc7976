//! A cache of faster cells as settings of a card's file.

use crate::fit::cache_choice::{Cache, CacheChoice, CacheTimes};
use crate::fit::knob::Knob;
use crate::fit::space::Space;
use profile::ProfileError;

/// Bits of a cell where the base has no cache: most drives with one have three.
const BITS_PER_CELL: u32 = 3;
/// Cells with one bit take this part of the others' time at least.
const MIN_PROGRAM: f64 = 0.01;

impl Space {
    /// The same parameters with another cache.
    pub fn with_cache(&self, cache: CacheChoice) -> Space {
        let mut space = self.clone();
        space.cache = cache;
        space
    }

    /// As the base has them, or as the other cells.
    pub fn slc_times(&self, values: &[f64]) -> CacheTimes {
        match self.base_cache() {
            Some(_) => self.base_slc_times(),
            None => CacheTimes { read_ns: self.value(values, Knob::Read), erase_ns: self.value(values, Knob::Erase) },
        }
    }

    /// Bits of a cell outside the cache.
    pub fn bits_per_cell(&self) -> u32 {
        self.base_cache().map_or(BITS_PER_CELL, |cache| cache.bits_per_cell)
    }

    /// Returns the time in which a unit is programmed where dies take so many bytes a second.
    pub fn slc_program_ns(&self, values: &[f64], cache: &Cache) -> f64 {
        let transfer_ns = self.page_bytes() * 1e9 / self.value(values, Knob::Bus);
        let unit_ns = self.programmed_at_once(self.dies(values)) * 1e9 / cache.bytes_per_s;
        let native_ns = self.value(values, Knob::Program);
        (unit_ns - transfer_ns).clamp(MIN_PROGRAM * native_ns, native_ns)
    }

    /// Adds the file's settings for the cache, after the settings so far: how many bands it is follows from them.
    pub(crate) fn cache_settings(&self, values: &[f64], out: &mut Vec<(String, String)>) -> Result<(), ProfileError> {
        let mut set = |key: &str, value: String| out.push((key.to_string(), value));
        let cache = match self.cache {
            CacheChoice::AsBase => return Ok(()),
            CacheChoice::Without => {
                if self.base_cache().is_some() {
                    for key in ["bands", "bits_per_cell", "fold_bytes_per_s"] {
                        set(&format!("slc_cache.{key}"), "none".into());
                    }
                }
                return Ok(());
            }
            CacheChoice::With(cache) => cache,
        };
        let program_ns = cache.program_ns.unwrap_or_else(|| self.slc_program_ns(values, &cache));
        if self.base_cache().is_none() {
            let CacheTimes { read_ns, erase_ns } = self.slc_times(values);
            set("timing.slc_read_ns", format!("{}", read_ns.round() as u64));
            set("timing.slc_erase_ns", format!("{}", erase_ns.round() as u64));
        }
        set("timing.slc_program_ns", format!("{}", program_ns.round().max(1.0) as u64));
        let fold = cache.fold_bytes_per_s.map_or("none".into(), |rate| format!("{}", rate.round().max(1.0) as u64));
        set("slc_cache.fold_bytes_per_s", fold);
        let bits = self.bits_per_cell();
        set("slc_cache.bits_per_cell", bits.to_string());
        let mut profile = self.base_profile().clone();
        for (key, value) in out.iter().filter(|(key, _)| !key.starts_with("slc_cache.")) {
            profile.set(&format!("{key}={value}"))?;
        }
        let figures = profile.figures()?.expect("flash has figures");
        let band_bytes = figures.capacities.data_sectors_per_band as f64 * device::SECTOR_BYTES as f64 * self.cards();
        let bands = (cache.bytes * f64::from(bits) / band_bytes).round().max(1.0);
        let bands = (bands as u64).min(u64::from(figures.capacities.bands));
        out.push(("slc_cache.bands".into(), bands.to_string()));
        Ok(())
    }
}
