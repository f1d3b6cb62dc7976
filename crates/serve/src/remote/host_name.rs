//! The name of this host, to which reservations belong.

use crate::remote::address::ModuleAddress;
use parking_lot::RwLock;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

/// The files of nvme-cli, by which other programs of this machine know it too.
const HOST_ID: &str = "/etc/nvme/hostid";
const HOST_NQN: &str = "/etc/nvme/hostnqn";
/// Names of the machine, of which the second one holds until it is started again.
const MACHINE: [&str; 2] = ["/etc/machine-id", "/proc/sys/kernel/random/boot_id"];

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostName {
    /// The host identifier.
    pub id: [u8; 16],
    /// The NQN of the host.
    pub nqn: Box<str>,
}

impl HostName {
    /// The name that belongs to a host identifier.
    #[must_use]
    pub fn of_id(id: [u8; 16]) -> HostName {
        HostName { id, nqn: crate::nvme::Subsystem::nqn_of(&id).into() }
    }

    /// The name of this machine: that of nvme-cli, if there is one, or else one that is made from the machine's.
    #[must_use]
    pub fn of_machine() -> HostName {
        let read = |path: &str| Some(std::fs::read_to_string(Path::new(path)).ok()?.trim().to_owned());
        if let Some(id) = read(HOST_ID).and_then(|text| parsed(&text)) {
            let nqn = read(HOST_NQN).filter(|nqn| nqn.starts_with("nqn.") && nqn.len() <= 223);
            return HostName { nqn: nqn.map_or_else(|| HostName::of_id(id).nqn, Into::into), id };
        }
        let machine = MACHINE.iter().find_map(|path| read(path).filter(|text| !text.is_empty())).unwrap_or_default();
        HostName::of_id(made_from(&machine, ""))
    }

    /// A name that no host has had before.
    pub fn new() -> io::Result<HostName> {
        let mut id = [0; 16];
        File::open("/dev/urandom")?.read_exact(&mut id)?;
        id[6] = id[6] & 0x0F | 0x40;
        id[8] = id[8] & 0x3F | 0x80;
        Ok(HostName::of_id(id))
    }

    /// The name of a part of this host that is a host of its own to shelves, as one of two servers on one machine is.
    #[must_use]
    pub fn of_part(&self, part: &str) -> HostName {
        let own: String = self.id.iter().map(|byte| format!("{byte:02x}")).collect();
        HostName::of_id(made_from(&own, part))
    }
}

/// The names that this host has at modules where it is not the one of all others. A host that has lost a connection with
/// requests under way is another one there when it comes back, so that it can be told from the one whose requests may
/// still be carried out.
#[derive(Clone, Debug, Default)]
pub struct HostNames(Arc<RwLock<BTreeMap<String, HostName>>>);

impl HostNames {
    /// The name at a module, if it has one of its own.
    #[must_use]
    pub fn of(&self, module: &ModuleAddress) -> Option<HostName> {
        self.0.read().get(&module.to_string()).cloned()
    }

    /// The host has this name at a module from now on.
    pub fn set(&self, module: &ModuleAddress, name: HostName) {
        self.0.write().insert(module.to_string(), name);
    }

    pub(crate) fn has_another(&self, module: &ModuleAddress, host: &[u8; 16]) -> bool {
        self.0.read().get(&module.to_string()).is_some_and(|name| name.id != *host)
    }
}

/// A UUID from names (RFC 9562, version 8). The machine's own identifier is not to leave the machine.
fn made_from(name: &str, part: &str) -> [u8; 16] {
    let digest = Sha256::digest(format!("flashrig host\0{name}\0{part}"));
    let mut id = [0; 16];
    id.copy_from_slice(&digest[..16]);
    id[6] = id[6] & 0x0F | 0x80;
    id[8] = id[8] & 0x3F | 0x80;
    id
}

fn parsed(text: &str) -> Option<[u8; 16]> {
    let digits: Vec<u8> = text.bytes().filter(|byte| *byte != b'-').collect();
    if digits.len() != 32 || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let number = u128::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?;
    (number != 0).then(|| number.to_be_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_has_one_name_and_its_parts_have_others() {
        let machine = HostName::of_machine();
        assert_eq!(machine, HostName::of_machine());
        assert_ne!(machine.id, [0; 16]);
        let (one, two) = (machine.of_part("1"), machine.of_part("2"));
        assert!(one != two && one != machine && one == machine.of_part("1"));
        assert!(one.nqn.starts_with("nqn.2014-08.org.nvmexpress:uuid:"));
    }

    #[test]
    fn a_host_identifier_is_a_uuid() {
        assert_eq!(parsed("00112233-4455-6677-8899-aabbccddeeff").unwrap()[..3], [0, 0x11, 0x22]);
        for wrong in
            ["", "0", "00000000-0000-0000-0000-000000000000", "00112233-4455-6677-8899-aabbccddeegg", "+0112233"]
        {
            assert_eq!(parsed(wrong), None, "{wrong}");
        }
    }
}
