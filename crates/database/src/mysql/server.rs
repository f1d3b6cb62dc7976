//! The life of a server: made, started, stopped, killed, removed. No process of it outlives it, nor does its directory.

use super::client::{Client, clean};
use super::programs::Programs;
use crate::DatabaseError;
use crate::account::Account;
use crate::cluster::{GUARDED, last_words};
use crate::guard::Guard;
use crate::place::Place;
use crate::processes::end_server_in;
use rustix::process::{Pid, Signal, kill_process};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use target::Progress;

/// The database in which everything happens.
pub(super) const DATABASE: &str = "flashrig";
/// A pool is written out before the end: that may take long.
const STOP_PATIENCE: Duration = Duration::from_secs(300);
const POLL: Duration = Duration::from_millis(50);

/// A server with a data directory of its own.
pub(super) struct Server {
    programs: Programs,
    account: Account,
    child: Option<Child>,
    log: PathBuf,
    // Fields are dropped in order: the directory goes after the server, and then there is nothing left to guard.
    place: Place,
    _guard: Option<Guard>,
}

impl Server {
    /// Makes a data directory in a new directory below `dir`.
    pub fn create(programs: &Programs, dir: &Path, logs: &Path, guard: Option<&Path>) -> Result<Server, DatabaseError> {
        let account = Account::find()?;
        fs::create_dir_all(logs).map_err(DatabaseError::io(logs))?;
        let place = Place::create(dir, "flashrig-mysql", &account)?;
        let paths = [place.work.as_path(), &place.socket];
        let guard = guard.map(|program| Guard::start(program, GUARDED, &paths).map_err(DatabaseError::io(program)));
        let guard = guard.transpose()?;
        let log = logs.join("mysql.log");
        File::create(&log).map_err(DatabaseError::io(&log))?;
        let server = Server { programs: programs.clone(), account, child: None, log, place, _guard: guard };
        let mut make = match &programs.install {
            Some(install) => {
                let mut make = server.command(install);
                make.args(["--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db"]);
                make
            }
            None => {
                let mut make = server.command(&programs.server);
                make.args(["--no-defaults", "--initialize-insecure"]);
                make
            }
        };
        make.arg(format!("--datadir={}", server.data().display()));
        let output = make.output().map_err(DatabaseError::io(&programs.server))?;
        let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        let install_log = logs.join("mysql-install.log");
        fs::write(&install_log, said.as_bytes()).map_err(DatabaseError::io(&install_log))?;
        if !output.status.success() {
            return Err(DatabaseError::Program {
                program: "mariadb-install-db".into(),
                said: last_words(&said).into(),
            });
        }
        Ok(server)
    }

    /// Returns the data directory.
    pub fn data(&self) -> PathBuf {
        self.place.data()
    }

    pub fn programs(&self) -> &Programs {
        &self.programs
    }

    pub fn socket(&self) -> PathBuf {
        self.place.socket.join("mysql")
    }

    /// A program as the server's user, in the server's directory.
    pub fn command(&self, program: &Path) -> Command {
        let mut command = self.account.command(program);
        clean(&mut command).current_dir(&self.place.work);
        command
    }

    /// Returns who asks it.
    pub fn client(&self) -> Client {
        Client { program: self.programs.client.clone(), socket: self.socket() }
    }

    /// Starts it and waits until it answers, recovery included: so long did it take.
    pub fn start(
        &mut self,
        settings: &[(String, String)],
        patience: Duration,
        progress: &dyn Progress,
    ) -> Result<Duration, DatabaseError> {
        assert!(self.child.is_none(), "there is one server");
        let began = Instant::now();
        let said_before = fs::metadata(&self.log).map_or(0, |found| found.len());
        let log = File::options().append(true).open(&self.log).map_err(DatabaseError::io(&self.log))?;
        let mut command = self.command(&self.programs.server);
        command.args(["--no-defaults", "--skip-networking", "--skip-log-bin"]);
        command.arg(format!("--datadir={}", self.data().display()));
        command.arg(format!("--socket={}", self.socket().display()));
        command.arg(format!("--pid-file={}", self.place.socket.join("pid").display()));
        for (name, value) in settings {
            command.arg(format!("--{name}={value}"));
        }
        let errors = log.try_clone().map_err(DatabaseError::io(&self.log))?;
        command.stdin(Stdio::null()).stdout(log).stderr(errors);
        self.child = Some(command.spawn().map_err(DatabaseError::io(&self.programs.server))?);
        loop {
            match self.client().ask("", "making the database", &format!("CREATE DATABASE IF NOT EXISTS {DATABASE}")) {
                Ok(_) => return Ok(began.elapsed()),
                Err(_) if progress.cancelled() => return Err(DatabaseError::Cancelled),
                Err(error) => {
                    if !self.is_running() || began.elapsed() > patience {
                        self.kill_hard();
                        let said = self.last_said(said_before).unwrap_or_else(|| error.to_string());
                        let (what, log) = ("does not start", self.log.clone());
                        return Err(DatabaseError::Server { what, said: said.into(), log });
                    }
                }
            }
            std::thread::sleep(POLL);
        }
    }

    /// The last line of its log that says what went wrong, of those after so many bytes.
    fn last_said(&self, after: u64) -> Option<String> {
        let text = fs::read(&self.log).ok()?;
        let text = String::from_utf8_lossy(text.get(after as usize..)?).into_owned();
        let line = text.lines().rev().find(|line| line.contains("[ERROR]")).or(text.lines().next_back())?;
        Some(line.trim().to_owned())
    }

    pub fn is_running(&mut self) -> bool {
        self.child.as_mut().is_some_and(|child| matches!(child.try_wait(), Ok(None)))
    }

    /// Stops it cleanly: everything is written.
    pub fn stop(&mut self) -> Result<(), DatabaseError> {
        let failed = |what, server: &Server| {
            let said = server.last_said(0).unwrap_or_default();
            Err(DatabaseError::Server { what, said: said.into(), log: server.log.clone() })
        };
        if !self.is_running() {
            self.kill_hard();
            return failed("has ended by itself", self);
        }
        if let Some(pid) = self.child.as_ref().and_then(|child| Pid::from_raw(child.id() as i32)) {
            // It may have ended meanwhile.
            let _ = kill_process(pid, Signal::TERM);
        }
        let began = Instant::now();
        while self.is_running() && began.elapsed() < STOP_PATIENCE {
            std::thread::sleep(POLL);
        }
        let stopped = !self.is_running();
        self.kill_hard();
        if stopped { Ok(()) } else { failed("does not stop", self) }
    }

    /// Ends every process of it without letting it do anything more.
    pub fn kill_hard(&mut self) {
        end_server_in(&self.place.work, &mut self.child);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill_hard();
    }
}
