//! Emptying an NVMe drive by its own command: Format NVM, or Sanitize.
//!
//! Both can't be taken back, and both may reach further than the namespace that was named: Sanitize empties the whole
//! drive, and so does Format on drives that say so. Invariant: a drive that has more namespaces than the one named is
//! refused where they would be emptied with it, before the first command that changes anything.
//!
//! Section numbers are those of NVM Express Base Specification 2.0; offsets of Identify Namespace are those of NVM
//! Command Set Specification 1.0, section 4.1.5.1.

use std::fmt;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;
use std::time::Duration;

const IDENTIFY: u8 = 0x06;
const GET_LOG_PAGE: u8 = 0x02;
const FORMAT_NVM: u8 = 0x80;
const SANITIZE: u8 = 0x84;
/// Identify: a namespace, the controller, the list of active namespaces, and that of all there are.
const CNS_NAMESPACE: u32 = 0x00;
const CNS_CONTROLLER: u32 = 0x01;
const CNS_ACTIVE: u32 = 0x02;
const CNS_ALLOCATED: u32 = 0x10;
const IDENTIFY_BYTES: usize = 4096;
/// Optional Admin Command Support (5.17.2.1): Format NVM, and namespace management.
const OACS_AT: usize = 256;
const OACS_FORMAT: u16 = 1 << 1;
const OACS_NAMESPACES: u16 = 1 << 3;
/// Sanitize Capabilities: crypto erase, block erase.
const SANICAP_AT: usize = 328;
const SANICAP_CRYPTO: u32 = 1;
const SANICAP_BLOCK: u32 = 1 << 1;
/// Format NVM Attributes: a format, and an erasure with it, reach all namespaces.
const FNA_AT: usize = 524;
const FNA_ALL: u8 = 0b11;
/// Formatted LBA Size, and End-to-end Data Protection Type Settings, of a namespace.
const FLBAS_AT: usize = 26;
const DPS_AT: usize = 29;
/// Secure Erase Settings of Format NVM (5.14): user data are erased.
const ERASE_USER_DATA: u32 = 1 << 9;
/// Sanitize Action (5.24): block erase, crypto erase; a drive whose sanitize failed may be used again.
const SANITIZE_BLOCK: u32 = 2;
const SANITIZE_CRYPTO: u32 = 4;
const ALLOW_UNRESTRICTED_EXIT: u32 = 1 << 3;
const LOG_SANITIZE: u32 = 0x81;
const LOG_SANITIZE_BYTES: usize = 512;
/// Formatting a large drive takes minutes; no drive says how many.
const FORMAT_PATIENCE: Duration = Duration::from_secs(3600);
const PATIENCE: Duration = Duration::from_secs(60);

/// The command that empties a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PurgeBy {
    /// All of it is discarded.
    #[default]
    Discard,
    /// NVMe's Format NVM, with erasure of user data and the format of blocks that it has.
    Format,
    /// NVMe's Sanitize: block erase, or crypto erase where the drive has no other.
    Sanitize,
}

impl fmt::Display for PurgeBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PurgeBy::Discard => "discard",
            PurgeBy::Format => "format",
            PurgeBy::Sanitize => "sanitize",
        })
    }
}

/// The reason why a drive is not emptied by such a command.
#[derive(Debug, thiserror::Error)]
pub enum PurgeError {
    /// A file, or a device of another kind.
    #[error("is no NVMe drive: leave out --purge {0}, and it is discarded")]
    NoNvme(PurgeBy),
    /// A part of a drive.
    #[error("is a partition, and --purge {0} empties the whole drive: name the drive")]
    Partition(PurgeBy),
    /// The drive does not have the command.
    #[error("the drive has no {0} that empties it: leave out --purge, and it is discarded")]
    Missing(PurgeBy),
    /// It would empty namespaces that nobody named.
    #[error("--purge {by} would empty all {namespaces} namespaces of the drive, not the named one alone")]
    Others {
        /// The command that was asked for.
        by: PurgeBy,
        /// Namespaces that the drive has.
        namespaces: usize,
    },
    /// A sanitize that somebody began before.
    #[error("the drive is sanitizing itself, {percent:.0} % done: try again when it has ended (nvme sanitize-log)")]
    Busy {
        /// How far it is.
        percent: f64,
    },
    /// The sanitize that was begun has failed.
    #[error("the drive's sanitize has failed: see nvme sanitize-log; the drive is failing, do not trust it")]
    Failed,
    /// The drive answers a command with an error.
    #[error("the drive refuses {command}: status {status:#05x} (NVMe Base 2.0, section 3.3.3.2.1)")]
    Status {
        /// Name of the command.
        command: &'static str,
        /// Status code type and status code.
        status: u16,
    },
    /// The kernel does not pass a command on.
    #[error("the kernel passes no {command} to the drive: {source}: run as root, and see dmesg")]
    Kernel {
        /// Name of the command.
        command: &'static str,
        /// The kernel's error.
        source: io::Error,
    },
}

/// An admin command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Admin {
    pub opcode: u8,
    pub namespace: u32,
    pub dword10: u32,
    /// The kernel gives it up after this time.
    pub patience: Duration,
}

/// A taker of admin commands: a drive, or a test's.
pub(crate) trait Controller {
    /// The number of the namespace that was opened.
    fn namespace(&self) -> io::Result<u32>;
    /// Carries out a command, whose data come back in `data`; returns its status, 0 if it worked.
    fn admin(&self, admin: &Admin, data: &mut [u8]) -> io::Result<u16>;
}

/// An erasure that was found to reach no further than it may. Nothing has happened yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Erasure {
    by: PurgeBy,
    namespace: u32,
    dword10: u32,
}

/// How far a sanitize is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Standing {
    /// This share is done.
    Under(f64),
    /// It has ended.
    Done,
}

/// Returns what a purge of an open device would do by a command of its own; `None`: it is discarded.
pub(crate) fn erasure(file: &File, by: PurgeBy) -> Result<Option<Erasure>, PurgeError> {
    if by == PurgeBy::Discard {
        return Ok(None);
    }
    let Ok(stat) = rustix::fs::fstat(file) else { return Err(PurgeError::NoNvme(by)) };
    let number = format!("{}:{}", rustix::fs::major(stat.st_rdev), rustix::fs::minor(stat.st_rdev));
    if Path::new("/sys/dev/block").join(number).join("partition").exists() {
        return Err(PurgeError::Partition(by));
    }
    examine(&file.as_fd(), by).map(Some)
}

/// Asks the drive what it has, and finds out what a purge would reach.
pub(crate) fn examine(drive: &dyn Controller, by: PurgeBy) -> Result<Erasure, PurgeError> {
    let namespace = match drive.namespace() {
        Ok(namespace) => namespace,
        Err(error) if matches!(error.raw_os_error(), Some(libc::ENOTTY | libc::EINVAL | libc::EOPNOTSUPP)) => {
            return Err(PurgeError::NoNvme(by));
        }
        Err(source) => return Err(PurgeError::Kernel { command: "a question", source }),
    };
    let controller = identify(drive, 0, CNS_CONTROLLER)?;
    let oacs = u16::from_le_bytes([controller[OACS_AT], controller[OACS_AT + 1]]);
    let all_there_are = if oacs & OACS_NAMESPACES != 0 { CNS_ALLOCATED } else { CNS_ACTIVE };
    let list = identify(drive, 0, all_there_are)?;
    let namespaces = list.chunks_exact(4).take_while(|number| *number != [0; 4]).count();
    let (reaches_all, dword10) = match by {
        PurgeBy::Discard => return Err(PurgeError::Missing(by)),
        PurgeBy::Format if oacs & OACS_FORMAT == 0 => return Err(PurgeError::Missing(by)),
        PurgeBy::Format => {
            let as_it_is = format_of(&identify(drive, namespace, CNS_NAMESPACE)?);
            (controller[FNA_AT] & FNA_ALL != 0, as_it_is | ERASE_USER_DATA)
        }
        PurgeBy::Sanitize => {
            let has = four(&controller, SANICAP_AT);
            let action = match (has & SANICAP_BLOCK != 0, has & SANICAP_CRYPTO != 0) {
                (true, _) => SANITIZE_BLOCK,
                (_, true) => SANITIZE_CRYPTO,
                // An overwrite leaves it full, and worn.
                _ => return Err(PurgeError::Missing(by)),
            };
            if let Standing::Under(share) = standing(drive)? {
                return Err(PurgeError::Busy { percent: 100.0 * share });
            }
            (true, action | ALLOW_UNRESTRICTED_EXIT)
        }
    };
    if reaches_all && namespaces > 1 {
        return Err(PurgeError::Others { by, namespaces });
    }
    Ok(Erasure { by, namespace, dword10 })
}

/// Begins it: a format has ended when this returns, a sanitize goes on by itself ([`standing`]), whatever becomes of us.
pub(crate) fn begin(drive: &dyn Controller, erasure: Erasure) -> Result<(), PurgeError> {
    let Erasure { by, namespace, dword10 } = erasure;
    let (command, opcode, namespace, patience) = match by {
        PurgeBy::Sanitize => ("Sanitize", SANITIZE, 0, PATIENCE),
        _ => ("Format NVM", FORMAT_NVM, namespace, FORMAT_PATIENCE),
    };
    ask(drive, command, &Admin { opcode, namespace, dword10, patience }, &mut [])
}

/// How far the drive's sanitize is; one that never was has ended.
pub(crate) fn standing(drive: &dyn Controller) -> Result<Standing, PurgeError> {
    let mut log = [0; LOG_SANITIZE_BYTES];
    let dwords = (LOG_SANITIZE_BYTES / 4 - 1) as u32;
    let admin =
        Admin { opcode: GET_LOG_PAGE, namespace: u32::MAX, dword10: LOG_SANITIZE | dwords << 16, patience: PATIENCE };
    ask(drive, "Get Log Page", &admin, &mut log)?;
    // Sanitize Progress, in parts of 65,536, and Sanitize Status (5.16.1.24).
    match log[2] & 0b111 {
        2 => Ok(Standing::Under(f64::from(u16::from_le_bytes([log[0], log[1]])) / 65_536.0)),
        3 => Err(PurgeError::Failed),
        _ => Ok(Standing::Done),
    }
}

/// Dword 10 of the Format NVM that leaves the size of blocks, their metadata and their protection as they are.
fn format_of(namespace: &[u8]) -> u32 {
    let (formatted, protection) = (u32::from(namespace[FLBAS_AT]), u32::from(namespace[DPS_AT]));
    let (lower, in_line, upper) = (formatted & 0xf, formatted >> 4 & 1, formatted >> 5 & 0b11);
    lower | in_line << 4 | (protection & 0b111) << 5 | (protection >> 3 & 1) << 8 | upper << 12
}

fn identify(drive: &dyn Controller, namespace: u32, what: u32) -> Result<Vec<u8>, PurgeError> {
    let mut data = vec![0; IDENTIFY_BYTES];
    ask(drive, "Identify", &Admin { opcode: IDENTIFY, namespace, dword10: what, patience: PATIENCE }, &mut data)?;
    Ok(data)
}

fn ask(drive: &dyn Controller, command: &'static str, admin: &Admin, data: &mut [u8]) -> Result<(), PurgeError> {
    match drive.admin(admin, data) {
        Ok(0) => Ok(()),
        Ok(status) => Err(PurgeError::Status { command, status }),
        Err(source) => Err(PurgeError::Kernel { command, source }),
    }
}

fn four(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    /// A drive with some namespaces, which keeps the commands that change anything.
    #[derive(Default)]
    struct Drive {
        oacs: u16,
        sanicap: u32,
        fna: u8,
        /// Active, and allocated.
        namespaces: (u32, u32),
        flbas: u8,
        dps: u8,
        sanitize: (u16, u8),
        status: u16,
        changed: RefCell<Vec<(u8, u32, u32)>>,
    }

    impl Controller for Drive {
        fn namespace(&self) -> io::Result<u32> {
            if self.namespaces.0 == 0 { Err(io::Error::from_raw_os_error(libc::ENOTTY)) } else { Ok(1) }
        }

        fn admin(&self, admin: &Admin, data: &mut [u8]) -> io::Result<u16> {
            match (admin.opcode, admin.dword10) {
                (IDENTIFY, CNS_CONTROLLER) => {
                    data[OACS_AT..OACS_AT + 2].copy_from_slice(&self.oacs.to_le_bytes());
                    data[SANICAP_AT..SANICAP_AT + 4].copy_from_slice(&self.sanicap.to_le_bytes());
                    data[FNA_AT] = self.fna;
                }
                (IDENTIFY, CNS_NAMESPACE) => {
                    assert_eq!(admin.namespace, 1);
                    (data[FLBAS_AT], data[DPS_AT]) = (self.flbas, self.dps);
                }
                (IDENTIFY, what) => {
                    let count = if what == CNS_ACTIVE { self.namespaces.0 } else { self.namespaces.1 };
                    for (number, place) in (1..=count).zip(data.chunks_exact_mut(4)) {
                        place.copy_from_slice(&number.to_le_bytes());
                    }
                }
                (GET_LOG_PAGE, what) => {
                    assert_eq!((what & 0xff, (what >> 16) + 1), (LOG_SANITIZE, 128));
                    data[..2].copy_from_slice(&self.sanitize.0.to_le_bytes());
                    data[2] = self.sanitize.1;
                }
                (opcode, dword10) => self.changed.borrow_mut().push((opcode, admin.namespace, dword10)),
            }
            Ok(self.status)
        }
    }

    fn drive() -> Drive {
        Drive { oacs: OACS_FORMAT, sanicap: SANICAP_BLOCK, namespaces: (1, 1), ..Drive::default() }
    }

    #[test]
    fn a_format_leaves_blocks_metadata_and_protection_as_they_are() {
        // Format 0x23: metadata at the end of blocks, protection of type 2 in the first bytes.
        let one = Drive { flbas: 0b0101_0011, dps: 0b1010, ..drive() };
        let erasure = examine(&one, PurgeBy::Format).unwrap();
        begin(&one, erasure).unwrap();
        let expected = 0x3 | 1 << 4 | 2 << 5 | 1 << 8 | 1 << 9 | 2 << 12;
        assert_eq!(*one.changed.borrow(), [(FORMAT_NVM, 1, expected)]);
    }

    #[test]
    fn a_sanitize_is_a_block_erase_or_a_crypto_erase_and_no_overwrite() {
        for (sanicap, action) in [(SANICAP_BLOCK | SANICAP_CRYPTO, 2), (SANICAP_CRYPTO, 4)] {
            let one = Drive { sanicap, ..drive() };
            begin(&one, examine(&one, PurgeBy::Sanitize).unwrap()).unwrap();
            assert_eq!(*one.changed.borrow(), [(SANITIZE, 0, action | 8)]);
        }
        let only_overwrites = Drive { sanicap: 1 << 2, ..drive() };
        let text = examine(&only_overwrites, PurgeBy::Sanitize).unwrap_err().to_string();
        assert_eq!(text, "the drive has no sanitize that empties it: leave out --purge, and it is discarded");
    }

    #[test]
    fn namespaces_that_nobody_named_are_not_emptied() {
        let text = |one: &Drive, by| {
            let text = examine(one, by).err().map(|error| error.to_string());
            assert!(one.changed.borrow().is_empty());
            text
        };
        let two = Drive { namespaces: (2, 2), ..drive() };
        assert_eq!(text(&two, PurgeBy::Format), None);
        let said = "--purge sanitize would empty all 2 namespaces of the drive, not the named one alone";
        assert_eq!(text(&two, PurgeBy::Sanitize).as_deref(), Some(said));
        for fna in [0b01, 0b10] {
            let all = Drive { fna, namespaces: (2, 2), ..drive() };
            assert!(text(&all, PurgeBy::Format).unwrap().starts_with("--purge format would empty all 2"));
        }
        // One that no controller here sees is there all the same.
        let hidden = Drive { oacs: OACS_FORMAT | OACS_NAMESPACES, fna: 1, namespaces: (1, 3), ..drive() };
        assert!(text(&hidden, PurgeBy::Format).unwrap().contains("all 3 namespaces"));
    }

    #[test]
    fn a_device_that_is_no_nvme_drive_or_lacks_the_command_or_is_busy_is_refused_in_one_line() {
        let text = |one: &Drive, by| examine(one, by).unwrap_err().to_string();
        let other = Drive { namespaces: (0, 0), ..drive() };
        assert_eq!(text(&other, PurgeBy::Format), "is no NVMe drive: leave out --purge format, and it is discarded");
        assert!(text(&Drive { oacs: 0, ..drive() }, PurgeBy::Format).starts_with("the drive has no format"));
        let busy = Drive { sanitize: (16_384, 2), ..drive() };
        assert!(text(&busy, PurgeBy::Sanitize).starts_with("the drive is sanitizing itself, 25 % done"));
        assert!(text(&Drive { sanitize: (0, 3), ..drive() }, PurgeBy::Sanitize).contains("has failed"));
        let said = "the drive refuses Identify: status 0x002 (NVMe Base 2.0, section 3.3.3.2.1)";
        assert_eq!(text(&Drive { status: 2, ..drive() }, PurgeBy::Format), said);
        let done = Drive { sanitize: (0xffff, 1), ..drive() };
        assert_eq!(standing(&done).unwrap(), Standing::Done);
    }
}
