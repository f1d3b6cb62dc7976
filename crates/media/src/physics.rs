//! The quality of the flash: rates of errors and failures, and the limit of error correction.
//!
//! The raw bit error rate of a sector, with `w` = P/E cycles over rated cycles, `d` days since it was programmed and
//! `r` reads of its block since the last erase, is
//!
//! ```text
//! fresh + cycles w^2 + retention_year sqrt(d / 365) (0.1 + 0.9 w) + disturb_read r w sqrt(w)
//! ```
//!
//! The shapes are those that measurements agree on: growth with cycles faster than linear, retention that is fast at
//! first and slower later, disturb in proportion to reads, both worse on worn flash (Mielke et al., "Bit error rate in
//! NAND flash memories", IRPS 2008; Grupp et al., "Characterizing flash memory", MICRO 2009; Cai et al., "Error
//! patterns in MLC NAND flash memory", DATE 2012, "Data retention in MLC NAND flash memory", HPCA 2015, and "Read
//! disturb errors in MLC NAND flash memory", DSN 2015). The exponents and the coefficients of the presets are
//! *assumed*: chosen to be simple, computed exactly on every machine (no library function but the square root, until
//! the draw), and of the magnitude that those papers show.

/// Raw bit error rates, as shares of the bits read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ErrorRates {
    /// The rate of fresh flash, right after programming.
    pub fresh: f64,
    /// The rate added at the rated cycles; it grows with the square of the cycles.
    pub cycles: f64,
    /// The rate added by a year of rest at the rated cycles; it grows with the square root of time.
    pub retention_year: f64,
    /// The rate added by each read of the block at the rated cycles.
    pub disturb_read: f64,
}

impl ErrorRates {
    /// The rates of flash without errors.
    pub const NONE: ErrorRates = ErrorRates { fresh: 0.0, cycles: 0.0, retention_year: 0.0, disturb_read: 0.0 };

    /// Whether all rates are 0.
    #[inline]
    pub fn is_none(&self) -> bool {
        self.fresh == 0.0 && self.cycles == 0.0 && self.retention_year == 0.0 && self.disturb_read == 0.0
    }
}

/// The quality of the flash, and the behaviour of its modules.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Physics {
    /// P/E cycles that the maker rates.
    pub rated_cycles: u32,
    /// Blocks bad from the factory, in a million.
    pub factory_bad_ppm: u32,
    /// Chance in a million that an erase at the rated cycles fails. It grows with the fourth power of wear.
    pub erase_fail_ppm_at_rated: u32,
    /// Chance in a million that a program at the rated cycles fails. It grows with the fourth power of wear.
    pub program_fail_ppm_at_rated: u32,
    /// The rates of raw bit errors.
    pub errors: ErrorRates,
    /// The number of wrong bits of a 4 KiB sector and its spare area that can be corrected.
    pub ecc_bits: u32,
    /// The highest number of further reads with shifted thresholds when a sector can't be corrected.
    pub read_retries: u32,
    /// The factor that each of these reads multiplies the error rate by. Bits that a fault flipped stay wrong.
    pub retry_factor: f64,
    /// From this many corrected bits on, a read advises to write the unit elsewhere.
    pub refresh_advised_at_bits: u32,
    /// A power cut before a sync may lose programs and erases, as with a file or a drive, and unlike flash itself.
    pub volatile_cache: bool,
    /// Modules refuse writes of any controller but the last claimant.
    pub fencing: bool,
    /// Bytes of each module's log area; 0: there is none.
    pub log_bytes: u32,
}

impl Physics {
    /// Flash that never errs by itself. Faults can still be injected.
    pub const IDEAL: Physics = Physics {
        rated_cycles: 100_000,
        factory_bad_ppm: 0,
        erase_fail_ppm_at_rated: 0,
        program_fail_ppm_at_rated: 0,
        errors: ErrorRates::NONE,
        ecc_bits: 40,
        read_retries: 0,
        retry_factor: 1.0,
        refresh_advised_at_bits: 30,
        volatile_cache: false,
        fencing: false,
        log_bytes: 0,
    };

    /// One bit a cell, 5x to 3x nm, as in cards of 2008 to 2012.
    ///
    /// Rated cycles and bad blocks (up to 2 %) as datasheets of the time state them; error rates near 10^-8 fresh and
    /// below 10^-6 at the rated cycles after Mielke et al. 2008 and Grupp et al. 2009; the rest is assumed.
    pub const SLC: Physics = Physics {
        rated_cycles: 100_000,
        factory_bad_ppm: 10_000,
        erase_fail_ppm_at_rated: 20,
        program_fail_ppm_at_rated: 1,
        errors: ErrorRates { fresh: 1e-9, cycles: 3e-7, retention_year: 5e-6, disturb_read: 1e-12 },
        ecc_bits: 16,
        read_retries: 0,
        retry_factor: 1.0,
        refresh_advised_at_bits: 10,
        volatile_cache: false,
        fencing: false,
        log_bytes: 0,
    };

    /// Two bits a cell, 2x nm.
    ///
    /// Rated cycles as datasheets of the time state them; a rate of some 10^-4 at the rated cycles and of the same
    /// order added by a year's retention after Cai et al. 2012 and 2015; disturb of the order of 10^-9 a read near the
    /// rated cycles after Cai et al. 2015 (DSN). The code corrects a little more than twice the mean of a year at the
    /// rated cycles; the rest is assumed.
    pub const MLC: Physics = Physics {
        rated_cycles: 3_000,
        factory_bad_ppm: 10_000,
        erase_fail_ppm_at_rated: 100,
        program_fail_ppm_at_rated: 5,
        errors: ErrorRates { fresh: 1e-5, cycles: 2e-4, retention_year: 6e-4, disturb_read: 1.6e-9 },
        ecc_bits: 72,
        read_retries: 4,
        retry_factor: 0.75,
        refresh_advised_at_bits: 54,
        volatile_cache: false,
        fencing: false,
        log_bytes: 0,
    };

    /// Three bits a cell, layered, with soft decoding counted as a stronger code.
    ///
    /// All values are assumed, between the published ones of MLC and the promises of makers' data sheets (3,000 cycles,
    /// a year).
    pub const TLC: Physics = Physics {
        rated_cycles: 3_000,
        factory_bad_ppm: 10_000,
        erase_fail_ppm_at_rated: 200,
        program_fail_ppm_at_rated: 10,
        errors: ErrorRates { fresh: 1e-4, cycles: 8e-4, retention_year: 2e-3, disturb_read: 4e-9 },
        ecc_bits: 200,
        read_retries: 8,
        retry_factor: 0.8,
        refresh_advised_at_bits: 150,
        volatile_cache: false,
        fencing: false,
        log_bytes: 0,
    };

    /// The wear of a block: P/E cycles over rated cycles.
    #[inline]
    pub fn wear(&self, cycles: u32) -> f64 {
        f64::from(cycles) / f64::from(self.rated_cycles.max(1))
    }

    /// The chance in a million, at this wear, of a failure with a chance of `ppm_at_rated` at the rated cycles.
    #[inline]
    pub(crate) fn failure_ppm(&self, ppm_at_rated: u32, cycles: u32) -> f64 {
        let square = self.wear(cycles) * self.wear(cycles);
        f64::from(ppm_at_rated) * square * square
    }
}
