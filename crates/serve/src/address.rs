//! The addresses that a server listens on.

use std::path::PathBuf;
use std::str::FromStr;

/// An address that a server listens on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A socket in the file system.
    Unix(PathBuf),
    /// A host name or address, and a port.
    Tcp(String),
}

/// The text that was given as an address.
#[derive(Clone, PartialEq, Eq)]
pub struct AddressText(Box<str>);

impl From<&str> for AddressText {
    fn from(text: &str) -> AddressText {
        AddressText(text.into())
    }
}

impl std::fmt::Debug for AddressText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// The reason why a text is no address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant says what its fields are")]
pub enum AddressError {
    /// The text is neither the path of a socket nor a host with a port.
    #[error("{text:?} is no address: write unix:PATH or HOST:PORT")]
    Neither { text: AddressText },
    /// The path is longer than the system allows for sockets.
    #[error("{path:?}: paths of sockets have at most 107 bytes")]
    LongPath { path: PathBuf },
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Address, AddressError> {
        if let Some(path) = text.strip_prefix("unix:") {
            if path.is_empty() {
                return Err(AddressError::Neither { text: AddressText(text.into()) });
            }
            let path = PathBuf::from(path);
            return if path.as_os_str().len() > 107 {
                Err(AddressError::LongPath { path })
            } else {
                Ok(Address::Unix(path))
            };
        }
        match text.rsplit_once(':') {
            Some((host, port)) if !host.is_empty() && port.parse::<u16>().is_ok() => Ok(Address::Tcp(text.into())),
            _ => Err(AddressError::Neither { text: AddressText(text.into()) }),
        }
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Address::Unix(path) => write!(f, "unix:{}", path.display()),
            Address::Tcp(text) => f.write_str(text),
        }
    }
}
