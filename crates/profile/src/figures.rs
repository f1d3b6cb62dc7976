//! Figures that follow from a card's numbers before anything is simulated: bandwidths, endurance, price a gigabyte.

use crate::capacity::Capacities;
use crate::flash::Flash;
use serde_json::{Value, json};

/// Years over which drive writes a day are counted.
const WARRANTY_YEARS: f64 = 5.0;

/// Figures of a whole flash device: of all its cards together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    /// Division of one card's flash.
    pub capacities: Capacities,
    /// Cards that the host stripes over, or mirrors.
    pub cards: u32,
    /// Cards whose contents the host sees: one, of a mirror.
    pub distinct_cards: u32,
    /// User capacity as sold.
    pub sold_bytes: u64,
    /// User capacity after the reserve chosen at format.
    pub user_bytes: u64,
    /// Host link, card to host, bytes a second.
    pub link_read_bytes_per_s: f64,
    /// Host link, host to card, bytes a second.
    pub link_write_bytes_per_s: f64,
    /// All channels together, spare areas included, bytes a second.
    pub bus_bytes_per_s: f64,
    /// Large reads from flash: all dies busy, or all channels; bytes a second.
    pub flash_read_bytes_per_s: f64,
    /// Programs with the erases that they need: all dies busy, or all channels; parity included; bytes a second.
    pub program_bytes_per_s: f64,
    /// Programs of data, without the parity that goes with them: writes at a write amplification of 1.
    pub data_program_bytes_per_s: f64,
    /// Bytes that the host can write before the rated cycles are used up, at a write amplification of 1.
    pub endurance_bytes: f64,
    /// The same as writes of the user capacity a day over five years.
    pub drive_writes_per_day: f64,
}

impl Figures {
    pub(crate) fn of(flash: &Flash) -> Figures {
        let card = &flash.card;
        let (geometry, timing) = (&card.nand.geometry, &card.nand.timing);
        let capacities = Capacities::of(card);
        // All cards of a mirror take each write.
        let (cards, distinct) = (f64::from(flash.alive()), f64::from(flash.distinct()));
        let for_the_host = distinct / cards;
        let (dies, channels) = (f64::from(geometry.dies()), f64::from(geometry.channels()));
        let pages = f64::from(geometry.pages_per_unit());
        let unit_bytes = pages * f64::from(geometry.page_bytes);
        let transfer_bytes = pages * (f64::from(geometry.page_bytes) + f64::from(geometry.spare_bytes));
        let bus_bytes_per_s = channels * timing.bus_bytes_per_s as f64;
        // A unit every array time and transfer on each die, as long as the channels can carry them.
        let transfer_ns = transfer_bytes * 1e9 / timing.bus_bytes_per_s as f64;
        let over_buses = bus_bytes_per_s * unit_bytes / transfer_bytes;
        let from_dies = |array_ns: u64| (dies * unit_bytes * 1e9 / (array_ns as f64 + transfer_ns)).min(over_buses);
        let data_share = capacities.data_bytes as f64 / capacities.installed_bytes as f64;
        // Every program pays its share of the erase that made room for it.
        let erase_share_ns = timing.native.erase_ns / u64::from(card.nand.geometry.units_per_band());
        let program_bytes_per_s = cards * from_dies(timing.native.program_ns + erase_share_ns);
        let user_bytes = capacities.user_bytes * u64::from(flash.distinct());
        let endurance_bytes = distinct * capacities.data_bytes as f64 * f64::from(card.nand.endurance.rated_cycles);
        Figures {
            capacities,
            cards: flash.cards,
            distinct_cards: flash.distinct(),
            sold_bytes: flash.sold_bytes,
            user_bytes,
            link_read_bytes_per_s: cards * card.link.read_bytes_per_s as f64,
            link_write_bytes_per_s: distinct * card.link.write_bytes_per_s as f64,
            bus_bytes_per_s: cards * bus_bytes_per_s,
            flash_read_bytes_per_s: cards * from_dies(timing.native.read_ns),
            program_bytes_per_s,
            data_program_bytes_per_s: program_bytes_per_s * data_share * for_the_host,
            endurance_bytes,
            drive_writes_per_day: endurance_bytes / user_bytes as f64 / (WARRANTY_YEARS * 365.0),
        }
    }

    /// Share of the sold capacity that was given up at format.
    pub fn reserve(&self) -> f64 {
        let sold_bytes = self.sold_bytes as f64 * f64::from(self.distinct_cards) / f64::from(self.cards);
        1.0 - self.user_bytes as f64 / sold_bytes
    }

    pub(crate) fn to_json(self) -> Value {
        let c = &self.capacities;
        let cards = u64::from(self.cards);
        json!({
            "cards": self.cards,
            "installed_bytes": cards * c.installed_bytes,
            "parity_bytes": cards * c.parity_bytes,
            "data_bytes": cards * c.data_bytes,
            "sold_bytes": self.sold_bytes,
            "user_bytes": self.user_bytes,
            "reserve": self.reserve(),
            "spare_factor": c.spare_factor,
            "effective_spare_factor": c.effective_spare_factor,
            "bands": c.bands,
            "overhead_bands": c.overhead_bands,
            "link_read_bytes_per_s": self.link_read_bytes_per_s,
            "link_write_bytes_per_s": self.link_write_bytes_per_s,
            "bus_bytes_per_s": self.bus_bytes_per_s,
            "flash_read_bytes_per_s": self.flash_read_bytes_per_s,
            "program_bytes_per_s": self.program_bytes_per_s,
            "data_program_bytes_per_s": self.data_program_bytes_per_s,
            "endurance_bytes": self.endurance_bytes,
            "drive_writes_per_day": self.drive_writes_per_day,
        })
    }
}
