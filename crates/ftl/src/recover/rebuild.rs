//! A lost member of a stripe from all others.

use format::{Role, Spare, payload_crc};

/// XOR of the same-numbered sectors of a stripe's members, as they are read one after the other.
#[derive(Clone, Debug)]
pub struct Rebuild {
    payload: Vec<u8>,
    lba: u32,
    version: u64,
    role: u8,
    crc: u32,
}

/// What was rebuilt, beside its payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rebuilt {
    /// What the payload is.
    pub role: Role,
    /// As in the spare area that is lost.
    pub lba: u32,
    /// As in the spare area that is lost.
    pub version: u64,
}

/// Why a member can't be rebuilt although all others were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RebuildError {
    /// What it was can't be.
    #[error("the other members of the stripe make a role of {0}")]
    Role(u8),
    /// The payload is not what its checksum says.
    #[error("rebuilt payload has checksum {computed:#010x} instead of {found:#010x}")]
    Checksum {
        /// The checksum that was rebuilt.
        found: u32,
        /// Of the payload that was rebuilt.
        computed: u32,
    },
}

impl Rebuild {
    /// Of nothing so far.
    pub fn new(payload_bytes: usize) -> Rebuild {
        Rebuild { payload: vec![0; payload_bytes], lba: 0, version: 0, role: 0, crc: 0 }
    }

    /// Of nothing again.
    pub fn clear(&mut self) {
        self.payload.fill(0);
        (self.lba, self.version, self.role, self.crc) = (0, 0, 0, 0);
    }

    /// Adds a member that was read and checked.
    pub fn add(&mut self, spare: &Spare, payload: &[u8]) {
        for (sum, byte) in self.payload.iter_mut().zip(payload) {
            *sum ^= byte;
        }
        let (role, crc) = match spare.role {
            Role::Parity => (spare.member_role, spare.member_crc),
            role => (role as u8, spare.payload_crc),
        };
        self.lba ^= spare.lba;
        self.version ^= spare.version;
        self.role ^= role;
        self.crc ^= crc;
    }

    /// All members were added but one, which is not parity: what that one is.
    pub fn finish(&self) -> Result<Rebuilt, RebuildError> {
        let role = Role::from_byte(self.role).filter(|role| *role != Role::Parity);
        let role = role.ok_or(RebuildError::Role(self.role))?;
        let computed = payload_crc(&self.payload);
        if computed != self.crc {
            return Err(RebuildError::Checksum { found: self.crc, computed });
        }
        Ok(Rebuilt { role, lba: self.lba, version: self.version })
    }

    /// All members were added but parity: its spare area. `place` says the rest of it.
    pub fn parity(&self, place: &Spare) -> Spare {
        Spare {
            role: Role::Parity,
            lba: self.lba,
            version: self.version,
            payload_crc: payload_crc(&self.payload),
            member_role: self.role,
            member_crc: self.crc,
            ..*place
        }
    }

    /// All members were added but one, which is not parity: its spare area. `place` says the rest of it.
    pub fn member(&self, place: &Spare) -> Result<Spare, RebuildError> {
        let Rebuilt { role, lba, version } = self.finish()?;
        Ok(Spare { role, lba, version, payload_crc: self.crc, member_role: 0, member_crc: 0, ..*place })
    }

    /// The payload of the one that was not added.
    pub fn payload(&self) -> &[u8] {
        &self.payload
    }

    /// All members were added: parity is what the others say it should be.
    pub fn is_consistent(&self) -> bool {
        let fields = (self.lba, self.version, self.role, self.crc);
        fields == (0, 0, 0, 0) && self.payload.iter().all(|byte| *byte == 0)
    }
}
