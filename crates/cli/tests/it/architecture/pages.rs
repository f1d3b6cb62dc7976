//! ARCHITECTURE.md is read in ten minutes, has one line for each folder, and names what exists.

use std::collections::BTreeSet;
use std::path::Path;

use syn::visit::{self, Visit};

use super::WHOLE;
use super::diagram::Diagram;
use super::finding::{Finding, Rule};
use super::tree::Crate;

pub fn too_long(name: &str, page: &str, max_words: usize) -> Option<Finding> {
    let words = page.split_whitespace().count();
    (words > max_words).then(|| finding(name, 1, format!("{words} words, at most {max_words}")))
}

/// A crate and its question: the first line of its documentation, which is its line of the diagram and the title of its
/// section, if there is one.
pub fn questions(page: &str, crates: &[Crate]) -> Vec<Finding> {
    let diagram = Diagram::parse(page);
    let mut findings = Vec::new();
    for owner in crates {
        let library = owner.source("src/lib.rs").map_or("", |source| &source.text);
        let question = library.lines().next().and_then(|line| line.strip_prefix("//! ")).unwrap_or_default();
        if !question.ends_with('?') {
            let text = format!("{} does not begin with its question: {question:?}", owner.name);
            findings.push(finding(&format!("crates/{}/src/lib.rs", owner.name), 1, text));
        }
        let lines: Vec<_> = diagram.lines().iter().filter(|line| line.folders.contains(&owner.name)).collect();
        match lines[..] {
            [line] if line.folders.len() > 1 => {
                findings.push(finding(PAGE, 1, format!("{} shares its line of the diagram", owner.name)));
            }
            [line] if line.question != question => {
                findings.push(finding(
                    PAGE,
                    1,
                    format!("the diagram asks {:?} of {}, not {question:?}", line.question, owner.name),
                ));
            }
            [_] => {}
            ref lines => {
                findings.push(finding(PAGE, 1, format!("{} has {} lines in the diagram", owner.name, lines.len())))
            }
        }
        for (number, line) in page.lines().enumerate() {
            let title = line.strip_prefix("## ").and_then(|title| title.split_once(": "));
            if title.is_some_and(|(name, title)| name == owner.name && title != question) {
                findings.push(finding(PAGE, number + 1, format!("the section is not titled {question:?}")));
            }
        }
    }
    findings
}

/// Folders of the root that are not in the diagram, and lines of the diagram without a folder.
pub fn folders(page: &str, root: &[String], crates: &[Crate]) -> Vec<Finding> {
    let diagram = Diagram::parse(page);
    let mut findings = Vec::new();
    for name in root.iter().filter(|name| diagram.line_of(name).is_none()) {
        findings.push(finding(PAGE, 1, format!("{name}/ is not in the diagram")));
    }
    for name in diagram.lines().iter().flat_map(|line| &line.folders) {
        if !root.contains(name) && !crates.iter().any(|owner| owner.name == *name) {
            findings.push(finding(PAGE, 1, format!("the diagram has {name}/, and the tree has not")));
        }
    }
    findings
}

/// Files and types in code marks that the tree has not. A source is named from its crate on: `card/src/dies.rs`.
pub fn names(page: &str, root: &Path, crates: &[Crate]) -> Vec<Finding> {
    let types = types(crates);
    let mut findings = Vec::new();
    for (number, line) in page.lines().enumerate() {
        for code in line.split('`').skip(1).step_by(2) {
            let exists = if is_file(code) {
                root.join("crates").join(code).exists() || root.join(code).exists()
            } else {
                type_names(code).all(|name| types.contains(name))
            };
            if !exists {
                findings.push(finding(PAGE, number + 1, format!("`{code}` is not in the tree")));
            }
        }
    }
    findings
}

const PAGE: &str = "ARCHITECTURE.md";

fn finding(file: &str, line: usize, text: String) -> Finding {
    Finding { rule: Rule::Page, owner: WHOLE.to_owned(), place: format!("{file}:{line}"), text }
}

fn is_file(code: &str) -> bool {
    !code.contains([' ', '*', '<']) && [".rs", ".md", ".toml", ".json"].iter().any(|ending| code.ends_with(ending))
}

/// Words that are written as types are: a capital first, and a small letter.
fn type_names(code: &str) -> impl Iterator<Item = &str> {
    let words = code.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.filter(|word| word.starts_with(char::is_uppercase) && word.contains(char::is_lowercase))
}

fn types(crates: &[Crate]) -> BTreeSet<String> {
    struct Collect(BTreeSet<String>);
    impl<'ast> Visit<'ast> for Collect {
        fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
            self.0.insert(item.ident.to_string());
        }
        fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
            self.0.insert(item.ident.to_string());
            self.0.extend(item.variants.iter().map(|variant| variant.ident.to_string()));
        }
        fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
            self.0.insert(item.ident.to_string());
            visit::visit_item_trait(self, item);
        }
        fn visit_trait_item_type(&mut self, item: &'ast syn::TraitItemType) {
            self.0.insert(item.ident.to_string());
        }
        fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
            self.0.insert(item.ident.to_string());
        }
    }
    let mut collect = Collect(BTreeSet::new());
    for source in crates.iter().flat_map(Crate::code) {
        collect.visit_file(&source.ast);
    }
    collect.0
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXAMPLE: &str = "# A page\n\n    docs/  Why?\n    crates/\n      example/  What is it?\n\n`Known`\n";

    fn example() -> [Crate; 1] {
        [Crate::example(&[("src/lib.rs", "//! What is it?\nenum Known { Thing }")])]
    }

    fn texts(findings: Vec<Finding>) -> Vec<String> {
        findings.into_iter().map(|finding| finding.text).collect()
    }

    #[test]
    fn a_page_of_one_word_too_many_is_found() {
        assert!(too_long("page.md", "one two\nthree", 3).is_none());
        assert_eq!(too_long("page.md", "one two\nthree", 2).unwrap().text, "3 words, at most 2");
    }

    #[test]
    fn a_question_stands_once_and_the_same_everywhere() {
        assert!(questions(EXAMPLE, &example()).is_empty());
        for bad in [
            EXAMPLE.replace("What is it?", "Who is it?"),
            EXAMPLE.replace("      example/  What is it?\n", ""),
            EXAMPLE.replace("example/", "example/ other/"),
            format!("{EXAMPLE}\n## example: Who is it?\n"),
        ] {
            assert_eq!(questions(&bad, &example()).len(), 1, "{bad}");
        }
        let silent = [Crate::example(&[("src/lib.rs", "//! An example.")])];
        assert_eq!(questions(EXAMPLE, &silent).len(), 2);
    }

    #[test]
    fn the_diagram_has_the_folders_of_the_tree() {
        let root = ["docs".to_owned(), "crates".to_owned()];
        assert!(folders(EXAMPLE, &root, &example()).is_empty());
        assert_eq!(texts(folders(EXAMPLE, &root, &[])), ["the diagram has example/, and the tree has not"]);
        let more = [root.as_slice(), &["fuzz".to_owned()]].concat();
        assert_eq!(texts(folders(EXAMPLE, &more, &example())), ["fuzz/ is not in the diagram"]);
    }

    #[test]
    fn names_that_do_not_exist_are_found() {
        let found = |page: &str| texts(names(page, Path::new("/nowhere"), &example()));
        assert!(found("`Known::Thing` and `done` and `MAX_LINES`").is_empty());
        assert_eq!(found("`Unknown<Known>`"), ["`Unknown<Known>` is not in the tree"]);
        assert_eq!(found("`example/src/none.rs`"), ["`example/src/none.rs` is not in the tree"]);
    }
}
