//! DH-HMAC-CHAP, as the host has it: `authentication.rs` draws the dialog and is the other side of it.

use crate::nvme::authentication::{RANDOM_BYTES, Secrets};
use crate::nvme::bytes::{put_u16, put_u32, u16_at};
use crate::nvme::group::{EXPONENT_BYTES, Group};
use crate::nvme::initiator::commands::Names;
use crate::nvme::secret::Hash;

/// The reason why the controller is not believed, or does not believe this host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChapError {
    /// The controller refuses this host.
    #[error("the shelf does not take the secret")]
    Refused,
    /// The controller does not know its own secret.
    #[error("the shelf does not prove that it knows its own secret")]
    Impostor,
    /// A message of the controller is not possible.
    #[error("a message of the authentication is not possible")]
    Message,
}

const TRANSACTION: u16 = 1;

/// The next message that the controller sends.
#[derive(Debug)]
enum Expects {
    Challenge,
    Success { proof: Option<Vec<u8>> },
    Nothing,
}

/// See the module.
#[derive(Debug)]
pub struct HostDialog {
    names: Names,
    secrets: Secrets,
    random: Box<[u8; RANDOM_BYTES]>,
    expects: Expects,
}

impl HostDialog {
    /// A dialog, and its first message. The controller has to prove itself if the secrets have one for it.
    #[must_use]
    pub fn begin(names: Names, secrets: Secrets, random: [u8; RANDOM_BYTES]) -> (HostDialog, Vec<u8>) {
        let mut message = vec![0; 8 + 64];
        put_u16(&mut message, 4, TRANSACTION);
        // No secure channel, and one protocol.
        message[7] = 1;
        let protocol = &mut message[8..];
        protocol[0] = 1;
        (protocol[2], protocol[3]) = (Hash::ALL.len() as u8, Group::PREFERRED.len() as u8);
        protocol[4..].iter_mut().zip(Hash::ALL).for_each(|(byte, hash)| *byte = hash as u8);
        protocol[34..].iter_mut().zip(Group::PREFERRED).for_each(|(byte, group)| *byte = group as u8);
        (HostDialog { names, secrets, random: Box::new(random), expects: Expects::Challenge }, message)
    }

    /// Takes a message of the controller. The next message for it, if there is one; the dialog has ended well when
    /// [`HostDialog::is_over`] says so.
    pub fn take(&mut self, message: &[u8]) -> Result<Option<Vec<u8>>, ChapError> {
        if message.len() < 16 || u16_at(message, 4) != TRANSACTION {
            return Err(ChapError::Message);
        }
        match (message[0], message[1], std::mem::replace(&mut self.expects, Expects::Nothing)) {
            (0, 0xF1, _) => Err(ChapError::Refused),
            (1, 1, Expects::Challenge) => self.reply(message).map(Some),
            (1, 3, Expects::Success { proof }) => self.succeed(message, proof),
            _ => Err(ChapError::Message),
        }
    }

    /// Both sides are satisfied.
    #[must_use]
    pub fn is_over(&self) -> bool {
        matches!(self.expects, Expects::Nothing)
    }

    fn reply(&mut self, message: &[u8]) -> Result<Vec<u8>, ChapError> {
        let hash = Hash::ALL.into_iter().find(|hash| *hash as u8 == message[8]).ok_or(ChapError::Message)?;
        let group = Group::PREFERRED.into_iter().find(|group| *group as u8 == message[9]).ok_or(ChapError::Message)?;
        let length = hash.bytes();
        let public_bytes = usize::from(u16_at(message, 10));
        if usize::from(message[6]) != length || public_bytes != group.bytes() {
            return Err(ChapError::Message);
        }
        let (challenge, rest) = message[16..].split_at_checked(length).ok_or(ChapError::Message)?;
        let public = rest.get(..public_bytes).ok_or(ChapError::Message)?;
        let (exponent, random) = self.random.split_first_chunk::<EXPONENT_BYTES>().ok_or(ChapError::Message)?;
        let shared = match group {
            Group::Null => None,
            _ => Some(hash.digest(&group.shared(exponent, public).ok_or(ChapError::Message)?)),
        };
        let augmented = |challenge: &[u8]| match &shared {
            None => challenge.to_vec(),
            Some(shared) => hash.mac(shared, &[challenge]),
        };
        let Names { host, subsystem, .. } = &self.names;
        let (host, subsystem) = (host.as_bytes(), subsystem.as_bytes());
        let transaction = TRANSACTION.to_le_bytes();
        let key = self.secrets.host.key_of(&self.names.host);
        let sequence = &message[12..16];
        let parts = [&augmented(challenge)[..], sequence, &transaction, &[0], b"HostHost", host, &[0], subsystem];
        let response = hash.mac(&key, &parts);
        let own_challenge = random[..length].to_vec();
        let own_sequence = [random[64] | 1, random[65], random[66], random[67]];
        let proof = self.secrets.controller.as_ref().map(|controller| {
            let own = augmented(&own_challenge);
            let parts = [&own[..], &own_sequence, &transaction, &[0], b"Controller", subsystem, &[0], host];
            hash.mac(&controller.key_of(&self.names.subsystem), &parts)
        });
        let public = group.public(exponent);
        let mut answer = vec![0; 16];
        (answer[0], answer[1], answer[6], answer[8]) = (1, 2, length as u8, u8::from(proof.is_some()));
        put_u16(&mut answer, 4, TRANSACTION);
        put_u16(&mut answer, 10, public.len() as u16);
        put_u32(&mut answer, 12, u32::from_le_bytes(own_sequence));
        answer.extend(response);
        answer.extend(if proof.is_some() { own_challenge } else { vec![0; length] });
        answer.extend(public);
        self.expects = Expects::Success { proof };
        Ok(answer)
    }

    fn succeed(&mut self, message: &[u8], proof: Option<Vec<u8>>) -> Result<Option<Vec<u8>>, ChapError> {
        let Some(proof) = proof else { return Ok(None) };
        let found = message.get(16..16 + proof.len()).filter(|_| message[8] != 0 && message[6] as usize == proof.len());
        let is_same =
            found.is_some_and(|found| found.iter().zip(&proof).fold(0, |all, (one, other)| all | (one ^ other)) == 0);
        if !is_same {
            return Err(ChapError::Impostor);
        }
        let mut answer = vec![0; 16];
        (answer[0], answer[1]) = (1, 4);
        put_u16(&mut answer, 4, TRANSACTION);
        Ok(Some(answer))
    }
}
