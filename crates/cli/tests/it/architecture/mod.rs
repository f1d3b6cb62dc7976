//! The rules of the house, checked on the sources: what DESIGN and ARCHITECTURE.md say of the tree is true.
//!
//! A rule that a crate does not keep yet stands in [`NOT_YET`]. A crate that keeps it must be taken off that list, so it
//! only shrinks. Each rule has tests of its own on small examples that break it.

mod circles;
mod diagram;
mod finding;
mod imports;
mod modules;
mod pages;
mod prose;
mod seals;
mod shape;
mod tree;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use diagram::Diagram;
use finding::{Finding, Rule};

const MAX_LINES: usize = 700;
const MAX_FIELDS: usize = 15;
/// The 27th is `ublk`: its `unsafe` ring knows nothing of cards, and `attach` nothing of rings.
const MAX_CRATES: usize = 27;
const MAX_WORDS: usize = 2500;

/// Crates of which each type has a bound on its fields.
const NARROW: [&str; 2] = ["card", "session"];

/// The owner of a finding that belongs to no crate.
const WHOLE: &str = ".";

/// Rules that a crate does not keep yet.
const NOT_YET: &[(&str, &[Rule])] = &[];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every place that breaks a rule, looked for once for all tests of this file.
fn findings() -> &'static [Finding] {
    static FINDINGS: OnceLock<Vec<Finding>> = OnceLock::new();
    FINDINGS.get_or_init(|| find(&root()))
}

fn find(root: &Path) -> Vec<Finding> {
    let crates = tree::crates(root);
    let page = fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let diagram = Diagram::parse(&page);
    let mut findings = Vec::new();
    for owner in &crates {
        findings.extend(imports::upward(&owner.name, &owner.manifest, &diagram));
        findings.extend(circles::circles(owner));
        findings.extend(seals::broken(owner, seals::SEALS));
        findings.extend(shape::long_files(owner, MAX_LINES));
        findings.extend(shape::text_in_errors(owner));
        findings.extend(prose::headless(owner));
        findings.extend(prose::short_docs(owner));
        if NARROW.contains(&owner.name.as_str()) {
            findings.extend(shape::many_fields(owner, MAX_FIELDS));
        }
    }
    findings.extend(pages::questions(&page, &crates));
    findings.extend(pages::folders(&page, &root_folders(root), &crates));
    findings.extend(pages::names(&page, root, &crates));
    findings.extend(pages::too_long("ARCHITECTURE.md", &page, MAX_WORDS));
    for name in ["docs/measurements.md", "docs/measurements-served.md"] {
        let measurements = fs::read_to_string(root.join(name)).unwrap();
        findings.extend(pages::too_long(name, &measurements, MAX_WORDS));
    }
    findings.extend((crates.len() > MAX_CRATES).then(|| Finding {
        rule: Rule::Crates,
        owner: WHOLE.to_owned(),
        place: "crates/".to_owned(),
        text: format!("{} crates, at most {MAX_CRATES}", crates.len()),
    }));
    findings
}

fn root_folders(root: &Path) -> Vec<String> {
    let entries = fs::read_dir(root).unwrap().map(Result::unwrap).filter(|entry| entry.path().is_dir());
    let names = entries.map(|entry| entry.file_name().to_str().unwrap().to_owned());
    names.filter(|name| !name.starts_with('.') && name != "target").collect()
}

/// Fails with the findings of a rule in crates that must keep it, and with the crates that could be taken off the list.
fn judge(rule: Rule, findings: &[Finding], not_yet: &[(&str, &[Rule])]) -> Result<(), String> {
    let pardoned: Vec<&str> =
        not_yet.iter().filter(|(_, rules)| rules.contains(&rule)).map(|(owner, _)| *owner).collect();
    let (of_pardoned, mut lines): (Vec<_>, Vec<_>) = findings
        .iter()
        .filter(|finding| finding.rule == rule)
        .partition(|finding| pardoned.contains(&finding.owner.as_str()));
    lines.dedup();
    let mut lines: Vec<String> = lines.into_iter().map(Finding::to_string).collect();
    for owner in pardoned {
        if !of_pardoned.iter().any(|finding| finding.owner == owner) {
            lines.push(format!("{owner} keeps {rule:?}: take it off NOT_YET"));
        }
    }
    if lines.is_empty() { Ok(()) } else { Err(lines.join("\n")) }
}

/// One test for each rule, named after the property.
macro_rules! rules {
    ($($name:ident: $rule:ident;)*) => {
        $(#[test]
        fn $name() {
            judge(Rule::$rule, findings(), NOT_YET).unwrap_or_else(|found| panic!("\n{found}"));
        })*

        #[test]
        fn each_rule_has_a_test() {
            assert_eq!([$(Rule::$rule),*], Rule::ALL);
        }
    };
}

rules! {
    imports_run_downward_in_the_diagram: UpwardImport;
    files_of_a_crate_import_each_other_in_one_direction: Circle;
    sealed_folders_import_nothing_but_what_their_seals_name: Seal;
    files_are_short: LongFile;
    types_of_the_card_and_the_session_have_few_fields: ManyFields;
    errors_say_what_is_wrong_by_type: TextInError;
    sentences_have_their_subject_first: Headless;
    doc_comments_say_more_than_names: ShortDoc;
    pages_are_short_and_name_what_exists: Page;
    crates_are_few: Crates;
}

#[test]
fn a_crate_off_the_list_must_keep_the_rule_and_one_on_it_must_not() {
    let finding = |owner: &str| Finding {
        rule: Rule::Circle,
        owner: owner.to_owned(),
        place: "here".to_owned(),
        text: "there".to_owned(),
    };
    let list: &[(&str, &[Rule])] = &[("card", &[Rule::Circle])];
    assert_eq!(judge(Rule::Circle, &[finding("card")], list), Ok(()));
    assert_eq!(judge(Rule::LongFile, &[finding("ftl")], list), Ok(()));
    assert_eq!(judge(Rule::Circle, &[finding("card"), finding("ftl")], list), Err("Circle here there".to_owned()));
    assert_eq!(judge(Rule::Circle, &[], list), Err("card keeps Circle: take it off NOT_YET".to_owned()));
}
