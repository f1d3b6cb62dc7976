//! Path of the socket, and the users who may connect to it.

use crate::error::{ClientError, ServeError};
use std::fs::{self, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Name of the socket in the directory of a card that lies in one.
pub const SOCKET_IN_DIR: &str = "control.sock";

/// Sockets that this process made: each is made under a name of its own.
static SOCKETS: AtomicU32 = AtomicU32::new(0);

/// The users who may connect, and so do anything to the card.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Access {
    /// The user who started the server.
    #[default]
    Owner,
    /// And a group, by its number.
    Group(u32),
}

/// The number of a group, given as a name of `/etc/group` or as a number.
pub fn group(words: &str) -> io::Result<u32> {
    if let Ok(number) = words.parse() {
        return Ok(number);
    }
    let groups = fs::read_to_string("/etc/group")?;
    let number = groups.lines().find_map(|line| {
        let mut fields = line.split(':');
        (fields.next() == Some(words)).then(|| fields.nth(1)?.parse().ok()).flatten()
    });
    number.ok_or_else(|| io::Error::new(ErrorKind::NotFound, "no such group"))
}

fn runtime_dir() -> PathBuf {
    match std::env::var_os("XDG_RUNTIME_DIR").filter(|dir| Path::new(dir).is_absolute()) {
        Some(dir) => PathBuf::from(dir).join("flashrig"),
        None => PathBuf::from("/run/flashrig"),
    }
}

/// Returns the socket's path of a card that lies in no directory: `$XDG_RUNTIME_DIR/flashrig/NAME.sock`, or in
/// `/run/flashrig`. A character of the name that is neither letter nor digit nor one of `-_.` becomes `_`, and so does
/// a dot in front.
pub fn default_socket(name: &str) -> PathBuf {
    let plain = |(at, c): (usize, char)| match c {
        '.' if at == 0 => '_',
        '-' | '_' | '.' => c,
        c if c.is_alphanumeric() => c,
        _ => '_',
    };
    let name: String = name.chars().enumerate().map(plain).collect();
    runtime_dir().join(name + ".sock")
}

/// The socket that a person means: its path, the directory of the card, the card's name; without any, the only one there
/// is.
pub fn find_socket(named: Option<&Path>) -> Result<PathBuf, ClientError> {
    let Some(named) = named else { return only_one() };
    if named.is_dir() {
        return Ok(named.join(SOCKET_IN_DIR));
    }
    if let Some(name) = named.to_str().filter(|name| !name.contains('/'))
        && !named.exists()
        && default_socket(name).exists()
    {
        return Ok(default_socket(name));
    }
    Ok(named.to_owned())
}

fn only_one() -> Result<PathBuf, ClientError> {
    let dir = runtime_dir();
    let entries = fs::read_dir(&dir).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut sockets: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|extension| extension == "sock")).collect();
    sockets.retain(|socket| UnixStream::connect(socket).is_ok());
    sockets.sort();
    match &sockets[..] {
        [one] => Ok(one.clone()),
        [] => Err(ClientError::None { dir }),
        [first, ..] => Err(ClientError::Several { number: sockets.len(), dir, first: first.clone() }),
    }
}

/// A socket of ours: it goes when this does, unless it is somebody else's by then.
#[derive(Debug)]
pub(crate) struct Held {
    path: PathBuf,
    place: (u64, u64),
}

impl Held {
    pub fn path(&self) -> &Path {
        &self.path
    }
}

fn place(path: &Path) -> io::Result<(u64, u64)> {
    fs::symlink_metadata(path).map(|found| (found.dev(), found.ino()))
}

impl Drop for Held {
    fn drop(&mut self) {
        if place(&self.path).is_ok_and(|place| place == self.place) {
            // A server that finds it finds nobody behind it, and replaces it.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Listens at a path. The socket is made beside it and put in its place when its permissions are right.
pub(crate) fn bind(socket: &Path, access: Access) -> Result<(UnixListener, Held), ServeError> {
    let failed = |source: io::Error| ServeError::Socket { socket: socket.to_owned(), source };
    let dir = socket.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(dir).map_err(failed)?;
    remove_stale(socket)?;
    let number = SOCKETS.fetch_add(1, Ordering::Relaxed);
    let beside = dir.join(format!(".{}-{number}", std::process::id()));
    let _ = fs::remove_file(&beside);
    let listener = UnixListener::bind(&beside).map_err(failed)?;
    let put = || {
        let mode = match access {
            Access::Owner => 0o600,
            Access::Group(group) => {
                std::os::unix::fs::lchown(&beside, None, Some(group))?;
                0o660
            }
        };
        fs::set_permissions(&beside, Permissions::from_mode(mode))?;
        // Unlike a renaming, it does not take the place of what came meanwhile.
        fs::hard_link(&beside, socket)?;
        place(socket)
    };
    let put = put();
    let _ = fs::remove_file(&beside);
    match put {
        Ok(place) => Ok((listener, Held { path: socket.to_owned(), place })),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(ServeError::InUse { socket: socket.to_owned() }),
        Err(error) => Err(failed(error)),
    }
}

/// Removes a socket at which nobody answers.
fn remove_stale(socket: &Path) -> Result<(), ServeError> {
    let failed = |source: io::Error| ServeError::Socket { socket: socket.to_owned(), source };
    match fs::symlink_metadata(socket) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(error)),
        Ok(found) if !found.file_type().is_socket() => {
            return Err(ServeError::NotASocket { path: socket.to_owned() });
        }
        Ok(_) => {}
    }
    match UnixStream::connect(socket) {
        Ok(_) => Err(ServeError::InUse { socket: socket.to_owned() }),
        Err(error) if error.kind() == ErrorKind::WouldBlock => Err(ServeError::InUse { socket: socket.to_owned() }),
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => fs::remove_file(socket).map_err(failed),
        Err(error) => Err(failed(error)),
    }
}
