//! The output fits a terminal of 80 columns and carries no escape codes.

use crate::common::{run, succeed};

fn assert_fits(arguments: &[&str], text: &str) {
    assert!(!text.contains('\u{1b}'), "{arguments:?} printed escape codes without a terminal");
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{arguments:?}: {line}");
        assert!(!line.ends_with(' '), "{arguments:?} has blanks at the end of a line: {line:?}");
    }
}

#[test]
fn every_table_is_at_most_eighty_columns_wide() {
    for line in [
        "cards",
        "show tachion-400",
        "show tachion-400 --sources",
        "show sas-raid10-6",
        "run tachion-400 --load rndwr --explain-tail --requests 50000",
        "run tachion-400-preproduction --load rndwr --threads 64 --explain-tail --seconds 5",
        "run tachion-400 --load rndrw --fsync-all --depth 4 --access zipf:0.99 --requests 50000 --explain-tail",
        "run tachion-400 --load slob --slob-readers 64 --slob-writers 64 --slob-blocks 1000 --requests 50000 --explain-tail",
        "run tachion-400 --load replica --requests 50000",
        "run tachion-400 --load replica --replica-tps 100 --requests 50000",
        "run tachion-400 --load tpcc --requests 50000 --set host.cores=4",
        "run tachion-400 --load oltp --requests 50000 --set host.cores=4 --set ftl.victim=cost-benefit",
        "run sas-raid10-6 --load rndrw --requests 2000 --explain-tail",
        "run tachion-400 --load seqwr --fresh --requests 1",
        "validate --table tachion-400-threads",
    ] {
        let arguments: Vec<&str> = line.split(' ').collect();
        assert_fits(&arguments, &succeed(&arguments));
    }
}

#[test]
fn a_quick_review_is_at_most_eighty_columns_wide() {
    let dir = tempfile::tempdir().unwrap();
    let page = dir.path().join("page");
    let quick = ["review", "tachion-400", "--quick", "--scale", "1/256", "--out", page.to_str().unwrap()];
    let words = succeed(&quick);
    assert_fits(&quick, &words);
    assert!(!words.contains("second by second") && words.lines().count() < 40, "{words}");
    let arguments = [&quick[..], &["--tables"]].concat();
    let text = succeed(&arguments);
    assert_fits(&arguments, &text);
    assert!(text.contains("random write") && text.contains("second by second"), "{text}");
}

#[test]
fn every_help_is_at_most_eighty_columns_wide() {
    for command in ["cards", "show", "run", "whatif", "lifetime", "review", "compare", "validate", "completions", "man"]
    {
        for flag in ["-h", "--help"] {
            let help = succeed(&[command, flag]);
            assert_fits(&[command, flag], &help);
            assert!(help.contains("Examples:\n"), "{command}");
        }
    }
    assert_fits(&["--help"], &succeed(&["--help"]));
}

#[test]
fn the_version_is_the_packages() {
    // A build for release names its commit as well.
    let version = succeed(&["--version"]);
    let rest = version.strip_prefix(concat!("flashrig ", env!("CARGO_PKG_VERSION"))).expect("name and version");
    let commit = rest.trim_end().strip_prefix(" (").and_then(|rest| rest.strip_suffix(')'));
    assert!(
        rest == "\n" || commit.is_some_and(|commit| commit.bytes().all(|byte| byte.is_ascii_hexdigit())),
        "{version}"
    );
}

#[test]
fn without_a_command_the_help_is_an_error() {
    let output = run(&[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("Usage: flashrig"));
}
