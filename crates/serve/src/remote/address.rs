//! The addresses of shelves and of modules on them: `HOST:PORT` and `nvme://HOST:PORT/NQN`.

use crate::address::AddressText;
use std::fmt;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The beginning of a module's address.
const SCHEME: &str = "nvme://";
/// The longest NQN, in bytes.
const MAX_NQN_BYTES: usize = 223;

/// The reason why a text is no address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant says what its fields are")]
pub enum ModuleAddressError {
    /// There is no host, or no port.
    #[error("{text:?} is no shelf: write HOST:PORT")]
    Shelf { text: AddressText },
    /// It is not of the form of a module's address.
    #[error("{text:?} is no module on a shelf: write nvme://HOST:PORT/NQN")]
    Module { text: AddressText },
}

/// The host and port of a shelf.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ShelfAddress(Box<str>);

impl FromStr for ShelfAddress {
    type Err = ModuleAddressError;

    fn from_str(text: &str) -> Result<ShelfAddress, ModuleAddressError> {
        let is_one = |c: char| c.is_ascii_graphic() && c != '/' && c != ',';
        match text.rsplit_once(':') {
            Some((host, port))
                if !host.is_empty() && text.chars().all(is_one) && port.parse::<u16>().is_ok_and(|port| port > 0) =>
            {
                Ok(ShelfAddress(text.into()))
            }
            _ => Err(ModuleAddressError::Shelf { text: text.into() }),
        }
    }
}

impl fmt::Display for ShelfAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl ShelfAddress {
    /// The addresses of its name.
    pub(crate) fn resolve(&self) -> std::io::Result<Vec<SocketAddr>> {
        Ok(self.0.to_socket_addrs()?.collect())
    }
}

/// The address of a module on a shelf.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ModuleAddress {
    /// The shelf that exports it.
    pub shelf: ShelfAddress,
    /// The NQN of its subsystem.
    pub subsystem: Box<str>,
}

impl ModuleAddress {
    /// The address that a path is, if it is one and no file.
    #[must_use]
    pub fn of_path(path: &Path) -> Option<ModuleAddress> {
        path.to_str()?.parse().ok()
    }

    /// A path is meant as an address, whether it is a right one or not.
    #[must_use]
    pub fn is_meant(path: &Path) -> bool {
        path.to_str().is_some_and(|text| text.starts_with(SCHEME))
    }

    /// The address in place of a path.
    #[must_use]
    pub fn to_path(&self) -> PathBuf {
        self.to_string().into()
    }
}

impl FromStr for ModuleAddress {
    type Err = ModuleAddressError;

    fn from_str(text: &str) -> Result<ModuleAddress, ModuleAddressError> {
        let refused = || ModuleAddressError::Module { text: text.into() };
        let (shelf, subsystem) = text.strip_prefix(SCHEME).and_then(|rest| rest.split_once('/')).ok_or_else(refused)?;
        let is_nqn = subsystem.starts_with("nqn.")
            && subsystem.len() <= MAX_NQN_BYTES
            && subsystem.chars().all(|c| c.is_ascii_graphic() && c != '/');
        match shelf.parse() {
            Ok(shelf) if is_nqn => Ok(ModuleAddress { shelf, subsystem: subsystem.into() }),
            _ => Err(refused()),
        }
    }
}

impl fmt::Display for ModuleAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SCHEME}{}/{}", self.shelf, self.subsystem)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_they_are_written() {
        for text in [
            "nvme://127.0.0.1:4420/nqn.2014-08.org.nvmexpress:uuid:1",
            "nvme://[::1]:4420/nqn.a",
            "nvme://shelf-a:1/nqn.x:y",
        ] {
            let address: ModuleAddress = text.parse().unwrap();
            assert_eq!(address.to_string(), text);
            assert_eq!(ModuleAddress::of_path(&address.to_path()), Some(address));
        }
    }

    #[test]
    fn anything_else_is_refused() {
        let long = format!("nvme://a:1/nqn.{}", "x".repeat(220));
        for text in [
            "",
            "nvme://",
            "nvme://a/nqn.x",
            "nvme://a:0/nqn.x",
            "nvme://a:99999/nqn.x",
            "nvme://:1/nqn.x",
            "nvme://a:1",
            "nvme://a:1/",
            "nvme://a:1/x",
            "nvme://a:1/nqn.x/y",
            "nvme://a:1/nqn.x y",
            "nvme://a b:1/nqn.x",
            "/dev/nvme0n1",
            &long,
        ] {
            assert!(text.parse::<ModuleAddress>().is_err(), "{text}");
        }
        assert!(
            ModuleAddress::is_meant(Path::new("nvme://a/nqn.x")) && !ModuleAddress::is_meant(Path::new("/dev/nvme0"))
        );
    }
}
