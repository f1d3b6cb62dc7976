//! The source that a person names to be attached.

use crate::fuse;
use crate::quoted::Quoted;
use identify::MountPoint;
use rustix::io::Errno;
use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// The port of NBD where none is named.
const NBD_PORT: u16 = 10809;
/// The size that a device's sectors have, in bytes.
pub(crate) const SECTOR_BYTES: u64 = 4096;

/// The source of an attachment.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Source {
    /// A regular file, by its real path.
    File(PathBuf),
    /// An NBD server's socket.
    NbdUnix {
        socket: PathBuf,
        /// Name of the export; empty: the default.
        export: String,
    },
    /// An NBD server on the network.
    NbdTcp {
        /// Name or address.
        host: String,
        port: u16,
        /// Name of the export; empty: the default.
        export: String,
    },
}

/// An error that keeps a source from being attached.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum SourceError {
    /// Neither a path nor an address.
    #[error(
        "'{text}': name a file, a directory where a card is mounted, nbd:unix:SOCKET or nbd://HOST[:PORT][/EXPORT]"
    )]
    NoSource { text: Quoted },
    /// It can't be looked at.
    #[error("{}: {why}", .path.display())]
    NotThere { path: PathBuf, why: Quoted },
    /// A directory without a card.
    #[error("{}: no card is mounted there; name the directory given to --fuse", .path.display())]
    NoCard { path: PathBuf },
    /// A server died and left its mount.
    #[error("{}: its server has died; clean up with: flashrig detach {}", .path.display(), .path.display())]
    Dead { path: PathBuf },
    /// A device, a pipe.
    #[error("{}: is neither a regular file nor a socket", .path.display())]
    NoFile { path: PathBuf },
    /// A file that makes no whole sectors.
    #[error("{}: its {size_bytes} bytes are no multiple of 4096", .path.display())]
    Ragged { path: PathBuf, size_bytes: u64 },
}

impl Source {
    /// Looks at what was typed.
    pub fn parse(text: &str) -> Result<Source, SourceError> {
        let none = || SourceError::NoSource { text: text.into() };
        if let Some(rest) = text.strip_prefix("nbd:unix:") {
            let (socket, export) = rest.split_once(":exportname=").unwrap_or((rest, ""));
            return if socket.is_empty() { Err(none()) } else { socket_at(Path::new(socket), export) };
        }
        if let Some(rest) = text.strip_prefix("nbd://") {
            let (address, export) = rest.split_once('/').unwrap_or((rest, ""));
            // The port comes after the last colon, unless that lies within the brackets of an address of IPv6.
            let (host, port) = match address.rsplit_once(':') {
                Some((host, port)) if !port.contains(']') => (host, port.parse().map_err(|_| none())?),
                _ => (address, NBD_PORT),
            };
            let host = host.trim_start_matches('[').trim_end_matches(']');
            // A host that begins with a dash would be an option of the program that is given it.
            if host.is_empty() || host.starts_with('-') || port == 0 {
                return Err(none());
            }
            return Ok(Source::NbdTcp { host: host.to_owned(), port, export: export.to_owned() });
        }
        if text.is_empty() || text.starts_with("nbd:") || text.contains("://") {
            return Err(none());
        }
        file_at(Path::new(text))
    }
}

fn not_there(path: &Path, error: &std::io::Error) -> SourceError {
    if error.raw_os_error() == Some(Errno::NOTCONN.raw_os_error()) {
        return SourceError::Dead { path: mount_of(path).unwrap_or_else(|| path.to_owned()) };
    }
    SourceError::NotThere { path: path.to_owned(), why: error.to_string().into() }
}

fn socket_at(path: &Path, export: &str) -> Result<Source, SourceError> {
    let found = fs::metadata(path).map_err(|error| not_there(path, &error))?;
    if !found.file_type().is_socket() {
        return Err(SourceError::NoFile { path: path.to_owned() });
    }
    let socket = path.canonicalize().map_err(|error| not_there(path, &error))?;
    Ok(Source::NbdUnix { socket, export: export.to_owned() })
}

fn file_at(path: &Path) -> Result<Source, SourceError> {
    if let Some(card) = mount_of(path).filter(|card| is_dead(card)) {
        return Err(SourceError::Dead { path: card });
    }
    let found = fs::metadata(path).map_err(|error| not_there(path, &error))?;
    if found.file_type().is_socket() {
        return socket_at(path, "");
    }
    if found.is_dir() {
        let real = path.canonicalize().map_err(|error| not_there(path, &error))?;
        let file = real.join(fuse::FILE);
        return match is_card(&real) && file.is_file() {
            true => file_at(&file),
            false => Err(SourceError::NoCard { path: path.to_owned() }),
        };
    }
    if !found.is_file() {
        return Err(SourceError::NoFile { path: path.to_owned() });
    }
    if found.len() == 0 || !found.len().is_multiple_of(SECTOR_BYTES) {
        return Err(SourceError::Ragged { path: path.to_owned(), size_bytes: found.len() });
    }
    Ok(Source::File(path.canonicalize().map_err(|error| not_there(path, &error))?))
}

/// Returns whether a card is mounted at just this directory.
pub(crate) fn is_card(directory: &Path) -> bool {
    cards().iter().any(|card| card == directory)
}

/// Lists the directories on which cards are mounted.
pub(crate) fn cards() -> Vec<PathBuf> {
    let cards = identify::mount_points().into_iter().filter(|MountPoint { fs_type, .. }| fs_type == fuse::KIND);
    cards.map(|mount| mount.point).collect()
}

/// The directory on which a server has mounted the card or volume of this name.
pub fn mounted_as(name: &str) -> Option<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    mount_in(&mounts, name).filter(|point| is_card(point))
}

/// The mount point of a name among lines of `/proc/self/mounts`, in which a space is `\\040`.
fn mount_in(mounts: &str, name: &str) -> Option<PathBuf> {
    let plain = |word: &str| word.replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\");
    mounts.lines().find_map(|line| {
        let mut words = line.split(' ');
        let (source, point, kind) = (words.next()?, words.next()?, words.next()?);
        (kind == fuse::KIND && plain(source) == name).then(|| plain(point).into())
    })
}

/// The card's mount that a path lies in. Looks at names only: what is asked of a dead mount fails.
pub(crate) fn mount_of(path: &Path) -> Option<PathBuf> {
    let path = std::path::absolute(path).ok()?;
    cards().into_iter().find(|card| path.starts_with(card))
}

/// The server of a mount has died. Attributes may still be remembered for a moment; this is asked anew each time.
pub(crate) fn is_dead(mountpoint: &Path) -> bool {
    matches!(rustix::fs::statfs(mountpoint), Err(Errno::NOTCONN))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tcp(host: &str, port: u16, export: &str) -> Source {
        Source::NbdTcp { host: host.into(), port, export: export.into() }
    }

    #[test]
    fn addresses_are_read_with_port_and_export() {
        assert_eq!(Source::parse("nbd://box").unwrap(), tcp("box", 10809, ""));
        assert_eq!(Source::parse("nbd://box:9/card").unwrap(), tcp("box", 9, "card"));
        assert_eq!(Source::parse("nbd://[::1]:9").unwrap(), tcp("::1", 9, ""));
        assert_eq!(Source::parse("nbd://[::1]").unwrap(), tcp("::1", 10809, ""));
    }

    #[test]
    fn what_is_no_source_is_refused() {
        for text in ["", "nbd:", "nbd:unix:", "nbd://", "nbd://:9", "nbd://a:b", "nbd://a:0", "nbd://-x", "http://a"] {
            assert_eq!(Source::parse(text), Err(SourceError::NoSource { text: text.into() }), "{text}");
        }
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        fs::write(path("ragged"), [0; 4097]).unwrap();
        fs::write(path("empty"), []).unwrap();
        assert!(matches!(Source::parse(&path("missing")), Err(SourceError::NotThere { .. })));
        assert!(matches!(Source::parse(&path("ragged")), Err(SourceError::Ragged { size_bytes: 4097, .. })));
        assert!(matches!(Source::parse(&path("empty")), Err(SourceError::Ragged { size_bytes: 0, .. })));
        assert!(matches!(Source::parse(folder.path().to_str().unwrap()), Err(SourceError::NoCard { .. })));
        assert!(matches!(Source::parse("/dev/null"), Err(SourceError::NoFile { .. })));
        assert!(matches!(Source::parse("nbd:unix:/dev/null"), Err(SourceError::NoFile { .. })));
    }

    #[test]
    fn a_mount_is_found_by_the_name_of_its_card() {
        let mounts = "/dev/sda1 / ext4 rw 0 0\ncard /srv ext4 rw 0 0\nmy\\040card /mnt/a\\040b fuse.flashrig rw 0 0\n\
                      card /mnt/c fuse.flashrig rw 0 0\nx\n";
        assert_eq!(mount_in(mounts, "my card"), Some("/mnt/a b".into()));
        assert_eq!(mount_in(mounts, "card"), Some("/mnt/c".into()));
        assert_eq!(mount_in(mounts, "/dev/sda1"), None);
    }

    #[test]
    fn a_socket_is_an_nbd_server_and_a_file_is_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        let (socket, file) = (folder.join("socket"), folder.join("file"));
        let _listens = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        fs::write(&file, [0; 8192]).unwrap();
        let unix = Source::NbdUnix { socket: socket.clone(), export: String::new() };
        assert_eq!(Source::parse(socket.to_str().unwrap()).unwrap(), unix);
        assert_eq!(Source::parse(&format!("nbd:unix:{}", socket.display())).unwrap(), unix);
        assert_eq!(Source::parse(file.to_str().unwrap()).unwrap(), Source::File(file));
    }
}
