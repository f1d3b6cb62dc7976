//! Man pages and completions come from the same definitions as the parser.

use crate::common::succeed;
use std::fs;

#[test]
fn every_command_has_a_man_page() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("man");
    succeed(&["man", "--out", out.to_str().unwrap()]);
    for page in [
        "flashrig",
        "flashrig-run",
        "flashrig-whatif",
        "flashrig-lifetime",
        "flashrig-review",
        "flashrig-fit",
        "flashrig-history",
        "flashrig-validate",
        "flashrig-show",
        "flashrig-cards",
        "flashrig-fsck",
        "flashrig-ctl",
        "flashrig-ctl-module-insert",
        "flashrig-top",
    ] {
        let text = fs::read_to_string(out.join(format!("{page}.1"))).unwrap_or_else(|e| panic!("{page}: {e}"));
        assert!(text.contains(".TH ") && text.contains(".SH SYNOPSIS"), "{page}");
    }
    let run = fs::read_to_string(out.join("flashrig-run.1")).unwrap();
    assert!(run.contains("explain\\-tail") && run.contains("slob\\-readers"), "{run}");
    assert!(succeed(&["man"]).contains(".SH SYNOPSIS"));
}

#[test]
fn every_shell_has_completions() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let text = succeed(&["completions", shell]);
        assert!(text.contains("flashrig") && text.contains("explain-tail"), "{shell}");
    }
}
