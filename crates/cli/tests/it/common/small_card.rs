//! A small card in files, what `fsck` says of it, and whether it starts.

use super::nbd::{Client, FLUSH, WRITE};
use super::server::serve;
use super::versions::sector;
use super::{command, run_in};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

pub const MODULES: u64 = 4;
pub const PAGE: u64 = 4096;

/// Settings that make a small card of four modules.
const SETTINGS: &str = "geometry.modules=4 geometry.channels_per_module=1 geometry.dies_per_channel=2 \
    ftl.stripe_width=4 geometry.pages_per_block=16 buffer.bytes=256KiB buffer.capacitor_joules=100 card.user_bytes=1GiB";

/// A small card in files, after some writes. Its end was none in order if it was killed.
pub fn card(dir: &Path, name: &str, size: &str, is_killed: bool) -> PathBuf {
    card_with(dir, name, size, &[], is_killed)
}

/// The same with more options of `create`.
pub fn card_with(dir: &Path, name: &str, size: &str, more: &[&str], is_killed: bool) -> PathBuf {
    let mut words = vec!["create", name, "--card", "tachion-400", "--size", size];
    words.extend(more);
    SETTINGS.split_whitespace().for_each(|setting| words.extend(["--set", setting]));
    let made = run_in(dir, &words);
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let folder = dir.join(name);
    let (mut server, mut client) = serve(&folder);
    write(&mut client, 1);
    if is_killed {
        write(&mut client, 2);
        server.0.kill().unwrap();
        server.0.wait().unwrap();
    } else {
        server.end();
    }
    folder
}

pub fn write(client: &mut Client, version: u32) {
    for number in 0..200 {
        assert_eq!(client.done(WRITE, number * PAGE, &sector(number, version)).unwrap(), 0);
    }
    assert_eq!(client.done(FLUSH, 0, &[]).unwrap(), 0);
}

/// The names of the card's files.
fn names() -> Vec<String> {
    (0..MODULES).map(|slot| format!("module-0{slot}")).chain(["card.toml".to_owned()]).collect()
}

/// Copies a card without its zeroes: most of a module is empty, and a start would have to sync it.
pub fn copy(from: &Path, to: &Path) {
    let _ = fs::remove_dir_all(to);
    fs::create_dir(to).unwrap();
    for name in names() {
        copy_file(&from.join(&name), &to.join(&name));
    }
}

pub fn copy_file(from: &Path, to: &Path) {
    let bytes = fs::read(from).unwrap();
    let file = fs::File::create(to).unwrap();
    file.set_len(bytes.len() as u64).unwrap();
    for (page, bytes) in (0..).zip(bytes.chunks(PAGE as usize)).filter(|(_, bytes)| bytes.iter().any(|byte| *byte != 0))
    {
        file.write_all_at(bytes, page * PAGE).unwrap();
    }
}

/// Asks `fsck` whether the card starts; beside that all its words.
pub fn fsck(card: &Path, more: &[&str]) -> (bool, String) {
    let output = command().arg("fsck").arg(card).arg("--json").args(more).output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    let Some(2) = output.status.code() else {
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {errors}"));
        let verdict = &answer["report"]["verdict"];
        assert_eq!(output.status.code() == Some(0), verdict["state"] == "clean", "{verdict}");
        let reasons: Vec<&str> = verdict["reasons"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        return (verdict["state"] != "refuses_to_start", reasons.join("\n") + "\n" + &errors);
    };
    assert!(!errors.contains("panicked"), "{errors}");
    (false, errors)
}

/// Starts the card and kills it: `None` if it has served, or the words with which it refused.
pub fn start(card: &Path, more: &[&str]) -> Option<String> {
    let socket = card.join("nbd.sock");
    let said = card.join("said.txt");
    let mut serve = command();
    serve.arg("serve").arg(card).arg("--nbd").arg(format!("unix:{}", socket.display())).args(more);
    let mut server = serve.stdout(Stdio::null()).stderr(fs::File::create(&said).unwrap()).spawn().unwrap();
    let began = Instant::now();
    let said = || fs::read_to_string(&said).unwrap();
    let status = loop {
        if let Some(status) = server.try_wait().unwrap() {
            break status;
        }
        if Client::connect(&socket).is_ok() {
            server.kill().unwrap();
            server.wait().unwrap();
            return None;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "neither served nor refused: {}", said());
        std::thread::sleep(Duration::from_millis(2));
    };
    assert_eq!(status.code(), Some(2), "{}", said());
    let last = said().lines().last().unwrap_or_default().to_owned();
    Some(last.trim_start_matches("flashrig: error: ").to_owned())
}
