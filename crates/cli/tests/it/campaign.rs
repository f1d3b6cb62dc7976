//! A grid that is divided over machines gives what one machine gives, byte for byte.

use crate::common::{command, succeed};
use std::fs;
use std::path::Path;
use std::process::Output;

const GRID: &str =
    "tachion-400 --fill 50,100 --threads 1,4 --vary ftl.victim=greedy,fifo --scale 1/1024 --seconds 0.02";
const SEARCH: &str = "tachion-400 --fill 60..100 --target-p99 2ms --threads 4,8 --scale 1/1024 --seconds 0.02";

fn run(dir: &Path, words: &str) -> Output {
    command().current_dir(dir).args(words.split(' ')).output().expect("the command runs")
}

fn done(dir: &Path, words: &str) -> String {
    let output = run(dir, words);
    assert!(output.status.success(), "{words}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn refused(dir: &Path, words: &str) -> String {
    let output = run(dir, words);
    assert_eq!(output.status.code(), Some(2), "{words}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn shares_become_the_result_of_one_machine_byte_for_byte() {
    for question in [GRID, SEARCH] {
        let dir = tempfile::tempdir().unwrap();
        let whole =
            succeed(&["whatif"].into_iter().chain(question.split(' ')).chain(["--json", "-"]).collect::<Vec<_>>());
        done(dir.path(), &format!("whatif {question} --plan plan.json"));
        for share in 1..=3 {
            done(dir.path(), &format!("work plan.json --shard {share}/3 -o {share}.jsonl --threads {share}"));
        }
        // In any order, and twice.
        assert_eq!(done(dir.path(), "merge 3.jsonl 1.jsonl 2.jsonl 3.jsonl --json -"), whole, "{question}");
    }
}

#[test]
fn a_lost_share_is_named_and_a_worker_that_was_killed_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    done(dir, &format!("whatif {GRID} --plan plan.json"));
    done(dir, "work plan.json --shard 1/2 -o 1.jsonl");
    assert_eq!(
        refused(dir, "merge 1.jsonl --json -"),
        "flashrig: error: 2 of 4 units are missing: 1,3; flashrig work PLAN --unit does them\n"
    );
    let partial = run(dir, "merge 1.jsonl --partial --json -");
    assert_eq!(partial.status.code(), Some(1));
    let partial: serde_json::Value = serde_json::from_slice(&partial.stdout).unwrap();
    assert_eq!(
        (partial["points"].as_array().unwrap().len(), &partial["partial"]),
        (4, &"2 of 4 units are missing".into())
    );
    done(dir, "work plan.json --unit 1,3 -o 2.jsonl");
    let whole = done(dir, "merge 1.jsonl 2.jsonl --json -");
    // Killed while it wrote its last line.
    let part = fs::read(dir.join("2.jsonl")).unwrap();
    fs::write(dir.join("2.jsonl"), &part[..part.len() - 9]).unwrap();
    assert!(refused(dir, "merge 1.jsonl 2.jsonl").contains("1 of 4 units are missing"));
    done(dir, "work plan.json --shard 2/2 -o 2.jsonl");
    assert_eq!(done(dir, "merge 1.jsonl 2.jsonl --json -"), whole);
}

#[test]
fn a_card_from_a_file_comes_along_with_the_plan() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let card = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cards/tachion-400.toml");
    fs::copy(card, dir.join("mine.toml")).unwrap();
    let question = "mine.toml --fill 50 --scale 1/1024 --seconds 0.02 --set host.cores=2";
    let whole = done(dir, &format!("whatif {question} --json -"));
    done(dir, &format!("whatif {question} --plan plan.json"));
    fs::remove_file(dir.join("mine.toml")).unwrap();
    done(dir, "work plan.json -o part.jsonl");
    assert_eq!(done(dir, "merge part.jsonl --json -"), whole);
}

#[test]
fn what_does_not_belong_together_is_refused_in_one_line() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    done(dir, "whatif tachion-400 --scale 1/1024 --seconds 0.02 --plan a.json");
    done(dir, "whatif tachion-400 --scale 1/1024 --seconds 0.03 --plan b.json");
    done(dir, "work a.json -o a.jsonl");
    done(dir, "work b.json -o b.jsonl");
    let part = fs::read_to_string(dir.join("a.jsonl")).unwrap();
    fs::write(dir.join("damaged.jsonl"), part.replace("\"user_bytes\":1", "\"user_bytes\":2")).unwrap();
    fs::write(dir.join("other.json"), fs::read_to_string(dir.join("a.json")).unwrap().replace("0.02", "0.04")).unwrap();
    for (words, why) in [
        ("merge a.jsonl b.jsonl", "a.jsonl and b.jsonl are parts of two plans"),
        ("merge damaged.jsonl", "damaged.jsonl: line 2: the record is damaged"),
        ("merge a.json", "a.json: line 1: no part of a campaign"),
        ("work a.jsonl -o c.jsonl", "a.jsonl: no plan"),
        ("work other.json -o c.jsonl", "other.json: the plan is not as it was made"),
        ("work b.json -o a.jsonl", "a.jsonl is a part of another plan"),
        ("work a.json --unit 1 -o c.jsonl", "the plan has no unit 1: it has 1"),
        ("work none.json -o c.jsonl", "can't read none.json"),
        ("work a.json --shard 0/1 -o c.jsonl", "must be a share like 2/4"),
    ] {
        let said = refused(dir, words);
        assert!(said.contains(why) && said.lines().count() == 1, "{words}: {said}");
    }
    assert_eq!(fs::read_to_string(dir.join("a.jsonl")).unwrap(), part, "nothing is overwritten");
}
