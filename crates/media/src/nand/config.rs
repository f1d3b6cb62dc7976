//! What a flash package is made of and how fast it is.

/// How modules, dies and erase blocks nest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Replaceable flash modules (1 for a card that has none).
    pub modules: u32,
    /// Channels of one module; a channel is one bus.
    pub channels_per_module: u32,
    /// Dies on one channel.
    pub dies_per_channel: u32,
    /// Planes of one die.
    pub planes_per_die: u32,
    /// Erase blocks of one plane.
    pub blocks_per_plane: u32,
    /// Pages of one erase block.
    pub pages_per_block: u32,
    /// Data bytes of a page, a multiple of 4096.
    pub page_bytes: u32,
    /// Spare-area bytes of a page: transferred with it, not counted as capacity.
    pub spare_bytes: u32,
    /// One program or read command works on all planes of a die at once.
    pub multi_plane: bool,
}

impl Geometry {
    /// Dies of the card.
    pub fn dies(&self) -> u32 {
        self.modules * self.channels_per_module * self.dies_per_channel
    }
    /// Channels of the card.
    pub fn channels(&self) -> u32 {
        self.modules * self.channels_per_module
    }
    /// 4 KiB sectors in a page.
    pub fn sectors_per_page(&self) -> u32 {
        self.page_bytes / device::SECTOR_BYTES as u32
    }
    /// Pages that one program command fills.
    pub fn pages_per_unit(&self) -> u32 {
        if self.multi_plane { self.planes_per_die } else { 1 }
    }
    /// 4 KiB sectors that one program command fills.
    pub fn sectors_per_unit(&self) -> u32 {
        self.sectors_per_page() * self.pages_per_unit()
    }
    /// Program commands that fill one erase block of every plane of a die: the length of a band on a die.
    pub fn units_per_band(&self) -> u32 {
        self.pages_per_block * self.planes_per_die / self.pages_per_unit()
    }
    /// Data bytes installed.
    pub fn installed_bytes(&self) -> u64 {
        u64::from(self.dies())
            * u64::from(self.planes_per_die)
            * u64::from(self.blocks_per_plane)
            * u64::from(self.pages_per_block)
            * u64::from(self.page_bytes)
    }
}

/// Times of one cell mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpTiming {
    /// Array to page register.
    pub read_ns: u64,
    /// Page register to array (of all planes, when the geometry is multi-plane).
    pub program_ns: u64,
    /// One erase block (of all planes at once).
    pub erase_ns: u64,
}

/// How a block's cells are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CellMode {
    /// As the chip is sold.
    Native,
    /// One bit a cell: fewer pages, faster (the cache of a TLC or QLC drive).
    Slc,
}

/// How fast the flash is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// Times in the native cell mode.
    pub native: OpTiming,
    /// Times of blocks used with one bit a cell; the same as `native` where the card has no such blocks.
    pub slc: OpTiming,
    /// Bus of one channel, bytes a second.
    pub bus_bytes_per_s: u64,
    /// Time to suspend a program or an erase and as much again to resume it; `None`: it can't be suspended.
    pub suspend_ns: Option<u64>,
    /// How often one program or erase may be suspended.
    pub max_suspends: u32,
}

impl Timing {
    /// Times of a cell mode.
    pub fn of(&self, mode: CellMode) -> OpTiming {
        match mode {
            CellMode::Native => self.native,
            CellMode::Slc => self.slc,
        }
    }
    /// Time on the bus for a transfer.
    pub fn bus_ns(&self, bytes: u64) -> u64 {
        (u128::from(bytes) * 1_000_000_000 / u128::from(self.bus_bytes_per_s)) as u64
    }
}

/// How flash wears.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Endurance {
    /// Program/erase cycles that the maker rates.
    pub rated_cycles: u32,
    /// Blocks bad from the factory, in a million.
    pub factory_bad_ppm: u32,
    /// Chance in a million that an erase at the rated cycles fails and retires its block. It grows with the fourth
    /// power of cycles / rated cycles.
    pub erase_fail_ppm_at_rated: u32,
}

/// All of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NandConfig {
    /// How it nests.
    pub geometry: Geometry,
    /// How fast it is.
    pub timing: Timing,
    /// How it wears.
    pub endurance: Endurance,
}
