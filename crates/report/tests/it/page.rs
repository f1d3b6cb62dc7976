//! Properties of the page that need no browser.

use crate::common::{CACHE, HOSTILE, absurd, full, hostile, imported, partial};
use report::{MAX_PAGE_BYTES, compare_page, review_page};
use results::{DatabaseOltp, DatabaseOltpPoint, ReviewResult, ThermalReport};
use sha2::{Digest, Sha256};
use std::collections::HashSet;
use std::path::Path;
use std::process::Command;

fn pages() -> Vec<(&'static str, String)> {
    vec![
        ("full", review_page(&full("NW-400", 1.0))),
        ("partial", review_page(&partial())),
        ("imported", review_page(&imported())),
        ("hostile", review_page(&hostile())),
        ("absurd", review_page(&absurd())),
        ("compare", compare_page(&[full("NW-400", 1.0), full("SW-300", 0.7), imported()])),
        ("hostile compare", compare_page(&[hostile(), hostile(), absurd()])),
        ("one", compare_page(&[full("NW-400", 1.0)])),
        ("none", compare_page(&[])),
    ]
}

/// Values of an attribute, wherever it stands.
fn attribute<'a>(page: &'a str, name: &str) -> Vec<&'a str> {
    let start = format!(" {name}=\"");
    page.split(&start).skip(1).map(|rest| rest.split('"').next().unwrap()).collect()
}

/// The page without what scripts and styles hold.
fn markup(page: &str) -> String {
    let mut text = String::new();
    let mut rest = page;
    while let Some(at) = rest.find("<script").into_iter().chain(rest.find("<style")).min() {
        let end = if rest[at..].starts_with("<script") { "</script>" } else { "</style>" };
        let open = at + rest[at..].find('>').unwrap() + 1;
        text.push_str(&rest[..open]);
        rest = &rest[open + rest[open..].find(end).unwrap()..];
    }
    text + rest
}

/// The JSON of a data block.
fn data(page: &str, id: &str) -> Option<serde_json::Value> {
    let rest = page.split(&format!("<script type=\"application/json\" id=\"{id}\">")).nth(1)?;
    Some(serde_json::from_str(rest.split("</script>").next().unwrap()).unwrap())
}

#[test]
fn no_page_is_larger_than_its_bound() {
    for (name, page) in pages() {
        println!("{name}: {} bytes", page.len());
        assert!(page.len() <= MAX_PAGE_BYTES, "{name}: {}", page.len());
    }
    let many: Vec<ReviewResult> = (0..20).map(|i| full(&format!("device {i}"), 1.0 + f64::from(i) * 0.1)).collect();
    assert!(compare_page(&many).len() <= MAX_PAGE_BYTES);
    let mut large = full("large", 1.0);
    let sweep = large.sweeps[0].clone();
    for i in 0..300 {
        let mut another = sweep.clone();
        another.name = format!("sweep {i} {}", "x".repeat(5000));
        another.title = "y".repeat(100_000);
        another.note = "z".repeat(100_000);
        large.sweeps.push(another);
    }
    let page = review_page(&large);
    assert!(page.len() <= MAX_PAGE_BYTES && page.contains("only some of the sweeps"), "{}", page.len());
}

#[test]
fn the_full_review_is_carried_whole() {
    let result = full("NW-400", 1.0);
    let page = review_page(&result);
    let carried: ReviewResult = serde_json::from_value(data(&page, "review").unwrap()).unwrap();
    let points = |r: &ReviewResult| r.sweeps.iter().map(|s| s.points.len()).sum::<usize>();
    assert_eq!((points(&carried), carried.sweeps.len()), (points(&result), result.sweeps.len()));
    assert!(points(&result) > 80);
    assert!(carried.sweeps[0].points[0].read.histogram.is_some());
}

#[test]
fn ids_are_unique_and_links_have_their_anchors() {
    for (name, page) in pages() {
        let markup = markup(&page);
        let ids = attribute(&markup, "id");
        let unique: HashSet<&str> = ids.iter().copied().collect();
        assert_eq!(ids.len(), unique.len(), "{name}: an id occurs twice");
        for reference in ["aria-labelledby", "href"] {
            for target in attribute(&markup, reference) {
                let target = match reference {
                    "href" if !target.starts_with('#') => continue,
                    _ => target.trim_start_matches('#'),
                };
                assert!(unique.contains(target), "{name}: {reference} {target} has no anchor");
            }
        }
    }
}

#[test]
fn a_comparison_opens_with_who_wins_at_what_and_by_how_many_times() {
    let page = markup(&compare_page(&[full("NW-400", 1.0), full("SW-300", 0.06)]));
    let start = page.find("Who wins at what").expect("its heading");
    let verdict = page.find(">Verdict<").unwrap();
    assert!(start < verdict && page[start..verdict].contains("NW-400 wins "));
    assert!(page[start..verdict].contains("<b>17 times</b> better than SW-300"));
    assert!(!page.contains("−94"), "shares of what is there tell nobody how far it is");
    assert!(!markup(&compare_page(&[full("one", 1.0)])).contains("Who wins at what"));
}

#[test]
fn every_claim_about_a_chart_links_to_it() {
    let result = full("NW-400", 1.0);
    let page = review_page(&result);
    for claim in result.verdict.iter().filter(|claim| !claim.chart.is_empty()) {
        let link = format!("<a href=\"#chart-{}\">{}</a>", claim.chart, claim.text);
        assert!(page.contains(&link), "{link}");
    }
    // A claim about what isn't there is said all the same.
    let page = review_page(&partial());
    assert!(page.contains("1.24 s at worst") && !page.contains("#chart-timeline"));
}

#[test]
fn every_sweep_is_drawn() {
    for result in [full("NW-400", 1.0), partial(), imported()] {
        let plots = data(&review_page(&result), "charts").unwrap();
        let ids: Vec<&str> = plots.as_array().unwrap().iter().map(|p| p["id"].as_str().unwrap()).collect();
        for sweep in &result.sweeps {
            let slug = if sweep.name.contains("fio") { "qd-4k-randread-fio" } else { &sweep.name };
            assert!(ids.iter().any(|id| id.contains(slug)), "{} is not among {ids:?}", sweep.name);
        }
        for plot in plots.as_array().unwrap() {
            let xs = plot["xs"].as_array().unwrap();
            for series in plot["views"].as_array().unwrap().iter().flat_map(|v| v["series"].as_array().unwrap()) {
                let values = series["values"].as_array().unwrap();
                assert_eq!(values.len(), xs.len(), "{}", plot["id"]);
                assert!(values.iter().any(|v| v.is_number()), "{}: {} is empty", plot["id"], series["name"]);
                assert!(series.get("marks").is_none_or(|m| m.as_array().unwrap().len() == xs.len()));
            }
        }
    }
}

#[test]
fn distributions_begin_with_random_requests_of_16_threads() {
    let plots = data(&review_page(&full("NW-400", 1.0)), "charts").unwrap();
    let first = |id: &str| {
        let plot = plots.as_array().unwrap().iter().find(|p| p["id"] == id).unwrap();
        plot["views"][plot["first_view"].as_u64().unwrap() as usize]["name"].as_str().unwrap().to_string()
    };
    assert_eq!(first("plot-distribution-reads"), "Random reads, 16 threads");
    assert_eq!(first("plot-distribution-writes"), "Random writes, 16 threads");
}

#[test]
fn what_limits_a_point_is_said_in_words() {
    let page = review_page(&full("NW-400", 1.0));
    assert!(page.contains("the machine that asked was the limit"));
    assert!(page.contains("not steady while it was measured"));
    assert!(page.contains("interpolated between its neighbours"));
    assert!(review_page(&partial()).contains("stopped by Ctrl-C after 12 min"));
    let slow = review_page(&full("slow", 0.5));
    assert!(slow.contains("not reached: range"));
}

#[test]
fn hostile_text_stays_text() {
    for page in [review_page(&hostile()), compare_page(&[hostile(), full("a", 1.0)])] {
        assert!(!page.contains("<script>window"), "a script got in");
        assert!(!page.contains("<img"), "an image got in");
        assert!(!page.contains('\u{2028}') || !page.contains(HOSTILE), "as it came");
        for json in ["charts", "review"] {
            assert!(data(&page, json).is_some());
        }
        // Every element of ours is closed where we close it: the number of scripts is what the page has, no more.
        assert_eq!(page.matches("<script").count(), 4);
        assert_eq!(page.matches("</script").count(), 4);
    }
}

#[test]
fn nothing_is_loaded() {
    for (name, page) in pages() {
        for kind in ["src", "srcset", "action", "data", "poster", "background", "ping"] {
            assert_eq!(attribute(&markup(&page), kind), Vec::<&str>::new(), "{name}: {kind}");
        }
        for href in attribute(&markup(&page), "href") {
            assert!(href.starts_with('#') || href == "data:,", "{name}: {href}");
        }
        let style = page.split("<style>").skip(1).map(|s| s.split("</style>").next().unwrap()).collect::<String>();
        assert!(!style.contains("url(") && !style.contains("@import"), "{name}");
        assert!(page.contains("default-src 'none'") && !page.contains("unsafe-inline"), "{name}");
        assert!(!markup(&page).contains(" style=\"") && !markup(&page).contains(" onclick"), "{name}");
    }
}

#[test]
fn headings_are_in_order() {
    for (name, page) in pages() {
        let markup = markup(&page);
        let levels: Vec<u32> =
            markup.match_indices("<h").filter_map(|(at, _)| markup[at + 2..].chars().next()?.to_digit(10)).collect();
        assert_eq!(levels.first(), Some(&1), "{name}");
        assert_eq!(levels.iter().filter(|&&l| l == 1).count(), 1, "{name}");
        assert!(levels.windows(2).all(|l| l[1] <= l[0] + 1), "{name}: {levels:?}");
    }
}

#[test]
fn uplot_is_what_its_authors_published() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("vendor/uplot");
    let readme = std::fs::read_to_string(folder.join("README.md")).unwrap();
    let listed: Vec<(&str, &str)> =
        readme.lines().filter_map(|line| line.strip_prefix("    ")?.split_once("  ")).collect();
    assert_eq!(listed.len(), 3);
    for (hash, file) in listed {
        let bytes = std::fs::read(folder.join(file)).unwrap();
        let actual: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(actual, hash, "{file}");
    }
    assert!(review_page(&partial()).contains("Copyright (c) 2022 Leon Sorokin"));
}

#[test]
fn scripts_are_javascript() {
    if Command::new("node").arg("--version").output().is_err() {
        println!("no node: the browser's tests will find it");
        return;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("page");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "js") {
            let checked = Command::new("node").arg("--check").arg(&path).output().unwrap();
            assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
        }
    }
}

#[test]
fn a_database_has_a_chapter_with_its_charts_and_tables() {
    let page = review_page(&full("NW-400", 1.0));
    let text = markup(&page);
    assert!(text.contains("What does a real database make of it?"));
    for topic in ["mix", "commit", "slob", "crash"] {
        assert!(text.contains(&format!("id=\"chart-database-{topic}\"")), "{topic}");
    }
    for said in ["lost 3 acknowledged transactions", "IO:DataFileRead", "UPDATE_PCT=25", "Settings of the server"] {
        assert!(text.contains(said), "{said}");
    }
    let charts = data(&page, "charts").unwrap();
    let tps = charts.as_array().unwrap().iter().find(|c| c["title"] == "Transactions a second").unwrap();
    assert_eq!(tps["views"][0]["series"][0]["values"], serde_json::json!([1000.0, 4000.0, 9000.0]));
    let both = data(&compare_page(&[full("a", 1.0), full("b", 1.5)]), "charts").unwrap();
    let tps = both.as_array().unwrap().iter().find(|c| c["title"] == "Transactions a second").unwrap();
    let names: Vec<_> = tps["views"][0]["series"].as_array().unwrap().iter().map(|s| s["name"].clone()).collect();
    assert_eq!(names, ["a: live", "a: model", "b: live", "b: model"]);
}

/// A review through MySQL.
fn mysql(name: &str, speed: f64) -> ReviewResult {
    let mut result = full(name, speed);
    let point = |sessions: u32, tps: f64| DatabaseOltpPoint {
        sessions,
        tps: tps * speed,
        queries_s: tps * speed * 20.0,
        seconds: 30.0,
        mean_ns: 2_000_000,
        p99_ns: 9_000_000,
        longest_ns: 40_000_000,
        ..DatabaseOltpPoint::default()
    };
    let report = result.database.as_mut().unwrap();
    report.engine = "MariaDB 10.11.14, InnoDB".into();
    (report.mix, report.slob, report.commit) = (None, None, None);
    report.oltp = Some(DatabaseOltp {
        program: "sysbench oltp_read_write".into(),
        tables: 4,
        rows_per_table: 1_000_000,
        points: vec![point(1, 500.0), point(8, 2_000.0)],
        peak_tps: Some(2_000.0 * speed),
        peak_sessions: Some(8),
    });
    result
}

#[test]
fn another_database_has_its_chart_its_table_and_its_rows_in_a_comparison() {
    let page = review_page(&mysql("NW-400", 1.0));
    let text = markup(&page);
    assert!(text.contains("id=\"chart-database-oltp\"") && !text.contains("chart-database-mix"));
    assert!(text.contains("MariaDB 10.11.14, InnoDB: 4 tables of") && text.contains("40.0\u{202f}ms"), "{text}");
    let charts = data(&page, "charts").unwrap();
    let tps = charts.as_array().unwrap().iter().find(|c| c["title"] == "Transactions against sessions").unwrap();
    assert_eq!(tps["views"][0]["series"][0]["values"], serde_json::json!([500.0, 2000.0]));
    let both = compare_page(&[mysql("a", 1.0), mysql("b", 3.0)]);
    let row = "MySQL, oltp_read_write, peak, transactions a second: <b>3.0 times</b> better than a";
    assert!(markup(&both).contains(row), "{}", markup(&both));
}

#[test]
fn bursts_are_drawn_over_one_axis_and_told_in_a_table() {
    let result = full("NW-400", 1.0);
    let page = review_page(&result);
    let charts = data(&page, "charts").unwrap();
    let plot = |charts: &serde_json::Value| {
        charts.as_array().unwrap().iter().find(|c| c["id"] == "plot-burst").unwrap().clone()
    };
    let names = |plot: &serde_json::Value| -> Vec<String> {
        let series = plot["views"][0]["series"].as_array().unwrap();
        series.iter().map(|s| s["name"].as_str().unwrap().replace('\u{202f}', " ")).collect()
    };
    let alone = plot(&charts);
    assert_eq!(names(&alone), ["Into the emptied device", "After 10 s of rest", "After 60 s of rest"]);
    let xs = alone["xs"].as_array().unwrap();
    assert_eq!((xs.len(), xs.last().unwrap().as_f64().unwrap()), (512, 256.0 * 781_250_000.0));
    // Just before the cache is full, and just after.
    let at = |bytes: f64| (bytes / xs[0].as_f64().unwrap()) as usize;
    let first = |i: usize| alone["views"][0]["series"][0]["values"][i].as_f64().unwrap();
    assert!(first(at(40e9)) > 0.9 * CACHE.1 && first(at(44e9)) < 1.1 * CACHE.2);
    let text = markup(&page).replace('\u{202f}', " ").replace(" class=\"\"", "");
    assert!(text.contains("How fast is a burst, and for how long?") && text.contains("id=\"chart-burst\""));
    for row in [
        ["emptied", "200 GB", "42.0 GB", "1,900 MB/s", "240 MB/s"],
        ["10 s", "100 GB", "781 MB", "1,851 MB/s", "240 MB/s"],
        ["60 s", "100 GB", "8.10 GB", "1,900 MB/s", "240 MB/s"],
    ] {
        let cells: String = row[1..].iter().map(|cell| format!("<td>{cell}</td>")).collect();
        assert!(text.contains(&format!("{}</th>{cells}", row[0])), "{row:?}");
    }

    // Several devices: their first bursts, and all in the table.
    let both = compare_page(&[full("a", 1.0), full("b", 0.5), imported()]);
    assert_eq!(names(&plot(&data(&both, "charts").unwrap())), ["a", "b"]);
    let rows = markup(&both).replace('\u{202f}', " ").matches(">100 GB</td>").count();
    assert!(rows >= 4, "{rows}");

    let mut even = full("even", 1.0);
    even.burst.as_mut().unwrap().bursts.iter_mut().for_each(|burst| burst.cliff = None);
    let page = review_page(&even);
    assert!(page.contains("no cache comes to its end") && !page.contains("Written fast into an emptied device"));
    assert!(!review_page(&partial()).contains("plot-burst"));
}

#[test]
fn a_card_with_a_temperature_has_a_chapter_of_it_and_no_other_has() {
    let heat = |highest_celsius, light_s| {
        let series = vec![40.0, 60.0, highest_celsius];
        Some(ThermalReport {
            highest_celsius,
            end_celsius: 79.5,
            mean_watts: 4.1,
            light_s,
            series,
            ..Default::default()
        })
    };
    assert!(!review_page(&full("cool", 1.0)).contains("Does it get too hot?"));
    let mut result = full("hot", 1.0);
    result.sweeps[1].points[0].thermal = heat(80.5, 0.0);
    result.sweeps[1].points[2].thermal = heat(81.0, 15.0);
    if let Some(line) = &mut result.timeline {
        line.point.thermal = heat(79.0, 0.0);
    }
    for page in [review_page(&result), compare_page(&[result.clone(), full("cool", 1.0)])] {
        let chapter = page.split("Points, the hottest first").last().unwrap();
        let hottest: Vec<usize> =
            ["81\u{202f}°C", "80.5\u{202f}°C", "79\u{202f}°C"].map(|cell| chapter.find(cell).unwrap()).into();
        assert!(hottest.is_sorted(), "the hottest first");
        assert!(chapter.contains("25\u{202f}%") && chapter.contains("4.10\u{202f}W"));
        assert!(page.contains("plot-thermal"));
    }
}
