//! A card as its headers describe it, and the place of a unit on the media.

use super::watermark::DurableWatermark;
use crate::layout::{Layout, UnitAddress, word_line_run};
use format::ModuleHeader;
use media::{BlockAt, UnitAt};

/// A card as its modules' headers describe it.
#[derive(Clone, Debug)]
pub struct Card<'a> {
    /// The division of addresses into bands, stripes and units.
    pub layout: &'a Layout,
    /// Slot of each module of the card; `None` where the module is missing or can't be trusted.
    pub modules: &'a [Option<u32>],
    /// The number of bands.
    pub bands: u32,
    /// [`CardId::short`](format::CardId::short) of the card's id.
    pub card: u64,
    /// Sectors that the host can address.
    pub user_sectors: u32,
    /// Bytes of a sector's payload.
    pub payload_bytes: u32,
    /// A band in SLC mode uses 1 / `slc_bits_per_cell` of its rows; 1 if the card has no such mode.
    pub slc_bits_per_cell: u32,
    /// When power went, capacitors completed the programs in flight and put everything that was acknowledged on flash.
    pub power_loss_protection: bool,
    /// The durable watermark in the newest header.
    pub watermark: DurableWatermark,
    /// The first record of the log that counts, by the newest header.
    pub log_begins: u64,
    /// Recovery uses the newest checkpoint, if there is one and nothing contradicts it. Needs `use_summaries`.
    pub use_checkpoints: bool,
    /// Recovery knows filled bands from their summaries where these can be trusted. `false`: it reads everything.
    pub use_summaries: bool,
}

impl Card<'_> {
    /// The number of LBAs whose holes one sector describes.
    pub fn hole_segment_lbas(&self) -> u32 {
        format::hole_segment_lbas(self.payload_bytes as usize).max(1)
    }

    /// Segments of holes: entries of the map beyond those of the host.
    pub fn hole_segments(&self) -> u32 {
        self.user_sectors.div_ceil(self.hole_segment_lbas())
    }

    /// Rows of a band that are used.
    pub(super) fn rows(&self, slc: bool) -> u32 {
        self.layout.rows / if slc { self.slc_bits_per_cell.max(1) } else { 1 }
    }

    /// The place of a unit on the media; `None` where its module is missing.
    pub fn unit_at(&self, at: UnitAddress) -> Option<UnitAt> {
        unit_at(self.modules, at)
    }
}

/// The layout of a card with this header.
pub fn layout_of(header: &ModuleHeader) -> Layout {
    let shape = &header.shape;
    let (dies, width) = (shape.modules * shape.dies_per_module, header.stripe_width);
    Layout {
        dies,
        width,
        parity_units: header.parity_units,
        unit_sectors: shape.unit_sectors,
        rows: shape.rows_per_block,
        groups: dies / width,
        run: word_line_run(width, shape.rows_per_block, shape.rows_sharing_cells, header.slc_bits_per_cell),
        stripe_sectors: width * shape.unit_sectors,
        band_sectors: dies * shape.rows_per_block * shape.unit_sectors,
        summary_entries: format::entries_per_sector(shape.payload_bytes as usize) as u32,
    }
}

/// The place of a unit on the media; `None` where its module is missing. `modules` has the slot of each module of the
/// card.
pub fn unit_at(modules: &[Option<u32>], at: UnitAddress) -> Option<UnitAt> {
    let count = u32::try_from(modules.len()).ok().filter(|count| *count > 0)?;
    let module = modules[(at.die % count) as usize]?;
    Some(UnitAt { block: BlockAt { module, die: at.die / count, block: at.band.0 }, row: at.row })
}

/// The units of a mask, ascending.
pub(super) fn units(mut mask: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let unit = (mask != 0).then(|| mask.trailing_zeros())?;
        mask &= mask - 1;
        Some(unit)
    })
}
