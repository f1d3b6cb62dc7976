//! The socket, and what may come over it.

use crate::common::{Rig, card, request, served};
use control::{Access, Client, ClientError, ServeError, default_socket, find_socket, serve};
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::{Duration, Instant};

#[test]
fn only_the_owner_may_connect_unless_a_group_is_named() {
    let live = card();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("new/deeper/control.sock");
    let server = serve(served(&live), &path, Access::Owner).unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o600);
    drop(server);
    // A group that this process may give away.
    let gid = std::fs::metadata(dir.path()).unwrap().gid();
    let _server = serve(served(&live), &path, Access::Group(gid)).unwrap();
    let found = std::fs::metadata(&path).unwrap();
    assert_eq!((found.permissions().mode() & 0o7777, found.gid()), (0o660, gid));
    assert_eq!(control::group("123").unwrap(), 123);
    assert_eq!(control::group("root").unwrap(), 0);
    assert!(control::group("no such group").is_err());
}

#[test]
fn a_stale_socket_is_replaced_and_a_live_one_is_not() {
    let rig = Rig::new();
    let other = card();
    let refused = serve(served(&other), &rig.socket, Access::Owner).map(drop).unwrap_err();
    assert!(matches!(refused, ServeError::InUse { .. }), "{refused}");
    rig.client.status().unwrap();
    let Rig { server, socket, dir, .. } = rig;
    drop(server);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "nothing is left behind");
    drop(UnixListener::bind(&socket).unwrap());
    assert!(socket.exists());
    let server = serve(served(&other), &socket, Access::Owner).unwrap();
    Client::new(socket.clone()).unwrap().status().unwrap();
    // Somebody else's socket stays.
    std::fs::remove_file(&socket).unwrap();
    let _theirs = UnixListener::bind(&socket).unwrap();
    drop(server);
    assert!(socket.exists());
    let file = dir.path().join("file");
    std::fs::write(&file, "precious").unwrap();
    let refused = serve(served(&other), &file, Access::Owner).map(drop).unwrap_err();
    assert!(matches!(refused, ServeError::NotASocket { .. }), "{refused}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "precious");
}

#[test]
fn nobody_there_is_said_with_the_remedy() {
    let dir = tempfile::tempdir().unwrap();
    let nobody = Client::new(dir.path().join("x.sock")).unwrap().status().unwrap_err();
    assert!(matches!(nobody, ClientError::NoServer { .. }));
    assert!(nobody.to_string().ends_with("flashrig serve starts one"), "{nobody}");
}

#[test]
fn a_server_that_is_none_of_ours_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.sock");
    let listener = UnixListener::bind(&path).unwrap();
    let answers = ["", "SSH-2.0-x\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", "HTTP/1.1 500 No\r\n\r\n"];
    let other = std::thread::spawn(move || {
        for answer in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 1024]);
            stream.write_all(answer.as_bytes()).unwrap();
        }
    });
    let client = Client::new(path).unwrap();
    for answer in answers {
        let error = client.status().unwrap_err();
        assert!(matches!(error, ClientError::NoAnswer { .. }), "{answer:?}: {error}");
    }
    other.join().unwrap();
}

#[test]
fn what_makes_no_sense_is_refused_as_json() {
    let rig = Rig::new();
    let long = format!(r#"{{"gc":"{}"}}"#, "x".repeat(64 << 10));
    for (method, path, body, status) in [
        ("GET", "/", "", 404),
        ("GET", "/v2/status", "", 404),
        ("GET", "/v1/status/", "", 404),
        ("POST", "/v1/modules/x/pull", "", 404),
        ("POST", "/v1/modules/-1/pull", "", 404),
        ("POST", "/v1/modules/4294967296/pull", "", 404),
        ("GET", "/v1/modules/1/pull", "", 405),
        ("POST", "/v1/status", "", 405),
        ("DELETE", "/v1/settings", "", 405),
        ("PATCH", "/v1/settings", "{", 400),
        ("PATCH", "/v1/settings", "[]", 422),
        ("PATCH", "/v1/settings", &long, 413),
        ("POST", "/v1/scrub", &long, 413),
        ("POST", "/v1/scrub", r#"{"x":1}"#, 422),
        ("POST", "/v1/trim", "", 422),
        ("POST", "/v1/trim", r#"{"offset_bytes":0,"len_bytes":1.5}"#, 422),
        ("POST", "/v1/modules/1/insert", r#"{"new":"yes"}"#, 422),
    ] {
        let (found, answer) = rig.ask(method, path, body);
        assert_eq!(found, status, "{method} {path}: {answer}");
        assert!(answer["error"].as_str().is_some_and(|text| !text.is_empty() && !text.contains('\n')), "{answer}");
    }
    // No HTTP at all: it is still there afterwards.
    for bytes in [&b"\x00\xff\x80"[..], b"GET\r\n\r\n", &[b'x'; 1 << 20]] {
        let mut stream = UnixStream::connect(&rig.socket).unwrap();
        let _ = stream.write_all(bytes);
        drop(stream);
    }
    rig.client.status().unwrap();
}

#[test]
fn who_says_nothing_does_not_keep_others_waiting_for_ever() {
    let rig = Rig::new();
    let mut silent: Vec<UnixStream> = (0..80).map(|_| UnixStream::connect(&rig.socket).unwrap()).collect();
    for stream in &mut silent {
        stream.write_all(b"GET /v1/st").unwrap();
    }
    let began = Instant::now();
    rig.client.status().unwrap();
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
    // The server ends at once, whoever is connected.
    let began = Instant::now();
    drop(rig);
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
}

#[test]
fn who_stalls_in_the_middle_holds_nobody_up() {
    let rig = Rig::new();
    let connect = || UnixStream::connect(&rig.socket).unwrap();
    let (nothing, mut head, mut body, mut unread) = (connect(), connect(), connect(), connect());
    head.write_all(b"GET /v1/status HTTP/1.1\r\nHo").unwrap();
    let whole = request("PATCH", "/v1/settings", r#"{"rebuild_bytes_per_s":1000}"#);
    let (first, rest) = whole.split_at(whole.len() - 9);
    body.write_all(first.as_bytes()).unwrap();
    // Answers that nobody reads, of which more come than its socket takes.
    unread.set_nonblocking(true).unwrap();
    while unread.write(b"GET /v1/metrics HTTP/1.1\r\nHost: card\r\n\r\n").is_ok() {}
    for _ in 0..3 {
        rig.client.status().unwrap();
    }
    // Those who go on are answered: nobody was let go, so nobody was waited for.
    head.write_all(b"st: card\r\nConnection: close\r\n\r\n").unwrap();
    body.write_all(rest.as_bytes()).unwrap();
    for mut stalled in [head, body] {
        let mut answer = String::new();
        stalled.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
    drop((nothing, unread));
}

#[test]
fn a_socket_is_found_by_its_directory_and_by_its_path() {
    let rig = Rig::new();
    assert_eq!(find_socket(Some(rig.dir.path())).unwrap(), rig.socket);
    assert_eq!(find_socket(Some(&rig.socket)).unwrap(), rig.socket);
    let named = default_socket("../a b");
    assert_eq!(named.file_name().unwrap(), "_._a_b.sock");
    assert_eq!(named.parent().unwrap().file_name().unwrap(), "flashrig");
    let answer = rig.raw(request("GET", "/v1/status", "").as_bytes());
    assert!(answer.1.contains("application/json"), "{}", answer.1);
}
