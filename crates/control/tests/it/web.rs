//! The live view over a real socket: who is answered, and with what.

use crate::common::{Rig, exchange, explaining, named, overwrite, request};
use control::{ServeError, WebAddress, WebServer, web_server};
use live::{Action, Live};
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

fn site(cards: &[(&Arc<Live>, &str)]) -> WebServer {
    let address = WebAddress::new("127.0.0.1:0", false).unwrap();
    web_server(cards.iter().map(|(live, name)| named(live, name)).collect(), &address).unwrap()
}

fn ask(server: &WebServer, method: &str, path: &str, host: &str) -> (u16, String, String) {
    let request = request(method, path, "").replace("Host: card", &format!("Host: {host}"));
    exchange(TcpStream::connect(server.address()).unwrap(), request.as_bytes())
}

/// A viewer who reads one message after the other.
struct Viewer(BufReader<TcpStream>);

impl Viewer {
    fn join(server: &WebServer) -> Viewer {
        let mut stream = TcpStream::connect(server.address()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.write_all(request("GET", "/messages", "").replace("card", "127.0.0.1").as_bytes()).unwrap();
        Viewer(BufReader::new(stream))
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        assert!(self.0.read_line(&mut line).unwrap() > 0, "the server has closed");
        line.trim_end().to_owned()
    }

    /// The status code.
    fn status(&mut self) -> u16 {
        self.line().split(' ').nth(1).unwrap().parse().unwrap()
    }

    /// The next message: its name and what it says.
    fn next(&mut self) -> (String, Value) {
        loop {
            if let Some(name) = self.line().strip_prefix("event: ") {
                let data = self.line();
                return (name.to_owned(), serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap());
            }
        }
    }

    /// Messages until one is so; what has happened meanwhile, card by card.
    fn until(&mut self, what: &str, is_so: impl Fn(&Value) -> bool) -> (Value, Vec<(u64, String)>) {
        let (began, mut happened) = (Instant::now(), Vec::new());
        loop {
            let (_, message) = self.next();
            for of in message["happenings"].as_array().unwrap() {
                happened.push((of["card"].as_u64().unwrap(), of["text"].as_str().unwrap().to_owned()));
            }
            if is_so(&message) {
                return (message, happened);
            }
            assert!(began.elapsed() < Duration::from_secs(30), "{what}: {message}");
        }
    }
}

#[test]
fn a_browser_gets_a_page_that_may_do_nothing_else() {
    let rig = Rig::new();
    let server = site(&[(&rig.live, "disk")]);
    let (status, head, body) = ask(&server, "GET", "/", "127.0.0.1:8080");
    assert_eq!(status, 200);
    let head = head.to_lowercase();
    for part in [
        "content-type: text/html; charset=utf-8",
        "content-security-policy: default-src 'none'; script-src 'sha256-",
        "connect-src 'self'",
        "frame-ancestors 'none'",
        "x-content-type-options: nosniff",
        "referrer-policy: no-referrer",
        "cross-origin-resource-policy: same-origin",
        "cache-control: no-store",
    ] {
        assert!(head.contains(part), "{part}: {head}");
    }
    assert!(!head.contains("access-control"), "{head}");
    assert!(body.len() < 150_000 && body.contains("<title>Flashrig</title>"), "{} bytes", body.len());
}

#[test]
fn only_who_asks_this_machine_by_its_address_is_answered_and_only_looks() {
    let rig = Rig::new();
    let server = site(&[(&rig.live, "disk")]);
    for host in ["evil.example", "evil.example:8080", "127.0.0.1.evil.example", ""] {
        for path in ["/", "/messages"] {
            let (status, _, body) = ask(&server, "GET", path, host);
            assert_eq!(status, 421, "{host}: {body}");
        }
    }
    for host in ["localhost", "localhost:9", "[::1]:80", "10.1.2.3"] {
        assert_eq!(ask(&server, "GET", "/", host).0, 200, "{host}");
    }
    let two = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n";
    assert_eq!(exchange(TcpStream::connect(server.address()).unwrap(), two.as_bytes()).0, 421);
    let of_uri = "GET http://evil.example/ HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n";
    assert_eq!(exchange(TcpStream::connect(server.address()).unwrap(), of_uri.as_bytes()).0, 421);
    for method in ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"] {
        assert_eq!(ask(&server, method, "/", "localhost").0, 405, "{method}");
        assert_eq!(ask(&server, method, "/messages", "localhost").0, 405, "{method}");
    }
    for path in ["/v1/status", "/v1/power/cut", "/metrics", "/..", "/live.js"] {
        assert_eq!(ask(&server, "GET", path, "localhost").0, 404, "{path}");
    }
    assert!(rig.live.status().powered);
}

#[test]
fn addresses_that_others_can_reach_are_refused_unless_that_is_said() {
    let rig = Rig::new();
    for address in ["0.0.0.0:0", "[::]:0"] {
        let refused = WebAddress::new(address, false).unwrap_err();
        assert!(matches!(refused, ServeError::Exposed { .. }), "{refused}");
        assert!(
            refused.to_string().starts_with(address) && refused.to_string().contains("--web-insecure"),
            "{refused}"
        );
    }
    for address in ["", "8080", "127.0.0.1", "127.0.0.1:99999", "no such host:80"] {
        let refused = WebAddress::new(address, false).unwrap_err();
        assert!(matches!(refused, ServeError::Address { .. }), "{address}: {refused}");
    }
    let taken = site(&[(&rig.live, "disk")]);
    let address = WebAddress::new(&taken.address().to_string(), false).unwrap();
    let again = web_server(vec![named(&rig.live, "disk")], &address);
    assert!(matches!(again, Err(ServeError::Address { .. })));
    let address = WebAddress::new("0.0.0.0:0", true).unwrap();
    let open = web_server(vec![named(&rig.live, "disk")], &address).unwrap();
    assert_eq!(
        exchange(
            TcpStream::connect(("127.0.0.1", open.address().port())).unwrap(),
            request("GET", "/", "").replace("card", "127.0.0.1").as_bytes(),
        )
        .0,
        200
    );
}

#[test]
fn seconds_say_what_the_cards_did_and_a_late_viewer_gets_those_before() {
    let (busy, idle) = (explaining(), crate::common::card());
    let server = site(&[(&busy, "busy"), (&idle, "idle")]);
    let mut viewer = Viewer::join(&server);
    assert_eq!(viewer.status(), 200);
    let (name, whole) = viewer.next();
    assert_eq!((name.as_str(), whole["cards"][0]["rows"].as_array().unwrap().len()), ("whole", 0));
    assert_eq!((&whole["cards"][1]["name"], &whole["seconds"]), (&Value::from("idle"), &Value::from(900)));
    overwrite(&busy, 3);
    let written = |row: &Value| row["cards"][0]["row"]["ops"][1]["n"].as_u64().unwrap();
    let (second, _) = viewer.until("writes", |second| written(second) > 0);
    let row = &second["cards"][0]["row"];
    let write = &row["ops"][1];
    // Both are rounded.
    let each = write["b"].as_f64().unwrap() / written(&second) as f64;
    assert!((each / 65_536.0 - 1.0).abs() < 0.01, "{each} bytes: {write}");
    let percentiles: Vec<u64> = write["p"].as_array().unwrap().iter().map(|ns| ns.as_u64().unwrap()).collect();
    assert!(percentiles.len() == 4 && percentiles[0] > 0 && percentiles.is_sorted(), "{percentiles:?}");
    // Where the time went adds up to the mean, which is no longer than the slowest.
    let why: Vec<u64> = write["why"].as_array().unwrap().iter().map(|part| part.as_u64().unwrap()).collect();
    let spent: u64 = why.iter().skip(1).step_by(2).sum();
    assert!(why.len() >= 2 && spent > 0 && spent <= percentiles[3], "{why:?} {percentiles:?}");
    assert!(why.iter().step_by(2).all(|&cause| (cause as usize) < whole["causes"].as_array().unwrap().len()));
    let [host, moved] = ["host", "moved"].map(|cause| row["wrote"][cause].as_u64().unwrap());
    assert!(host > 0 && moved <= 10 * host, "{row}");
    let quiet = &second["cards"][1]["row"]["ops"][1];
    assert!(quiet["n"] == 0 && quiet["p"].is_null() && quiet["why"].is_null(), "{quiet}");
    let now = &second["cards"][0]["now"];
    assert_eq!((&now["state"], &now["clients"][0]["peer"]), (&Value::from("well"), &Value::from("127.0.0.1:50000")));
    assert_eq!(now["slots"].as_array().unwrap().len(), busy.modules().len());
    let mut late = Viewer::join(&server);
    let (name, whole) = late.next();
    let rows = whole["cards"][0]["rows"].as_array().unwrap();
    assert_eq!(name, "whole");
    assert!(rows.iter().any(|of| of == row), "{row} is not among {}", rows.len());
    assert!(rows.windows(2).all(|pair| pair[0]["t"].as_u64() < pair[1]["t"].as_u64()));
}

#[test]
fn what_happens_to_a_card_is_told() {
    let (one, other) = (crate::common::card(), crate::common::card());
    overwrite(&one, 1);
    let server = site(&[(&other, "other"), (&one, "one")]);
    let mut viewer = Viewer::join(&server);
    viewer.next();
    let state = |second: &Value| second["cards"][1]["now"]["state"].as_str().unwrap_or_default().to_owned();
    viewer.until("a look", |second| state(second) == "well");
    // The module's four megabytes take some seconds.
    one.act(Action::Set(live::Change { rebuild_bytes_per_s: Some(Some(1 << 20)), ..Default::default() })).unwrap();
    one.act(Action::Pull { slot: 3, force: false }).unwrap();
    let (second, told) = viewer.until("pulled", |second| state(second) == "degraded");
    assert_eq!(second["cards"][1]["now"]["slots"][3]["present"], false);
    assert!(told.contains(&(1, "slot 3: the module was pulled".into())), "{told:?}");
    assert!(told.iter().all(|(card, _)| *card == 1), "{told:?}");
    one.act(Action::Insert { slot: 3, new: true }).unwrap();
    let (_, told) = viewer.until("rebuilding", |second| second["cards"][1]["now"]["rebuild"].is_f64());
    assert!(told.contains(&(1, "slot 3: being rebuilt".into())), "{told:?}");
    let (_, told) = viewer.until("well", |second| state(second) == "well");
    assert!(told.contains(&(1, "slot 3: in service".into())), "{told:?}");
    one.act(Action::PowerCut).unwrap();
    let (_, told) = viewer.until("cut", |second| state(second) == "no-power");
    assert_eq!(told, [(1, "the power was cut".into())]);
    one.act(Action::PowerOn).unwrap();
    let (_, told) = viewer.until("on", |second| state(second) == "well");
    assert_eq!(told, [(1, "the power is back".into())]);
}

#[test]
fn as_many_watch_as_may_and_who_goes_makes_room() {
    let rig = Rig::new();
    let server = site(&[(&rig.live, "disk")]);
    let mut viewers: Vec<Viewer> = (0..64).map(|_| Viewer::join(&server)).collect();
    for viewer in &mut viewers {
        assert_eq!(viewer.status(), 200);
    }
    let (status, _, body) = ask(&server, "GET", "/messages", "localhost");
    assert!(status == 503 && body.contains("64 viewers watch already"), "{status} {body}");
    // The page itself is still there.
    assert_eq!(ask(&server, "GET", "/", "localhost").0, 200);
    viewers.truncate(40);
    let began = Instant::now();
    loop {
        let mut viewer = Viewer::join(&server);
        if viewer.status() == 200 {
            break;
        }
        assert!(began.elapsed() < Duration::from_secs(20), "nobody's place came free");
        std::thread::sleep(Duration::from_millis(100));
    }
    // Those who stayed are told the same.
    let seconds: Vec<Value> = viewers
        .iter_mut()
        .map(|viewer| viewer.until("a row", |second| second["cards"][0]["row"].is_object()).0)
        .collect();
    assert!(seconds.iter().all(|second| second["cards"][0]["row"]["ops"].is_array()));
}

#[test]
fn a_viewer_who_reads_nothing_keeps_nobody_waiting_and_the_server_ends() {
    let rig = Rig::new();
    let server = site(&[(&rig.live, "disk")]);
    let _deaf = Viewer::join(&server);
    let silent = TcpStream::connect(server.address()).unwrap();
    let mut viewer = Viewer::join(&server);
    for _ in 0..3 {
        viewer.next();
    }
    let began = Instant::now();
    drop(server);
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    drop(silent);
}
