//! Results side by side: what is read, what is refused, and that nothing in a file breaks a terminal or the page.

use crate::common::reviews::{entries, refusal, success};
use crate::common::run_in;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use tempfile::TempDir;

/// Two reviews of models, made once.
fn reviews() -> &'static [PathBuf; 2] {
    static MADE: OnceLock<(TempDir, [PathBuf; 2])> = OnceLock::new();
    let (_, paths) = MADE.get_or_init(|| {
        let dir = tempfile::tempdir().unwrap();
        let paths = ["tachion-400", "iodrive-160-slc"].map(|card| {
            let asked = ["review", card, "--quick", "--scale", "1/256", "--only", "fill,threads"];
            success(&run_in(dir.path(), &asked));
            dir.path().join(format!("{card}.json"))
        });
        (dir, paths)
    });
    paths
}

/// A directory with both.
fn folder() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (path, name) in reviews().iter().zip(["a.json", "b.json"]) {
        fs::copy(path, dir.path().join(name)).unwrap();
    }
    dir
}

fn compare(dir: &Path, more: &[&str]) -> String {
    let text = success(&run_in(dir, &[&["compare"], more].concat()));
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{more:?}: {line}");
        assert!(!line.contains(char::is_control), "{more:?}: {line:?}");
    }
    text
}

fn fixture(name: &str) -> String {
    format!("{}/../import/tests/fixtures/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn two_reviews_stand_side_by_side() {
    let dir = folder();
    let text = compare(dir.path(), &["a.json", "b.json", "-o", "page.html"]);
    assert!(text.contains("tachion-400") && text.contains("iodrive-160-slc") && text.contains("advantage"), "{text}");
    assert!(
        text.starts_with("tachion-400 wins ") && !text.contains("-89 %") && text.contains(" times worse"),
        "{text}"
    );
    assert!(text.contains("page:   page.html") && text.contains("more with --all"), "{text}");
    let page = fs::read_to_string(dir.path().join("page.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("tachion-400 against iodrive-160-slc"));
    let all = compare(dir.path(), &["a.json", "b.json", "--all"]);
    assert!(all.lines().count() > text.lines().count() && !all.contains("more with --all"));
    let table: Value =
        serde_json::from_str(&success(&run_in(dir.path(), &["compare", "a.json", "b.json", "--json"]))).unwrap();
    assert_eq!(table["devices"], json!(["tachion-400", "iodrive-160-slc"]));
    for row in table["rows"].as_array().unwrap() {
        let (values, over) = (row["values"].as_array().unwrap(), row["advantage_percent"].as_array().unwrap());
        assert_eq!((values.len(), over.len(), &over[0]), (2, 2, &Value::Null), "{row}");
        let (Some(a), Some(b), Some(percent)) = (values[0].as_f64(), values[1].as_f64(), over[1].as_f64()) else {
            continue;
        };
        let better = if row["better"] == "higher" { b / a } else { a / b };
        assert!((percent - (better - 1.0) * 100.0).abs() < 1e-6, "{row}");
    }
    // A page takes the place of a page.
    compare(dir.path(), &["b.json", "a.json", "-o", "page.html"]);
    assert!(fs::read_to_string(dir.path().join("page.html")).unwrap().contains("iodrive-160-slc against tachion-400"));
    assert_eq!(entries(dir.path()), ["a.json", "b.json", "page.html"]);
}

#[test]
fn runs_of_a_redo_log_and_of_a_trace_stand_side_by_side() {
    let dir = tempfile::tempdir().unwrap();
    let line = |i: u64| format!("{},usr,0,{},{},4096,0\n", 1_000 * i, ["Read", "Write"][i as usize % 2], i * 8192);
    fs::write(dir.path().join("usr.csv"), (0..500).map(line).collect::<String>()).unwrap();
    for (name, asked) in
        [("redo", ["--load", "redo", "--requests", "500"]), ("trace", ["--trace", "usr.csv", "--depth", "8"])]
    {
        for card in ["tachion-400", "iodrive-160-slc"] {
            let json = format!("{name}-{card}.json");
            let words = [&["run", card, "--scale", "1/256"][..], &asked, &["--json", &json]].concat();
            success(&run_in(dir.path(), &words));
        }
        let [a, b] = ["tachion-400", "iodrive-160-slc"].map(|card| format!("{name}-{card}.json"));
        let table: Value = serde_json::from_str(&success(&run_in(dir.path(), &["compare", &a, &b, "--json"]))).unwrap();
        let rows = table["rows"].as_array().unwrap();
        assert!(rows.len() >= 3 && rows.iter().any(|row| row["advantage_percent"][1].is_f64()), "{name}: {table}");
    }
}

#[test]
fn a_result_of_any_tool_stands_beside_a_review() {
    let dir = folder();
    for other in ["fio-depths.json", "fio-single-jsonplus.json", "sysbench-1.0.20.txt", "flashrig-run.json"] {
        let text = compare(dir.path(), &["a.json", &fixture(other), "--all", "-o", "page.html"]);
        assert!(text.contains("tachion-400"), "{other}: {text}");
    }
    let named = compare(dir.path(), &["mine=a.json", "theirs=b.json"]);
    assert!(named.contains(" mine ") && named.contains(" theirs "), "{named}");
    for published in success(&run_in(dir.path(), &["compare", "--list-published"])).lines() {
        compare(dir.path(), &["a.json", published, "-o", "page.html"]);
    }
    // A name with the sign in it is a name.
    fs::copy(dir.path().join("a.json"), dir.path().join("x=y.json")).unwrap();
    compare(dir.path(), &["x=y.json", "b.json"]);
    compare(dir.path(), &["name=x=y.json", "b.json"]);
    assert!(compare(dir.path(), &["a.json"]).contains("tachion-400"), "one alone");
    let twice = compare(dir.path(), &["a.json", "a.json"]);
    assert!(twice.contains("tachion-400 (2)"), "{twice}");
    let twelve: Vec<&str> = ["a.json", "b.json"].into_iter().cycle().take(12).collect();
    compare(dir.path(), &[&twelve[..], &["-o", "page.html"]].concat());
}

#[test]
fn what_cannot_be_compared_is_refused_in_one_line_and_the_page_stays() {
    let dir = folder();
    compare(dir.path(), &["a.json", "b.json", "-o", "page.html"]);
    let page = fs::read(dir.path().join("page.html")).unwrap();
    let whole = fs::read_to_string(dir.path().join("a.json")).unwrap();
    let mut newer: Value = serde_json::from_str(&whole).unwrap();
    newer["schema"] = 99.into();
    let write = |name: &str, bytes: &[u8]| fs::write(dir.path().join(name), bytes).unwrap();
    write("cut.json", &whole.as_bytes()[..whole.len() / 2]);
    write("newer.json", newer.to_string().as_bytes());
    write("foreign.json", br#"{"name": "package", "version": "1.0.0"}"#);
    write("list.json", b"[1, 2, 3]");
    write("deep.json", "[".repeat(100_000).as_bytes());
    write("deeper.json", format!("{{\"kind\":{}", "[".repeat(100_000)).as_bytes());
    write("empty.json", b"");
    write("binary.json", &(0..=255).cycle().take(100_000).collect::<Vec<u8>>());
    write("zeros.json", &[0; 100_000]);
    write("escape\u{1b}[2J.json", b"{");
    write("wrong-type.json", whole.replacen("\"sweeps\": [", "\"sweeps\": \"\u{1b}[31m\", \"x\": [", 1).as_bytes());
    fs::create_dir(dir.path().join("directory")).unwrap();
    let before = entries(dir.path());
    for (bad, says) in [
        ("cut.json", "cut.json:"),
        ("newer.json", "schema 99"),
        ("foreign.json", "not a Flashrig review"),
        ("list.json", "not a Flashrig review"),
        ("deep.json", "deep.json"),
        ("deeper.json", "deeper.json"),
        ("empty.json", "is empty"),
        ("binary.json", "is not a result"),
        ("zeros.json", "is not a result"),
        ("escape\u{1b}[2J.json", "escape"),
        ("wrong-type.json", "wrong-type.json:"),
        ("directory", "directory"),
        ("missing.json", "missing.json"),
        ("name=missing.json", "missing.json"),
        ("published:nothing", "published:tachion-400-fill"),
        ("a.json,b.json", "pgbench"),
        ("", "can't be read"),
        (",", "can't be read"),
        ("=", "can't be read"),
        ("/dev/null", "is empty"),
    ] {
        for order in [["a.json", bad], [bad, "a.json"]] {
            let line = refusal(&run_in(dir.path(), &[&["compare"], &order[..], &["-o", "page.html"]].concat()));
            assert!(line.contains(says), "{bad}: {line}");
        }
    }
    let thirteen = [&["compare"], &["a.json"; 13][..], &["-o", "page.html"]].concat();
    assert!(refusal(&run_in(dir.path(), &thirteen)).contains("at most 12"));
    assert_eq!((fs::read(dir.path().join("page.html")).unwrap(), entries(dir.path())), (page, before));
}

#[test]
fn a_page_takes_the_place_of_nothing_but_a_page() {
    let dir = folder();
    let a = fs::read(dir.path().join("a.json")).unwrap();
    fs::copy(dir.path().join("a.json"), dir.path().join("a.html")).unwrap();
    std::os::unix::fs::symlink("a.json", dir.path().join("link.html")).unwrap();
    fs::write(dir.path().join("own.html"), "<title>My own page</title>").unwrap();
    fs::create_dir(dir.path().join("directory.html")).unwrap();
    let before = entries(dir.path());
    for page in [
        "a.json",
        "./a.json",
        "a.html",
        "./a.html",
        "link.html",
        "own.html",
        "directory.html",
        "no/such/page.html",
        "page",
        "",
        "-",
    ] {
        for input in ["a.json", "a.html"] {
            refusal(&run_in(dir.path(), &["compare", input, "b.json", "-o", page]));
        }
    }
    assert_eq!(entries(dir.path()), before);
    assert_eq!(fs::read(dir.path().join("a.json")).unwrap(), a);
    assert_eq!(fs::read(dir.path().join("a.html")).unwrap(), a);
    assert_eq!(fs::read(dir.path().join("own.html")).unwrap(), b"<title>My own page</title>");
}

#[test]
fn hostile_text_breaks_neither_the_terminal_nor_the_page() {
    let dir = folder();
    let whole: Value = serde_json::from_str(&fs::read_to_string(dir.path().join("a.json")).unwrap()).unwrap();
    for (i, evil) in [
        "\u{1b}[2J\u{1b}]0;title\u{7}",
        "</script><script>alert(1)</script>",
        "<!--",
        "a\nb\r\tc\u{0}",
        "\u{202e}gnol\u{2066}\u{feff}\u{200b}",
        &"long ".repeat(2000),
        &"x".repeat(10_000),
        "",
        "   ",
    ]
    .into_iter()
    .enumerate()
    {
        let mut hostile = whole.clone();
        for pointer in [
            "/name",
            "/generator",
            "/partial",
            "/target/title",
            "/target/name",
            "/price/currency",
            "/price/source",
            "/sweeps/0/title",
            "/sweeps/0/name",
            "/sweeps/0/note",
            "/verdict/0/text",
            "/host/name",
        ] {
            *hostile.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer}")) = evil.into();
        }
        let name = format!("{i}.json");
        fs::write(dir.path().join(&name), hostile.to_string()).unwrap();
        for words in [[&*name, "b.json"], ["b.json", &*name]] {
            let text = compare(dir.path(), &[&words[..], &["--all", "-o", "page.html"]].concat());
            assert!(!text.contains(['\u{202e}', '\u{2066}']), "{text}");
            let page = fs::read_to_string(dir.path().join("page.html")).unwrap();
            assert!(!page.contains("<script>alert") && !page.contains("<!--\u{1b}"), "{evil:?}");
            assert_eq!(page.matches("<script").count(), page.matches("</script>").count(), "{evil:?}");
        }
    }
    for name in ["\u{1b}[2J", &"n".repeat(1000), "</script>", "a\nb", "\u{202e}"] {
        let word = format!("{name}=a.json");
        if name.contains('/') {
            refusal(&run_in(dir.path(), &["compare", &word]));
        } else {
            compare(dir.path(), &[&word, "b.json"]);
        }
    }
}

#[test]
fn figures_beyond_all_measure_fit_the_page() {
    let dir = folder();
    let whole: Value = serde_json::from_str(&fs::read_to_string(dir.path().join("a.json")).unwrap()).unwrap();
    for figure in [json!(1e300), json!(1e-300), json!(-1.0), json!(0.0)] {
        let mut odd = whole.clone();
        for point in odd["sweeps"].as_array_mut().unwrap().iter_mut().flat_map(|s| s["points"].as_array_mut().unwrap())
        {
            for class in ["read", "write"] {
                point[class]["bw_bytes"] = figure.clone();
                point[class]["iops"] = figure.clone();
            }
            point["waf"] = figure.clone();
        }
        odd["price"]["amount"] = figure.clone();
        fs::write(dir.path().join("odd.json"), odd.to_string()).unwrap();
        for words in [["odd.json", "b.json"], ["b.json", "odd.json"], ["odd.json", "odd.json"]] {
            compare(dir.path(), &[&words[..], &["--all", "-o", "page.html"]].concat());
            success(&run_in(dir.path(), &["compare", words[0], words[1], "--json"]));
        }
    }
}
