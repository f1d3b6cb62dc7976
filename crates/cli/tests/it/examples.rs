//! Every command line that a person reads can be typed.

use crate::common::{command, succeed};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

const COMMANDS: [&str; 23] = [
    "cards",
    "show",
    "run",
    "whatif",
    "work",
    "merge",
    "lifetime",
    "record",
    "review",
    "compare",
    "history",
    "fit",
    "validate",
    "fsck",
    "ctl",
    "top",
    "create",
    "serve",
    "shelf",
    "attach",
    "detach",
    "completions",
    "man",
];

/// Lines of a text that begin with the program's name, a prompt or not, as words.
fn command_lines(text: &str) -> Vec<Vec<String>> {
    let joined = text.replace("\\\n", " ");
    let lines = joined.lines().map(|line| line.trim().trim_start_matches("$ "));
    lines
        .filter(|line| line.starts_with("flashrig "))
        .map(|line| {
            let line = line.split(" #").next().unwrap_or(line);
            line.split_whitespace().take_while(|word| !["|", ">", "&&"].contains(word)).map(unquoted).collect()
        })
        .collect()
}

/// A word as a shell hands it on.
fn unquoted(word: &str) -> String {
    word.trim_matches('\'').to_owned()
}

/// In fenced blocks, and in the first column of tables; prose may begin with the program's name.
fn fenced(markdown: &str) -> String {
    let blocks = markdown.split("```").skip(1).step_by(2).map(str::to_owned);
    let cells = markdown.lines().filter_map(|line| line.strip_prefix("| `flashrig ")?.split_once('`'));
    blocks.chain(cells.map(|(words, _)| format!("flashrig {words}"))).collect::<Vec<_>>().join("\n")
}

fn documents() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = vec![root.join("README.md"), root.join("ARCHITECTURE.md"), root.join("CHANGELOG.md")];
    let docs = fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path());
    files.extend(docs.filter(|path| path.extension().is_some_and(|extension| extension == "md")));
    files.into_iter().map(|file| (file.display().to_string(), fs::read_to_string(&file).unwrap())).collect()
}

#[test]
fn every_command_line_in_the_documents_parses() {
    let mut found = 0;
    for (file, text) in documents() {
        for words in command_lines(&fenced(&text)) {
            found += 1;
            if let Err(error) = cli::args::parse(&words) {
                panic!("{file}: {words:?}: {error}");
            }
        }
    }
    assert!(found >= 5, "only {found} command lines found");
}

#[test]
fn every_example_of_a_help_text_runs() {
    // In their order: what is pulled is put in.
    let mut lines = Vec::new();
    let top = succeed(&["--help"]);
    for text in COMMANDS.iter().map(|name| succeed(&[name, "--help"])).chain([top]) {
        lines.extend(command_lines(&text));
    }
    let mut seen = BTreeSet::new();
    lines.retain(|line| seen.insert(line.clone()));
    assert!(lines.len() >= 15, "{lines:?}");
    let dir = tempfile::tempdir().unwrap();
    // The card that examples look at.
    let card = torture::CardUnderTest::new(torture::tiny(torture::Kind::Protected), media::Physics::IDEAL, 1);
    card.save_image(&dir.path().join("saved-card")).unwrap();
    let made = dir.path().join("card-in-files");
    succeed(&["create", made.to_str().unwrap(), "--size", "64MiB"]);
    // The trace that examples replay; what it is, is told by its content.
    let trace = "128166372003061629,usr,0,Read,7014609920,24576,41286\n";
    fs::write(dir.path().join("usr_0.csv.gz"), trace).unwrap();
    // The card that is asked while it runs.
    let _served = crate::common::served::Card::serve_in(&dir.path().join("card"));
    for words in lines {
        cli::args::parse(&words).unwrap_or_else(|e| panic!("{words:?}: {e}"));
        // Reviews and comparisons take long and have tests of their own.
        // Servers go on until they are ended, and there is a card already.
        if ["review", "compare", "history", "fit", "validate", "create", "serve", "shelf"].contains(&words[1].as_str())
        {
            continue;
        }
        let output = command().current_dir(dir.path()).args(&words[1..]).output().unwrap();
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

/// In files of some MiB, in place of devices.
#[test]
fn every_example_of_create_makes_a_card() {
    let lines = command_lines(&succeed(&["create", "--help"]));
    assert!(lines.len() >= 3, "{lines:?}");
    for words in lines {
        let dir = tempfile::tempdir().unwrap();
        let mut words = words[1..].to_vec();
        let (mut has_size, mut modules) = (false, 0);
        for at in 1..words.len() {
            match words[at - 1].as_str() {
                "--size" => (words[at], has_size) = ("64MiB".into(), true),
                "--modules" => {
                    words[at] = words[at].replace("/dev/", "");
                    modules = words[at].split(',').count();
                }
                _ => {}
            }
        }
        assert!(has_size, "{words:?}: as large as its card, which nobody has room for");
        let output = command().current_dir(dir.path()).args(&words).output().unwrap();
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        let said = String::from_utf8_lossy(&output.stdout);
        let found = said.lines().find(|line| line.starts_with("modules")).unwrap();
        assert!(modules == 0 || found.contains(&format!(" {modules} of ")), "{found}");
        assert!(!found.contains("of 0 B"), "{found}");
    }
}
