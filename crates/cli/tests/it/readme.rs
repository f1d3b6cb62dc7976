//! README.md and the pages of examples show exactly the output of the commands.
//!
//! In a block that is marked as `console`, each line that begins with `$ ` is a command, and the lines after it are its
//! output. A line that is only `…` stands for lines that are left out. Wall-clock lines (`speed:`, `setup:`) may
//! differ.
//!
//! `make readme` writes what the commands print now; what is left out stays left out. Words behind a `#` are for
//! people.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const LEFT_OUT: &str = "…";
const WALL_CLOCK: [&str; 2] = ["speed:", "setup:"];

fn document(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

/// A command and the lines below it, as they stand in the file.
struct Example {
    command: String,
    /// Lines of the file: first, and one past the last.
    output: (usize, usize),
}

fn examples(lines: &[&str]) -> Vec<Example> {
    let mut found: Vec<Example> = Vec::new();
    let mut inside = false;
    for (i, line) in lines.iter().enumerate() {
        if line.starts_with("```") {
            inside = *line == "```console";
        } else if inside && let Some(command) = line.strip_prefix("$ ") {
            let command = command.split(" #").next().unwrap_or(command).trim_end();
            found.push(Example { command: command.to_owned(), output: (i + 1, i + 1) });
        } else if inside && let Some(example) = found.last_mut() {
            example.output.1 = i + 1;
        }
    }
    // A block without a command has no output to hold against anything.
    found.retain(|example| example.output.0 < example.output.1);
    found
}

/// The output of a command. Its files are there for later commands.
fn print_now(command: &str, dir: &Path) -> String {
    let mut words = command.split_whitespace();
    assert_eq!(words.next(), Some("flashrig"), "only this program's output can be checked: {command}");
    let program = std::env::var_os("FLASHRIG").unwrap_or(env!("CARGO_BIN_EXE_flashrig").into());
    let output = Command::new(program).args(words).current_dir(dir).output().expect("the command starts");
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn wall_clock(line: &str) -> bool {
    WALL_CLOCK.iter().any(|prefix| line.starts_with(prefix))
}

fn same(shown: &str, printed: &str) -> bool {
    shown == printed || (wall_clock(shown) && wall_clock(printed) && shown[..6] == printed[..6])
}

/// Returns whether the lines shown are all there, in order and, but for what is left out, without gaps.
fn shows(shown: &[&str], printed: &[&str]) -> Result<(), String> {
    let mut at = 0;
    for (number, piece) in shown.split(|line| *line == LEFT_OUT).enumerate() {
        if piece.is_empty() {
            continue;
        }
        let mut places = at..=printed.len().saturating_sub(piece.len());
        let fits = |from: usize| piece.iter().zip(printed.get(from..).unwrap_or(&[])).all(|(s, p)| same(s, p));
        let found = if number == 0 { Some(0).filter(|from| fits(*from)) } else { places.find(|from| fits(*from)) };
        at = found.ok_or_else(|| format!("not printed:\n{}", piece.join("\n")))? + piece.len();
    }
    let open_end = shown.last() == Some(&LEFT_OUT);
    if open_end || at == printed.len() { Ok(()) } else { Err(format!("not shown:\n{}", printed[at..].join("\n"))) }
}

/// The same lines with today's figures: a piece after a gap begins at the line that begins with the same words.
fn renewed(shown: &[&str], printed: &[&str]) -> Vec<String> {
    let words = |line: &str| -> String { line.chars().filter(|c| c.is_alphabetic()).take(24).collect() };
    let mut out = Vec::new();
    let mut at = 0;
    let pieces: Vec<&[&str]> = shown.split(|line| *line == LEFT_OUT).collect();
    for (number, piece) in pieces.iter().enumerate() {
        if number > 0 {
            out.push(LEFT_OUT.to_owned());
        }
        let Some(first) = piece.first() else { continue };
        if number > 0 {
            let anchor = printed[at..].iter().position(|line| words(line) == words(first));
            at += anchor.unwrap_or_else(|| panic!("nothing printed begins like {first:?}"));
        }
        // The end of the output goes to its end, whatever its length has become.
        let to = if number + 1 == pieces.len() { printed.len() } else { (at + piece.len()).min(printed.len()) };
        out.extend(printed[at..to].iter().map(|line| (*line).to_owned()));
        at = to;
    }
    out
}

/// Holds a document against what its commands print, or renews it.
fn check(name: &str, least: usize) {
    let text = fs::read_to_string(document(name)).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let renew = std::env::var_os("RENEW_README").is_some();
    let mut renewed_lines: Vec<String> = Vec::new();
    let mut copied = 0;
    let examples = examples(&lines);
    assert!(examples.len() >= least, "{name}: only {} commands with output", examples.len());
    let dir = tempfile::tempdir().unwrap();
    for Example { command, output: (from, to) } in examples {
        let printed = print_now(&command, dir.path());
        let printed: Vec<&str> = printed.lines().collect();
        // Blank lines between a command's output and the next command are the document's.
        let shown = &lines[from..to];
        let blank = shown.iter().rev().take_while(|line| line.is_empty()).count();
        let shown = &shown[..shown.len() - blank];
        if renew {
            renewed_lines.extend(lines[copied..from].iter().map(|line| (*line).to_owned()));
            renewed_lines.extend(renewed(shown, &printed));
            copied = from + shown.len();
        } else if let Err(difference) = shows(shown, &printed) {
            panic!("{name}, line {}: {command}: {difference}\n\n`make readme` renews it", from + 1);
        }
    }
    if renew {
        renewed_lines.extend(lines[copied..].iter().map(|line| (*line).to_owned()));
        fs::write(document(name), renewed_lines.join("\n") + "\n").unwrap();
    }
}

#[test]
fn the_readme_shows_what_the_commands_print() {
    check("README.md", 1);
}

#[test]
fn the_examples_show_what_the_commands_print() {
    check("docs/examples.md", 5);
}

/// A person reads it in two minutes, and its picture is small.
#[test]
fn the_readme_is_short() {
    let text = fs::read_to_string(document("README.md")).unwrap();
    assert!(text.lines().count() <= 250);
    let picture = text.split("](").skip(1).find_map(|rest| Some(rest.split_once(')')?.0)).expect("a picture");
    let size = fs::metadata(document(picture)).unwrap_or_else(|e| panic!("{picture}: {e}")).len();
    assert!((5_000..200_000).contains(&size), "{picture}: {size} bytes");
}

#[test]
fn a_gap_hides_lines_and_nothing_else() {
    let printed = ["a 1", "b 2", "c 3", "speed:  4"];
    assert!(shows(&["a 1", "b 2", "c 3", "speed:  5"], &printed).is_ok());
    assert!(shows(&["a 1", "…", "c 3", "…"], &printed).is_ok());
    assert!(shows(&["…", "b 2", "…"], &printed).is_ok());
    for wrong in [vec!["a 1", "c 3", "…"], vec!["a 1", "b 2"], vec!["b 2", "…"], vec!["…", "c 3", "…", "b 2", "…"]]
    {
        assert!(shows(&wrong, &printed).is_err(), "{wrong:?}");
    }
    assert_eq!(renewed(&["a 0", "…", "c 9", "speed:  1"], &printed), ["a 1", "…", "c 3", "speed:  4"]);
}
