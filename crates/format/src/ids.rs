//! Ids of cards and modules: 16 random bytes each, which are never used again.

use std::fmt;

/// The id of a card. All modules of the card have it, whatever slot or host they are in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CardId(pub [u8; 16]);

/// The id of a module, which it keeps for life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ModuleId(pub [u8; 16]);

impl CardId {
    /// The low 64 bits: the first eight bytes, little-endian. A spare area has room for only these.
    pub fn short(&self) -> u64 {
        u64::from_le_bytes(std::array::from_fn(|at| self.0[at]))
    }
}

impl fmt::Display for CardId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_dashed(&self.0, f)
    }
}

impl fmt::Display for ModuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_dashed(&self.0, f)
    }
}

/// Writes an id as hex digits in groups of 8, 4, 4, 4 and 12.
fn write_dashed(bytes: &[u8; 16], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for (at, byte) in bytes.iter().enumerate() {
        let dash = if matches!(at, 4 | 6 | 8 | 10) { "-" } else { "" };
        write!(f, "{dash}{byte:02x}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES: [u8; 16] =
        [0x10, 0x21, 0x32, 0x43, 0x54, 0x65, 0x76, 0x87, 0x98, 0xa9, 0xba, 0xcb, 0xdc, 0xed, 0xfe, 0x0f];

    #[test]
    fn ids_are_shown_as_hex_in_groups() {
        assert_eq!(CardId(BYTES).to_string(), "10213243-5465-7687-98a9-bacbdcedfe0f");
        assert_eq!(ModuleId(BYTES).to_string(), CardId(BYTES).to_string());
    }

    #[test]
    fn a_short_id_has_the_first_bytes() {
        assert_eq!(CardId(BYTES).short(), 0x8776_6554_4332_2110);
    }
}
