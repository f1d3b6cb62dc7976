//! Tells the command which commit it is built from: `flashrig --version` says so.
//!
//! Git's files are read as they are, so no git is needed, and sources that came without them build as well: they have a
//! version, or the commit that whoever packs them names in `FLASHRIG_COMMIT`. Builds for work have no commit: each new
//! one would compile the command anew.

use std::fs;
use std::path::{Path, PathBuf};

/// Digits of a commit's name that are shown.
const DIGITS: usize = 12;

fn main() {
    println!("cargo::rerun-if-env-changed=FLASHRIG_COMMIT");
    println!("cargo::rerun-if-changed=build.rs");
    let version = std::env::var("CARGO_PKG_VERSION").expect("cargo says it");
    let version = match commit() {
        Some(commit) => format!("{version} ({})", &commit[..commit.len().min(DIGITS)]),
        None => version,
    };
    println!("cargo::rustc-env=FLASHRIG_VERSION={version}");
}

fn commit() -> Option<String> {
    if let Ok(named) = std::env::var("FLASHRIG_COMMIT") {
        return Some(named).filter(|named| is_name(named));
    }
    if std::env::var("PROFILE").is_ok_and(|profile| profile == "debug") {
        return None;
    }
    let sources = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR")?);
    of_head(&sources.join("../../.git")).filter(|commit| is_name(commit))
}

fn is_name(commit: &str) -> bool {
    !commit.is_empty() && commit.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The commit that is checked out, by the files of git at this path: a folder, or a file that names one.
fn of_head(git: &Path) -> Option<String> {
    let git = match fs::read_to_string(git) {
        Ok(names) => git.parent()?.join(names.strip_prefix("gitdir: ")?.trim()),
        Err(_) => git.to_owned(),
    };
    let head = read(&git.join("HEAD"))?;
    // A branch that lies among the packed ones gets a file with its next commit: the log tells.
    read(&git.join("logs/HEAD"));
    let Some(branch) = head.strip_prefix("ref: ") else { return Some(head) };
    // Branches of a second work tree lie with those of the first.
    let common = read(&git.join("commondir")).map_or(git.clone(), |common| git.join(common));
    read(&common.join(branch)).or_else(|| {
        let packed = read(&common.join("packed-refs"))?;
        let line = packed.lines().find(|line| line.split(' ').nth(1) == Some(branch))?;
        line.split(' ').next().map(str::to_owned)
    })
}

/// A file's text, whose changes matter.
fn read(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    println!("cargo::rerun-if-changed={}", path.display());
    Some(text.trim().to_owned())
}
