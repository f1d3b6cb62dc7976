//! Chromium without a window, asked over a pipe in its DevTools protocol: JSON, each message ended by a zero byte.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Longer than anything takes that ends.
const PATIENCE: Duration = Duration::from_secs(120);

const FLAGS: [&str; 12] = [
    "--headless",
    "--remote-debugging-pipe",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--mute-audio",
];

/// A browser with one tab. It ends when this is dropped.
pub struct Chromium {
    child: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    session: String,
    asked: u64,
    /// Events that the tab sent unasked, oldest first.
    pub events: Vec<Value>,
}

/// The browser's command.
fn command() -> PathBuf {
    let named = std::env::var_os("CHROMIUM").map(PathBuf::from);
    let usual = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].map(PathBuf::from);
    named.into_iter().chain(usual).find(|path| path.exists()).unwrap_or_else(|| {
        panic!(
            "no Chromium found: the page is tested in one. Install Debian's package `chromium` (apt-get install \
             --no-install-recommends chromium), or name the command in the environment variable CHROMIUM"
        )
    })
}

impl Chromium {
    /// Starts it with its profile in this folder.
    pub fn start(profile: &Path) -> Chromium {
        // It reads from descriptor 3 and writes to 4.
        let mut child = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >&2"])
            .arg(command())
            .args(FLAGS)
            .arg(format!("--user-data-dir={}", profile.display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("sh starts Chromium");
        let to = child.stdin.take().unwrap();
        let mut said = BufReader::new(child.stdout.take().unwrap());
        let (sender, from) = channel();
        std::thread::spawn(move || {
            let mut message = Vec::new();
            while said.read_until(0, &mut message).is_ok_and(|bytes| bytes > 0) && message.pop() == Some(0) {
                let value = serde_json::from_slice(&message).expect("Chromium writes JSON");
                if sender.send(value).is_err() {
                    break;
                }
                message.clear();
            }
        });
        let mut browser = Chromium { child, to, from, session: String::new(), asked: 0, events: Vec::new() };
        let tab = browser.call("Target.createTarget", json!({ "url": "about:blank" }));
        let attached = browser.call("Target.attachToTarget", json!({ "targetId": tab["targetId"], "flatten": true }));
        browser.session = attached["sessionId"].as_str().unwrap().into();
        browser.events.clear();
        browser
    }

    /// The result of a method of the protocol.
    pub fn call(&mut self, method: &str, params: Value) -> Value {
        self.asked += 1;
        let mut message = json!({ "id": self.asked, "method": method, "params": params });
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        let mut line = message.to_string().into_bytes();
        line.push(0);
        self.to.write_all(&line).expect("Chromium listens");
        let since = Instant::now();
        loop {
            let mut answer = self.next(since, method);
            if answer["id"] == json!(self.asked) {
                assert!(answer.get("error").is_none(), "{method}: {}", answer["error"]);
                return answer["result"].take();
            }
            self.events.push(answer);
        }
    }

    /// Waits for an event, unless it is among those that were not taken yet.
    pub fn wait_for(&mut self, event: &str) {
        let since = Instant::now();
        while !self.events.iter().any(|seen| seen["method"] == event) {
            let seen = self.next(since, event);
            self.events.push(seen);
        }
    }

    fn next(&mut self, since: Instant, what: &str) -> Value {
        let left = PATIENCE.saturating_sub(since.elapsed());
        self.from.recv_timeout(left).unwrap_or_else(|e| panic!("{what}: {e} from Chromium"))
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        // Asked first, as its helpers go with it then.
        let _ = self.to.write_all(b"{\"id\":0,\"method\":\"Browser.close\"}\0");
        let since = Instant::now();
        while self.child.try_wait().is_ok_and(|ended| ended.is_none()) {
            if since.elapsed() > Duration::from_secs(10) {
                let _ = self.child.kill();
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}
