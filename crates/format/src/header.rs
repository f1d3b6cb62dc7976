//! The header of a module: its card, its slot there, the division of the card, and the state of all slots. Each module
//! has two copies of it; the readable copy with the higher `sequence` counts.
//!
//! ```text
//!        0       1       2       3       4       5       6       7
//!      +---------------------------------------------------------------+
//!    0 | "FLASHRIG"                                                    |
//!      +---------------+---------------+-------------------------------+
//!    8 | format version| slot          | flags                         |
//!      +---------------+---------------+-------------------------------+
//!   16 | card                                                          |
//!   24 |                                                               |
//!      +---------------------------------------------------------------+
//!   32 | module                                                        |
//!   40 |                                                               |
//!      +---------------------------------------------------------------+
//!   48 | generation                                                    |
//!      +---------------------------------------------------------------+
//!   56 | sequence                                                      |
//!      +-------------------------------+-------------------------------+
//!   64 | modules                       | dies per module               |
//!      +-------------------------------+-------------------------------+
//!   72 | blocks per die                | rows per block                |
//!      +-------------------------------+-------------------------------+
//!   80 | unit sectors                  | payload bytes                 |
//!      +-------------------------------+-------------------------------+
//!   88 | rows sharing cells            | stripe width                  |
//!      +-------------------------------+-------------------------------+
//!   96 | parity units                  | slots                         |
//!      +-------------------------------+-------------------------------+
//!  104 | user sectors                                                  |
//!      +---------------------------------------------------------------+
//!  112 | power cycles                                                  |
//!      +---------------------------------------------------------------+
//!  120 | unsafe shutdowns                                              |
//!      +---------------------------------------------------------------+
//!  128 | host sectors written                                          |
//!      +---------------------------------------------------------------+
//!  136 | host sectors read                                             |
//!      +---------------------------------------------------------------+
//!  144 | media errors                                                  |
//!      +---------------------------------------------------------------+
//!  152 | busy ns                                                       |
//!      +---------------------------------------------------------------+
//!  160 | power on ns                                                   |
//!      +---------------------------------------------------------------+
//!  168 | host read commands                                            |
//!      +---------------------------------------------------------------+
//!  176 | host write commands                                           |
//!      +---------------------------------------------------------------+
//!  184 | data sectors when new                                         |
//!      +---------------------------------------------------------------+
//!  192 | SLC bits per cell             | 0                             |
//!      +-------------------------------+-------------------------------+
//!  200 | durable, host: band sequence                                  |
//!      +---------------------------------------------------------------+
//!  208 | durable, relocation: band sequence                            |
//!      +-------------------------------+-------------------------------+
//!  216 | durable, host: stripe         | durable, relocation: stripe   |
//!      +-------------------------------+-------------------------------+
//!  224 | first record of the log that counts                           |
//!      +---------------------------------------------------------------+
//!  232 | 0                                                             |
//!      +---------------------------------------------------------------+
//!  256 | slot 0: module                                                |
//!  264 |                                                               |
//!      +-------+-------------------------------------------------------+
//!  272 | state | 0                                                     |
//!      +-------+-------------------------------------------------------+
//!  280 | rebuilt                                                       |
//!      +---------------------------------------------------------------+
//!  288 | slot 1 and so on to slot 63; those that there are not: 0      |
//!      +---------------------------------------------------------------+
//! 2304 | bands that hold something, band 0 in the lowest bit           |
//!      +-------------------------------+-------------------------------+
//! 4088 | 0                             | crc32c of bytes 0 to 4091     |
//!      +-------------------------------+-------------------------------+
//! ```

use crate::band_set::{BandSet, WORDS};
use crate::ids::{CardId, ModuleId};
use crate::shape::Shape;
use crate::version::{OLDEST_VERSION, VERSION};
use std::mem::offset_of;
use zerocopy::little_endian::{U16, U32, U64};
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, KnownLayout, Unaligned};

/// The size of one copy of a module's header.
pub const HEADER_BYTES: usize = 4096;
/// The highest number of modules, and so of slots, of a card.
pub const MAX_MODULES: u32 = 64;
/// The highest number of units in a stripe, because the units in use are kept in 64 bits.
pub const MAX_STRIPE_UNITS: u32 = 64;
/// The highest number of sectors in a unit.
pub const MAX_UNIT_SECTORS: u32 = 64;
/// The smallest payload, which has room for one entry of a summary.
pub const MIN_PAYLOAD_BYTES: u32 = 16;
/// The largest payload, which is a whole sector.
pub const MAX_PAYLOAD_BYTES: u32 = 4096;
/// The highest number of bits in a cell.
pub const MAX_BITS_PER_CELL: u32 = 8;
/// The highest number of sectors of all modules together. A map entry has 32 bits, and all bits set stand for no
/// sector.
pub const MAX_SECTORS: u64 = u32::MAX as u64;

const MAGIC: [u8; 8] = *b"FLASHRIG";
/// Flag: the card was shut down in order.
const CLEAN: u32 = 1;
/// Flag: the spare of the card is used up.
const READ_ONLY: u32 = 2;
/// Flag: the card has power-loss protection.
const PROTECTED: u32 = 4;
/// Flag: acknowledged writes were lost.
const LOST_WRITES: u32 = 8;
/// Flag: no band was erased since the header was written.
const NO_ERASES: u32 = 16;

/// A slot as it lies on the medium.
#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct RawSlot {
    module: [u8; 16],
    state: u8,
    reserved: [u8; 7],
    rebuilt: U64,
}

/// The header as it lies on the medium.
#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct Raw {
    magic: [u8; 8],
    version: U16,
    slot: U16,
    flags: U32,
    card: [u8; 16],
    module: [u8; 16],
    generation: U64,
    sequence: U64,
    modules: U32,
    dies_per_module: U32,
    blocks_per_die: U32,
    rows_per_block: U32,
    unit_sectors: U32,
    payload_bytes: U32,
    rows_sharing_cells: U32,
    stripe_width: U32,
    parity_units: U32,
    slot_count: U32,
    user_sectors: U64,
    power_cycles: U64,
    unsafe_shutdowns: U64,
    host_sectors_written: U64,
    host_sectors_read: U64,
    media_errors: U64,
    busy_ns: U64,
    power_on_ns: U64,
    host_read_commands: U64,
    host_write_commands: U64,
    new_data_sectors: U64,
    slc_bits_per_cell: U32,
    pad: U32,
    durable_bands: [U64; 2],
    durable_stripes: [U32; 2],
    log_begins: U64,
    reserved: [u8; 24],
    slots: [RawSlot; MAX_MODULES as usize],
    holds: [U64; WORDS],
    pad_end: U32,
    crc: U32,
}

const _: () = assert!(size_of::<Raw>() == HEADER_BYTES);
const _: () = assert!(offset_of!(Raw, slots) == 256);
/// The number of bytes that the checksum covers.
const CHECKED_BYTES: usize = offset_of!(Raw, crc);

/// The state of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum SlotState {
    /// The slot never had a module.
    Empty = 0,
    /// The module holds everything that belongs there.
    Active = 1,
    /// The module is gone, or counts as gone, so its contents are stale.
    Missing = 2,
    /// The module is new, and a rebuild is filling it.
    Rebuilding = 3,
}

impl SlotState {
    /// The state that a byte stands for, if any.
    pub fn from_byte(byte: u8) -> Option<SlotState> {
        Some(match byte {
            0 => SlotState::Empty,
            1 => SlotState::Active,
            2 => SlotState::Missing,
            3 => SlotState::Rebuilding,
            _ => return None,
        })
    }
}

/// A slot of a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slot {
    /// The module that belongs in the slot.
    pub module: ModuleId,
    /// Whether that module is there and can be trusted.
    pub state: SlotState,
    /// The module of a slot that is being rebuilt holds what belongs on it of all bands whose last opening has this
    /// sequence or a lower one; 0: of none.
    pub rebuilt: u64,
}

impl Slot {
    /// A slot whose module is not being rebuilt, or has not got anything yet.
    pub fn new(module: ModuleId, state: SlotState) -> Slot {
        Slot { module, state, rebuilt: 0 }
    }
}

/// The durable watermark of a stream: everything that the stream wrote before it is durable. Band sequences have the
/// epoch of the start in their high bits, and the watermark says nothing of bands that were opened in another epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Durable {
    /// Bands that were opened before this one are durable; 0 means that nothing is known.
    pub band_sequence: u64,
    /// The stripes of that band before this one are durable.
    pub stripe: u32,
}

/// The header of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleHeader {
    /// The card that the module belongs to.
    pub card: CardId,
    /// The id of the module itself.
    pub module: ModuleId,
    /// The slot of the module within the card, below [`Shape::modules`].
    pub slot: u16,
    /// A counter that each change of membership and each start raises.
    pub generation: u64,
    /// A counter that each write of this module's header raises.
    pub sequence: u64,
    /// The division of the card's modules.
    pub shape: Shape,
    /// The number of units of a stripe, including parity: at most [`MAX_STRIPE_UNITS`], and the card's dies are a
    /// multiple of it.
    pub stripe_width: u32,
    /// The number of parity units in a stripe: 0 or 1, and fewer than `stripe_width`.
    pub parity_units: u32,
    /// The number of sectors that the host can address.
    pub user_sectors: u64,
    /// A band in SLC mode has `1 / slc_bits_per_cell` of its rows, at least one; 1 means that there are no such bands.
    pub slc_bits_per_cell: u32,
    /// When power fails, the card puts on flash everything that it has acknowledged, so a write is durable when it is
    /// acknowledged.
    pub power_loss_protection: bool,
    /// The card was shut down in order.
    pub clean: bool,
    /// Bad blocks have used up the spare, so the card takes no more writes, for good.
    pub read_only: bool,
    /// The card stopped because more had failed than parity can restore, and acknowledged writes were not on flash.
    pub lost_writes: bool,
    /// The durable watermarks of the host's stream and the relocation stream when the header was written.
    pub durable: [Durable; 2],
    /// The first record of the log that counts; those with lower numbers were made before an earlier start.
    pub log_begins: u64,
    /// Bands that held something durable when the header was written, and of which none was erased since.
    pub holds: BandSet,
    /// No band that held sectors waited for its erase when the header was written, and none was erased since.
    pub no_erases: bool,
    /// Times that the card was started.
    pub power_cycles: u64,
    /// Times that the card was started without having been shut down in order.
    pub unsafe_shutdowns: u64,
    /// Sectors that the host wrote, through the card's life up to this header's write.
    pub host_sectors_written: u64,
    /// Sectors that the host read, through the card's life.
    pub host_sectors_read: u64,
    /// Sectors that could not be read or written because of errors of the media.
    pub media_errors: u64,
    /// Time with requests in flight, in nanoseconds.
    pub busy_ns: u64,
    /// Time with power on, in nanoseconds.
    pub power_on_ns: u64,
    /// Reads of the host that were answered.
    pub host_read_commands: u64,
    /// Writes of the host that were answered.
    pub host_write_commands: u64,
    /// Sectors that all bands of the card had room for when it was made, without bad blocks and parity.
    pub new_data_sectors: u64,
    /// The slots of the card, as many as [`Shape::modules`].
    pub slots: Vec<Slot>,
}

/// The reason why a module's header can't be decoded. Offsets are in bytes from its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant says what its fields are")]
pub enum HeaderError {
    /// There are more or fewer bytes than a header has.
    #[error("module header: {found} bytes instead of {HEADER_BYTES}")]
    Size { found: usize },
    /// No header was written: all bits are 0, or all are 1.
    #[error("module header: blank")]
    Blank,
    /// The bytes do not begin with the magic of a header.
    #[error("module header: magic \"{}\" at offset 0 instead of \"FLASHRIG\"", .found.escape_ascii())]
    Magic { found: [u8; 8] },
    /// The checksum of the header does not match.
    #[error("module header: checksum {found:#010x} at offset {CHECKED_BYTES} instead of {computed:#010x}")]
    Checksum { found: u32, computed: u32 },
    /// The header was written in a newer version of the format.
    #[error("module header: format version {found}, supported up to {supported}")]
    NewerVersion { found: u16, supported: u16 },
    /// The header was written in a version of the format that is not read any more.
    #[error("module header: format version {found}, supported from {supported} on")]
    OlderVersion { found: u16, supported: u16 },
    /// A field has a value that it can't have.
    #[error("module header: {field} at offset {offset} is {value}")]
    Field { field: &'static str, offset: usize, value: u64 },
}

impl ModuleHeader {
    /// The header as it lies on the medium, [`HEADER_BYTES`] long. Panics if a field is out of its limits.
    pub fn encode(&self) -> Vec<u8> {
        let mut raw = Raw::new_zeroed();
        raw.magic = MAGIC;
        raw.version = VERSION.into();
        raw.slot = self.slot.into();
        let flag = |is_set: bool, bit: u32| if is_set { bit } else { 0 };
        let lost = flag(self.lost_writes, LOST_WRITES);
        let protected = flag(self.power_loss_protection, PROTECTED);
        let no_erases = flag(self.no_erases, NO_ERASES);
        raw.flags = (flag(self.clean, CLEAN) | flag(self.read_only, READ_ONLY) | protected | lost | no_erases).into();
        raw.card = self.card.0;
        raw.module = self.module.0;
        raw.generation = self.generation.into();
        raw.sequence = self.sequence.into();
        raw.modules = self.shape.modules.into();
        raw.dies_per_module = self.shape.dies_per_module.into();
        raw.blocks_per_die = self.shape.blocks_per_die.into();
        raw.rows_per_block = self.shape.rows_per_block.into();
        raw.unit_sectors = self.shape.unit_sectors.into();
        raw.payload_bytes = self.shape.payload_bytes.into();
        raw.rows_sharing_cells = self.shape.rows_sharing_cells.into();
        raw.stripe_width = self.stripe_width.into();
        raw.parity_units = self.parity_units.into();
        raw.slot_count = u32::try_from(self.slots.len()).unwrap_or(u32::MAX).into();
        raw.user_sectors = self.user_sectors.into();
        raw.power_cycles = self.power_cycles.into();
        raw.unsafe_shutdowns = self.unsafe_shutdowns.into();
        raw.host_sectors_written = self.host_sectors_written.into();
        raw.host_sectors_read = self.host_sectors_read.into();
        raw.media_errors = self.media_errors.into();
        raw.busy_ns = self.busy_ns.into();
        raw.power_on_ns = self.power_on_ns.into();
        raw.host_read_commands = self.host_read_commands.into();
        raw.host_write_commands = self.host_write_commands.into();
        raw.new_data_sectors = self.new_data_sectors.into();
        raw.slc_bits_per_cell = self.slc_bits_per_cell.into();
        raw.durable_bands = self.durable.map(|durable| durable.band_sequence.into());
        raw.log_begins = self.log_begins.into();
        raw.durable_stripes = self.durable.map(|durable| durable.stripe.into());
        raw.holds = self.holds.to_raw();
        for (slot, out) in self.slots.iter().zip(&mut raw.slots) {
            out.module = slot.module.0;
            out.state = slot.state as u8;
            out.rebuilt = slot.rebuilt.into();
        }
        if let Err(error) = raw.check() {
            panic!("a header that can't be read again: {error}");
        }
        raw.crc = crc32c::crc32c(&raw.as_bytes()[..CHECKED_BYTES]).into();
        raw.as_bytes().to_vec()
    }

    /// Decodes a header.
    pub fn decode(bytes: &[u8]) -> Result<ModuleHeader, HeaderError> {
        let Ok(raw) = Raw::ref_from_bytes(bytes) else { return Err(HeaderError::Size { found: bytes.len() }) };
        if raw.magic != MAGIC {
            let blank = [0, 0xff].into_iter().any(|blank| bytes.iter().all(|byte| *byte == blank));
            return Err(if blank { HeaderError::Blank } else { HeaderError::Magic { found: raw.magic } });
        }
        let computed = crc32c::crc32c(&bytes[..CHECKED_BYTES]);
        if raw.crc.get() != computed {
            return Err(HeaderError::Checksum { found: raw.crc.get(), computed });
        }
        raw.check()?;
        let slots = raw.slots.iter().take(raw.slot_count.get() as usize);
        Ok(ModuleHeader {
            card: CardId(raw.card),
            module: ModuleId(raw.module),
            slot: raw.slot.get(),
            generation: raw.generation.get(),
            sequence: raw.sequence.get(),
            shape: raw.shape(),
            stripe_width: raw.stripe_width.get(),
            parity_units: raw.parity_units.get(),
            user_sectors: raw.user_sectors.get(),
            slc_bits_per_cell: raw.slc_bits_per_cell.get(),
            power_loss_protection: raw.flags.get() & PROTECTED != 0,
            clean: raw.flags.get() & CLEAN != 0,
            read_only: raw.flags.get() & READ_ONLY != 0,
            lost_writes: raw.flags.get() & LOST_WRITES != 0,
            log_begins: raw.log_begins.get(),
            durable: [0, 1].map(|stream| Durable {
                band_sequence: raw.durable_bands[stream].get(),
                stripe: raw.durable_stripes[stream].get(),
            }),
            holds: BandSet::from_raw(&raw.holds),
            no_erases: raw.flags.get() & NO_ERASES != 0,
            power_cycles: raw.power_cycles.get(),
            unsafe_shutdowns: raw.unsafe_shutdowns.get(),
            host_sectors_written: raw.host_sectors_written.get(),
            host_sectors_read: raw.host_sectors_read.get(),
            media_errors: raw.media_errors.get(),
            busy_ns: raw.busy_ns.get(),
            power_on_ns: raw.power_on_ns.get(),
            host_read_commands: raw.host_read_commands.get(),
            host_write_commands: raw.host_write_commands.get(),
            new_data_sectors: raw.new_data_sectors.get(),
            slots: slots
                .filter_map(|slot| {
                    let state = SlotState::from_byte(slot.state)?;
                    Some(Slot { module: ModuleId(slot.module), state, rebuilt: slot.rebuilt.get() })
                })
                .collect(),
        })
    }
}

impl Raw {
    fn shape(&self) -> Shape {
        Shape {
            modules: self.modules.get(),
            dies_per_module: self.dies_per_module.get(),
            blocks_per_die: self.blocks_per_die.get(),
            rows_per_block: self.rows_per_block.get(),
            unit_sectors: self.unit_sectors.get(),
            payload_bytes: self.payload_bytes.get(),
            rows_sharing_cells: self.rows_sharing_cells.get(),
        }
    }

    /// Fails if a field is out of its limits. Does not check magic and checksum.
    fn check(&self) -> Result<(), HeaderError> {
        let version = self.version.get();
        if version > VERSION {
            return Err(HeaderError::NewerVersion { found: version, supported: VERSION });
        }
        if version < OLDEST_VERSION {
            return Err(HeaderError::OlderVersion { found: version, supported: OLDEST_VERSION });
        }
        let within = |good: bool, field, offset, value| {
            if good { Ok(()) } else { Err(HeaderError::Field { field, offset, value }) }
        };
        // The field, and the limits of its value.
        macro_rules! within {
            ($field:ident, $limits:expr) => {{
                let value = self.$field.get();
                within($limits.contains(&value), stringify!($field), offset_of!(Raw, $field), value.into())?;
            }};
        }
        within!(flags, 0..=CLEAN | READ_ONLY | PROTECTED | LOST_WRITES | NO_ERASES);
        within!(modules, 1..=MAX_MODULES);
        within!(slot_count, self.modules.get()..=self.modules.get());
        within!(slot, 0..self.modules.get() as u16);
        within!(dies_per_module, 1..);
        within!(blocks_per_die, 1..);
        within!(rows_per_block, 1..);
        within!(unit_sectors, 1..=MAX_UNIT_SECTORS);
        within!(payload_bytes, MIN_PAYLOAD_BYTES..=MAX_PAYLOAD_BYTES);
        within!(rows_sharing_cells, 1..);
        let sectors = self.shape().sectors().unwrap_or(u64::MAX);
        within(sectors <= MAX_SECTORS, "product of the shape", offset_of!(Raw, modules), sectors)?;
        within!(stripe_width, 1..=MAX_STRIPE_UNITS);
        let (dies, width) = (self.modules.get() * self.dies_per_module.get(), self.stripe_width.get());
        within(dies % width == 0, "stripe_width", offset_of!(Raw, stripe_width), width.into())?;
        within!(parity_units, 0..self.stripe_width.get().min(2));
        within!(user_sectors, 1..=sectors);
        within!(slc_bits_per_cell, 1..=MAX_BITS_PER_CELL.min(self.rows_per_block.get()));
        let zero = |bytes: &[u8], start: usize| {
            // A start reads headers many times, and most bytes of a header are 0, so they are compared all at once.
            if is_zero(bytes) {
                return Ok(());
            }
            let wrong = bytes.iter().position(|byte| *byte != 0);
            wrong.map_or(Ok(()), |at| within(false, "reserved byte", start + at, bytes[at].into()))
        };
        zero(self.pad.as_bytes(), offset_of!(Raw, pad))?;
        zero(&self.reserved, offset_of!(Raw, reserved))?;
        zero(self.pad_end.as_bytes(), offset_of!(Raw, pad_end))?;
        let last = BandSet::from_raw(&self.holds).last().unwrap_or(0);
        within(
            last < self.blocks_per_die.get(),
            "highest band that holds something",
            offset_of!(Raw, holds),
            last.into(),
        )?;
        let (used, unused) = self.slots.split_at(self.modules.get() as usize);
        for (number, slot) in used.iter().enumerate() {
            let start = offset_of!(Raw, slots) + number * size_of::<RawSlot>();
            let state = start + offset_of!(RawSlot, state);
            within(SlotState::from_byte(slot.state).is_some(), "slot state", state, slot.state.into())?;
            zero(&slot.reserved, start + offset_of!(RawSlot, reserved))?;
        }
        zero(unused.as_bytes(), offset_of!(Raw, slots) + size_of_val(used))?;
        Ok(())
    }
}

fn is_zero(bytes: &[u8]) -> bool {
    static ZEROES: [u8; HEADER_BYTES] = [0; HEADER_BYTES];
    bytes == &ZEROES[..bytes.len()]
}
