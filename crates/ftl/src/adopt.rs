//! Adoption: flash management that continues from the card that a scan found.

use crate::bands::BandState;
use crate::canary::{Canary, planted};
use crate::config::FtlConfig;
use crate::error::FtlError;
use crate::ftl::Ftl;
use crate::layout::{BandId, NONE, Ppa};
use crate::recover::{Found, FoundState};
use crate::stream::StreamId;
use media::nand::NandConfig;

/// The state of a block on the medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundBlock {
    /// The block is marked bad.
    pub bad: bool,
    /// The number of times that the block was erased.
    pub cycles: u32,
}

impl Ftl {
    /// Flash management of a card that was found. Bands without sectors are erased again before they are used, because
    /// an erase of them may have been cut. Bands with stripes that are not whole are emptied first of all.
    pub fn adopt(
        nand: &NandConfig,
        bands: u32,
        config: &FtlConfig,
        seed: u64,
        found: &Found,
        block: impl Fn(u32, u32) -> FoundBlock,
        dead: impl Fn(u32) -> bool,
    ) -> Result<Ftl, FtlError> {
        let mut ftl = Ftl::new(nand, bands, config, seed)?;
        for die in 0..ftl.layout.dies {
            ftl.blocks.set_dead(die, dead(die));
            for band in 0..bands {
                let FoundBlock { bad, cycles } = block(band, die);
                ftl.blocks.set(band, die, 0, cycles);
                if bad {
                    ftl.blocks.retire(band, die);
                }
            }
        }
        ftl.bands.recount_free(&ftl.layout, &ftl.blocks);
        for (lba, &ppa) in found.map.iter().enumerate() {
            if ppa != NONE {
                ftl.map.set(lba, ppa);
                ftl.reverse.set(ppa as usize, lba as u32);
                ftl.valid.set(ppa);
                ftl.bands.valid[ftl.layout.band_of(Ppa(ppa)).0 as usize] += 1;
            }
        }
        ftl.bands.last_sequence = found.last_band_sequence;
        let mut closed: Vec<BandId> = Vec::new();
        for band in (0..bands).map(BandId) {
            let cycles = (0..ftl.layout.dies).map(|die| ftl.blocks.cycles(band.0, die)).max().expect("a card has dies");
            let of_band = &found.bands[band.0 as usize];
            let used = of_band.state == FoundState::Closed;
            let units = used.then(|| found.units(band).into());
            if of_band.state == FoundState::Free && planted(Canary::FreeBandsNotErased) {
                continue;
            }
            if !ftl.bands.take_out(band, cycles, of_band.opening(), units, &ftl.layout) {
                // Too few of its dies answer to use the band, so it is not erased now. It may be usable again when a
                // module comes back, but only after these blocks are erased, because their contents are unknown.
                for die in (0..ftl.layout.dies).filter(|&die| !ftl.blocks.is_bad(band.0, die)).collect::<Vec<_>>() {
                    let cycles = ftl.blocks.cycles(band.0, die);
                    ftl.blocks.set(band.0, die, ftl.layout.rows, cycles);
                }
                continue;
            }
            if !used {
                ftl.bands.set_state(band, BandState::Closed, BandState::Stale);
                ftl.put_aside_stale(band, 0);
                continue;
            }
            if of_band.stream == StreamId::Checkpoint as u8 && !found.checkpoint_bands.contains(&band) {
                ftl.bands.set_state(band, BandState::Closed, BandState::Stale);
                ftl.put_aside_stale(band, 0);
                continue;
            }
            for die in (0..ftl.layout.dies).filter(|&die| ftl.blocks.is_usable(band.0, die)).collect::<Vec<_>>() {
                let cycles = ftl.blocks.cycles(band.0, die);
                ftl.blocks.set(band.0, die, ftl.layout.rows, cycles);
            }
            if of_band.is_complete && of_band.has_summary {
                ftl.bands.set_summary(band);
            }
            if of_band.stream != StreamId::Checkpoint as u8 {
                closed.push(band);
            }
        }
        closed.sort_by_key(|band| ftl.bands.get(*band).sequence);
        for band in closed {
            let missing = ftl.full_band_sectors.saturating_sub(ftl.bands.get(band).data_sectors);
            ftl.victims.insert(band, ftl.bands.valid[band.0 as usize], missing, 0);
        }
        // A band that was open when power went has no summary, and may have stripes that are not whole.
        for band in (0..bands).map(BandId) {
            let of_band = &found.bands[band.0 as usize];
            let is_open = of_band.state == FoundState::Closed && !(of_band.is_complete && of_band.has_summary);
            if is_open && of_band.stream != StreamId::Checkpoint as u8 {
                ftl.evacuate(band);
            }
        }
        for &(_, ppa) in &found.rescue {
            ftl.evacuate(ftl.layout.band_of(ppa));
        }
        ftl.adopt_checkpoint(found);
        ftl.update_collecting();
        Ok(ftl)
    }

    /// Whether some bands still have to be emptied.
    pub fn must_empty(&self) -> bool {
        self.has_urgent()
    }
}
