//! The live view in headless Chromium.

#[path = "../../../report/tests/it/common/chromium.rs"]
mod chromium;

use crate::common::{Rings, SIZE, explaining, named};
use chromium::Chromium;
use control::{WebAddress, WebServer, web_server};
use live::{Action, Live, Request};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::sync_channel;
use std::time::{Duration, Instant};

/// A tab with the live view.
struct Tab {
    chromium: Chromium,
    // The browser goes before its folder.
    _folder: tempfile::TempDir,
}

impl Tab {
    fn open(server: &WebServer, width: u32, dark: bool) -> Tab {
        let folder = tempfile::tempdir().unwrap();
        let mut tab = Tab { chromium: Chromium::start(&folder.path().join("profile")), _folder: folder };
        for domain in ["Page", "Log", "Runtime", "Network"] {
            tab.chromium.call(&format!("{domain}.enable"), json!({}));
        }
        tab.look(width, dark);
        tab.chromium.call("Page.navigate", json!({ "url": format!("http://{}/", server.address()) }));
        tab.chromium.wait_for("Page.loadEventFired");
        tab
    }

    fn look(&mut self, width: u32, dark: bool) {
        let size = json!({ "width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500 });
        self.chromium.call("Emulation.setDeviceMetricsOverride", size);
        let scheme = if dark { "dark" } else { "light" };
        let features = json!({ "media": "", "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.chromium.call("Emulation.setEmulatedMedia", features);
    }

    fn eval<T: DeserializeOwned>(&mut self, expression: &str) -> T {
        let asked = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let mut answer = self.chromium.call("Runtime.evaluate", asked);
        assert!(answer.get("exceptionDetails").is_none(), "{expression}: {}", answer["exceptionDetails"]);
        let value = answer["result"]["value"].take();
        serde_json::from_value(value).unwrap_or_else(|e| panic!("{expression}: {e}"))
    }

    fn until(&mut self, what: &str) {
        let began = Instant::now();
        while !self.eval::<bool>(what) {
            assert!(
                began.elapsed() < Duration::from_secs(30),
                "{what}: {}",
                self.eval::<String>("document.body.innerText")
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// A picture where `LIVE_PICTURES` says, for people to look at.
    fn keep(&mut self, name: &str) {
        let Some(folder) = std::env::var_os("LIVE_PICTURES").map(std::path::PathBuf::from) else { return };
        use base64::Engine;
        let picture =
            self.chromium.call("Page.captureScreenshot", json!({ "format": "png", "captureBeyondViewport": true }));
        let picture = base64::prelude::BASE64_STANDARD.decode(picture["data"].as_str().unwrap()).unwrap();
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(name), picture).unwrap();
    }

    /// Complaints of the page, and what it asked of others than its server.
    fn assert_quiet(&mut self, server: &WebServer) {
        self.eval::<bool>("new Promise(done => setTimeout(() => done(true), 50))");
        let own = format!("http://{}/", server.address());
        for event in &self.chromium.events {
            let of = |method: &str| event["method"] == method;
            assert!(
                !of("Runtime.exceptionThrown") && !of("Runtime.consoleAPICalled") && !of("Log.entryAdded"),
                "{event}"
            );
            if of("Network.requestWillBeSent") {
                let url = event["params"]["request"]["url"].as_str().unwrap();
                assert!(url.starts_with(&own) || url.starts_with("data:"), "asked for {url}");
            }
        }
    }
}

/// Reads and writes until it is told to end.
fn load(live: &Live, ends: &AtomicBool) {
    let (sender, rings) = sync_channel(1);
    let mut port = live.port(Arc::new(Rings(sender)));
    let mut at = 0u64;
    while !ends.load(Ordering::Relaxed) {
        at = at.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let offset = (at >> 20) % (SIZE / 4096) * 4096;
        let request = match at >> 60 {
            0..8 => Request::write(0, offset, &[3; 4096]),
            8..15 => Request::read(0, offset, 4096),
            _ => Request::flush(0),
        };
        let mut replies = Vec::new();
        port.submit(&[request], &mut replies);
        while replies.is_empty() {
            rings.recv_timeout(Duration::from_secs(20)).expect("a reply");
            port.replies(&mut replies);
        }
        // Others want the processor as well.
        std::thread::sleep(Duration::from_micros(200));
    }
}

#[test]
fn a_browser_shows_a_module_that_is_pulled_under_load() {
    let live = explaining();
    crate::common::overwrite(&live, 2);
    let address = WebAddress::new("127.0.0.1:0", false).unwrap();
    let server = web_server(vec![named(&live, "<b>disk</b>")], &address).unwrap();
    let ends = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| load(&live, &ends));
        let shown = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| watch_a_pull(&live, &server)));
        ends.store(true, Ordering::Relaxed);
        shown.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    });
}

fn watch_a_pull(live: &Live, server: &WebServer) {
    let mut tab = Tab::open(server, 1280, false);
    let shows = |selector: &str, text: &str| {
        format!("[...document.querySelectorAll({selector:?})].some(e => e.textContent.includes({text:?}))")
    };
    tab.until(&shows("#state", "well"));
    assert_eq!(tab.eval::<String>("document.getElementById('name').textContent"), "<b>disk</b>");
    let label = |chart: u32| format!("document.querySelectorAll('canvas')[{chart}].getAttribute('aria-label')");
    tab.until(&format!("/read [1-9].*write [1-9]/.test({})", label(1)));
    tab.until(&format!("/half below .*[0-9] (µs|ms|ns)/.test({})", label(2)));
    tab.until(&format!("/: .*(µs|ms|ns)/.test({})", label(3)));
    // Something is drawn: the canvas is not of one colour.
    let drawn = "[...document.querySelectorAll('canvas')].every(c => new Set(new Uint32Array(c.getContext('2d')
        .getImageData(0, 0, c.width, c.height).data.buffer)).size > 8)";
    tab.until(drawn);
    live.act(Action::Set(live::Change { rebuild_bytes_per_s: Some(Some(1 << 19)), ..Default::default() })).unwrap();
    live.act(Action::Pull { slot: 3, force: false }).unwrap();
    tab.until(&shows("#slots li.bad", "3 empty"));
    tab.until(&shows("#state", "degraded"));
    tab.until(&shows("#events li", "slot 3: the module was pulled"));
    live.act(Action::Insert { slot: 3, new: true }).unwrap();
    tab.until(&shows("#slots li.warning", "3 rebuilding"));
    tab.until("document.querySelector('#slots li.warning progress').hidden === false");
    tab.keep("wide.png");
    tab.until(&shows("#state", "well"));
    tab.until(&shows("#events li", "slot 3: in service"));
    tab.until(&shows("#clients td", "127.0.0.1:50000"));
    assert_eq!(tab.eval::<u32>("document.querySelectorAll('#slots li').length"), live.modules().len() as u32);
    by_hand(&mut tab);
    for (width, dark, name) in [(1280, true, "dark.png"), (390, false, "narrow.png"), (390, true, "narrow-dark.png")] {
        tab.look(width, dark);
        tab.eval::<bool>("new Promise(done => setTimeout(() => done(true), 1200))");
        assert!(
            tab.eval::<bool>("document.documentElement.scrollWidth <= innerWidth"),
            "{width}: it is wider than the window"
        );
        tab.keep(name);
    }
    tab.assert_quiet(server);
}

/// Buttons and keys do what they say.
fn by_hand(tab: &mut Tab) {
    let press = |text: &str| {
        format!(
            "[...document.querySelectorAll('button')].filter(b => b.textContent === {text:?}).forEach(b => b.click())"
        )
    };
    let _: Value = tab.eval(&format!("{}, null", press("flushes")));
    let _: Value = tab.eval(&format!("{}, null", press("1 min")));
    tab.until("document.querySelectorAll('#charts button[aria-pressed=\"true\"]').length === 3");
    let _: Value = tab.eval(&format!("{}, null", press("Pause")));
    let paused = "document.getElementById('moment').textContent.startsWith('at ')";
    tab.until(paused);
    let _: Value = tab.eval(&format!("{}, null", press("Pause")));
    tab.until(&format!("!({paused})"));
    // The arrow keys point at a second, Escape at none.
    let key = |key: &str| {
        format!(
            "document.querySelector('canvas').dispatchEvent(new KeyboardEvent('keydown', {{ key: {key:?} }})), null"
        )
    };
    let _: Value = tab.eval(&key("ArrowLeft"));
    tab.until(paused);
    let _: Value = tab.eval(&key("Escape"));
    tab.until(&format!("!({paused})"));
    let _: Value = tab.eval(&format!("{}, null", press("writes")));
}
