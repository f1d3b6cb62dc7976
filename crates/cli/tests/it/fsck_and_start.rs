//! The word of `fsck` on a card in files is held against a start of it: on cards that were damaged at random.

use crate::common::command;
use crate::common::small_card::{MODULES, PAGE, card, copy, copy_file, fsck, start};
use crate::common::versions::Rng;
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Holds the two against each other.
fn agree(card: &Path, what: &str) -> bool {
    let (starts, found) = fsck(card, &[]);
    match start(card, &[]) {
        None => assert!(starts, "{what}: a start is accepted, and fsck says: {found}"),
        Some(refused) => {
            assert!(!starts, "{what}: refused with {refused:?}, and fsck finds: {found}");
            let words = refused.trim_start_matches(&format!("{}: ", card.display()));
            assert!(found.contains(words), "{what}: refused with {words:?}, and fsck says: {found}");
        }
    }
    starts
}

#[test]
fn a_description_that_is_not_that_of_the_modules_is_no_clean_card() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let pristine = card(dir.path(), "pristine", "4MiB", false);
    let other = card(dir.path(), "other", "4MiB", false);
    let tried = dir.path().join("tried");
    let described = fs::read_to_string(pristine.join("card.toml")).unwrap();
    copy(&pristine, &tried);
    assert!(agree(&tried, "as it was"));
    fs::copy(other.join("card.toml"), tried.join("card.toml")).unwrap();
    assert!(!agree(&tried, "of another card"));
    assert!(fsck(&tried, &[]).1.contains("all modules belong to card"));
    let halved = described.replace("user_bytes = 4194304", "user_bytes = 2097152");
    let doubled = described.replace("user_bytes = 4194304", "user_bytes = 8388608");
    assert!(halved != described && doubled != described);
    for (text, what) in [(halved, "halved"), (doubled, "doubled")] {
        fs::write(tried.join("card.toml"), text).unwrap();
        assert!(!agree(&tried, what));
        assert!(fsck(&tried, &[]).1.contains("the card was made with "), "{what}");
        // A sector that reads well is no card that starts.
        let output = command().arg("fsck").arg(&tried).args(["--lba", "0"]).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{what}");
    }
}

/// A number in a text that is drawn at random, and is written otherwise.
fn other_number(text: &str, rng: &mut Rng) -> String {
    let is_digit = |at: usize| text.as_bytes()[at].is_ascii_digit();
    let begins: Vec<usize> = (1..text.len()).filter(|at| is_digit(*at) && !is_digit(at - 1)).collect();
    let begin = begins[rng.below(begins.len() as u64) as usize];
    let len = text[begin..].bytes().take_while(u8::is_ascii_digit).count();
    let Ok(number) = text[begin..begin + len].parse::<u64>() else { return text.to_owned() };
    let number = match rng.below(5) {
        0 => number / 2,
        1 => number.saturating_mul(2),
        2 => number + 1,
        3 => number.saturating_sub(1),
        _ => 0,
    };
    format!("{}{number}{}", &text[..begin], &text[begin + len..])
}

/// Does one thing to a card that a person, or a disk, may do.
fn damage(card: &Path, others: &[PathBuf], rng: &mut Rng) -> String {
    let module = |slot: u64| card.join(format!("module-0{slot}"));
    let (slot, second) = (rng.below(MODULES), rng.below(MODULES));
    let other = &others[rng.below(others.len() as u64) as usize];
    let described = || fs::read_to_string(card.join("card.toml")).unwrap();
    let describe = |text: String| fs::write(card.join("card.toml"), text).unwrap();
    let overwrite = |offset: u64, bytes: &[u8]| {
        // Another damage may have taken the module away.
        let Ok(file) = fs::OpenOptions::new().write(true).open(module(slot)) else { return };
        file.write_all_at(bytes, offset).unwrap();
    };
    let bytes = || fs::metadata(module(slot)).map_or(0, |meta| meta.len());
    let pages = |bytes: u64| (bytes / PAGE).max(1);
    match rng.below(15) {
        0..4 => {
            let text = described();
            let changed = other_number(&text, rng);
            describe(changed.clone());
            let line = changed.lines().zip(text.lines()).find(|(new, old)| new != old);
            format!("a number of card.toml: {line:?}")
        }
        4 => {
            fs::copy(other.join("card.toml"), card.join("card.toml")).unwrap();
            format!("card.toml of {}", other.display())
        }
        5 => {
            describe(described().replace(&format!("module-0{slot}"), &format!("module-0{second}")));
            format!("module {second} described as {slot}")
        }
        6 => {
            let (one, two, aside) = (module(slot), module(second), card.join("aside"));
            let _ = fs::rename(&one, &aside);
            let _ = fs::rename(&two, &one);
            let _ = fs::rename(&aside, &two);
            format!("modules {slot} and {second} swapped")
        }
        7 => {
            let bytes = rng.below(bytes() + 1);
            let _ = fs::OpenOptions::new().write(true).open(module(slot)).map(|file| file.set_len(bytes).unwrap());
            format!("module {slot} truncated to {bytes}")
        }
        8 => {
            copy_file(&other.join(format!("module-0{second}")), &module(slot));
            format!("module {second} of {} in {slot}", other.display())
        }
        9 => {
            let _ = fs::remove_file(module(slot));
            format!("module {slot} missing")
        }
        10 => {
            if slot != second && module(second).exists() {
                copy_file(&module(second), &module(slot));
            }
            format!("module {slot} is a copy of {second}")
        }
        11 => {
            let last = pages(bytes()) - 1;
            let at = if rng.below(2) == 0 { 0 } else { last };
            let fill = [0, 0x55][rng.below(2) as usize];
            overwrite(at * PAGE, &[fill; PAGE as usize]);
            format!("the superblock of {slot} at page {at} overwritten with {fill}")
        }
        12 => {
            // Headers, tables and records lie in front.
            let (at, count) = (rng.below(64), 1 + rng.below(16));
            overwrite(at * PAGE, &vec![0xa5; (count * PAGE) as usize]);
            format!("pages {at} of {slot} overwritten, {count} of them")
        }
        13 => {
            let (at, count) = (rng.below(pages(bytes())), 1 + rng.below(64));
            overwrite(at * PAGE, &vec![0; (count * PAGE).min(bytes().saturating_sub(at * PAGE)) as usize]);
            format!("pages {at} of {slot} zeroed, {count} of them")
        }
        _ => {
            let (at, value) = (rng.below(bytes().max(1)), rng.below(256) as u8);
            overwrite(at, &[value]);
            format!("byte {at} of {slot} is {value}")
        }
    }
}

/// The number of cards that are damaged; more of them are a soak.
fn damages() -> u64 {
    std::env::var("DAMAGES").ok().and_then(|damages| damages.parse().ok()).unwrap_or(20)
}

#[test]
fn fsck_and_a_start_agree_on_cards_that_were_damaged_at_random() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let cards = [card(dir.path(), "ended", "4MiB", false), card(dir.path(), "killed", "4MiB", true)];
    let others = [card(dir.path(), "alike", "4MiB", false), card(dir.path(), "larger", "8MiB", false)];
    let tried = dir.path().join("tried");
    let (mut accepted, damages) = (0, damages());
    for seed in 1..=damages {
        let mut rng = Rng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        for _ in 0..8 {
            rng.below(2);
        }
        copy(&cards[rng.below(2) as usize], &tried);
        let what: Vec<String> = (0..1 + rng.below(2)).map(|_| damage(&tried, &others, &mut rng)).collect();
        accepted += u64::from(agree(&tried, &format!("seed {seed}: {}", what.join("; "))));
    }
    // Neither answer is the only one.
    assert!(damages < 20 || accepted * 5 > damages && accepted * 5 < damages * 4, "{accepted} of {damages}");
}
