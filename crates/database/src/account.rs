//! The account that runs the server: PostgreSQL refuses to run as root.

use crate::DatabaseError;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// A user without privileges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Account {
    pub name: String,
    pub uid: u32,
    pub gid: u32,
    /// This process is root, and becomes that user in the child.
    drops: bool,
}

impl Account {
    /// Root's processes run as `postgres` or else `nobody`, others as who they are.
    pub fn find() -> Result<Account, DatabaseError> {
        let passwd = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
        Account::choose(rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw(), &passwd)
    }

    fn choose(uid: u32, gid: u32, passwd: &str) -> Result<Account, DatabaseError> {
        let entries: Vec<(&str, u32, u32)> = passwd.lines().filter_map(entry).collect();
        if uid != 0 {
            let name = entries.iter().find(|e| e.1 == uid).map_or_else(|| uid.to_string(), |e| e.0.to_owned());
            return Ok(Account { name, uid, gid, drops: false });
        }
        let named = |name: &str| entries.iter().find(|e| e.0 == name && e.1 != 0);
        let (name, uid, gid) = named("postgres").or_else(|| named("nobody")).ok_or(DatabaseError::NoAccount)?;
        Ok(Account { name: (*name).to_owned(), uid: *uid, gid: *gid, drops: true })
    }

    /// A command of this user, in a process group of its own: Ctrl-C at the terminal is not for it.
    pub fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.process_group(0);
        if self.drops {
            // The standard library gives up root's supplementary groups with it.
            command.uid(self.uid).gid(self.gid);
        }
        command
    }

    /// Gives a directory to the user.
    pub fn give(&self, path: &Path) -> Result<(), DatabaseError> {
        if self.drops { chown(path, Some(self.uid), Some(self.gid)).map_err(DatabaseError::io(path)) } else { Ok(()) }
    }

    /// Returns whether the user can write in a directory, which depends on all directories above it.
    pub fn reaches(&self, dir: &Path) -> bool {
        let mut test = self.command(Path::new("/bin/sh"));
        test.args(["-c", "test -w \"$0\" && test -x \"$0\""]).arg(dir).current_dir("/");
        test.status().is_ok_and(|status| status.success())
    }
}

/// Name, user and group of a line of `/etc/passwd`.
fn entry(line: &str) -> Option<(&str, u32, u32)> {
    let mut fields = line.split(':');
    let name = fields.next()?;
    Some((name, fields.nth(1)?.parse().ok()?, fields.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSWD: &str = "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534::/:/bin/false\nme:x:1000:1001::/:\n";

    #[test]
    fn root_becomes_postgres_or_nobody_and_others_stay_who_they_are() {
        assert_eq!(Account::choose(0, 0, PASSWD).unwrap().name, "nobody");
        let with = format!("{PASSWD}postgres:x:101:104::/:\n");
        let postgres = Account::choose(0, 0, &with).unwrap();
        assert_eq!((postgres.name.as_str(), postgres.uid, postgres.gid, postgres.drops), ("postgres", 101, 104, true));
        let me = Account::choose(1000, 1001, &with).unwrap();
        assert_eq!((me.name.as_str(), me.uid, me.drops), ("me", 1000, false));
        assert!(matches!(Account::choose(0, 0, "root:x:0:0:::\n"), Err(DatabaseError::NoAccount)));
    }
}
