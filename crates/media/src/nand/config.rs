//! The structure of flash packages, and their timing.

/// The numbers of modules, dies, planes, blocks and pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// The number of replaceable flash modules (1 for a card that has none).
    pub modules: u32,
    /// The number of channels of one module; a channel is one bus.
    pub channels_per_module: u32,
    /// The number of dies on one channel.
    pub dies_per_channel: u32,
    /// The number of planes of one die.
    pub planes_per_die: u32,
    /// The number of erase blocks of one plane.
    pub blocks_per_plane: u32,
    /// The number of pages of one erase block.
    pub pages_per_block: u32,
    /// The data bytes of a page, a multiple of 4096.
    pub page_bytes: u32,
    /// The spare-area bytes of a page, which are transferred with it and not counted as capacity.
    pub spare_bytes: u32,
    /// One program or read command works on all planes of a die at once.
    pub multi_plane: bool,
}

impl Geometry {
    /// The number of dies of the card.
    pub fn dies(&self) -> u32 {
        self.modules * self.channels_per_module * self.dies_per_channel
    }
    /// The number of channels of the card.
    pub fn channels(&self) -> u32 {
        self.modules * self.channels_per_module
    }
    /// The number of 4 KiB sectors in a page.
    pub fn sectors_per_page(&self) -> u32 {
        self.page_bytes / device::SECTOR_BYTES as u32
    }
    /// The number of pages that one program command fills.
    pub fn pages_per_unit(&self) -> u32 {
        if self.multi_plane { self.planes_per_die } else { 1 }
    }
    /// The number of 4 KiB sectors that one program command fills.
    pub fn sectors_per_unit(&self) -> u32 {
        self.sectors_per_page() * self.pages_per_unit()
    }
    /// The number of program commands that fill one erase block of every plane of a die, which is a die's share of a
    /// band.
    pub fn units_per_band(&self) -> u32 {
        self.pages_per_block * self.planes_per_die / self.pages_per_unit()
    }
    /// The data bytes of all installed flash.
    pub fn installed_bytes(&self) -> u64 {
        u64::from(self.dies())
            * u64::from(self.planes_per_die)
            * u64::from(self.blocks_per_plane)
            * u64::from(self.pages_per_block)
            * u64::from(self.page_bytes)
    }
}

/// The times of one cell mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpTiming {
    /// The time from the array to the page register.
    pub read_ns: u64,
    /// The time from the page register to the array (of all planes, when the geometry is multi-plane).
    pub program_ns: u64,
    /// The time of the erase of one block (of all planes at once).
    pub erase_ns: u64,
}

/// How a block's cells are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CellMode {
    /// The number of bits a cell with which the chip is sold.
    Native,
    /// One bit a cell, with fewer and faster pages (the cache of a TLC or QLC drive).
    Slc,
}

/// The timing of the flash and of its bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// The times in the native cell mode.
    pub native: OpTiming,
    /// The times of blocks used with one bit a cell; the same as `native` where the card has no such blocks.
    pub slc: OpTiming,
    /// The rate of one channel's bus, in bytes a second.
    pub bus_bytes_per_s: u64,
    /// The time to suspend a program or an erase, and as much again to resume it; `None` if it can't be suspended.
    pub suspend_ns: Option<u64>,
    /// The highest number of times that one program or erase may be suspended.
    pub max_suspends: u32,
}

impl Timing {
    /// The times of a cell mode.
    pub fn of(&self, mode: CellMode) -> OpTiming {
        match mode {
            CellMode::Native => self.native,
            CellMode::Slc => self.slc,
        }
    }
    /// The time of a transfer on the bus.
    pub fn bus_ns(&self, bytes: u64) -> u64 {
        (u128::from(bytes) * 1_000_000_000 / u128::from(self.bus_bytes_per_s)) as u64
    }
}

/// The wear of flash, and its failures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Endurance {
    /// The number of program/erase cycles that the maker rates.
    pub rated_cycles: u32,
    /// The share of blocks that are bad from the factory, in a million.
    pub factory_bad_ppm: u32,
    /// The chance in a million that an erase at the rated cycles fails and retires its block. It grows with the fourth
    /// power of cycles / rated cycles.
    pub erase_fail_ppm_at_rated: u32,
}

/// The flash of a card.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NandConfig {
    /// The numbers of modules, dies, planes, blocks and pages.
    pub geometry: Geometry,
    /// The timing of the flash and of its bus.
    pub timing: Timing,
    /// The wear of the flash, and its failures.
    pub endurance: Endurance,
}
