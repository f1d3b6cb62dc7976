//! A lost member of a stripe from all others.

use format::{MAX_STRIPE_UNITS, Role, Spare, payload_crc};

/// XOR of the same-numbered sectors of a stripe's members, as they are read one after the other.
#[derive(Clone, Debug)]
pub struct Rebuild {
    payload: Vec<u8>,
    lba: u32,
    version: u64,
    role: u8,
    crc: u32,
}

/// A member that was rebuilt, without its payload: the fields of its spare area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rebuilt {
    /// The kind of sector that the payload is.
    pub role: Role,
    /// The LBA, as the lost spare area had it.
    pub lba: u32,
    /// The version, as the lost spare area had it.
    pub version: u64,
}

/// The reason why a member can't be rebuilt although all others were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant says what its fields are")]
pub enum RebuildError {
    /// No sector has the role that the other members make.
    #[error("the other members of the stripe make a role of {0}")]
    Role(u8),
    /// The rebuilt payload does not match the rebuilt checksum.
    #[error("rebuilt payload has checksum {computed:#010x} instead of {found:#010x}")]
    Checksum { found: u32, computed: u32 },
}

/// The bytes that are summed up at once.
const PIECE: usize = 128;
/// As words: where the compiler finds no vector instructions for a loop over them, it takes eight bytes at a time.
type Words = [u64; PIECE / 8];

fn words(bytes: &[u8; PIECE]) -> Words {
    let (words, _) = bytes.as_chunks();
    std::array::from_fn(|word| u64::from_ne_bytes(words[word]))
}

/// Puts the XOR of `members` into `sum`; all have one length. Works a piece at a time, so that the piece stays in
/// registers while all members are read. It is compiled by itself, and in words: link-time optimisation is done as the
/// package of the command is built, for size, without vector instructions, and left a loop over single bytes.
#[inline(never)]
fn xor(sum: &mut [u8], members: &[&[u8]]) {
    let mut at = 0;
    let (pieces, rest) = sum.as_chunks_mut::<PIECE>();
    for piece in pieces {
        let mut of_all: Words = [0; PIECE / 8];
        for member in members {
            let part = words(member[at..].first_chunk().expect("members have one length"));
            of_all.iter_mut().zip(part).for_each(|(sum, word)| *sum ^= word);
        }
        let (to, _) = piece.as_chunks_mut();
        to.iter_mut().zip(of_all).for_each(|(to, word)| *to = word.to_ne_bytes());
        at += PIECE;
    }
    rest.fill(0);
    for member in members {
        rest.iter_mut().zip(&member[at..]).for_each(|(sum, byte)| *sum ^= byte);
    }
}

impl Rebuild {
    /// A sum without members.
    pub fn new(payload_bytes: usize) -> Rebuild {
        Rebuild { payload: vec![0; payload_bytes], lba: 0, version: 0, role: 0, crc: 0 }
    }

    /// Removes all members from the sum.
    pub fn clear(&mut self) {
        self.payload.fill(0);
        (self.lba, self.version, self.role, self.crc) = (0, 0, 0, 0);
    }

    /// Adds the spare area of a member that was read and checked, whose payload is left out: [`Rebuild::finish_spare`] is
    /// all that may be asked then.
    pub(super) fn add_spare_alone(&mut self, spare: &Spare) {
        self.add_spare(spare);
    }

    /// The spare area of the one member that was not added, when those of all others were. It must not be parity. Whether
    /// its payload can be rebuilt is not known.
    pub(super) fn finish_spare(&self) -> Result<Rebuilt, RebuildError> {
        let role = Role::from_byte(self.role).filter(|role| *role != Role::Parity);
        let role = role.ok_or(RebuildError::Role(self.role))?;
        Ok(Rebuilt { role, lba: self.lba, version: self.version })
    }

    /// Adds a member that was read and checked.
    pub fn add(&mut self, spare: &Spare, payload: &[u8]) {
        for (sum, byte) in self.payload.iter_mut().zip(payload) {
            *sum ^= byte;
        }
        self.add_spare(spare);
    }

    /// Sets the sum to that of all these members. Each payload is read once, where it lies.
    pub fn set<'a>(&mut self, members: impl Iterator<Item = (&'a Spare, &'a [u8])>) {
        (self.lba, self.version, self.role, self.crc) = (0, 0, 0, 0);
        let mut payloads: [&[u8]; MAX_STRIPE_UNITS as usize] = [&[]; MAX_STRIPE_UNITS as usize];
        let mut count = 0;
        for (spare, payload) in members {
            self.add_spare(spare);
            assert_eq!(payload.len(), self.payload.len(), "members have one length");
            payloads[count] = payload;
            count += 1;
        }
        xor(&mut self.payload, &payloads[..count]);
    }

    fn add_spare(&mut self, spare: &Spare) {
        let (role, crc) = match spare.role {
            Role::Parity => (spare.member_role, spare.member_crc),
            role => (role as u8, spare.payload_crc),
        };
        self.lba ^= spare.lba;
        self.version ^= spare.version;
        self.role ^= role;
        self.crc ^= crc;
    }

    /// The one member that was not added, when all others were. It must not be parity.
    pub fn finish(&self) -> Result<Rebuilt, RebuildError> {
        let rebuilt = self.finish_spare()?;
        let computed = payload_crc(&self.payload);
        if computed != self.crc {
            return Err(RebuildError::Checksum { found: self.crc, computed });
        }
        Ok(rebuilt)
    }

    /// The spare area of parity, when all other members were added. `place` has the fields that depend on the place.
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

    /// The spare area of the one member that was not added, when all others were. It must not be parity. `place` has
    /// the fields that depend on the place.
    pub fn member(&self, place: &Spare) -> Result<Spare, RebuildError> {
        let Rebuilt { role, lba, version } = self.finish()?;
        Ok(Spare { role, lba, version, payload_crc: self.crc, member_role: 0, member_crc: 0, ..*place })
    }

    /// The payload of the one member that was not added.
    pub fn payload(&self) -> &[u8] {
        &self.payload
    }

    /// Whether parity agrees with the others, when all members were added.
    pub fn is_consistent(&self) -> bool {
        let fields = (self.lba, self.version, self.role, self.crc);
        fields == (0, 0, 0, 0) && self.payload.iter().all(|byte| *byte == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::{Rebuild, Rebuilt, xor};
    use format::{Role, Spare, payload_crc};

    fn spare(role: Role, lba: u32, version: u64, payload: &[u8]) -> Spare {
        Spare {
            card: 1,
            role,
            slc: false,
            stream: 0,
            lba,
            version,
            band: 2,
            band_sequence: 3,
            stripe: 4,
            unit: 0,
            sector: 0,
            members: 0b111,
            payload_crc: payload_crc(payload),
            member_role: 0,
            member_crc: 0,
        }
    }

    #[test]
    fn members_and_their_parity_agree_and_nothing_else_does() {
        let payloads = [[7u8; 16], [9; 16]];
        let members = [spare(Role::Data, 5, 60, &payloads[0]), spare(Role::Holes, 8, 90, &payloads[1])];
        let mut sum = Rebuild::new(16);
        members.iter().zip(&payloads).for_each(|(spare, payload)| sum.add(spare, payload));
        let (parity, of_parity) = (sum.parity(&members[0]), sum.payload().to_vec());
        let agree = |change: fn(&mut Spare, &mut Vec<u8>)| {
            let (mut parity, mut payload) = (parity, of_parity.clone());
            change(&mut parity, &mut payload);
            let mut all = sum.clone();
            all.add(&parity, &payload);
            all.is_consistent()
        };
        assert!(agree(|_, _| {}));
        assert!(!agree(|parity, _| parity.lba ^= 1));
        assert!(!agree(|parity, _| parity.version ^= 1));
        assert!(!agree(|parity, _| parity.member_role ^= 1));
        assert!(!agree(|parity, _| parity.member_crc ^= 1));
        assert!(!agree(|_, payload| payload[15] ^= 1));
        // Without the second member, the rest make it up, as it was.
        let mut rest = Rebuild::new(16);
        rest.add(&members[0], &payloads[0]);
        rest.add(&parity, &of_parity);
        assert_eq!(rest.finish(), Ok(Rebuilt { role: Role::Holes, lba: 8, version: 90 }));
        assert_eq!(rest.member(&parity), Ok(members[1]));
        assert_eq!(rest.payload(), payloads[1]);
    }

    #[test]
    fn pieces_and_the_rest_of_a_payload_are_the_xor_of_all() {
        for len in [1, 16, 127, 128, 300, 4096] {
            let member = |mark: usize| (0..len).map(|at| (at * mark + at / 256) as u8).collect::<Vec<u8>>();
            let members = [member(3), member(7), member(11)];
            let refs: Vec<&[u8]> = members.iter().map(Vec::as_slice).collect();
            let mut sum = vec![9; len];
            xor(&mut sum, &refs);
            assert!((0..len).all(|at| sum[at] == members[0][at] ^ members[1][at] ^ members[2][at]), "{len}");
        }
    }
}
