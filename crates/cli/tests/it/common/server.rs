//! A card in a folder, served by the command in a process of its own.

use super::command;
use super::nbd::Client;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A server, which is killed when the test ends in any way, and where its messages are.
pub struct Server(pub Child, pub PathBuf);

impl Server {
    /// Ends it in order, as SIGTERM does.
    pub fn end(mut self) {
        let pid = rustix::process::Pid::from_child(&self.0);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        assert!(self.0.wait().unwrap().success());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
        if std::thread::panicking() {
            eprintln!("the server said:\n{}", std::fs::read_to_string(&self.1).unwrap_or_default());
        }
    }
}

pub fn serve(card: &Path) -> (Server, Client) {
    serve_with(card, &[])
}

pub fn serve_with(card: &Path, more: &[&str]) -> (Server, Client) {
    serve_by(command(), card, more)
}

/// Serves it with a command that may be that of another build.
pub fn serve_by(mut command: Command, card: &Path, more: &[&str]) -> (Server, Client) {
    let socket = card.join("nbd.sock");
    command.arg("serve").arg(card).arg("--nbd").arg(format!("unix:{}", socket.display())).args(more);
    let said = card.join("errors.txt");
    let errors = std::fs::File::create(&said).unwrap();
    let mut server = Server(command.stdout(Stdio::null()).stderr(errors).spawn().unwrap(), said.clone());
    let began = Instant::now();
    loop {
        if let Ok(client) = Client::connect(&socket) {
            return (server, client);
        }
        let said = || std::fs::read_to_string(&said).unwrap();
        assert!(server.0.try_wait().unwrap().is_none(), "the server has ended: {}", said());
        assert!(began.elapsed() < Duration::from_secs(60), "the server does not listen: {}", said());
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// An operator's command to a served card: whether it was done, and what was said.
pub fn ctl(card: &Path, words: &[&str]) -> (bool, String) {
    let output = command().arg("ctl").arg(card).args(words).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned() + &said)
}

/// Waits until the card says that it is degraded, or not any more.
pub fn until_degraded(card: &Path, degraded: bool, why: &str) {
    let began = Instant::now();
    loop {
        let (_, status) = ctl(card, &["status", "--json"]);
        if status.contains(&format!("\"degraded\": {degraded}")) {
            return;
        }
        let waited = began.elapsed();
        assert!(waited < Duration::from_secs(60), "{why}: {status}{}", ctl(card, &["modules"]).1);
        std::thread::sleep(Duration::from_millis(50));
    }
}
