//! Verdicts over very different devices are those of docs/verdicts.md, where people have read them.

use crate::common::reviews::read_json;
use crate::common::{command as flashrig, succeed};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// The reviews of the page whose words are chosen, and their verdicts.
fn page(chosen: fn(&str) -> bool) -> Vec<(String, String)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/verdicts.md");
    let text = fs::read_to_string(path).expect("the page");
    let (_, listed) = text.split_once("```text\n").expect("a list");
    let (listed, _) = listed.split_once("\n```").expect("its end");
    let reviews = listed.split("\n\n").map(|block| block.split_once('\n').expect("words and a verdict"));
    reviews.filter(|(words, _)| chosen(words)).map(|(words, verdict)| (words.into(), verdict.into())).collect()
}

fn is_whole(words: &str) -> bool {
    ["aws", "azure", "gcp", "sas"].iter().any(|name| words.starts_with(name))
}

fn check(chosen: fn(&str) -> bool, least: usize) {
    let reviews = page(chosen);
    assert!(reviews.len() >= least, "{} reviews", reviews.len());
    for (words, shown) in reviews {
        let folder = TempDir::new().unwrap();
        let out = folder.path().join("review").display().to_string();
        let mut arguments = vec!["review"];
        arguments.extend(words.split(' '));
        arguments.extend(["--quick", "--out", &out]);
        if !is_whole(&words) {
            arguments.extend(["--scale", "1/1024"]);
        }
        succeed(&arguments);
        let answer = &read_json(&folder.path().join("review.json"))["answer"];
        let text = |value: &serde_json::Value| value.as_str().expect("a text").to_owned();
        let (sentence, limit) = (text(&answer["sentence"]), text(&answer["limit"]));
        let now = format!("  {sentence}\n  limit: {limit}\n  do: {}", text(&answer["action"]["text"]));
        assert_eq!(now, shown, "{words}");
    }
}

#[test]
fn volumes_of_clouds_are_told_their_quota() {
    check(|words| words.starts_with("azure-p"), 4);
}

#[test]
#[ignore = "proof: four reviews, half a minute"]
fn devices_of_each_kind_are_told_what_the_page_says() {
    check(|words| ["aws-gp3", "sas-raid10-6", "tachion-400", "iodrive-duo-320-slc"].contains(&words), 4);
}

#[test]
#[ignore = "soak: eighteen reviews, some minutes"]
fn soak_verdicts_are_those_of_the_page() {
    check(|_| true, 18);
}

/// A group of processes whose reads and writes of a disk are few, as long as the value lives.
struct Throttled(PathBuf);

impl Throttled {
    /// None where this system has no such groups, or this process may make none.
    fn new(disk: &str, iops: u32) -> Option<Throttled> {
        let group = Path::new("/sys/fs/cgroup/blkio").join(format!("flashrig-{}", std::process::id()));
        fs::create_dir(&group).ok()?;
        let made = Throttled(group);
        for key in ["read", "write"] {
            let file = made.0.join(format!("blkio.throttle.{key}_iops_device"));
            fs::write(file, format!("{disk} {iops}")).ok()?;
        }
        Some(made)
    }
}

impl Drop for Throttled {
    fn drop(&mut self) {
        // Processes in it have ended.
        let _ = fs::remove_dir(&self.0);
    }
}

/// The disk below a directory, as `8:0`; none where the directory lies on no disk, or on a partition.
fn disk_of(dir: &Path) -> Option<String> {
    let device = fs::metadata(dir).ok()?.dev();
    let number = format!("{}:{}", rustix::fs::major(device), rustix::fs::minor(device));
    Path::new("/sys/dev/block").join(&number).join("queue").exists().then_some(number)
}

/// Reviews a file of this disk, perhaps in a group; its answer.
fn review_of_a_file(folder: &TempDir, group: Option<&Throttled>) -> serde_json::Value {
    let script = "[ -z \"$0\" ] || echo $$ > \"$0/cgroup.procs\"; exec \"$@\"";
    let group = group.map_or(String::new(), |group| group.0.display().to_string());
    let words =
        ["review", "./file.bin", "--size", "64MiB", "--only", "threads", "--quick", "--budget", "60s", "--json"];
    let mut command = Command::new("sh");
    command.args(["-c", script, &group]).arg(flashrig().get_program()).args(words).current_dir(folder.path());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
#[ignore = "proof: a review of a file takes a minute"]
fn a_file_behind_a_limiter_is_told_its_quota_however_busy_the_machine_is() {
    let folder = TempDir::new().unwrap();
    let Some(throttled) = disk_of(folder.path()).and_then(|disk| Throttled::new(&disk, 600)) else {
        println!("skipped: no limiter of this system can be had (blkio), or no disk lies below");
        return;
    };
    let result = review_of_a_file(&folder, Some(&throttled));
    let text = |key: &str| result["answer"][key].as_str().unwrap().to_owned();
    assert!(text("sentence").starts_with("Behind a quota: "), "{}", result["answer"]);
    assert!(text("limit").starts_with("A quota was measured, not the device: "), "{}", result["answer"]);
    let action = result["answer"]["action"]["text"].as_str().unwrap();
    assert!(action.starts_with("Ask for a higher quota than "), "{action}");
    // The limiter gives its 600 a second in slices of 0.1 s, of which a point has up to two more or less. Both are told: the
    // fastest point, and the quota from the middle one.
    let seconds = result["sweeps"][0]["points"][0]["seconds"].as_f64().unwrap();
    let reads = result["answer"]["figures"][0]["value"].as_f64().unwrap();
    let off = 600.0 * 0.25 / seconds;
    assert!((reads - 600.0).abs() < off, "{reads} reads a second in {seconds} s");
}

#[test]
#[ignore = "proof: a review of a file takes a minute"]
fn a_file_of_this_disk_is_told_what_was_the_limit() {
    let folder = TempDir::new().unwrap();
    let result = review_of_a_file(&folder, None);
    let action = &result["answer"]["action"];
    // How fast it is depends on the disk, and whether that shows on who else is at work.
    let classes = ["Start at ", "Run it again when the machine is idle: ", "Ask from a faster machine"];
    assert!(classes.iter().any(|class| action["text"].as_str().unwrap().starts_with(class)), "{action}");
    assert!(
        result["verdict"].as_array().unwrap().iter().any(|claim| claim["topic"] == "scope"),
        "{}",
        result["verdict"]
    );
}
