//! ARCHITECTURE.md describes the tree as it is.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn architecture() -> String {
    fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap()
}

/// Folders of crates, and the text of a file in each.
fn crates(file: &str) -> BTreeMap<String, String> {
    let folders = fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().path());
    let folders = folders.filter(|folder| folder.join("Cargo.toml").is_file());
    folders
        .map(|folder| {
            let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
            (name, fs::read_to_string(folder.join(file)).unwrap())
        })
        .collect()
}

#[test]
fn every_crate_has_a_section_titled_by_its_question() {
    let text = architecture();
    for (name, library) in crates("src/lib.rs") {
        let question = library.lines().next().and_then(|line| line.strip_prefix("//! ")).unwrap_or_default();
        assert!(question.ends_with('?'), "crates/{name} does not begin with its question: {question:?}");
        let title = format!("## {name}: {question}");
        assert!(text.lines().any(|line| line == title), "ARCHITECTURE.md has no section {title:?}");
    }
}

#[test]
fn every_folder_of_the_root_stands_in_the_diagram() {
    let text = architecture();
    for entry in fs::read_dir(root()).unwrap().map(Result::unwrap) {
        let name = entry.file_name().to_str().unwrap().to_owned();
        if entry.path().is_dir() && !name.starts_with('.') && name != "target" {
            assert!(text.contains(&format!("{name}/")), "{name}/ is not in the diagram");
        }
    }
}

#[test]
fn imports_run_downward_in_the_diagram() {
    let text = architecture();
    let diagram = text.split("\n\n").find(|block| block.contains("crates/\n")).expect("the diagram");
    let depth = |name: &str| diagram.lines().position(|line| line.contains(&format!(" {name}/")));
    for (name, manifest) in crates("Cargo.toml") {
        let dependencies = manifest.split("[dependencies]").nth(1).unwrap_or_default();
        let dependencies = dependencies.split("\n[").next().unwrap_or_default();
        for line in dependencies.lines() {
            let dependency = line.split(['.', ' ', '=']).next().unwrap_or_default();
            if let Some(below) = depth(dependency) {
                let above = depth(&name).unwrap_or_else(|| panic!("{name} is not in the diagram"));
                assert!(above < below, "{name} imports {dependency}, which does not stand below it");
            }
        }
    }
}

/// Folders within a crate that are as separate as a crate: they import nothing of what is around them.
const SEALED: [&str; 4] = ["attach/src/fuse", "media/src/nand", "serve/src/wire", "torture/src/sim"];

fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            found.extend(sources(&path));
        } else {
            let text = fs::read_to_string(&path).unwrap();
            found.push((path, text));
        }
    }
    found
}

#[test]
fn sealed_folders_import_nothing_of_the_crate_around_them() {
    for folder in SEALED {
        let own = format!("{}::", folder.rsplit('/').next().unwrap());
        for (path, text) in sources(&root().join("crates").join(folder)) {
            let outside = text.split("crate::").skip(1).find(|path| !path.starts_with(&own));
            let outside = outside.and_then(|path| path.lines().next());
            assert!(outside.is_none(), "{}: crate::{}", path.display(), outside.unwrap());
        }
    }
}

#[test]
fn the_protocol_is_parsed_without_input_and_output() {
    for (path, text) in sources(&root().join("crates/serve/src/wire")) {
        for other in ["std::fs", "std::io", "std::net", "std::os", "std::thread", "std::time", "live::", "rustix::"] {
            assert!(!text.contains(other), "{}: {other}", path.display());
        }
    }
}
