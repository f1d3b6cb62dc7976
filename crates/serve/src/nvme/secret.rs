//! Secrets of DH-HMAC-CHAP in their portable form, and the hashes that it knows (NVMe Base 2.0, section 8.13.5).
//!
//! A secret is written `DHHC-1:hh:base64:`. The hash `hh` turns the key into one that is bound to its owner's name; 00 says
//! that the key is used as it is. The base64 holds the key and its CRC-32, so that a typing error is found.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256, Sha384, Sha512};
use std::fmt;
use std::str::FromStr;

/// A hash of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hash {
    Sha256 = 1,
    Sha384 = 2,
    Sha512 = 3,
}

impl Hash {
    /// All of them, the longest first.
    pub const ALL: [Hash; 3] = [Hash::Sha512, Hash::Sha384, Hash::Sha256];

    /// Bytes of a digest.
    pub fn bytes(self) -> usize {
        match self {
            Hash::Sha256 => 32,
            Hash::Sha384 => 48,
            Hash::Sha512 => 64,
        }
    }

    pub fn digest(self, bytes: &[u8]) -> Vec<u8> {
        match self {
            Hash::Sha256 => Sha256::digest(bytes).to_vec(),
            Hash::Sha384 => Sha384::digest(bytes).to_vec(),
            Hash::Sha512 => Sha512::digest(bytes).to_vec(),
        }
    }

    /// The HMAC of the parts, one behind the other.
    pub fn mac(self, key: &[u8], parts: &[&[u8]]) -> Vec<u8> {
        fn run<M: Mac + KeyInit>(key: &[u8], parts: &[&[u8]]) -> Vec<u8> {
            let mut mac = <M as KeyInit>::new_from_slice(key).expect("a key may have any length");
            parts.iter().for_each(|part| mac.update(part));
            mac.finalize().into_bytes().to_vec()
        }
        match self {
            Hash::Sha256 => run::<Hmac<Sha256>>(key, parts),
            Hash::Sha384 => run::<Hmac<Sha384>>(key, parts),
            Hash::Sha512 => run::<Hmac<Sha512>>(key, parts),
        }
    }
}

/// A secret that a host and a subsystem share.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret {
    transform: Option<Hash>,
    key: Vec<u8>,
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// The reason why a text is no secret. It does not repeat the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SecretError {
    /// The text has another form.
    #[error("a secret is written DHHC-1:HASH:BASE64: (nvme gen-dhchap-key makes one)")]
    Form,
    /// The hash is none of those that there are.
    #[error("the hash of a secret is 00, 01, 02 or 03")]
    Hash,
    /// The key is too short or too long.
    #[error("the key of a secret has 32, 48 or 64 bytes")]
    Length,
    /// A typing error.
    #[error("the secret is damaged: its checksum is wrong")]
    Checksum,
}

impl FromStr for Secret {
    type Err = SecretError;

    fn from_str(text: &str) -> Result<Secret, SecretError> {
        let body = text.strip_prefix("DHHC-1:").and_then(|body| body.strip_suffix(':')).ok_or(SecretError::Form)?;
        let (hash, encoded) = body.split_once(':').ok_or(SecretError::Form)?;
        let transform = match hash {
            "00" => None,
            "01" => Some(Hash::Sha256),
            "02" => Some(Hash::Sha384),
            "03" => Some(Hash::Sha512),
            _ => return Err(SecretError::Hash),
        };
        let bytes = STANDARD.decode(encoded).map_err(|_| SecretError::Form)?;
        let (key, sum) = bytes.split_last_chunk::<4>().ok_or(SecretError::Length)?;
        if !matches!(key.len(), 32 | 48 | 64) {
            return Err(SecretError::Length);
        }
        if crc32(key) != u32::from_le_bytes(*sum) {
            return Err(SecretError::Checksum);
        }
        Ok(Secret { transform, key: key.to_vec() })
    }
}

impl Secret {
    /// The key, bound to the name of its owner.
    pub fn key_of(&self, nqn: &str) -> Vec<u8> {
        match self.transform {
            None => self.key.clone(),
            Some(hash) => hash.mac(&self.key, &[nqn.as_bytes(), b"NVMe-over-Fabrics"]),
        }
    }
}

/// The CRC-32 of Ethernet and zip.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0u32, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| sum >> 1 ^ if sum & 1 != 0 { 0xEDB8_8320 } else { 0 })
    })
}
