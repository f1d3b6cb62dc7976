//! `flashrig ctl` and `flashrig top` against a card that is served by this process.

use crate::common::served::{Card, SIZE};
use std::path::Path;
use std::time::{Duration, Instant};

/// The output of a command: at most 80 columns, nothing that moves the cursor.
fn print(dir: &Path, words: &str) -> String {
    let output = crate::common::run_in(dir, &words.split(' ').collect::<Vec<_>>());
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && stderr.is_empty(), "{words}: {stderr}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.lines().all(|line| line.chars().count() <= 80 && !line.contains('\u{1b}')), "{words}: {text}");
    text
}

fn json(dir: &Path, words: &str) -> serde_json::Value {
    let text = print(dir, &format!("{words} --json"));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{words}: {e}: {text}"))
}

/// The one line that says why not.
fn refuse(dir: &Path, words: &str) -> String {
    let output = crate::common::run_in(dir, &words.split(' ').collect::<Vec<_>>());
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), stderr.lines().count()), (Some(2), 1), "{words}: {stderr}");
    assert!(stderr.starts_with("flashrig: error: ") && output.stdout.is_empty(), "{words}: {stderr}");
    stderr
}

fn until(what: &str, is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_card_says_how_it_stands() {
    let dir = tempfile::tempdir().unwrap();
    let card = Card::serve_in(&dir.path().join("card"));
    card.overwrite(2);
    let text = print(dir.path(), "ctl card status");
    for part in ["disk (tachion-400), 67.11 MB", ": well", "write", "134.22 MB", "write amplification", "free bands"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let status = json(dir.path(), "ctl card/control.sock status");
    assert_eq!(status["stats"]["writes"]["bytes"], 2 * SIZE);
    assert_eq!(status["settings"]["gc"], "paced");
    let text = print(dir.path(), "ctl card modules");
    let slots = card.live.modules().len();
    assert_eq!(text.lines().count(), slots + 1, "{text}");
    assert!(text.lines().skip(1).all(|line| line.contains("active")), "{text}");
    assert_eq!(json(dir.path(), "ctl card modules")["modules"].as_array().unwrap().len(), slots);
    let text = print(dir.path(), "ctl card smart");
    assert!(text.contains("critical_warning") && text.contains("0x00 (none)"), "{text}");
    assert_eq!(json(dir.path(), "ctl card smart")["available_spare"], 100);
    let text = print(dir.path(), "ctl card clients");
    assert!(text.contains("export disk") && text.contains("the default export") && text.contains("written"), "{text}");
    assert_eq!(json(dir.path(), "ctl card clients")["clients"][1]["export"], "disk");
}

#[test]
fn a_card_does_what_it_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let card = Card::serve_in(&dir.path().join("card"));
    card.overwrite(1);
    let dir = dir.path();
    assert_eq!(print(dir, "ctl card module pull 3"), "slot 3: missing, empty\n");
    assert!(print(dir, "ctl card status").contains("degraded"));
    assert!(print(dir, "ctl card smart").contains("0x04 (reliability degraded)"));
    assert_eq!(json(dir, "ctl card modules")["modules"][3]["present"], false);
    assert!(print(dir, "ctl card module insert 3 --new").starts_with("slot 3: "));
    until("rebuilt", || !card.live.status().degraded);
    assert_eq!(json(dir, "ctl card module pull 5")["state"], "missing");
    assert!(print(dir, "ctl card module insert 5").starts_with("slot 5: "));
    until("rebuilt", || !card.live.status().degraded);
    let set = print(dir, "ctl card set gc=stop-the-world target_free_bands=3 rebuild_bytes_per_s=64m");
    assert_eq!(set, "gc=stop-the-world\ntarget_free_bands=3\nrebuild_bytes_per_s=67108864\n");
    // Printed settings can be typed.
    let again = json(dir, &format!("ctl card set {}", set.trim_end().replace('\n', " ")));
    assert_eq!(again["gc"], "stop-the-world");
    assert!(print(dir, "ctl card set rebuild_bytes_per_s=none").ends_with("rebuild_bytes_per_s=none\n"));
    assert_eq!(print(dir, "ctl card trim 0 1m"), "trimmed: 1 MiB (1,048,576 bytes)\n");
    assert_eq!(json(dir, "ctl card trim 1m 4k")["trimmed_bytes"], 4096);
    assert_eq!(print(dir, "ctl card scrub"), "a scrub is under way\n");
    assert_eq!(print(dir, "ctl card power cut"), "the power is cut\n");
    assert!(print(dir, "ctl card status").contains("no power"));
    assert!(print(dir, "ctl card modules").contains("no power"));
    assert_eq!(json(dir, "ctl card power on")["powered"], true);
    assert_eq!(json(dir, "ctl card status")["power_cuts"], 1);
}

#[test]
fn a_module_comes_from_an_image_named_as_the_shell_does() {
    let dir = tempfile::tempdir().unwrap();
    let card = Card::serve_in(&dir.path().join("card"));
    let config = profile::Profile::builtin("tachion-400").unwrap().with_contents(Some(SIZE)).unwrap();
    let shape = media::Shape { modules: 1, ..card::shape(&config) };
    let image = media::image::encode(&media::Module::blank(&shape, &media::Physics::IDEAL, 5));
    std::fs::write(dir.path().join("spare.frm"), image).unwrap();
    print(dir.path(), "ctl card module pull 0");
    let refused = refuse(dir.path(), "ctl card module insert 0 none.frm");
    assert!(refused.contains("none.frm: No such file"), "{refused}");
    print(dir.path(), "ctl card module insert 0 spare.frm");
    until("rebuilt", || !card.live.status().degraded);
}

#[test]
fn a_second_module_is_pulled_by_force_only_and_the_loss_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let card = Card::serve_in(&dir.path().join("card"));
    card.overwrite(1);
    let dir = dir.path();
    print(dir, "ctl card module pull 3");
    let refused = refuse(dir, "ctl card module pull 4");
    let lost = |text: &str| {
        let bytes = text.split(" bytes of the").next().unwrap().rsplit(' ').next().unwrap().parse::<u64>();
        bytes.unwrap_or_else(|_| panic!("{text}"))
    };
    let part = "slot 4: with its module gone 2 modules are missing or not rebuilt, parity stands for 1, and ";
    assert!(refused.contains(part) && refused.contains("(--force)"), "{refused}");
    // Two of the card's modules, less what neither holds of their stripes' parity.
    assert!((SIZE / 40..SIZE / 8).contains(&lost(&refused)), "{refused}");
    assert!(json(dir, "ctl card modules")["modules"][4]["present"] == true, "it was pulled all the same");
    let told = print(dir, "ctl card module pull 4 --force");
    assert!(
        told.starts_with("slot 4: missing, empty\n2 modules are missing or not rebuilt, and parity stands for 1:\n")
    );
    assert!(told.ends_with("of the host's data can't be read\n"), "{told}");
    assert_eq!(json(dir, "ctl card module pull 5 --force")["beyond_parity"]["lacking"], 3);
    for slot in [3, 4, 5] {
        print(dir, &format!("ctl card module insert {slot}"));
    }
    until("rebuilt", || !card.live.status().degraded);
    // A module that is being rebuilt counts as one that is missing.
    print(dir, "ctl card set rebuild_bytes_per_s=1");
    print(dir, "ctl card module pull 3");
    print(dir, "ctl card module insert 3 --new");
    assert!(refuse(dir, "ctl card module pull 4").contains("2 modules are missing or not rebuilt"));
    // It is no loss to pull that one.
    print(dir, "ctl card module pull 3");
}

#[test]
fn a_rebuild_that_another_missing_module_held_up_ends() {
    let dir = tempfile::tempdir().unwrap();
    let card = Card::serve_in(&dir.path().join("card"));
    card.overwrite(1);
    for words in ["pull 3", "pull 4 --force", "insert 3 --new", "insert 4"] {
        print(dir.path(), &format!("ctl card module {words}"));
    }
    until("rebuilt", || !card.live.status().degraded);
    let text = print(dir.path(), "ctl card modules");
    assert!(text.lines().skip(1).all(|line| line.contains("active")), "{text}");
}

#[test]
fn watching_ends_when_the_terminal_is_gone() {
    use std::io::Read;
    let dir = tempfile::tempdir().unwrap();
    let _card = Card::serve_in(&dir.path().join("card"));
    use rustix::pty::OpenptFlags;
    // A watcher that had the other end as well would never see it go.
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let terminal = rustix::pty::openpt(flags).unwrap();
    rustix::pty::grantpt(&terminal).unwrap();
    rustix::pty::unlockpt(&terminal).unwrap();
    let name = rustix::pty::ptsname(&terminal, Vec::new()).unwrap().into_string().unwrap();
    let end = std::fs::File::options().read(true).write(true).open(name).unwrap();
    let mut command = crate::common::command();
    command.current_dir(dir.path()).env("TERM", "xterm").args(["top", "card"]).stderr(std::process::Stdio::null());
    let mut watching = command.stdin(end.try_clone().unwrap()).stdout(end).spawn().unwrap();
    drop(command);
    let mut terminal = std::fs::File::from(terminal);
    assert!(terminal.read(&mut [0; 4096]).unwrap() > 0, "nothing is drawn");
    // It waits for keys by now, or for the server.
    std::thread::sleep(Duration::from_millis(300));
    drop(terminal);
    let gone = Instant::now();
    let ended = loop {
        if let Some(ended) = watching.try_wait().unwrap() {
            break Some(ended);
        }
        if gone.elapsed() > Duration::from_secs(30) {
            break None;
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    if ended.is_none() {
        watching.kill().unwrap();
        watching.wait().unwrap();
    }
    assert_eq!(ended.expect("it goes on for ever").code(), Some(129));
}

#[test]
fn what_can_not_be_done_is_said_in_one_line() {
    let dir = tempfile::tempdir().unwrap();
    let _card = Card::serve_in(&dir.path().join("card"));
    std::fs::create_dir(dir.path().join("empty")).unwrap();
    for (words, part) in [
        ("ctl empty status", "no server answers at empty/control.sock"),
        ("ctl nowhere status", "flashrig serve starts one"),
        ("ctl card module pull 99", "no slot 99: the card has "),
        ("ctl card module insert 3", "slot 3 holds a module; pull it first"),
        ("ctl card module insert 3 x --new", "inserting a file is not possible on this medium"),
        ("ctl card module insert 3 --destroy-data", "required"),
        ("ctl card power on", "has power already"),
        ("ctl card trim 0 1g", "ends within the card's 67108864 bytes"),
        ("ctl card trim 0 0", "at least a byte"),
        ("ctl card set gc=fast", "paced or stop-the-world"),
        ("ctl card set speed=1", "target_free_bands="),
        ("ctl card set target_free_bands=100000", "leave no spare"),
        ("ctl card set rebuild_bytes_per_s=0", "more than 0 bytes"),
        ("ctl card set", "<KEY=VALUE>..."),
        ("ctl card stauts", "'status'"),
        ("top empty --once", "no server answers at empty/control.sock"),
        ("top card", "--once prints one frame"),
        ("top card --once --interval 1", "from 100ms to 1m"),
        ("top card --once --interval 1ms", "from 100ms to 1m"),
    ] {
        let said = refuse(dir.path(), words);
        assert!(said.contains(part), "{words}: {said}");
    }
}

#[test]
fn without_a_name_the_only_card_there_is_is_meant() {
    let run = tempfile::tempdir().unwrap();
    let top = || {
        let mut command = crate::common::command();
        command.env("XDG_RUNTIME_DIR", run.path()).args(["top", "--once", "--interval", "100ms"]).output().unwrap()
    };
    let said = String::from_utf8(top().stderr).unwrap();
    assert!(said.contains("no card is served in") && said.lines().count() == 1, "{said}");
    let place = run.path().join("flashrig");
    let _one = Card::serve_in(&place);
    let rename = |to: &str| std::fs::rename(place.join("control.sock"), place.join(to)).unwrap();
    rename("one.sock");
    assert!(top().status.success());
    let named =
        crate::common::command().env("XDG_RUNTIME_DIR", run.path()).args(["ctl", "one", "status"]).output().unwrap();
    assert!(named.status.success(), "{}", String::from_utf8_lossy(&named.stderr));
    let _other = Card::serve_in(&place);
    rename("two.sock");
    let said = String::from_utf8(top().stderr).unwrap();
    assert!(said.contains("2 cards are served in") && said.contains("one.sock"), "{said}");
}

#[test]
fn a_frame_shows_what_goes_on_between_two_looks() {
    let dir = tempfile::tempdir().unwrap();
    let card = Card::serve_in(&dir.path().join("card"));
    card.overwrite(1);
    card.live.act(live::Action::Pull { slot: 2, force: false }).unwrap();
    let stop = std::sync::atomic::AtomicBool::new(false);
    let text = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                card.overwrite(1);
            }
        });
        let text = print(dir.path(), "top card --once --interval 500ms");
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        text
    });
    assert!(text.lines().count() <= 24, "{text}");
    for part in ["disk (tachion-400)", "degraded", "amplification", "free bands", "lateness", " 2 missing    empty"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let write = text.lines().find(|line| line.starts_with("write")).unwrap();
    let fields: Vec<&str> = write.split_whitespace().collect();
    let number = |at: usize| fields[at].replace(',', "").parse::<f64>().unwrap();
    assert!(number(1) > 0.0 && number(2) > 0.0 && number(3) >= 64.0, "{write}");
    assert!(write.ends_with('s') && !write.contains(" - "), "{write}");
    let read = text.lines().find(|line| line.starts_with("read")).unwrap();
    assert_eq!(read.split_whitespace().collect::<Vec<_>>(), ["read", "0", "0", "0", "-", "-", "-", "-"]);
}
