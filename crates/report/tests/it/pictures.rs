//! Pictures of every section for people to look at, where `REPORT_PICTURES` names a folder. Without it, only that each of
//! the four ways to see the page can be drawn.

use crate::common::browser::{Page, keep};
use crate::common::{full, imported};
use report::{compare_page, review_page};
use serde_json::json;

fn sections(page: &Page) -> Vec<String> {
    page.eval("[...document.querySelectorAll('section.topic')].map(s => s.id)")
}

fn take(page: &Page, name: &str) {
    page.assert_quiet();
    keep(&format!("{name}-top.png"), || page.picture(None));
    if std::env::var_os("REPORT_PICTURES").is_some() {
        page.unfold();
        for id in sections(page) {
            keep(&format!("{name}-{id}.png"), || page.picture(Some(&format!("#{id}"))));
        }
        keep(&format!("{name}-whole.png"), || page.picture(Some("body")));
    }
}

#[test]
fn the_page_can_be_seen_light_dark_small_and_on_paper() {
    let html = review_page(&full("NW-400", 1.0));
    keep("page.html", || html.clone().into_bytes());
    let page = Page::open(&html, 1280, false);
    take(&page, "light");
    let [left, top, width, height] = page.place("#plot-threads-rndrd-response .u-over");
    page.mouse("mouseMoved", left + width * 0.8, top + height / 2.0, 0);
    page.settle();
    keep("hover.png", || page.picture(None));
    page.dark(true);
    page.settle();
    take(&page, "dark");
    page.call("Emulation.setEmulatedMedia", json!({ "media": "print", "features": [] }));
    page.width(794);
    page.settle();
    take(&page, "print");
    page.call("Emulation.setEmulatedMedia", json!({ "media": "", "features": [] }));
    page.settle();
    keep("page.pdf", || page.pdf());
    drop(page);
    let page = Page::open(&html, 390, false);
    take(&page, "phone");
    drop(page);
    let html = compare_page(&[full("NW-400", 1.0), full("SW-300", 0.7), imported()]);
    keep("compare.html", || html.clone().into_bytes());
    let page = Page::open(&html, 1280, false);
    take(&page, "compare");
}
