//! Search for the programs of MariaDB or MySQL, and for sysbench.

use crate::DatabaseError;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Debian keeps servers beside what only administrators call.
const MORE: [&str; 4] = ["/usr/sbin", "/usr/local/sbin", "/usr/bin", "/usr/local/mysql/bin"];

/// Paths of all that is needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Programs {
    /// `mariadbd` or `mysqld`.
    pub server: PathBuf,
    /// `mariadb` or `mysql`.
    pub client: PathBuf,
    /// `mariadb-install-db`; none: the server makes its own data directory (MySQL).
    pub install: Option<PathBuf>,
    /// Path of `innochecksum`.
    pub checksums: PathBuf,
    /// Path of `sysbench`.
    pub sysbench: PathBuf,
    /// For people: `MariaDB 10.11.14`.
    pub version: String,
}

impl Programs {
    /// Where the search path says, and where servers lie otherwise.
    pub fn find() -> Result<Programs, DatabaseError> {
        Programs::find_in(std::env::var_os("PATH").as_deref())
    }

    fn find_in(search: Option<&OsStr>) -> Result<Programs, DatabaseError> {
        let searched = search.into_iter().flat_map(std::env::split_paths);
        let places: Vec<PathBuf> = searched.chain(MORE.map(PathBuf::from)).collect();
        let first = |names: &[&str]| {
            let of = |name: &&str| places.iter().map(|place| place.join(name)).find(|path| path.is_file());
            names.iter().find_map(of)
        };
        let needed = |names: &[&str], program: &'static str, package: &'static str| {
            first(names).ok_or(DatabaseError::NoProgram { program, package })
        };
        let server = needed(&["mariadbd", "mysqld"], "mariadbd", "mariadb-server")?;
        let is_mariadb = server.file_name() == Some(OsStr::new("mariadbd"));
        Ok(Programs {
            client: needed(&["mariadb", "mysql"], "mariadb", "mariadb-client")?,
            install: match is_mariadb {
                true => Some(needed(&["mariadb-install-db"], "mariadb-install-db", "mariadb-server")?),
                false => None,
            },
            checksums: needed(&["innochecksum"], "innochecksum", "mariadb-server")?,
            sysbench: needed(&["sysbench"], "sysbench", "sysbench")?,
            version: version(&server)?,
            server,
        })
    }
}

/// `mariadbd  Ver 10.11.14-MariaDB-0+deb12u2 for debian-linux-gnu …` → `MariaDB 10.11.14`.
fn version(server: &Path) -> Result<String, DatabaseError> {
    let output = Command::new(server).arg("--version").output().map_err(DatabaseError::io(server))?;
    let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    named(&said).ok_or_else(|| DatabaseError::NoVersion { program: server.to_owned(), said: said.into() })
}

fn named(said: &str) -> Option<String> {
    let word = said.split_once("Ver ")?.1.split_whitespace().next()?;
    let number = word.split('-').next().filter(|number| number.starts_with(|c: char| c.is_ascii_digit()))?;
    Some(format!("{} {number}", if said.contains("MariaDB") { "MariaDB" } else { "MySQL" }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_named_after_who_makes_them() {
        let mariadb = "mariadbd  Ver 10.11.14-MariaDB-0+deb12u2 for debian-linux-gnu on x86_64 (Debian 12)";
        assert_eq!(named(mariadb).unwrap(), "MariaDB 10.11.14");
        assert_eq!(named("/usr/sbin/mysqld  Ver 8.0.36 for Linux on x86_64").unwrap(), "MySQL 8.0.36");
        assert_eq!(named("hello"), None);
    }

    #[test]
    fn what_is_missing_is_named_with_its_package() {
        let none = tempfile::tempdir().unwrap();
        if let Err(error) = Programs::find_in(Some(none.path().as_os_str())) {
            let text = error.to_string();
            assert!(text.contains("not installed") && text.contains("Debian: "), "{text}");
        }
    }
}
