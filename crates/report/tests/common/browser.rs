//! A page in headless Chromium, and everything that happened in it.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use headless_chrome::protocol::cdp::types::{Event, Method};
use headless_chrome::{Browser, LaunchOptions, Tab};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

/// Calls of the Chrome DevTools protocol with JSON in and out: its generated types name every field of every version.
macro_rules! method {
    ($name:ident, $method:literal) => {
        #[derive(Debug, Serialize)]
        #[serde(transparent)]
        pub struct $name(pub Value);
        impl Method for $name {
            const NAME: &'static str = $method;
            type ReturnObject = Value;
        }
    };
}

method!(Evaluate, "Runtime.evaluate");
method!(Metrics, "Emulation.setDeviceMetricsOverride");
method!(Media, "Emulation.setEmulatedMedia");
method!(Touch, "Emulation.setTouchEmulationEnabled");
method!(Mouse, "Input.dispatchMouseEvent");
method!(Fingers, "Input.dispatchTouchEvent");
method!(Key, "Input.dispatchKeyEvent");
method!(Shot, "Page.captureScreenshot");
method!(Pdf, "Page.printToPDF");
method!(Before, "Page.addScriptToEvaluateOnNewDocument");
method!(EnableNetwork, "Network.enable");

/// Two browsers at once would only make each other slow.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// A page that is open. Fields are dropped in this order: the browser goes before its turn is over.
pub struct Page {
    tab: Arc<Tab>,
    _browser: Browser,
    happened: Arc<Mutex<Happened>>,
    _folder: tempfile::TempDir,
    _turn: MutexGuard<'static, ()>,
}

/// What a page must not do.
#[derive(Default)]
struct Happened {
    complaints: Vec<String>,
    requests: Vec<String>,
}

/// The browser's command.
fn chromium() -> PathBuf {
    let named = std::env::var_os("CHROMIUM").map(PathBuf::from);
    let usual = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].map(PathBuf::from);
    named.into_iter().chain(usual).find(|path| path.exists()).unwrap_or_else(|| {
        panic!(
            "no Chromium found: the page is tested in one. Install Debian's package `chromium` (apt-get install \
             --no-install-recommends chromium), or name the command in the environment variable CHROMIUM"
        )
    })
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
        let flags = [
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--disable-dev-shm-usage",
            "--hide-scrollbars",
        ];
        let options = LaunchOptions::default_builder()
            .path(Some(chromium()))
            .sandbox(false)
            .user_data_dir(Some(folder.path().join("profile")))
            .args(flags.iter().map(OsStr::new).collect())
            .idle_browser_timeout(Duration::from_secs(600))
            .build()
            .unwrap();
        let browser = Browser::new(options).expect("Chromium starts");
        let tab = browser.new_tab().unwrap();
        tab.set_default_timeout(Duration::from_secs(120));
        let happened = Arc::new(Mutex::new(Happened::default()));
        let log = Arc::clone(&happened);
        tab.add_event_listener(Arc::new(move |event: &Event| {
            let mut log = log.lock().unwrap();
            match event {
                Event::RuntimeExceptionThrown(thrown) => log.complaints.push(format!("{:?}", thrown.params)),
                Event::RuntimeConsoleAPICalled(called) => log.complaints.push(format!("{:?}", called.params)),
                Event::LogEntryAdded(entry) => log.complaints.push(format!("{:?}", entry.params)),
                Event::NetworkRequestWillBeSent(sent) => log.requests.push(sent.params.request.url.clone()),
                _ => {}
            }
        }))
        .unwrap();
        tab.enable_log().unwrap();
        tab.enable_runtime().unwrap();
        tab.call_method(EnableNetwork(json!({}))).unwrap();
        let page = Page { tab, _browser: browser, happened, _folder: folder, _turn: turn };
        page.width(width);
        page.dark(dark);
        if let Some(script) = script {
            page.call(Before(json!({ "source": script })));
        }
        page.tab.navigate_to(&format!("file://{}", file.display())).unwrap().wait_until_navigated().unwrap();
        page.settle();
        page
    }

    /// A method of the protocol.
    pub fn call<M: Method<ReturnObject = Value> + Serialize>(&self, method: M) -> Value {
        self.tab.call_method(method).unwrap()
    }

    /// The value of an expression, which may be a promise.
    pub fn eval<T: DeserializeOwned>(&self, expression: &str) -> T {
        let asked = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let answer = self.call(Evaluate(asked));
        assert!(answer.get("exceptionDetails").is_none(), "{expression}: {}", answer["exceptionDetails"]);
        let value = answer["result"].get("value").cloned().unwrap_or(Value::Null);
        serde_json::from_value(value.clone()).unwrap_or_else(|e| panic!("{expression} gave {value}: {e}"))
    }

    /// Loads it again.
    pub fn reload(&self) {
        self.tab.reload(false, None).unwrap().wait_until_navigated().unwrap();
        self.settle();
    }

    /// Two frames: observers and layout have run.
    pub fn settle(&self) {
        self.eval::<bool>(
            "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => done(true), 30))))",
        );
    }

    /// Of the viewport, CSS pixels.
    pub fn width(&self, width: u32) {
        let mobile = width < 500;
        self.call(Metrics(json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": mobile })));
    }

    /// What the system prefers.
    pub fn dark(&self, dark: bool) {
        let value = if dark { "dark" } else { "light" };
        self.call(Media(json!({ "media": "", "features": [{ "name": "prefers-color-scheme", "value": value }] })));
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
            self.call(Key(event));
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
        self.call(Mouse(event));
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
        self.bytes(Shot(asked))
    }

    /// Printed on A4.
    pub fn pdf(&self) -> Vec<u8> {
        self.bytes(Pdf(
            json!({ "paperWidth": 8.27, "paperHeight": 11.69, "preferCSSPageSize": false, "printBackground": false }),
        ))
    }

    fn bytes<M: Method<ReturnObject = Value> + Serialize>(&self, method: M) -> Vec<u8> {
        BASE64_STANDARD.decode(self.call(method)["data"].as_str().unwrap()).unwrap()
    }

    /// Nothing was complained about and nothing but the page itself was asked for.
    pub fn assert_quiet(&self) {
        let happened = self.happened.lock().unwrap();
        assert!(happened.complaints.is_empty(), "{}", happened.complaints.join("\n"));
        let foreign: Vec<&String> = happened
            .requests
            .iter()
            .filter(|url| !["file:", "data:", "blob:"].iter().any(|scheme| url.starts_with(scheme)))
            .collect();
        assert!(foreign.is_empty(), "asked for {foreign:?}");
        let files = happened.requests.iter().filter(|url| url.starts_with("file:")).count();
        assert_eq!(files, 1, "{:?}", happened.requests);
    }
}

/// Puts a picture where `REPORT_PICTURES` says, for people to look at.
pub fn keep(name: &str, bytes: impl FnOnce() -> Vec<u8>) {
    if let Some(folder) = std::env::var_os("REPORT_PICTURES") {
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(PathBuf::from(folder).join(name), bytes()).unwrap();
    }
}
