//! `flashrig serve --web`: the live view of cards that the command serves.

use crate::common::command;
use crate::common::nbd::{Client, FLUSH, WRITE};
use crate::common::server::{Server, serve_with};
use crate::common::small_card::card;
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Where the server says that its live view is.
fn address(said: &Path) -> String {
    let began = Instant::now();
    loop {
        let text = std::fs::read_to_string(said).unwrap();
        let found = text.split("live view at http://").nth(1).and_then(|rest| rest.split_once("/\n"));
        if let Some((address, _)) = found {
            return address.to_owned();
        }
        assert!(began.elapsed() < Duration::from_secs(60), "{text}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn ask(address: &str, path: &str) -> BufReader<TcpStream> {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n").unwrap();
    BufReader::new(stream)
}

/// Messages, until one is so.
fn until(messages: &mut BufReader<TcpStream>, what: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    let began = Instant::now();
    let mut line = String::new();
    loop {
        line.clear();
        assert!(messages.read_line(&mut line).unwrap() > 0, "{what}: the server has ended");
        let message = line.strip_prefix("data: ").map(|data| serde_json::from_str::<Value>(data).unwrap());
        if let Some(message) = message.filter(|message| is_so(message)) {
            return message;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "{what}: {line}");
    }
}

#[test]
fn a_card_in_files_is_watched() {
    let dir = tempfile::tempdir().unwrap();
    let folder = card(dir.path(), "mine", "16MiB", false);
    let (server, mut client) = serve_with(&folder, &["--web", "127.0.0.1:0"]);
    let address = address(&server.1);
    let mut page = String::new();
    ask(&address, "/").read_line(&mut page).unwrap();
    assert!(page.starts_with("HTTP/1.1 200"), "{page}");
    let mut messages = ask(&address, "/messages");
    let whole = until(&mut messages, "all that is kept", |message| message["version"].is_string());
    assert_eq!(whole["cards"][0]["name"], "mine");
    assert_eq!(client.done(WRITE, 0, &[7; 4096]).unwrap(), 0);
    assert_eq!(client.done(FLUSH, 0, &[]).unwrap(), 0);
    assert_eq!(client.read(0, 4096).unwrap().unwrap(), [7; 4096]);
    let op = |message: &Value, kind: usize| message["cards"][0]["row"]["ops"][kind].clone();
    let second = until(&mut messages, "a flush", |message| op(message, 2)["n"].as_u64() > Some(0));
    // A flush waits for disks: the time by cause says so.
    let flush = op(&second, 2);
    let durable = whole["causes"].as_array().unwrap().iter().position(|cause| cause == "wait until durable").unwrap();
    let why: Vec<u64> = flush["why"].as_array().unwrap().iter().map(|part| part.as_u64().unwrap()).collect();
    assert!(why.chunks(2).any(|part| part[0] == durable as u64 && part[1] > 0), "{flush}");
    let now = &second["cards"][0]["now"];
    assert_eq!(now["clients"].as_array().unwrap().len(), 1, "{now}");
    // A viewer does not keep the server from ending.
    drop(client);
    server.end();
}

#[test]
fn disks_are_watched_beside_a_card() {
    let dir = tempfile::tempdir().unwrap();
    let (socket, said) = (dir.path().join("nbd.sock"), dir.path().join("errors.txt"));
    let nbd = format!("unix:{}", socket.display());
    let words =
        ["serve", "sas-raid10-6", "tachion-400", "--memory", "--size", "64m", "--timing", "model", "--nbd", &nbd];
    let errors = std::fs::File::create(&said).unwrap();
    let mut served = command();
    served.args(words).args(["--web", "localhost:0"]).env("XDG_RUNTIME_DIR", dir.path());
    let server = Server(served.stdout(Stdio::null()).stderr(errors).spawn().unwrap(), said);
    let address = address(&server.1);
    let mut messages = ask(&address, "/messages");
    let mut client = Client::connect(&socket).unwrap();
    assert_eq!(client.done(WRITE, 0, &[7; 4096]).unwrap(), 0);
    let written = |message: &Value| message["cards"][0]["row"]["ops"][1].clone();
    let second = until(&mut messages, "a write", |message| written(message)["n"].as_u64() > Some(0));
    assert!(written(&second)["why"].as_array().is_some_and(|why| why.len() >= 2), "{second}");
    let [disks, card] = [0, 1].map(|card| &second["cards"][card]["now"]);
    assert_eq!((&disks["state"], disks["slots"].as_array().unwrap().len()), (&Value::from("well"), 0));
    assert!(card["slots"].as_array().unwrap().len() > 1 && card["state"] == "well", "{card}");
    drop(client);
    server.end();
}
