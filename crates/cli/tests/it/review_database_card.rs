//! PostgreSQL on a card that is served, attached, formatted and mounted for it: what a power cut leaves of its
//! transactions, and that nothing is left of the card, however the review ends.

use crate::common::disks::among_makers;
use crate::common::reviews::{assert_to_schema, read_json, refusal};
use crate::common::{command, run_in};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::RwLockReadGuard;
use std::time::{Duration, Instant};

/// A directory, while loop devices may be made.
struct Ground {
    dir: tempfile::TempDir,
    _maker: RwLockReadGuard<'static, ()>,
}

impl Ground {
    fn path(&self) -> &Path {
        self.dir.path()
    }
}

/// None, and a line that says so, where a card can't be mounted or there is no database.
fn ground() -> Option<Ground> {
    let lacks = if !rustix::process::geteuid().is_root() {
        Some("not root".to_owned())
    } else if let Err(error) = database::Binaries::find(None) {
        Some(error.to_string())
    } else if !Path::new("/dev/fuse").exists() || !Path::new("/dev/loop-control").exists() {
        Some("no FUSE or no loop devices".to_owned())
    } else {
        None
    };
    if let Some(lacks) = lacks {
        println!("skipped: {lacks}");
        return None;
    }
    Some(Ground { dir: tempfile::tempdir().unwrap(), _maker: among_makers() })
}

const CRASH: [&str; 9] =
    ["--database", "postgres", "--size", "768m", "--parts", "crash", "--db-size", "48m", "--overwrite"];

/// The work directory of a review that runs as process `pid`.
fn work_of(pid: u32) -> PathBuf {
    Path::new(database::mounted::WORK_DIR).join(format!("database-{pid}-0"))
}

/// The remains of a review: mounts, loop devices, processes, its directory, its socket's.
fn left(pid: u32) -> Vec<String> {
    let work = work_of(pid);
    let name = work.display().to_string();
    let mut left = Vec::new();
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    left.extend(mounts.lines().filter(|line| line.contains(&name)).map(str::to_owned));
    for entry in fs::read_dir("/sys/block").unwrap().flatten() {
        let file = fs::read_to_string(entry.path().join("loop/backing_file")).unwrap_or_default();
        left.extend(file.starts_with(&name).then(|| format!("{:?} on {file}", entry.file_name())));
    }
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let words = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let words = String::from_utf8_lossy(&words).replace('\0', " ");
        left.extend(words.contains(&name).then_some(words));
    }
    left.extend(work.exists().then_some(name));
    let socket = format!("flashrig-pg-{pid}-");
    let temporary = fs::read_dir(std::env::temp_dir()).unwrap().flatten();
    left.extend(
        temporary.map(|entry| entry.file_name().to_string_lossy().into_owned()).filter(|n| n.starts_with(&socket)),
    );
    left
}

fn gone_within(pid: u32, time: Duration) -> Vec<String> {
    let began = Instant::now();
    while !left(pid).is_empty() && began.elapsed() < time {
        std::thread::sleep(Duration::from_millis(100));
    }
    left(pid)
}

fn begin(dir: &Path, words: &[&str]) -> Child {
    let mut all = vec!["review", "tachion-400"];
    all.extend(CRASH);
    all.extend(words);
    command().current_dir(dir).args(all).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// PostgreSQL is at work on the card.
fn wait_for_server(pid: u32) {
    let began = Instant::now();
    while database::processes_in(&work_of(pid).join("data")).len() < 8 {
        assert!(began.elapsed() < Duration::from_secs(240), "no server: {:?}", left(pid));
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
#[ignore = "proof: a real PostgreSQL"]
fn a_card_that_lies_about_flushes_is_caught_and_an_honest_one_passes() {
    let Some(dir) = ground() else { return };
    let without = ["--set", "card.power_loss_protection=false"];
    for (lies, name) in [(true, "lies"), (false, "honest")] {
        let mut words = vec!["--cycles", if lies { "2" } else { "3" }, "--out", name];
        words.extend(without);
        words.extend(lies.then_some(["--set", "card.acknowledge_flush_early=true"]).into_iter().flatten());
        let child = begin(dir.path(), &words);
        let pid = child.id();
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{said}");
        let result = read_json(&dir.path().join(format!("{name}.json")));
        assert_to_schema(&result);
        assert_eq!(result["target"]["kind"], "served");
        let crash = &result["database"]["crash"];
        assert_eq!(crash["passed"], !lies, "{text}");
        let acknowledged = |cycle: &serde_json::Value| cycle["acknowledged"].as_u64().unwrap();
        assert!(crash["cycles"].as_array().unwrap().iter().map(acknowledged).sum::<u64>() > 100, "{text}");
        if lies {
            // The answer is folded to the width of a terminal, wherever its figures put the fold.
            let said = text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(said.contains("acknowledges flushes before data is safe") || said.contains("damaged"), "{text}");
        }
        assert!(left(pid).is_empty(), "{:?}", left(pid));
    }
}

/// A review of a card that is served, small and to its end.
fn review(dir: &Path, card: &str, words: &[&str]) -> serde_json::Value {
    let mut all = vec!["review", card, "--database", "postgres", "--size", "768m", "--point", "2s", "--out", card];
    all.extend(words);
    let child = command().current_dir(dir).args(all).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let pid = child.id();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    assert!(left(pid).is_empty(), "{:?}", left(pid));
    let result = read_json(&dir.join(format!("{card}.json")));
    assert_to_schema(&result);
    result
}

#[test]
#[ignore = "proof: a real PostgreSQL"]
fn flash_and_disks_run_the_mix_side_by_side_and_on_their_models() {
    let Some(dir) = ground() else { return };
    let mix = ["--parts", "mix", "--sessions", "1,4", "--db-size", "48m", "--shared-buffers", "8m"];
    let peak = |card| {
        let result = review(dir.path(), card, &mix);
        let mix = &result["database"]["mix"];
        let points = mix["points"].as_array().unwrap();
        let modelled: Vec<f64> = points.iter().map(|point| point["modelled_tps"].as_f64().unwrap()).collect();
        assert!(modelled[0] > 0.0 && modelled[1] > modelled[0], "{card}: {modelled:?}");
        assert!(mix["modelled"].as_str().unwrap().contains("virtual time"));
        (mix["peak_tps"].as_f64().unwrap(), modelled[1])
    };
    let (flash, disks) = (peak("iodrive-320-mlc"), peak("sas-raid10-6"));
    assert!(flash.0 > disks.0 && flash.1 > disks.1, "{flash:?} {disks:?}");
    let words = ["compare", "iodrive-320-mlc.json", "sas-raid10-6.json", "--out", "page.html"];
    let compared = String::from_utf8(run_in(dir.path(), &words).stdout).unwrap();
    assert!(compared.contains("PostgreSQL 80/20"), "{compared}");
    assert!(fs::read_to_string(dir.path().join("page.html")).unwrap().contains("Modelled TPS"));
}

#[test]
#[ignore = "proof: a real PostgreSQL"]
fn slob_runs_on_cards_of_every_kind() {
    let Some(dir) = ground() else { return };
    for card in ["tachion-400", "violin-3205"] {
        let slob = ["--parts", "slob", "--sessions", "1,4", "--slob", "SCALE=1000,WORK_UNIT=8"];
        let result = review(dir.path(), card, &slob);
        let points = result["database"]["slob"]["points"].as_array().unwrap();
        assert_eq!(points.len(), 2);
        assert!(points.iter().all(|point| point["awr"]["physical_reads_s"].as_f64().unwrap() > 0.0), "{points:?}");
    }
}

#[test]
#[ignore = "proof: a real PostgreSQL"]
fn nothing_is_left_after_ctrl_c_or_a_kill() {
    let Some(dir) = ground() else { return };
    for signal in [rustix::process::Signal::INT, rustix::process::Signal::KILL] {
        let mut child = begin(dir.path(), &["--cycles", "50", "--out", "it"]);
        let pid = child.id();
        wait_for_server(pid);
        rustix::process::kill_process(rustix::process::Pid::from_child(&child), signal).unwrap();
        child.wait().unwrap();
        let left = gone_within(pid, Duration::from_secs(60));
        assert!(left.is_empty(), "{signal:?}: {left:?}");
    }
}

#[test]
#[ignore = "proof: a real PostgreSQL"]
fn a_server_that_is_killed_is_what_the_review_names() {
    let Some(dir) = ground() else { return };
    let child = begin(dir.path(), &["--cycles", "50", "--out", "it"]);
    let pid = child.id();
    wait_for_server(pid);
    let server = fs::read_to_string(work_of(pid).join("server.pid")).unwrap();
    let server = rustix::process::Pid::from_raw(server.trim().parse().unwrap()).unwrap();
    rustix::process::kill_process(server, rustix::process::Signal::KILL).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success());
    assert!(said.contains("the card's server ended (signal: 9"), "{said}");
    assert!(left(pid).is_empty(), "{:?}", left(pid));
}

/// Bytes of this machine's memory.
fn memory_bytes() -> u64 {
    let text = fs::read_to_string("/proc/meminfo").unwrap();
    text.lines().next().unwrap().split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}

#[test]
fn what_can_not_be_is_refused_in_a_line() {
    let dir = tempfile::tempdir().unwrap();
    let refused = |arguments: &[&str], says: &str| {
        let words = [&["review"], arguments, &["--database", "postgres"]].concat();
        let said = refusal(&run_in(dir.path(), &words));
        assert!(said.contains(says), "{said}");
    };
    refused(&["tachion-400", "--size", "100m"], "too small for a file system");
    refused(&["tachion-400", "--scale", "1/2"], "--scale has no effect on a card that is served");
    refused(&["tachion-400", "--set", "ftl.reserve=x"], "ftl.reserve");
    if rustix::process::geteuid().is_root() {
        refused(&["sas-raid10-6", "--size", "768m", "--crash"], "there is no power to cut");
        let size = memory_bytes().next_multiple_of(1 << 20).to_string();
        let all = ["tachion-400", "--size", &size, "--db-size", "48m", "--shared-buffers", "16m"];
        refused(&all, "whose contents lie in memory, needs");
    } else {
        refused(&["tachion-400"], "needs root");
    }
    assert!(fs::read_dir(dir.path()).unwrap().next().is_none());
}
