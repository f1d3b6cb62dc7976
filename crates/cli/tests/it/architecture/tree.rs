//! The sources of the workspace, read and parsed once for all rules.

use std::fs;
use std::path::{Path, PathBuf};

/// One folder below `crates/`.
pub struct Crate {
    pub name: String,
    pub manifest: String,
    pub sources: Vec<Source>,
}

/// One Rust file. Its path is relative to the folder of its crate.
pub struct Source {
    pub path: String,
    pub text: String,
    pub ast: syn::File,
}

impl Crate {
    pub fn read(folder: &Path) -> Crate {
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        let sources = rust_files(folder).into_iter().map(|path| {
            let text = fs::read_to_string(&path).unwrap();
            let path = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
            Source::parse(path, text)
        });
        Crate { sources: sources.collect(), name, manifest }
    }

    /// A crate that a test of a rule writes down in place.
    #[cfg(test)]
    pub fn example(files: &[(&str, &str)]) -> Crate {
        let sources = files.iter().map(|(path, text)| Source::parse((*path).to_owned(), (*text).to_owned()));
        Crate { name: "example".to_owned(), manifest: String::new(), sources: sources.collect() }
    }

    pub fn source(&self, path: &str) -> Option<&Source> {
        self.sources.iter().find(|source| source.path == path)
    }

    /// Files that are compiled into the library or a program; `tests.rs` and `tests/` are not.
    pub fn code(&self) -> impl Iterator<Item = &Source> {
        self.sources.iter().filter(|source| source.path.starts_with("src/") && !source.is_test())
    }
}

impl Source {
    fn parse(path: String, text: String) -> Source {
        let ast = syn::parse_file(&text).unwrap_or_else(|error| panic!("{path}: {error}"));
        Source { path, text, ast }
    }

    /// Modules of tests lie in files named `tests.rs` or in folders named `tests`, or begin with `#![cfg(test)]`.
    fn is_test(&self) -> bool {
        self.path.split('/').any(|part| part == "tests" || part == "tests.rs") || is_for_tests(&self.ast.attrs)
    }
}

/// Returns whether an item is compiled for tests only.
pub fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().filter(|attribute| attribute.path().is_ident("cfg")).any(|attribute| {
        let mut tests = false;
        // A condition that is more than a word (`feature = "x"`) ends the walk, which then has found no test.
        let _ = attribute.parse_nested_meta(|meta| {
            tests |= meta.path.is_ident("test");
            if meta.path.is_ident("all") {
                meta.parse_nested_meta(|meta| {
                    tests |= meta.path.is_ident("test");
                    Ok(())
                })?;
            }
            Ok(())
        });
        tests
    })
}

/// All crates, in the order of their names.
pub fn crates(root: &Path) -> Vec<Crate> {
    let mut folders: Vec<PathBuf> =
        fs::read_dir(root.join("crates")).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.retain(|folder| folder.join("Cargo.toml").is_file());
    folders.sort();
    folders.iter().map(|folder| Crate::read(folder)).collect()
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    let mut files = Vec::new();
    for entry in entries {
        if entry.is_dir() {
            files.extend(rust_files(&entry));
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            files.push(entry);
        }
    }
    files
}
