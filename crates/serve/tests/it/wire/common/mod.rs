//! A client's words, and a server around a connection that has no card: what it reads are places, not bytes.
#![allow(dead_code, reason = "each test file uses a part")]

pub mod client;
pub mod server;

use serve::wire::{BlockSizes, Export, Exports, Features};
use std::sync::Arc;

/// Bytes from hex digits; blanks are for the eye.
pub fn hex(digits: &str) -> Vec<u8> {
    let digits: Vec<u8> = digits.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    assert_eq!(digits.len() % 2, 0, "half a byte");
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

/// Size of the export that most tests use.
pub const SIZE: u64 = 1 << 30;

pub fn card() -> Export {
    Export {
        name: "card".into(),
        description: "A card".into(),
        size_bytes: SIZE,
        read_only: false,
        blocks: BlockSizes::default(),
        features: Features::ALL,
        refusal: None,
    }
}

pub fn nothing() -> Features {
    Features {
        flush: false,
        fua: false,
        trim: false,
        write_zeroes: false,
        fast_zero: false,
        cache: false,
        block_status: false,
        multi_conn: false,
    }
}

/// `card` with everything, `sealed` read-only, `sectors` in units of 4 KiB up to 1 MiB, `bare` with nothing optional.
pub fn exports() -> Arc<Exports> {
    let sealed = Export { name: "sealed".into(), description: String::new(), read_only: true, ..card() };
    let sectors = Export {
        name: "sectors".into(),
        description: String::new(),
        blocks: BlockSizes { minimum: 4096, preferred: 4096, maximum: 1 << 20 },
        ..card()
    };
    let bare = Export { name: "bare".into(), description: String::new(), features: nothing(), ..card() };
    Arc::new(Exports::new(vec![card(), sealed, sectors, bare]).unwrap())
}

/// A stream of numbers that a seed decides (splitmix64).
pub struct Dice(pub u64);

impl Dice {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Below `bound`, which is not 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    pub fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).unwrap()
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.index(from.len())]
    }
}
