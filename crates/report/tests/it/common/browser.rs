//! A page in headless Chromium, and everything that happened in it.

use super::chromium::Chromium;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};

/// Two browsers at once would only make each other slow.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// A page that is open. Fields are dropped in this order: the browser goes before its folder and its turn.
pub struct Page {
    chromium: RefCell<Chromium>,
    happened: RefCell<Happened>,
    _folder: tempfile::TempDir,
    _turn: MutexGuard<'static, ()>,
}

/// Events that a page must not cause.
#[derive(Default)]
struct Happened {
    complaints: Vec<String>,
    requests: Vec<String>,
}

impl Happened {
    fn take(&mut self, events: Vec<Value>) {
        for event in events {
            match event["method"].as_str() {
                Some("Runtime.exceptionThrown" | "Runtime.consoleAPICalled" | "Log.entryAdded") => {
                    self.complaints.push(event["params"].to_string());
                }
                Some("Network.requestWillBeSent") => {
                    self.requests.push(event["params"]["request"]["url"].as_str().unwrap().into());
                }
                _ => {}
            }
        }
    }

    fn assert_requests_nothing(&self) {
        let own = |url: &&String| ["file:", "data:", "blob:"].iter().any(|scheme| url.starts_with(scheme));
        let foreign: Vec<&String> = self.requests.iter().filter(|url| !own(url)).collect();
        assert!(foreign.is_empty(), "asked for {foreign:?}");
        let files = self.requests.iter().filter(|url| url.starts_with("file:")).count();
        assert_eq!(files, 1, "{:?}", self.requests);
    }
}

impl Page {
    /// Opens a page of this width in CSS pixels.
    pub fn open(html: &str, width: u32, dark: bool) -> Page {
        Page::open_after(html, width, dark, None)
    }

    /// The same, with a script that runs before those of the page.
    pub fn open_after(html: &str, width: u32, dark: bool, script: Option<&str>) -> Page {
        // A test that failed is no reason for the next to fail.
        let turn = ONE_AT_A_TIME.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("page.html");
        std::fs::write(&file, html).unwrap();
        let chromium = RefCell::new(Chromium::start(&folder.path().join("profile")));
        let page = Page { chromium, happened: RefCell::default(), _folder: folder, _turn: turn };
        for domain in ["Page", "Log", "Runtime", "Network"] {
            page.call(&format!("{domain}.enable"), json!({}));
        }
        page.width(width);
        page.dark(dark);
        if let Some(script) = script {
            page.call("Page.addScriptToEvaluateOnNewDocument", json!({ "source": script }));
        }
        page.load("Page.navigate", json!({ "url": format!("file://{}", file.display()) }));
        page
    }

    fn load(&self, method: &str, params: Value) {
        self.call(method, params);
        self.chromium.borrow_mut().wait_for("Page.loadEventFired");
        self.settle();
    }

    /// A method of the protocol.
    pub fn call(&self, method: &str, params: Value) -> Value {
        let mut chromium = self.chromium.borrow_mut();
        self.happened.borrow_mut().take(std::mem::take(&mut chromium.events));
        chromium.call(method, params)
    }

    /// The value of an expression, which may be a promise.
    pub fn eval<T: DeserializeOwned>(&self, expression: &str) -> T {
        let asked = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let answer = self.call("Runtime.evaluate", asked);
        assert!(answer.get("exceptionDetails").is_none(), "{expression}: {}", answer["exceptionDetails"]);
        let value = answer["result"].get("value").cloned().unwrap_or(Value::Null);
        serde_json::from_value(value.clone()).unwrap_or_else(|e| panic!("{expression} gave {value}: {e}"))
    }

    /// Loads it again.
    pub fn reload(&self) {
        self.load("Page.reload", json!({}));
    }

    /// Two frames: observers and layout have run.
    pub fn settle(&self) {
        self.eval::<bool>(
            "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => done(true), 30))))",
        );
    }

    /// Opens a page with every question unfolded.
    pub fn open_unfolded(html: &str, width: u32, dark: bool) -> Page {
        let page = Page::open(html, width, dark);
        page.unfold();
        page
    }

    /// Unfolds every question.
    pub fn unfold(&self) {
        self.eval::<Value>(
            "(() => { document.querySelectorAll('details.question').forEach(d => (d.open = true)); })()",
        );
        self.settle();
    }

    /// Sets the width of the viewport in CSS pixels.
    pub fn width(&self, width: u32) {
        self.screen(width, 900);
    }

    /// Sets the viewport in CSS pixels.
    pub fn screen(&self, width: u32, height: u32) {
        let mobile = width < 500;
        self.call(
            "Emulation.setDeviceMetricsOverride",
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": mobile }),
        );
    }

    /// Sets the system's preference.
    pub fn dark(&self, dark: bool) {
        let value = if dark { "dark" } else { "light" };
        self.call(
            "Emulation.setEmulatedMedia",
            json!({ "media": "", "features": [{ "name": "prefers-color-scheme", "value": value }] }),
        );
    }

    /// A key, down and up.
    pub fn key(&self, key: &str) {
        let code = match key {
            "Tab" => 9,
            "Enter" => 13,
            "Escape" => 27,
            "End" => 35,
            "Home" => 36,
            "ArrowLeft" => 37,
            "ArrowRight" => 39,
            _ => 0,
        };
        let text = if key.chars().count() == 1 { key } else { "" };
        for kind in ["keyDown", "keyUp"] {
            let text = if kind == "keyDown" && !text.is_empty() { json!(text) } else { Value::Null };
            let mut event = json!({ "type": kind, "key": key, "windowsVirtualKeyCode": code });
            if !text.is_null() {
                event["text"] = text;
            }
            if key == "Enter" && kind == "keyDown" {
                event["text"] = json!("\r");
            }
            self.call("Input.dispatchKeyEvent", event);
        }
    }

    /// The mouse: `mouseMoved`, `mousePressed`, `mouseReleased`.
    pub fn mouse(&self, kind: &str, x: f64, y: f64, clicks: u32) {
        let pressed = kind == "mousePressed";
        let button = if kind == "mouseMoved" && clicks == 0 { "none" } else { "left" };
        let buttons = u32::from(pressed || (kind == "mouseMoved" && clicks > 0));
        let event = json!({
            "type": kind, "x": x, "y": y, "button": button, "buttons": buttons,
            "clickCount": if kind == "mouseMoved" { 0 } else { clicks },
        });
        self.call("Input.dispatchMouseEvent", event);
    }

    /// Left, top, width and height of an element after it was scrolled to the middle of the window.
    pub fn place(&self, selector: &str) -> [f64; 4] {
        self.eval(&format!(
            "(() => {{ const e = document.querySelector({selector:?}); e.scrollIntoView({{block: 'center', behavior: 'instant'}});
             const r = e.getBoundingClientRect(); return [r.left, r.top, r.width, r.height]; }})()"
        ))
    }

    /// A picture of an element, or of the window, as PNG.
    pub fn picture(&self, selector: Option<&str>) -> Vec<u8> {
        let mut asked = json!({ "format": "png" });
        if let Some(selector) = selector {
            asked["captureBeyondViewport"] = json!(true);
            let [left, top, width, height] = self.place(selector);
            let scroll: f64 = self.eval("scrollY");
            asked["clip"] = json!({
                "x": (left - 8.0).max(0.0), "y": (top + scroll - 8.0).max(0.0),
                "width": width + 16.0, "height": height + 16.0, "scale": 1,
            });
        }
        self.bytes("Page.captureScreenshot", asked)
    }

    /// Printed on A4.
    pub fn pdf(&self) -> Vec<u8> {
        let a4 =
            json!({ "paperWidth": 8.27, "paperHeight": 11.69, "preferCSSPageSize": false, "printBackground": false });
        self.bytes("Page.printToPDF", a4)
    }

    fn bytes(&self, method: &str, params: Value) -> Vec<u8> {
        BASE64_STANDARD.decode(self.call(method, params)["data"].as_str().unwrap()).unwrap()
    }

    /// Nothing was complained about and nothing but the page itself was asked for.
    pub fn assert_quiet(&self) {
        self.listen();
        let happened = self.happened.borrow();
        assert!(happened.complaints.is_empty(), "{}", happened.complaints.join("\n"));
        happened.assert_requests_nothing();
    }

    /// Nothing but the page itself was asked for.
    pub fn assert_requests_nothing(&self) {
        self.listen();
        self.happened.borrow().assert_requests_nothing();
    }

    /// Hears what it has said so far: all of that comes before an answer.
    fn listen(&self) {
        self.settle();
        self.happened.borrow_mut().take(std::mem::take(&mut self.chromium.borrow_mut().events));
    }
}

/// Puts a picture where `REPORT_PICTURES` says, for people to look at.
pub fn keep(name: &str, bytes: impl FnOnce() -> Vec<u8>) {
    if let Some(folder) = std::env::var_os("REPORT_PICTURES") {
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(PathBuf::from(folder).join(name), bytes()).unwrap();
    }
}
