//! Imports between crates run downward in the diagram of ARCHITECTURE.md.
//!
//! Every table of dependencies of a manifest counts, for the build and for single targets as well; dependencies of tests
//! don't, because a test may hold a lower layer against a higher one.

use toml_edit::{DocumentMut, Item, TableLike};

use super::diagram::Diagram;
use super::finding::{Finding, Rule};

pub fn upward(owner: &str, manifest: &str, diagram: &Diagram) -> Vec<Finding> {
    let place = format!("crates/{owner}/Cargo.toml");
    let finding =
        |text: String| Finding { rule: Rule::UpwardImport, owner: owner.to_owned(), place: place.clone(), text };
    let Some(above) = diagram.line_of(owner) else {
        return vec![finding(format!("{owner} is not in the diagram"))];
    };
    let mut findings = Vec::new();
    for dependency in dependencies(manifest) {
        if diagram.line_of(&dependency).is_some_and(|below| below <= above) {
            findings.push(finding(format!("{owner} imports {dependency}, which does not stand below it")));
        }
    }
    findings
}

/// Names of everything that a manifest depends on outside its tests.
pub fn dependencies(manifest: &str) -> Vec<String> {
    let manifest: DocumentMut = manifest.parse().expect("a manifest that cargo has read");
    let mut names = section_names(manifest.as_table());
    let targets = manifest.get("target").and_then(Item::as_table_like);
    for (_, target) in targets.into_iter().flat_map(TableLike::iter) {
        names.extend(target.as_table_like().into_iter().flat_map(section_names));
    }
    names
}

fn section_names(table: &dyn TableLike) -> Vec<String> {
    let sections = ["dependencies", "build-dependencies"].map(|section| table.get(section));
    let sections = sections.into_iter().flatten().filter_map(Item::as_table_like);
    sections.flat_map(|section| section.iter().map(|(name, _)| name.to_owned()).collect::<Vec<_>>()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(manifest: &str) -> Vec<String> {
        let diagram = Diagram::parse("    crates/\n      high/  Where?\n      middle/  Who?\n      low/  Why?\n");
        upward("middle", manifest, &diagram).into_iter().map(|finding| finding.text).collect()
    }

    #[test]
    fn an_import_from_below_is_fine_and_one_from_above_is_not() {
        assert!(texts("[dependencies]\nlow.workspace = true\nserde = \"1\"").is_empty());
        let found = texts("[dependencies]\nhigh.workspace = true\n");
        assert_eq!(found, ["middle imports high, which does not stand below it"]);
    }

    #[test]
    fn every_section_but_that_of_tests_counts() {
        assert_eq!(texts("[build-dependencies]\nhigh = { path = \"../high\" }").len(), 1);
        assert_eq!(texts("[target.'cfg(unix)'.dependencies]\nhigh.workspace = true").len(), 1);
        assert_eq!(texts("[dependencies.high]\nworkspace = true").len(), 1);
        assert!(texts("[dev-dependencies]\nhigh.workspace = true").is_empty());
    }

    #[test]
    fn a_crate_outside_the_diagram_is_found() {
        let diagram = Diagram::parse("    crates/\n      low/  Why?\n");
        assert_eq!(upward("new", "", &diagram).len(), 1);
    }
}
