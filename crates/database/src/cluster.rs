//! The life of a cluster: made, started, stopped, killed, removed.
//!
//! Invariants: no process of the server outlives the [`Cluster`], and neither does its directory; where a guard was asked
//! for, neither outlives this process.

use crate::account::Account;
use crate::error::words;
use crate::guard::Guard;
use crate::place::Place;
use crate::processes::{end_all_in, end_server_in};
use crate::{Binaries, DatabaseError};
use postgres::{Client, Config, NoTls};
use rustix::process::{Pid, Signal, kill_process};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use target::Progress;

/// Superuser of the cluster; whoever gets to the socket is let in.
const USER: &str = "postgres";
/// The database in which everything happens.
pub(crate) const DATABASE: &str = "flashrig";
/// Until a server that was told to stop is told so with more force.
const STOP_PATIENCE: Duration = Duration::from_secs(120);
/// Until one that was told to stop at once is killed.
const KILL_PATIENCE: Duration = Duration::from_secs(8);
const POLL: Duration = Duration::from_millis(20);

/// A cluster of its own.
#[derive(Debug)]
pub struct Cluster {
    binaries: Binaries,
    account: Account,
    server: Option<Child>,
    log: PathBuf,
    // Fields are dropped in order: the directory goes after the server, and then there is nothing left to guard.
    place: Place,
    _guard: Option<Guard>,
}

/// Name by which a guard knows that it is to undo a cluster: see [`undo`].
pub const GUARDED: &str = "cluster";

impl Cluster {
    /// Makes one in a new directory below `dir`; the server's log goes to the directory `logs`. `guard` is a program that
    /// is started as a [`Guard`] of it.
    pub fn create(
        binaries: &Binaries,
        dir: &Path,
        logs: &Path,
        guard: Option<&Path>,
    ) -> Result<Cluster, DatabaseError> {
        let account = Account::find()?;
        fs::create_dir_all(logs).map_err(DatabaseError::io(logs))?;
        let place = Place::create(dir, "flashrig-postgres", &account)?;
        let paths = [place.work.as_path(), &place.socket];
        let guard = guard.map(|program| Guard::start(program, GUARDED, &paths).map_err(DatabaseError::io(program)));
        let guard = guard.transpose()?;
        let log = logs.join("postgres.log");
        File::create(&log).map_err(DatabaseError::io(&log))?;
        let cluster = Cluster { binaries: binaries.clone(), account, server: None, log, place, _guard: guard };
        let mut initdb = cluster.command("initdb");
        // Data that is to survive a power cut is synced when there is to be one.
        initdb.args(["--auth=trust", "--data-checksums", "--encoding=UTF8", "--locale=C", "--no-sync"]);
        initdb.args(["--username", USER, "-D"]);
        initdb.arg(cluster.data());
        let output = initdb.output().map_err(DatabaseError::io(binaries.program("initdb")))?;
        let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        let init_log = logs.join("initdb.log");
        fs::write(&init_log, said.as_bytes()).map_err(DatabaseError::io(&init_log))?;
        if !output.status.success() {
            return Err(DatabaseError::Program { program: "initdb".into(), said: last_words(&said).into() });
        }
        Ok(cluster)
    }

    /// Returns the data directory of the cluster.
    pub fn data(&self) -> PathBuf {
        self.place.data()
    }

    /// Returns the programs of the cluster's version.
    pub(crate) fn binaries(&self) -> &Binaries {
        &self.binaries
    }

    /// Returns the directory of the socket, for this process' own clients.
    pub(crate) fn socket_dir(&self) -> &Path {
        &self.place.socket
    }

    /// A program of PostgreSQL's, as the cluster's user.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = self.account.command(&self.binaries.program(program));
        clean(&mut command).current_dir(&self.place.work);
        command
    }

    /// A client program of PostgreSQL's, as the user of this process: it writes where this process may.
    pub(crate) fn client_command(&self, program: &str) -> Command {
        let mut command = Command::new(self.binaries.program(program));
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        clean(&mut command).arg("-h").arg(self.socket_dir()).args(["-U", USER]);
        command
    }

    /// Starts the server and waits until it answers, recovery included: so long did it take.
    pub fn start(
        &mut self,
        settings: &[(String, String)],
        patience: Duration,
        progress: &dyn Progress,
    ) -> Result<Duration, DatabaseError> {
        assert!(self.server.is_none(), "a cluster has one server");
        let began = Instant::now();
        let said_before = fs::metadata(&self.log).map_or(0, |found| found.len());
        let log = File::options().append(true).open(&self.log).map_err(DatabaseError::io(&self.log))?;
        let mut command = self.command("postgres");
        command.arg("-D").arg(self.data()).arg("-k").arg(self.socket_dir());
        for (name, value) in settings {
            command.arg("-c").arg(format!("{name}={value}"));
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        self.server = Some(command.spawn().map_err(DatabaseError::io(self.binaries.program("postgres")))?);
        loop {
            // A server in recovery refuses; one that has died has a reason.
            match self.connect_to("postgres") {
                Ok(mut client) => {
                    let there = client.query_opt("SELECT 1 FROM pg_database WHERE datname = $1", &[&DATABASE]);
                    if there.map_err(DatabaseError::sql("looking for the database"))?.is_none() {
                        client
                            .batch_execute(&format!("CREATE DATABASE {DATABASE}"))
                            .map_err(DatabaseError::sql("making the database"))?;
                    }
                    return Ok(began.elapsed());
                }
                Err(_) if progress.cancelled() => return Err(DatabaseError::Cancelled),
                Err(error) => {
                    let ended = self.server.as_mut().is_none_or(|server| !matches!(server.try_wait(), Ok(None)));
                    if ended || began.elapsed() > patience {
                        self.kill();
                        let said = self.last_said(said_before).unwrap_or_else(|| words(&error));
                        return Err(DatabaseError::Server {
                            what: "does not start",
                            said: said.into(),
                            log: self.log.clone(),
                        });
                    }
                }
            }
            std::thread::sleep(POLL);
        }
    }

    /// The last line of the server's log that says what went wrong, of those after so many bytes.
    pub(crate) fn last_said(&self, after: u64) -> Option<String> {
        let text = fs::read(&self.log).ok()?;
        let text = String::from_utf8_lossy(text.get(after as usize..)?).into_owned();
        let grave = |line: &&str| ["PANIC:", "FATAL:", "ERROR:"].iter().any(|word| line.contains(word));
        // While it recovers it refuses clients, us among them: that is no reason.
        let starting = |line: &&str| !line.contains("the database system is");
        let line = text.lines().rev().filter(starting).find(grave).or(text.lines().next_back())?;
        Some(line.trim().to_owned())
    }

    /// A connection to the database.
    pub(crate) fn connect(&self) -> Result<Client, DatabaseError> {
        self.connect_to(DATABASE).map_err(DatabaseError::sql("connecting"))
    }

    /// Returns the settings of a connection.
    pub(crate) fn config(&self) -> Config {
        let mut config = Config::new();
        config.host_path(self.socket_dir()).user(USER).dbname(DATABASE).application_name("flashrig");
        config.connect_timeout(Duration::from_secs(10));
        config
    }

    fn connect_to(&self, database: &str) -> Result<Client, postgres::Error> {
        self.config().dbname(database).connect(NoTls)
    }

    /// The server's first process.
    pub(crate) fn server(&self) -> Option<i32> {
        self.server.as_ref().map(|server| server.id() as i32)
    }

    /// Returns whether the server runs.
    pub(crate) fn is_running(&mut self) -> bool {
        self.server.as_mut().is_some_and(|server| matches!(server.try_wait(), Ok(None)))
    }

    /// Stops the server cleanly: sessions are ended, everything is written.
    pub fn stop(&mut self) -> Result<(), DatabaseError> {
        if !self.is_running() {
            self.kill();
            return Err(DatabaseError::Server {
                what: "has ended by itself",
                said: self.last_said(0).unwrap_or_default().into(),
                log: self.log.clone(),
            });
        }
        self.signal(Signal::INT);
        let stopped = self.wait(STOP_PATIENCE);
        self.kill();
        if stopped {
            Ok(())
        } else {
            Err(DatabaseError::Server {
                what: "does not stop",
                said: self.last_said(0).unwrap_or_default().into(),
                log: self.log.clone(),
            })
        }
    }

    /// Ends the server at once; what it had not written is recovered from its log at the next start.
    pub fn kill(&mut self) {
        if self.is_running() {
            self.signal(Signal::QUIT);
            self.wait(KILL_PATIENCE);
        }
        self.kill_hard();
    }

    /// Ends every process of the server without letting it do anything more.
    pub(crate) fn kill_hard(&mut self) {
        end_server_in(&self.place.work, &mut self.server);
    }

    fn signal(&self, signal: Signal) {
        if let Some(pid) = self.server.as_ref().and_then(|server| Pid::from_raw(server.id() as i32)) {
            // It may have ended meanwhile.
            let _ = kill_process(pid, signal);
        }
    }

    fn wait(&mut self, patience: Duration) -> bool {
        let began = Instant::now();
        while began.elapsed() < patience {
            if !self.is_running() {
                return true;
            }
            std::thread::sleep(POLL);
        }
        false
    }
}

/// Ends and removes what is left of a cluster, from the names of its two directories. An action that did not work is
/// told.
pub fn undo(work: &Path, socket: &Path) -> Result<(), DatabaseError> {
    let place = Place { work: work.to_owned(), socket: socket.to_owned() };
    end_all_in(&place.work, || true);
    // Dropping it would remove both as well, and only print why not.
    std::mem::ManuallyDrop::new(place).remove()
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Nothing of this process' environment counts but where programs are.
fn clean(command: &mut Command) -> &mut Command {
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into());
    command.env_clear().env("PATH", path).env("LC_ALL", "C").env("TZ", "UTC").stdin(Stdio::null())
}

/// The last line of what a program said.
pub(crate) fn last_words(said: &str) -> String {
    said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("nothing").trim().to_owned()
}
