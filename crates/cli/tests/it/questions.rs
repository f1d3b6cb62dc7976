//! docs/questions.md: each of its commands is typed as it stands there, and answers. Only modelled cards are reviewed at a
//! smaller scale than they are there.

use crate::common::command;
use crate::common::reviews::disk_folder;
use std::fs;
use std::path::Path;

#[test]
#[ignore = "proof: reviews a file on this disk for some minutes"]
fn each_question_is_answered_by_its_command() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/questions.md");
    let text = fs::read_to_string(page).unwrap();
    assert_eq!(text.lines().filter(|line| line.starts_with("## ")).count(), 5);
    let dir = disk_folder();
    // The minute in which it was slow.
    let rows = (0..2_000_u64).map(|i| {
        let (time, offset) = (128_166_372_003_061_629 + i * 2_000, i * 7_919 % 100_003 * 4_096);
        let kind = if i % 3 == 0 { "Read" } else { "Write" };
        format!("{time},usr,0,{kind},{offset},8192,0\n")
    });
    fs::write(dir.path().join("slow.trace"), rows.collect::<String>()).unwrap();
    let mut typed = 0;
    for line in text.lines().filter_map(|line| line.strip_prefix("$ flashrig ")) {
        if line.contains("may.json") {
            for name in ["may.json", "today.json"] {
                fs::copy(dir.path().join("tlc.json"), dir.path().join(name)).unwrap();
            }
        }
        let mut words: Vec<&str> = line.split_whitespace().collect();
        if words[0] == "review" && !words[1].starts_with("./") {
            // At the scale that is chosen for large drives, each takes more than a minute of two cores.
            words.extend(["--scale", "1/1024"]);
        }
        let output = command().current_dir(dir.path()).args(words).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(said.lines().count() > 5, "{line}: {said}");
        typed += 1;
    }
    assert!(typed >= 5, "{typed}");
    for page in ["somefile.html", "which.html", "spare.html"] {
        assert!(dir.path().join(page).exists(), "{page}");
    }
}
