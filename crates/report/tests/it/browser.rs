//! A person's actions on the page, in headless Chromium.

use crate::common::browser::Page;
use crate::common::{absurd, full, hostile, imported, partial};
use report::{compare_page, review_page};
use serde_json::{Value, json};

const FIRST: &str = "#plot-threads-rndrd-throughput";

fn whole_page() -> Page {
    Page::open_unfolded(&review_page(&full("NW-400", 1.0)), 1280, false)
}

/// Evaluates an expression on the first chart.
fn figure(page: &Page, expression: &str) -> Value {
    page.eval(&format!("(f => {expression})(document.querySelector({FIRST:?}).figure)"))
}

fn window(page: &Page) -> (f64, f64) {
    let window: [f64; 2] =
        page.eval(&format!("(s => [s.min, s.max])(document.querySelector({FIRST:?}).figure.chart.scales.x)"));
    (window[0], window[1])
}

#[test]
fn every_chart_is_drawn_without_a_complaint() {
    let compared = [full("NW-400", 1.0), full("SW-300", 0.7), imported()];
    let pages = [
        review_page(&full("NW-400", 1.0)),
        review_page(&partial()),
        review_page(&imported()),
        review_page(&absurd()),
        compare_page(&compared),
        compare_page(&[]),
    ];
    for html in pages {
        let page = Page::open_unfolded(&html, 1280, false);
        let charts: Vec<(String, u32, u32, u32)> = page.eval(
            "[...document.querySelectorAll('figure.plot')].map(e => {
                const c = e.querySelector('canvas'), u = e.figure.chart;
                const d = c.getContext('2d').getImageData(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height).data;
                let coloured = 0;
                for (let i = 0; i < d.length; i += 4) {
                    const [r, g, b, a] = [d[i], d[i + 1], d[i + 2], d[i + 3]];
                    if (a > 200 && Math.max(r, g, b) - Math.min(r, g, b) > 60) coloured++;
                }
                const values = u.data.slice(1).flat().filter(v => v !== null && v !== undefined).length;
                return [e.id, values, coloured, u.width];
            })",
        );
        let expected: usize = page.eval("JSON.parse(document.getElementById('charts').textContent).length");
        assert_eq!(charts.len(), expected);
        for (id, values, coloured, width) in charts {
            assert!(
                values > 0 && coloured > 15 && width > 300,
                "{id}: {values} values, {coloured} pixels, {width} wide"
            );
        }
        page.assert_quiet();
    }
}

#[test]
fn pointing_at_a_chart_shows_the_figures_of_its_table() {
    let page = whole_page();
    let [left, top, width, height] = page.place(&format!("{FIRST} .u-over"));
    page.mouse("mouseMoved", left + width * 0.6, top + height / 2.0, 0);
    page.settle();
    let (index, tip): (usize, String) = page.eval(&format!(
        "(e => [e.figure.index, e.querySelector('.tip:not([hidden])').innerText])(document.querySelector({FIRST:?}))"
    ));
    let row: Vec<String> = page.eval(&format!(
        "[...document.querySelectorAll({:?})[{index}].children].map(c => c.textContent)",
        format!("{FIRST} tbody tr")
    ));
    assert!(tip.contains(&row[0]) && tip.contains(&row[1]) && tip.contains("Reads"), "{tip:?} {row:?}");
    page.mouse("mouseMoved", left + width * 0.99, top + height / 2.0, 0);
    page.settle();
    let tip: String = page.eval(&format!("document.querySelector({:?}).innerText", format!("{FIRST} .tip")));
    assert!(tip.contains("the machine that asked was the limit"), "{tip}");
    page.mouse("mouseMoved", 2.0, 2.0, 0);
    page.settle();
    assert!(page.eval::<bool>(&format!("document.querySelector({:?}).hidden", format!("{FIRST} .tip"))));
    page.assert_quiet();
}

/// The script formats numbers on its own: what it announces must be what the tables say, at every point of every view.
#[test]
fn script_and_tables_write_the_same_numbers() {
    let page = whole_page();
    let (checked, wrong): (usize, Vec<String>) = page.eval(
        "(() => {
            let checked = 0;
            const wrong = [];
            for (const e of document.querySelectorAll('figure.plot')) {
                const f = e.figure;
                if (f.plot.compact || f.plot.x.scale === 'nines' || e.id === 'plot-preconditioning') continue;
                const rows = [...e.querySelectorAll('tbody tr')].map(r => [...r.children].map(c => c.textContent));
                let column = 1;
                f.plot.views.forEach((view, v) => {
                    f.showView(v);
                    f.plot.xs.forEach((x, i) => {
                        f.stepTo(i);
                        if (f.index !== i) return;
                        const said = document.getElementById('announce').textContent;
                        const cells = view.series.map((s, k) => s.values[i] === null ? '' : s.name + ' ' + rows[i][column + k]);
                        for (const cell of [rows[i][0], ...cells]) {
                            checked++;
                            if (!said.includes(cell)) wrong.push(said + ' lacks ' + cell);
                        }
                    });
                    column += view.series.length;
                });
            }
            return [checked, wrong.slice(0, 5)];
        })()",
    );
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(checked > 1500, "{checked}");
}

#[test]
fn a_series_can_be_switched_off_and_a_view_chosen() {
    let page = whole_page();
    let response = "#plot-threads-rndrd-response";
    let state = |nth: u32| -> (String, bool) {
        page.eval(&format!(
            "(e => [e.querySelectorAll('.legend button')[{nth}].getAttribute('aria-pressed'), e.figure.chart.series[{nth} + 1].show])
             (document.querySelector({response:?}))"
        ))
    };
    assert_eq!(state(4), ("true".into(), true));
    let click = |selector: &str| {
        let [left, top, width, height] = page.place(selector);
        for kind in ["mousePressed", "mouseReleased"] {
            page.mouse(kind, left + width / 2.0, top + height / 2.0, 1);
        }
        page.settle();
    };
    click(&format!("{response} .legend button:nth-of-type(5)"));
    assert_eq!(state(4), ("false".into(), false));
    assert_eq!(state(3), ("true".into(), true));
    click(&format!("{response} .legend button:nth-of-type(5)"));
    assert_eq!(state(4), ("true".into(), true));
    // IOPS.
    click(&format!("{FIRST} .views button:nth-of-type(2)"));
    assert_eq!(figure(&page, "f.view.name"), "IOPS");
    assert_eq!(
        figure(&page, "[...f.choice.element.children].map(b => b.getAttribute('aria-pressed')).join()"),
        "false,true"
    );
    // A distribution of another point.
    page.eval::<Value>(
        "(() => { const s = document.querySelector('#plot-distribution-reads select');
          s.value = [...s.options].find(o => o.text === 'Random reads, 128 threads').value;
          s.dispatchEvent(new Event('change')); })()",
    );
    let shown: String = page.eval("document.querySelector('#plot-distribution-reads').figure.view.name");
    assert_eq!(shown, "Random reads, 128 threads");
    page.assert_quiet();
}

#[test]
fn zoom_goes_in_and_comes_back() {
    let page = whole_page();
    let whole = window(&page);
    let [left, top, width, height] = page.place(&format!("{FIRST} .u-over"));
    let middle = top + height / 2.0;
    page.mouse("mouseMoved", left + width * 0.3, middle, 0);
    page.mouse("mousePressed", left + width * 0.3, middle, 1);
    for share in [0.4, 0.5, 0.6] {
        page.mouse("mouseMoved", left + width * share, middle, 1);
    }
    page.mouse("mouseReleased", left + width * 0.6, middle, 1);
    page.settle();
    let dragged = window(&page);
    assert!(dragged.0 > whole.0 && dragged.1 < whole.1, "{dragged:?} of {whole:?}");
    for _ in 0..2 {
        page.mouse("mousePressed", left + width * 0.5, middle, 1);
        page.mouse("mouseReleased", left + width * 0.5, middle, 1);
    }
    page.mouse("mousePressed", left + width * 0.5, middle, 2);
    page.mouse("mouseReleased", left + width * 0.5, middle, 2);
    page.settle();
    assert_eq!(window(&page), whole, "a double click returns");
    let press = |name: &str| {
        page.eval::<Value>(&format!(
            "(() => {{ [...document.querySelectorAll({:?})].find(b => b.textContent === {name:?}).click(); }})()",
            format!("{FIRST} .tools button")
        ));
        page.settle();
    };
    press("Zoom in");
    let closer = window(&page);
    assert!(closer.1 - closer.0 < (whole.1 - whole.0) * 0.6);
    press("Zoom out");
    press("Zoom out");
    assert_eq!(window(&page), whole);
    press("Zoom in");
    press("Zoom in");
    press("Reset");
    assert_eq!(window(&page), whole);
    page.assert_quiet();
}

#[test]
fn arrow_keys_go_through_the_points_and_announce_them() {
    let page = whole_page();
    page.place(FIRST);
    page.eval::<Value>(&format!("(() => {{ document.querySelector({:?}).focus(); }})()", format!("{FIRST} .canvas")));
    let said = || -> String { page.eval("document.getElementById('announce').textContent") };
    page.key("ArrowRight");
    assert!(said().starts_with("1 threads: Reads "), "{}", said());
    page.key("ArrowRight");
    assert!(said().starts_with("2 threads: Reads "), "{}", said());
    page.key("ArrowLeft");
    assert!(said().starts_with("1 threads: Reads "), "{}", said());
    page.key("End");
    assert!(said().starts_with("1,024 threads: ") && said().contains("was the limit"), "{}", said());
    let whole = window(&page);
    page.key("+");
    page.key("+");
    let near = window(&page);
    assert!(near.1 - near.0 < (whole.1 - whole.0) * 0.5 && said().starts_with("Shown: "), "{}", said());
    page.key("Home");
    let moved = window(&page);
    assert!(moved.0 < near.0, "the window follows the cursor: {moved:?}");
    assert!(said().starts_with("1 threads: "), "{}", said());
    page.key("0");
    assert_eq!(window(&page), whole);
    page.key("Escape");
    assert!(page.eval::<bool>(&format!("document.querySelector({:?}).hidden", format!("{FIRST} .tip"))));
    page.assert_quiet();
}

#[test]
fn tab_reaches_every_control_in_order_and_shows_where_it_is() {
    let page = whole_page();
    page.eval::<Value>(
        "(() => { window.wanted = [...document.querySelectorAll('a[href], button, select, summary, [tabindex=\"0\"]')]
            .filter(e => e.checkVisibility()); })()",
    );
    let wanted: usize = page.eval("wanted.length");
    assert!(wanted > 150, "{wanted}");
    for i in 0..wanted {
        page.key("Tab");
        let at: (i64, String, String) = page.eval(
            "(e => [wanted.indexOf(e), e.outerHTML.slice(0, 120), getComputedStyle(e).outlineStyle])(document.activeElement)",
        );
        assert_eq!(at.0, i as i64, "{}", at.1);
        assert_ne!(at.2, "none", "{} shows no focus", at.1);
    }
    page.assert_quiet();
}

/// The text that a button offers as a file.
fn offered(page: &Page, button: &str) -> String {
    page.eval(&format!(
        "(async () => {{
            const make = URL.createObjectURL;
            let blob;
            URL.createObjectURL = b => {{ blob = b; return 'data:,'; }};
            HTMLAnchorElement.prototype.click = () => {{}};
            document.querySelector({button:?}).click();
            URL.createObjectURL = make;
            return await blob.text();
        }})()"
    ))
}

#[test]
fn figures_can_be_had_as_csv_and_json() {
    let result = full("NW-400", 1.0);
    let page = Page::open(&review_page(&result), 1280, false);
    let csv = offered(&page, &format!("{FIRST} .tools button:last-child"));
    let lines: Vec<&str> = csv.split("\r\n").collect();
    assert_eq!(lines[0], "Threads,MB/s: Reads (MB/s),IOPS: Reads (1/s),Remarks");
    assert_eq!(lines.len(), 11 + 2, "a header, 11 points, and the end of the last line: {csv}");
    let sweep = result.sweep("threads-rndrd").unwrap();
    for (line, point) in lines[1..].iter().zip(&sweep.points) {
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!(cells[0], point.x.to_string());
        assert!((cells[1].parse::<f64>().unwrap() / (point.bw_bytes() / 1e6) - 1.0).abs() < 1e-9, "{line}");
        assert!((cells[2].parse::<f64>().unwrap() / point.iops() - 1.0).abs() < 1e-9, "{line}");
        assert_eq!(cells[3].contains("the machine that asked was the limit"), point.limited_by_host);
    }
    let csv = offered(&page, "#plot-threads-rndrd-response .tools button:last-child");
    assert!(csv.starts_with("Threads,p50 (µs),p95 (µs),p99 (µs),p99.9 (µs),max (µs),Remarks\r\n"), "{csv}");
    let p99: f64 = csv.lines().nth(1).unwrap().split(',').nth(3).unwrap().parse().unwrap();
    assert!((p99 * 1e3 - sweep.points[0].read.lat_ns.at(99.0) as f64).abs() < 1.0);
    let json = offered(&page, "#download-place button");
    let again: results::ReviewResult = serde_json::from_str(&json).unwrap();
    assert_eq!(again.sweeps[0].points[5].read.histogram, result.sweeps[0].points[5].read.histogram);
    page.assert_quiet();
    drop(page);

    let page = Page::open_unfolded(&compare_page(&[hostile(), full("plain", 1.0)]), 1280, false);
    let csv = offered(&page, &format!("{FIRST} .tools button:last-child"));
    let header = &csv[..csv.find("\r\n1,").unwrap()];
    assert_eq!(header.matches('"').count() % 2, 0, "{header}");
    assert!(header.contains("\"\"") && header.contains("\"MB/s: "), "quotes are doubled within quotes: {header}");
}

#[test]
#[should_panic(expected = "not well")]
fn what_a_page_complains_of_is_heard() {
    Page::open("<!doctype html><script>setTimeout(() => { throw new Error('not well') }, 1)</script>", 400, false)
        .assert_quiet();
}

#[test]
#[should_panic(expected = "asked for")]
fn what_a_page_asks_for_is_seen() {
    Page::open("<!doctype html><img src='http://127.0.0.1:9/x'>", 400, false).assert_requests_nothing();
}

#[test]
fn hostile_text_does_nothing() {
    for html in [review_page(&hostile()), compare_page(&[hostile(), hostile(), absurd()])] {
        let page = Page::open_unfolded(&html, 1280, false);
        let figures: usize = page.eval("document.querySelectorAll('figure.plot').length");
        assert!(figures > 3);
        page.eval::<Value>(
            "(() => { for (const e of document.querySelectorAll('figure.plot')) {
                e.figure.plot.views.forEach((_, i) => e.figure.showView(i));
                e.figure.stepTo(0);
                e.querySelectorAll('.legend button').forEach(b => b.click());
            } })()",
        );
        page.settle();
        assert!(!page.eval::<bool>("'hacked' in window"));
        assert_eq!(
            page.eval::<usize>("document.images.length + document.querySelectorAll('iframe, object, embed').length"),
            0
        );
        page.assert_quiet();
    }
}

/// Luminance of the darkest and of the lightest opaque pixel that a chart has.
const EXTREMES: &str = "(() => {
    const c = document.querySelector('figure.plot canvas');
    const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
    let [least, most] = [255, 0];
    for (let i = 0; i < d.length; i += 4) if (d[i + 3] > 250) {
        const l = 0.3 * d[i] + 0.6 * d[i + 1] + 0.1 * d[i + 2];
        least = Math.min(least, l);
        most = Math.max(most, l);
    }
    return [least, most];
})()";

fn assert_dark(page: &Page, dark: bool) {
    page.settle();
    let background: String = page.eval("getComputedStyle(document.body).backgroundColor");
    let first: u32 = background.trim_start_matches("rgb(").split(',').next().unwrap().trim().parse().unwrap();
    assert_eq!(first < 80, dark, "{background}");
    let (least, most): (f64, f64) = page.eval(EXTREMES);
    // Ink on paper: dark on light, or light on dark.
    assert_eq!(least > 40.0, dark, "chart from {least} to {most}");
}

#[test]
fn colours_follow_the_system_and_the_buttons() {
    let page = whole_page();
    assert_dark(&page, false);
    page.dark(true);
    assert_dark(&page, true);
    let choose = |name: &str| {
        page.eval::<Value>(&format!(
            "(() => {{ [...document.querySelectorAll('#page-tools button')].find(b => b.textContent === {name:?}).click(); }})()"
        ));
    };
    choose("Light");
    assert_dark(&page, false);
    page.dark(false);
    choose("Dark");
    assert_dark(&page, true);
    let pressed: String = page.eval("document.querySelector('#page-tools [aria-pressed=true]').textContent");
    assert_eq!(pressed, "Dark");
    page.reload();
    assert_dark(&page, true);
    choose("Auto");
    assert_dark(&page, false);
}

#[test]
fn colours_can_be_chosen_without_storage() {
    let forbid =
        "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no', 'SecurityError'); } })";
    let page = Page::open_after(&review_page(&partial()), 1280, false, Some(forbid));
    page.eval::<Value>("(() => { document.querySelector('#page-tools button:nth-of-type(3)').click(); })()");
    assert_dark(&page, true);
    page.assert_quiet();
}

#[test]
fn contrast_is_enough_for_text_and_lines() {
    for dark in [false, true] {
        let page = Page::open_unfolded(&compare_page(&[full("NW-400", 1.0), full("SW-300", 0.7)]), 1280, dark);
        let weak: Vec<String> = page.eval(
            "(() => {
                const rgb = c => c.match(/[\\d.]+/g).slice(0, 3).map(Number);
                const light = c => rgb(c).map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
                    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
                const contrast = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
                const behind = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (!/, 0\\)$|transparent/.test(c)) return c; } };
                const weak = [];
                for (const e of document.querySelectorAll('body *')) {
                    if (![...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim()) || ['SCRIPT', 'STYLE'].includes(e.tagName)) continue;
                    const ratio = contrast(getComputedStyle(e).color, behind(e));
                    if (ratio < 4.5) weak.push(e.outerHTML.slice(0, 100) + ' ' + ratio);
                }
                const paper = getComputedStyle(document.body).backgroundColor;
                for (const svg of document.querySelectorAll('.legend svg')) {
                    const ratio = contrast(getComputedStyle(svg).color, paper);
                    if (ratio < 3) weak.push(svg.style.color + ' ' + ratio);
                }
                for (let i = 1; i <= 6; i++) {
                    const probe = document.createElement('span');
                    probe.style.color = `var(--series-${i})`;
                    document.body.append(probe);
                    const ratio = contrast(getComputedStyle(probe).color, paper);
                    if (ratio < 3) weak.push(`series ${i} ${ratio}`);
                }
                return weak.slice(0, 10);
            })()",
        );
        assert!(weak.is_empty(), "dark: {dark}: {weak:#?}");
    }
}

#[test]
fn paper_has_light_charts_on_eight_pages_at_most() {
    let page = Page::open(&review_page(&full("NW-400", 1.0)), 1280, true);
    assert_dark(&page, true);
    page.eval::<Value>(&format!(
        "(() => {{ addEventListener('beforeprint', () => queueMicrotask(() => setTimeout(() => {{}}, 0)));
           addEventListener('beforeprint', () => Promise.resolve().then(() => {{
             window.printed = [...{EXTREMES}, document.querySelectorAll('details.question:not([open])').length,
               Math.max(...[...document.querySelectorAll('.uplot')].map(u => u.getBoundingClientRect().width))];
           }})); }})()"
    ));
    let pdf = page.pdf();
    assert!(pdf.starts_with(b"%PDF") && pdf.len() > 100_000, "{} bytes", pdf.len());
    let pages = String::from_utf8_lossy(&pdf).matches("/Type /Page\n").count();
    assert!((4..=8).contains(&pages), "{pages} pages");
    let (least, most, closed, _): (f64, f64, u32, f64) = page.eval("window.printed");
    assert!(least < 40.0, "charts are drawn in dark ink: {least} to {most}");
    assert_eq!(closed, 0, "all questions are open on paper");
    assert_dark(&page, true);
    assert!(
        page.eval::<u32>("document.querySelectorAll('details.question:not([open])').length") > 5,
        "and closed again"
    );
    // The same by the media query, in which it can be looked at.
    page.call(
        "Emulation.setEmulatedMedia",
        json!({ "media": "print", "features": [{ "name": "prefers-color-scheme", "value": "dark" }] }),
    );
    page.width(680);
    page.settle();
    let (least, _): (f64, f64) = page.eval(EXTREMES);
    assert!(least < 40.0);
    let background: String = page.eval("getComputedStyle(document.body).backgroundColor");
    assert_eq!(background, "rgb(255, 255, 255)");
    let wide: Vec<String> = page.eval(
        "[...document.querySelectorAll('main *')].filter(e => e.getBoundingClientRect().right > 681)
         .map(e => e.getBoundingClientRect().right + ' ' + e.outerHTML.slice(0, 150)).slice(0, 5)",
    );
    assert!(wide.is_empty(), "cut off: {wide:#?}");
    page.assert_quiet();
}

#[test]
fn nothing_is_wider_than_a_phone() {
    let pages = [
        review_page(&full("NW-400", 1.0)),
        review_page(&imported()),
        review_page(&hostile()),
        compare_page(&[full("NW-400", 1.0), full("SW-300", 0.7), hostile()]),
    ];
    for html in pages {
        let page = Page::open(&html, 360, false);
        let width = || -> (f64, Vec<String>) {
            page.eval(
                "[document.scrollingElement.scrollWidth, [...document.querySelectorAll('body *')]
                  .filter(e => e.getBoundingClientRect().right > 361 && !e.closest('.scroll, pre, .canvas, .skip'))
                  .map(e => e.outerHTML.slice(0, 100)).slice(0, 5)]",
            )
        };
        let (closed, wide) = width();
        assert!(closed <= 360.0 && wide.is_empty(), "{closed} {wide:#?}");
        page.eval::<Value>("(() => { document.querySelectorAll('details').forEach(d => (d.open = true)); })()");
        page.settle();
        let (open, wide) = width();
        assert!(open <= 360.0 && wide.is_empty(), "{open} {wide:#?}");
        page.assert_quiet();
    }
}

#[test]
fn a_finger_shows_values_too() {
    let page = Page::open(&review_page(&partial()), 360, false);
    page.call("Emulation.setTouchEmulationEnabled", json!({ "enabled": true, "maxTouchPoints": 1 }));
    let [left, top, width, height] = page.place(&format!("{FIRST} .u-over"));
    let touch = |kind: &str, share: f64| {
        let points = if kind == "touchEnd" {
            json!([])
        } else {
            json!([{ "x": left + width * share, "y": top + height / 2.0 }])
        };
        page.call("Input.dispatchTouchEvent", json!({ "type": kind, "touchPoints": points }));
    };
    touch("touchStart", 0.1);
    page.settle();
    let tip = || -> String {
        page.eval(&format!("document.querySelector({:?}).innerText", format!("{FIRST} .tip:not([hidden])")))
    };
    assert!(tip().starts_with("1 threads"), "{}", tip());
    touch("touchMove", 0.5);
    touch("touchMove", 0.9);
    page.settle();
    assert!(tip().starts_with("4 threads"), "{}", tip());
    touch("touchEnd", 0.9);
    page.assert_quiet();
}
