//! Diffie-Hellman groups of DH-HMAC-CHAP: those of RFC 7919, with the generator 2.

use num_bigint::BigUint;

/// Bytes of a private exponent: twice the strength of the largest group, and more.
pub const EXPONENT_BYTES: usize = 64;

/// A group, by its identifier in the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// No exchange of keys.
    Null = 0,
    Ffdhe2048 = 1,
    Ffdhe3072 = 2,
    Ffdhe4096 = 3,
    Ffdhe6144 = 4,
    Ffdhe8192 = 5,
}

impl Group {
    /// Groups in the order in which they are chosen: the first is as strong as AES with 128 bits and still quick.
    pub const PREFERRED: [Group; 6] =
        [Group::Ffdhe3072, Group::Ffdhe4096, Group::Ffdhe6144, Group::Ffdhe8192, Group::Ffdhe2048, Group::Null];

    /// Bytes of a public value.
    pub fn bytes(self) -> usize {
        match self {
            Group::Null => 0,
            Group::Ffdhe2048 => 256,
            Group::Ffdhe3072 => 384,
            Group::Ffdhe4096 => 512,
            Group::Ffdhe6144 => 768,
            Group::Ffdhe8192 => 1024,
        }
    }

    /// The prime, from its definition: `2^b - 2^(b-64) + (floor(2^(b-130) e) + X) 2^64 - 1`, with the smallest X that makes
    /// it a safe one (RFC 7919, appendix A).
    fn prime(self) -> BigUint {
        let x: u32 = match self {
            Group::Null => return BigUint::from(1u8),
            Group::Ffdhe2048 => 560_316,
            Group::Ffdhe3072 => 2_625_351,
            Group::Ffdhe4096 => 5_736_041,
            Group::Ffdhe6144 => 15_705_020,
            Group::Ffdhe8192 => 10_965_728,
        };
        let one = || BigUint::from(1u8);
        let bits = self.bytes() as u64 * 8;
        // e is the sum of 1 / n!, here with more binary digits than are needed.
        let digits = bits + 64;
        let (mut e, mut term, mut n) = (BigUint::ZERO, one() << digits, 0u32);
        while term != BigUint::ZERO {
            e += &term;
            n += 1;
            term /= n;
        }
        let middle = (e >> (digits - (bits - 130))) + x;
        (one() << bits) - (one() << (bits - 64)) + (middle << 64u32) - one()
    }

    fn padded(self, value: &BigUint) -> Vec<u8> {
        let bytes = value.to_bytes_be();
        let mut padded = vec![0; self.bytes() - bytes.len()];
        padded.extend(bytes);
        padded
    }

    /// The public value of an exponent.
    pub fn public(self, exponent: &[u8; EXPONENT_BYTES]) -> Vec<u8> {
        if self == Group::Null {
            return Vec::new();
        }
        self.padded(&BigUint::from(2u8).modpow(&BigUint::from_bytes_be(exponent), &self.prime()))
    }

    /// The value that both sides share; `None` if the other side's value gives the exponent away.
    pub fn shared(self, exponent: &[u8; EXPONENT_BYTES], public: &[u8]) -> Option<Vec<u8>> {
        let (prime, public) = (self.prime(), BigUint::from_bytes_be(public));
        let largest = &prime - 2u8;
        if public < BigUint::from(2u8) || public > largest {
            return None;
        }
        Some(self.padded(&public.modpow(&BigUint::from_bytes_be(exponent), &prime)))
    }
}
