//! The page of a grid of questions.

use crate::common::HOSTILE;
use crate::common::browser::Page;
use report::{MAX_PAGE_BYTES, whatif_page};
use results::{
    WhatifAnswer, WhatifAxis, WhatifFound, WhatifLatency, WhatifOutcome, WhatifPoint, WhatifResult, WhatifSearch,
    WhatifTried, WhatifUnit, WhatifWanted,
};
use serde_json::{Map, Value, json};

fn axis(key: &str, unit: WhatifUnit, values: &[Value]) -> WhatifAxis {
    WhatifAxis { key: key.into(), label: format!("Label of {key}"), unit, values: values.to_vec() }
}

fn fills(count: u32) -> WhatifAxis {
    axis(
        "fill",
        WhatifUnit::Percent,
        &(1..=count).map(|i| json!(100.0 * f64::from(i) / f64::from(count))).collect::<Vec<_>>(),
    )
}

fn threads(count: u32) -> WhatifAxis {
    axis("threads", WhatifUnit::Count, &(0..count).map(|i| json!(i + 1)).collect::<Vec<_>>())
}

/// The product of the axes, with figures that rise with the place of each value.
fn grid(axes: Vec<WhatifAxis>) -> WhatifResult {
    let count: usize = axes.iter().map(|axis| axis.values.len()).product();
    let point = |i: usize| {
        let mut left = i;
        let mut at: Vec<(String, Value)> = Vec::new();
        let mut sum = 1.0;
        for axis in axes.iter().rev() {
            let place = left % axis.values.len();
            left /= axis.values.len();
            sum += place as f64;
            at.push((axis.key.clone(), axis.values[place].clone()));
        }
        at.reverse();
        let lat_ns = WhatifLatency { mean: 1e5 * sum, p50: 90_000, p99: (1e6 * sum) as u64, p99_9: (2e6 * sum) as u64 };
        let answer = WhatifAnswer {
            bw_bytes: 1e9 / sum,
            iops: 6e4 / sum,
            lat_ns,
            read_lat_ns: None,
            write_lat_ns: Some(lat_ns),
            waf: Some(1.0 + sum / 10.0),
            hit_rate: Some(0.9),
            years_at_rating: Some(4.5),
            effective_spare_factor: Some(0.2),
            steady: i % 7 != 3,
            virtual_seconds: 1.0,
        };
        let failed = (i == 5).then(|| HOSTILE.to_owned());
        let answer = failed.is_none().then_some(answer);
        WhatifPoint {
            at: at.into_iter().collect::<Map<_, _>>(),
            user_bytes: 1 << 30,
            used_bytes: 1 << 29,
            answer,
            failed,
        }
    };
    WhatifResult {
        kind: WhatifResult::KIND.into(),
        schema: 1,
        generator: format!("flashrig 1 {HOSTILE}"),
        target: json!({ "title": format!("Card {HOSTILE}"), "changed": ["a.b=1"] }),
        host: json!({ "name": "default", "title": "A host" }),
        load: json!({}),
        scale: 1.0 / 64.0,
        seed: 1,
        points: (0..count).map(point).collect(),
        axes,
        search: None,
        partial: None,
    }
}

fn two_and_two() -> WhatifResult {
    let victims = axis("ftl.victim", WhatifUnit::Name, &[json!("greedy"), json!(HOSTILE)]);
    let mut result = grid(vec![victims, fills(6), axis("load", WhatifUnit::Name, &[json!("rndwr")]), threads(4)]);
    result.partial = Some(format!("stopped by {HOSTILE}"));
    result
}

fn searched() -> WhatifResult {
    let mut result = grid(vec![threads(2), fills(10)]);
    result.search = Some(WhatifSearch {
        axis: "fill".into(),
        wanted: WhatifWanted::Most,
        target_p99_ns: Some(1_000_000),
        min_bw_bytes: Some(4e8),
        found: [(1, WhatifOutcome::Found), (2, WhatifOutcome::NotMonotone)]
            .into_iter()
            .map(|(threads, outcome)| WhatifFound {
                at: [("threads".to_owned(), json!(threads))].into_iter().collect(),
                outcome,
                holds: Some(70.0),
                breaks: Some(80.0),
                tried: vec![WhatifTried { value: 70.0, holds: true }],
            })
            .collect(),
    });
    result
}

#[test]
fn two_numeric_axes_make_heat_maps_and_one_makes_curves() {
    let page = whatif_page(&two_and_two());
    // Throughput, p99, write amplification, hits, for each of two victims.
    assert_eq!(page.matches("<table class=\"heat").count(), 8);
    assert!(page.contains("class=\"heat cool\"") && page.contains("class=\"heat warm\""));
    let one = whatif_page(&grid(vec![fills(8)]));
    assert_eq!((one.matches("<table class=\"heat").count(), one.matches("<figure class=\"plot\"").count()), (0, 4));
    // Without a cache nothing is said of one.
    let mut plain = two_and_two();
    plain.points.iter_mut().filter_map(|point| point.answer.as_mut()).for_each(|answer| answer.hit_rate = None);
    let page = whatif_page(&plain);
    assert_eq!(page.matches("<table class=\"heat").count(), 6);
    assert_eq!((page.matches("<figure class=\"plot\"").count(), page.contains("Hits")), (3, false));
    let none = whatif_page(&grid(vec![fills(1)]));
    assert_eq!((none.matches("<figure class=\"plot\"").count(), none.matches("All points").count() > 0), (0, true));
    let found = whatif_page(&searched());
    assert!(found.contains("not monotone") && found.contains("99 of 100 requests within"));
    assert!(!found.contains("<table class=\"heat"), "what was searched is no grid");
}

#[test]
fn a_page_is_small_whatever_it_holds_and_no_text_gets_out_of_its_place() {
    let mut results = vec![two_and_two(), searched(), grid(vec![]), grid(vec![threads(1000), fills(5)])];
    let mut broken = two_and_two();
    broken.points.iter_mut().for_each(|point| point.at.clear());
    broken.target = Value::Null;
    results.push(broken);
    for result in results {
        let page = whatif_page(&result);
        assert!(page.len() <= MAX_PAGE_BYTES, "{}", page.len());
        assert!(!page.contains(HOSTILE) || HOSTILE.chars().all(char::is_alphanumeric));
    }
}

#[test]
fn the_page_is_drawn_light_dark_small_and_on_paper_without_a_complaint() {
    for result in [two_and_two(), searched()] {
        let html = whatif_page(&result);
        let page = Page::open(&html, 1280, true);
        let drawn: usize = page.eval("[...document.querySelectorAll('figure.plot canvas')].length");
        assert_eq!(drawn, 4);
        // Ink on the deepest colours, light and dark: what the screen shows, not what the style says.
        let contrast: f64 = page.eval(
            "(() => {
                const ctx = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
                const rgb = (c) => { ctx.fillStyle = c; ctx.fillRect(0, 0, 1, 1); return [...ctx.getImageData(0, 0, 1, 1).data]; };
                const light = (c) => { const [r, g, b] = rgb(c).map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
                    return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
                let least = 99;
                for (const theme of ['light', 'dark']) {
                    document.documentElement.dataset.theme = theme;
                    for (const cell of document.querySelectorAll('.heat td')) {
                        const style = getComputedStyle(cell);
                        const [x, y] = [light(style.color), light(style.backgroundColor)].sort((p, q) => q - p);
                        if (style.backgroundColor !== 'rgba(0, 0, 0, 0)') least = Math.min(least, (x + 0.05) / (y + 0.05));
                    }
                }
                return least;
            })()",
        );
        assert!(contrast >= 4.5, "{contrast}");
        page.call("Emulation.setEmulatedMedia", json!({ "media": "print", "features": [] }));
        page.width(794);
        page.settle();
        page.assert_quiet();
        drop(page);
        let phone = Page::open(&html, 360, false);
        let width: f64 = phone.eval("document.documentElement.scrollWidth");
        assert!(width <= 360.0, "{width}");
        phone.assert_quiet();
    }
}
