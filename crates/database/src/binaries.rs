//! Search for PostgreSQL's programs.

use crate::DatabaseError;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The oldest major version that will do.
pub const OLDEST_MAJOR: u32 = 13;
/// Directory in which Debian keeps one for each version.
const DEBIAN: &str = "/usr/lib/postgresql";
const PROGRAMS: [&str; 3] = ["initdb", "postgres", "pgbench"];

/// A directory with PostgreSQL's programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binaries {
    /// Directory of the programs.
    pub dir: PathBuf,
    /// Major version, such as `15`.
    pub major: u32,
    /// Full version, such as `15.14`.
    pub version: String,
}

impl Binaries {
    /// In the directory that was named; or else where the search path says; or else the newest of Debian's.
    pub fn find(named: Option<&Path>) -> Result<Binaries, DatabaseError> {
        Binaries::find_in(named, std::env::var_os("PATH"), Path::new(DEBIAN))
    }

    fn find_in(
        named: Option<&Path>,
        search: Option<std::ffi::OsString>,
        debian: &Path,
    ) -> Result<Binaries, DatabaseError> {
        if let Some(dir) = named {
            return Binaries::in_directory(dir);
        }
        let mut places: Vec<PathBuf> = search.iter().flat_map(std::env::split_paths).collect();
        let mut versions: Vec<(u32, PathBuf)> = std::fs::read_dir(debian)
            .into_iter()
            .flatten()
            .filter_map(|entry| {
                let entry = entry.ok()?;
                Some((entry.file_name().to_str()?.parse().ok()?, entry.path().join("bin")))
            })
            .collect();
        versions.sort_unstable_by(|a, b| b.cmp(a));
        places.extend(versions.into_iter().map(|(_, dir)| dir));
        // Debian's search path has wrappers of clients and no server: what is not whole is passed over.
        let mut first = None;
        for dir in places.iter().filter(|dir| PROGRAMS.iter().all(|program| dir.join(program).is_file())) {
            match Binaries::in_directory(dir) {
                Ok(found) => return Ok(found),
                Err(error) => first = first.or(Some(error)),
            }
        }
        Err(first.unwrap_or_else(|| DatabaseError::NoPostgres {
            looked: format!("PATH and {}/*/bin", debian.display()).into(),
        }))
    }

    fn in_directory(dir: &Path) -> Result<Binaries, DatabaseError> {
        if let Some(missing) = PROGRAMS.into_iter().find(|program| !dir.join(program).is_file()) {
            return Err(DatabaseError::Incomplete { dir: dir.to_owned(), missing });
        }
        let program = dir.join("postgres");
        let output = Command::new(&program).arg("--version").output().map_err(DatabaseError::io(&program))?;
        let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        let Some((version, major)) = version(&said) else {
            return Err(DatabaseError::NoVersion { program, said: said.into() });
        };
        if major < OLDEST_MAJOR {
            return Err(DatabaseError::TooOld { dir: dir.to_owned(), found: version.into(), least: OLDEST_MAJOR });
        }
        Ok(Binaries { dir: dir.to_owned(), major, version })
    }

    pub(crate) fn program(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }
}

/// `postgres (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)` → `15.14`, 15.
fn version(said: &str) -> Option<(String, u32)> {
    let version = said.split_once("(PostgreSQL) ")?.1.split_whitespace().next()?;
    let digits = version.split(|c: char| !c.is_ascii_digit()).next()?;
    Some((version.to_owned(), digits.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    fn fake(dir: &Path, says: &str) {
        fs::create_dir_all(dir).unwrap();
        for program in PROGRAMS {
            let path = dir.join(program);
            fs::write(&path, format!("#!/bin/sh\necho '{says}'\n")).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
    }

    #[test]
    fn the_newest_of_debians_is_taken_and_the_search_path_goes_before() {
        let root = tempfile::tempdir().unwrap();
        let debian = root.path().join("debian");
        fake(&debian.join("9.6/bin"), "postgres (PostgreSQL) 9.6.24");
        fake(&debian.join("13/bin"), "postgres (PostgreSQL) 13.9 (Debian 13.9-1)");
        fake(&debian.join("16/bin"), "postgres (PostgreSQL) 16beta2");
        let found = Binaries::find_in(None, None, &debian).unwrap();
        assert_eq!((found.major, found.version.as_str()), (16, "16beta2"));
        fake(&root.path().join("own"), "postgres (PostgreSQL) 14.1");
        let search = Some(root.path().join("own").into_os_string());
        assert_eq!(Binaries::find_in(None, search, &debian).unwrap().major, 14);
    }

    #[test]
    fn what_is_missing_or_too_old_is_told_with_the_package() {
        let root = tempfile::tempdir().unwrap();
        let text = |r: Result<Binaries, DatabaseError>| r.unwrap_err().to_string();
        let none = text(Binaries::find_in(None, None, root.path()));
        assert!(none.contains("not installed") && none.contains("postgresql-15"), "{none}");
        fake(&root.path().join("12/bin"), "postgres (PostgreSQL) 12.22");
        let old = text(Binaries::find_in(None, None, root.path()));
        assert!(old.contains("has PostgreSQL 12.22, and at least 13 is needed"), "{old}");
        fs::remove_file(root.path().join("12/bin/pgbench")).unwrap();
        let part = text(Binaries::find_in(Some(&root.path().join("12/bin")), None, root.path()));
        assert!(part.contains("has no pgbench"), "{part}");
        fake(&root.path().join("x"), "hello");
        let other = text(Binaries::find_in(Some(&root.path().join("x")), None, root.path()));
        assert!(other.contains("hello"), "{other}");
    }
}
