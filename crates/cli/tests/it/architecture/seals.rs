//! Sealed folders of a crate import nothing but what their seals name.
//!
//! A seal keeps a protocol free of sockets, and a judge free of those that it judges. An import between files is what
//! [`super::circles`] calls one; an import of another crate is a path that begins with a name of the manifest. The
//! standard library is open to all.

use std::collections::BTreeSet;

use proc_macro2::{TokenStream, TokenTree};
use syn::Item;
use syn::visit::{self, Visit};

use super::circles::edges;
use super::finding::{Finding, Rule};
use super::imports::dependencies;
use super::modules::{Modules, attributes};
use super::tree::{Crate, is_for_tests};

/// A folder that is sealed, and what it may import all the same.
pub struct Seal {
    owner: &'static str,
    /// Its path in the crate, with a slash at the end.
    folder: &'static str,
    files: &'static [&'static str],
    crates: &'static [&'static str],
}

pub const SEALS: &[Seal] = &[
    Seal { owner: "serve", folder: "src/wire/", files: &[], crates: &["thiserror"] },
    Seal {
        owner: "serve",
        folder: "src/nvme/",
        files: &[],
        crates: &["base64", "crc32c", "hmac", "num-bigint", "sha2", "thiserror"],
    },
    Seal {
        owner: "torture",
        folder: "src/sim/",
        files: &[],
        crates: &["device", "rayon", "serde", "serde_json", "thiserror"],
    },
    // The words that requests and answers are told in: they know nothing of a card.
    Seal {
        owner: "torture",
        folder: "src/sim/oracle/",
        files: &["src/sim/ask.rs", "src/sim/stamp.rs", "src/sim/subject.rs"],
        crates: &["thiserror"],
    },
];

/// Imports of the sealed folders of a crate that their seals do not name.
pub fn broken(owner: &Crate, seals: &[Seal]) -> Vec<Finding> {
    seals.iter().filter(|seal| seal.owner == owner.name).flat_map(|seal| breaks(owner, seal)).collect()
}

fn breaks(owner: &Crate, seal: &Seal) -> Vec<Finding> {
    let finding = |file: &str, line: usize, text: String| Finding {
        rule: Rule::Seal,
        owner: owner.name.clone(),
        place: format!("crates/{}/{file}:{line}", owner.name),
        text,
    };
    let sealed = |file: &str| file.starts_with(seal.folder);
    let mut findings = Vec::new();
    if !owner.code().any(|source| sealed(&source.path)) {
        findings.push(finding(seal.folder, 1, "a seal is on a folder that is not there".to_owned()));
    }
    for (from, targets) in edges(owner).into_iter().filter(|(from, _)| sealed(from)) {
        for (to, (line, path)) in targets {
            if !sealed(to) && !seal.files.contains(&to) {
                findings.push(finding(from, line, format!("{path} of {to} breaks the seal of {}", seal.folder)));
            }
        }
    }
    // A crate is named in code with underscores.
    let closed: BTreeSet<String> = dependencies(&owner.manifest)
        .into_iter()
        .filter(|name| !seal.crates.contains(&name.as_str()))
        .map(|name| name.replace('-', "_"))
        .collect();
    let modules = Modules::of(owner);
    for (id, module) in modules.all().iter().enumerate().filter(|(_, module)| sealed(module.file)) {
        let mut paths = Paths(Vec::new());
        paths.0.extend(module.imports.iter().map(|import| (import.path.clone(), import.line)));
        module.items.iter().for_each(|item| paths.visit_item(item));
        for (path, line) in paths.0 {
            if path.first().is_some_and(|first| closed.contains(first)) && modules.resolve(id, &path).is_none() {
                let text = format!("{} breaks the seal of {}", path.join("::"), seal.folder);
                findings.push(finding(module.file, line, text));
            }
        }
    }
    findings
}

/// The paths of two words and more in the code of one module, each with its line.
struct Paths(Vec<(Vec<String>, usize)>);

impl Paths {
    /// The first two words of each path in a macro are enough to tell the crate.
    fn note_tokens(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        for at in 0..tokens.len() {
            let colon = |at: usize| matches!(tokens.get(at), Some(TokenTree::Punct(punct)) if punct.as_char() == ':');
            let within = at >= 2 && colon(at - 1) && colon(at - 2);
            match (&tokens[at], tokens.get(at + 3)) {
                (TokenTree::Ident(first), Some(TokenTree::Ident(second)))
                    if !within && colon(at + 1) && colon(at + 2) =>
                {
                    self.0.push((vec![first.to_string(), second.to_string()], first.span().start().line));
                }
                (TokenTree::Group(group), _) => self.note_tokens(group.stream()),
                _ => {}
            }
        }
    }
}

impl<'ast> Visit<'ast> for Paths {
    fn visit_item(&mut self, item: &'ast Item) {
        // Inline modules are modules of their own; a file's `use`s were noted as a whole.
        if !matches!(item, Item::Mod(_) | Item::Use(_)) && !is_for_tests(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !is_for_tests(&item.attrs) {
            visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.segments.len() > 1 {
            let line = path.segments[0].ident.span().start().line;
            self.0.push((path.segments.iter().map(|segment| segment.ident.to_string()).collect(), line));
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, item: &'ast syn::Macro) {
        self.note_tokens(item.tokens.clone());
        visit::visit_macro(self, item);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEAL: Seal = Seal { owner: "example", folder: "src/judge/", files: &["src/words.rs"], crates: &["fine"] };

    fn texts(judge: &str) -> Vec<String> {
        let mut owner = Crate::example(&[
            ("src/lib.rs", "mod judge; mod words; mod card; pub use card::Card;"),
            ("src/words.rs", "pub struct Word;"),
            ("src/card.rs", "pub struct Card;"),
            ("src/judge/mod.rs", judge),
            ("src/judge/law.rs", "pub struct Law;"),
        ]);
        owner.manifest = "[dependencies]\nfine = \"1\"\nother-crate = \"1\"\n".to_owned();
        broken(&owner, &[SEAL]).into_iter().map(|finding| finding.text).collect()
    }

    #[test]
    fn a_sealed_folder_may_import_itself_and_what_the_seal_names() {
        let judge = "mod law; use crate::words::Word; use fine::Thing; use std::fmt; fn f(_: law::Law) { fine::g() }";
        assert!(texts(judge).is_empty());
    }

    #[test]
    fn another_file_breaks_it_through_a_re_export_as_well() {
        let expected = ["crate::Card of src/card.rs breaks the seal of src/judge/"];
        assert_eq!(texts("mod law; use crate::Card;"), expected);
        assert_eq!(texts("mod law; fn f(_: crate::Card) {}"), expected);
        assert_eq!(texts("mod law; #[cfg(test)] mod tests { use crate::Card; }"), [""; 0]);
    }

    #[test]
    fn another_crate_breaks_it_in_imports_code_and_macros() {
        let expected = ["other_crate::Thing breaks the seal of src/judge/"];
        assert_eq!(texts("mod law; use other_crate::Thing;"), expected);
        assert_eq!(texts("mod law; fn f(_: other_crate::Thing) {}"), expected);
        assert_eq!(texts("mod law; fn f() { let x = vec![Some(other_crate::Thing)]; }"), expected);
        assert_eq!(texts("mod law; fn f(other_crate: u32) -> u32 { other_crate }"), [""; 0]);
    }

    #[test]
    fn a_seal_on_a_folder_that_is_gone_is_found() {
        let seal = Seal { folder: "src/gone/", ..SEAL };
        let owner = Crate::example(&[("src/lib.rs", "")]);
        assert_eq!(broken(&owner, &[seal])[0].text, "a seal is on a folder that is not there");
    }
}
