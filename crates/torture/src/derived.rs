//! A card's configuration from what its modules say.

use crate::{Kind, tiny};
use card::CardConfig;
use format::ModuleHeader;
use ftl::{GcMode, Persistence, SlcCache};
use media::nand::Geometry;

/// A configuration that opens the card of this header. Values that headers don't hold (times, the link, which victims
/// are taken) are those of a tiny card.
pub fn config_of(header: &ModuleHeader) -> CardConfig {
    let mut config = tiny(if header.power_loss_protection { Kind::Protected } else { Kind::Unprotected });
    let shape = &header.shape;
    config.nand.geometry = Geometry {
        modules: shape.modules,
        channels_per_module: 1,
        dies_per_channel: shape.dies_per_module,
        planes_per_die: 1,
        blocks_per_plane: shape.blocks_per_die,
        pages_per_block: shape.rows_per_block,
        page_bytes: shape.unit_sectors * device::SECTOR_BYTES as u32,
        spare_bytes: config.nand.geometry.spare_bytes,
        multi_plane: false,
    };
    config.bands = shape.blocks_per_die;
    config.ftl.user_sectors = header.user_sectors;
    config.ftl.stripe_width = header.stripe_width;
    config.ftl.parity_units = header.parity_units;
    config.ftl.gc = GcMode::Paced { target_free_bands: 2 };
    config.ftl.slc_cache =
        (header.slc_bits_per_cell > 1).then_some(SlcCache { bands: 1, bits_per_cell: header.slc_bits_per_cell });
    config.ftl.persistence = config.ftl.persistence.map(|tiny| Persistence {
        payload_bytes: shape.payload_bytes,
        cell_rows: shape.rows_sharing_cells,
        ..tiny
    });
    let stripe = header.stripe_width * shape.unit_sectors;
    config.buffer_sectors = config.buffer_sectors.max(2 * stripe);
    config.relocation_sectors = config.relocation_sectors.max(stripe);
    config
}
