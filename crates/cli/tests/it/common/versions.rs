//! Sectors whose contents tell their number and version, and what a card owes of them.

use super::nbd::Client;

/// The contents of a sector in a version of it; version 0 is zeroes.
pub fn sector(number: u64, version: u32) -> Vec<u8> {
    if version == 0 {
        return vec![0; 4096];
    }
    let stamp = number << 32 | u64::from(version);
    (0..512u64).flat_map(|word| (stamp ^ word.wrapping_mul(0x9e37_79b9_7f4a_7c15)).to_le_bytes()).collect()
}

/// The version that a sector holds, if any.
pub fn version_of(number: u64, bytes: &[u8]) -> Option<u32> {
    let version = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as u32;
    [0, version].into_iter().find(|version| sector(number, *version) == bytes)
}

/// Versions of a sector: the last that was asked for, and the last that a flush has covered.
#[derive(Clone, Copy, Default)]
pub struct Versions {
    pub asked: u32,
    pub durable: u32,
}

impl Versions {
    /// The sector must read as a version between the two; that is durable from now on, because it was read after
    /// a start.
    pub fn read_back(&mut self, client: &mut Client, number: u64, when: &str) {
        let bytes = client.read(number * 4096, 4096).unwrap();
        let bytes = bytes.unwrap_or_else(|e| panic!("{when}: sector {number}: error {e}"));
        let found = version_of(number, &bytes);
        let found = found.unwrap_or_else(|| panic!("{when}: sector {number} is mixed or another's"));
        let Versions { asked, durable } = *self;
        assert!(
            (durable..=asked).contains(&found),
            "{when}: sector {number} is version {found}, {durable} was flushed and {asked} written"
        );
        self.durable = found;
    }
}

/// Kills of the server; more of them are a soak.
pub fn kills() -> u64 {
    std::env::var("KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(25)
}

/// Numbers that are the same in every run.
pub struct Rng(pub u64);

impl Rng {
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}
