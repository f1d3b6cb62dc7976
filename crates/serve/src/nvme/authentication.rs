//! DH-HMAC-CHAP: a host proves that it knows a secret, and the controller too if the host wants it to (NVMe Base 2.0,
//! section 8.13.5). One dialog is one connection's, because each queue is authenticated by itself.
//!
//! ```text
//! host                                controller
//!  │ AUTH_Negotiate: hashes, groups ──▶ │
//!  │ ◀── Challenge: hash, group, C1, g^x │
//!  │ Reply: R1, [C2], g^y ─────────────▶ │   R1 = HMAC(key, C1' | S1 | T | SC | "HostHost" | host | 0 | subsystem)
//!  │ ◀───────────────────── Success1: [R2] │   R2 = HMAC(key, C2' | S2 | T | SC | "Controller" | subsystem | 0 | host)
//!  │ [Success2] ──────────────────────▶ │
//! ```
//!
//! With a group, C' is HMAC(H(g^xy), C); without one it is C.

use crate::nvme::answer::Answer;
use crate::nvme::bytes::{put_u16, put_u32, u16_at, u32_at};
use crate::nvme::command::Command;
use crate::nvme::group::{EXPONENT_BYTES, Group};
use crate::nvme::secret::{Hash, Secret};
use crate::nvme::status::Status;

/// The random bytes that a dialog is given with each message of the host.
pub const RANDOM_BYTES: usize = EXPONENT_BYTES + 64 + 4;

/// The secrets of a server.
#[derive(Clone, Debug)]
pub struct Secrets {
    /// The secret that hosts have to know.
    pub host: Secret,
    /// The secret by which a host that wants to knows the server.
    pub controller: Option<Secret>,
}

/// The names of both sides.
#[derive(Clone, Debug)]
pub struct Names {
    /// The NQN of the host.
    pub host: Box<str>,
    /// The NQN of the subsystem.
    pub subsystem: Box<str>,
}

const COMMON: u8 = 0;
const CHAP: u8 = 1;
const NEGOTIATE: u8 = 0;
const CHALLENGE: u8 = 1;
const REPLY: u8 = 2;
const SUCCESS_1: u8 = 3;
const SUCCESS_2: u8 = 4;
const FAILURE_2: u8 = 0xF0;
const FAILURE_1: u8 = 0xF1;

/// Explanations of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Why {
    Failed = 1,
    NoProtocol = 2,
    NoConcatenation = 3,
    NoHash = 4,
    NoGroup = 5,
    Payload = 6,
    Message = 7,
}

struct Challenge {
    hash: Hash,
    group: Group,
    value: Vec<u8>,
    exponent: Box<[u8; EXPONENT_BYTES]>,
    sequence: u32,
}

impl std::fmt::Debug for Challenge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Challenge({:?}, {:?})", self.hash, self.group)
    }
}

/// The next message that the host sends.
#[derive(Debug)]
enum Expects {
    Negotiate,
    Reply(Challenge),
    Success2,
    /// It has failed, and the connection ends.
    Nothing,
}

/// See the module.
#[derive(Debug)]
pub struct Dialog {
    names: Names,
    expects: Expects,
    transaction: u16,
    /// The message that the host gets next.
    message: Option<Vec<u8>>,
    /// The host has proved itself, as far as the message that waits is received.
    proved: bool,
    authenticated: bool,
}

impl Dialog {
    /// A dialog that has not begun.
    #[must_use]
    pub fn new(names: Names) -> Dialog {
        let (expects, proved) = (Expects::Negotiate, false);
        Dialog { names, expects, transaction: 0, message: None, proved, authenticated: false }
    }

    /// The host has proved that it knows the secret.
    #[must_use]
    pub fn is_authenticated(&self) -> bool {
        self.authenticated
    }

    /// It has failed, and the host was told so: the connection is to be ended.
    #[must_use]
    pub fn is_over(&self) -> bool {
        matches!(self.expects, Expects::Nothing) && self.message.is_none()
    }

    /// Carries out an Authentication Send or Receive (NVMe Base 2.0, sections 6.1 and 6.2).
    pub fn carry_out(
        &mut self,
        command: &Command,
        data: &[u8],
        secrets: &Secrets,
        random: &[u8; RANDOM_BYTES],
    ) -> Answer {
        let Some(length) = command.authentication_length() else { return Status::INVALID_FIELD.into() };
        if command.sends_authentication() {
            if data.len() != length as usize {
                return Status::INVALID_FIELD.into();
            }
            self.take(data, secrets, random);
            return Answer::value(0);
        }
        match self.give(length) {
            Some(message) => Answer::data(message),
            None => Status::COMMAND_SEQUENCE_ERROR.into(),
        }
    }

    /// Takes a message of the host.
    fn take(&mut self, message: &[u8], secrets: &Secrets, random: &[u8; RANDOM_BYTES]) {
        let expects = std::mem::replace(&mut self.expects, Expects::Nothing);
        let outcome = match (message.first(), message.get(1), expects) {
            // A host may begin anew at any time.
            (Some(&COMMON), Some(&NEGOTIATE), _) => self.negotiate(message, random),
            (Some(&COMMON), Some(&FAILURE_2), _) => {
                self.authenticated = false;
                self.message = None;
                return;
            }
            (Some(&CHAP), Some(&REPLY), Expects::Reply(challenge)) => self.reply(message, &challenge, secrets),
            (Some(&CHAP), Some(&SUCCESS_2), Expects::Success2) if self.is_of_this(message, 16) => {
                self.authenticated = true;
                self.expects = Expects::Negotiate;
                Ok(())
            }
            _ => Err(Why::Message),
        };
        if let Err(why) = outcome {
            self.fail(why);
        }
    }

    fn is_of_this(&self, message: &[u8], least: usize) -> bool {
        message.len() >= least && u16_at(message, 4) == self.transaction
    }

    fn fail(&mut self, why: Why) {
        let mut message = vec![COMMON, FAILURE_1, 0, 0, 0, 0, 1, why as u8];
        put_u16(&mut message, 4, self.transaction);
        self.message = Some(message);
        (self.expects, self.proved, self.authenticated) = (Expects::Nothing, false, false);
    }

    fn negotiate(&mut self, message: &[u8], random: &[u8; RANDOM_BYTES]) -> Result<(), Why> {
        if message.len() < 8 {
            return Err(Why::Payload);
        }
        self.transaction = u16_at(message, 4);
        // Secure channels are not concatenated: the transport has no TLS.
        if message[6] != 0 {
            return Err(Why::NoConcatenation);
        }
        let count = usize::from(message[7]);
        let protocols = message.get(8..8 + count * 64).ok_or(Why::Payload)?;
        let protocol = protocols.chunks_exact(64).find(|protocol| protocol[0] == 1).ok_or(Why::NoProtocol)?;
        let (hashes, groups) = (usize::from(protocol[2]), usize::from(protocol[3]));
        let (Some(hashes), Some(groups)) = (protocol.get(4..4 + hashes), protocol.get(34..34 + groups)) else {
            return Err(Why::Payload);
        };
        let hash = Hash::ALL.into_iter().find(|hash| hashes.contains(&(*hash as u8))).ok_or(Why::NoHash)?;
        let group = Group::PREFERRED.into_iter().find(|group| groups.contains(&(*group as u8))).ok_or(Why::NoGroup)?;
        let (exponent, rest) = random.split_first_chunk::<EXPONENT_BYTES>().expect("there are more");
        // No sequence number is 0.
        let sequence = u32_at(rest, 64) | 1;
        let challenge =
            Challenge { hash, group, value: rest[..hash.bytes()].to_vec(), exponent: Box::new(*exponent), sequence };
        let public = group.public(exponent);
        let mut answer = vec![0; 16];
        (answer[0], answer[1]) = (CHAP, CHALLENGE);
        put_u16(&mut answer, 4, self.transaction);
        (answer[6], answer[8], answer[9]) = (hash.bytes() as u8, hash as u8, group as u8);
        put_u16(&mut answer, 10, public.len() as u16);
        put_u32(&mut answer, 12, sequence);
        answer.extend(&challenge.value);
        answer.extend(public);
        self.message = Some(answer);
        self.proved = false;
        self.expects = Expects::Reply(challenge);
        Ok(())
    }

    fn reply(&mut self, message: &[u8], challenge: &Challenge, secrets: &Secrets) -> Result<(), Why> {
        let Challenge { hash, group, value, exponent, sequence } = challenge;
        let length = hash.bytes();
        if !self.is_of_this(message, 16) || usize::from(message[6]) != length {
            return Err(Why::Payload);
        }
        let (is_mutual, public_bytes) = (message[8] != 0, usize::from(u16_at(message, 10)));
        let (response, rest) = message[16..].split_at_checked(length).ok_or(Why::Payload)?;
        let (their_challenge, rest) = rest.split_at_checked(length).ok_or(Why::Payload)?;
        let public = rest.get(..public_bytes).filter(|_| public_bytes == group.bytes()).ok_or(Why::Payload)?;
        let secret = match group {
            Group::Null => None,
            _ => Some(hash.digest(&group.shared(exponent, public).ok_or(Why::Payload)?)),
        };
        let augmented = |challenge: &[u8]| match &secret {
            None => challenge.to_vec(),
            Some(secret) => hash.mac(secret, &[challenge]),
        };
        let Names { host, subsystem } = &self.names;
        let transaction = self.transaction.to_le_bytes();
        let key = secrets.host.key_of(host);
        let expected = hash.mac(
            &key,
            &[
                &augmented(value),
                &sequence.to_le_bytes(),
                &transaction,
                &[0],
                b"HostHost",
                host.as_bytes(),
                &[0],
                subsystem.as_bytes(),
            ],
        );
        if !is_same(&expected, response) {
            return Err(Why::Failed);
        }
        let mut answer = vec![0; 16];
        (answer[0], answer[1], answer[6]) = (CHAP, SUCCESS_1, length as u8);
        put_u16(&mut answer, 4, self.transaction);
        if is_mutual {
            let controller = secrets.controller.as_ref().ok_or(Why::Failed)?;
            let proof = hash.mac(
                &controller.key_of(subsystem),
                &[
                    &augmented(their_challenge),
                    &message[12..16],
                    &transaction,
                    &[0],
                    b"Controller",
                    subsystem.as_bytes(),
                    &[0],
                    host.as_bytes(),
                ],
            );
            answer[8] = 1;
            answer.extend(proof);
        }
        self.message = Some(answer);
        self.proved = !is_mutual;
        self.expects = if is_mutual { Expects::Success2 } else { Expects::Negotiate };
        Ok(())
    }

    /// The message for the host, in as many bytes as it has room for; `None` if there is none, or too little room.
    fn give(&mut self, room: u32) -> Option<Vec<u8>> {
        let mut message = self.message.take_if(|message| message.len() <= room as usize)?;
        if std::mem::take(&mut self.proved) {
            self.authenticated = true;
        }
        message.resize(room as usize, 0);
        Some(message)
    }
}

/// Compares in a time that does not depend on where the bytes differ.
fn is_same(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len() && one.iter().zip(other).fold(0, |all, (one, other)| all | (one ^ other)) == 0
}
