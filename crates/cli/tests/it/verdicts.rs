//! Verdicts over very different devices are those of docs/verdicts.md, where people have read them.

use crate::common::reviews::read_json;
use crate::common::succeed;
use std::path::Path;
use tempfile::TempDir;

/// The reviews of the page whose words are chosen, and their verdicts.
fn page(chosen: fn(&str) -> bool) -> Vec<(String, String)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/verdicts.md");
    let text = std::fs::read_to_string(path).expect("the page");
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
#[ignore = "proof: eighteen reviews, some minutes"]
fn verdicts_are_those_of_the_page() {
    check(|_| true, 18);
}
