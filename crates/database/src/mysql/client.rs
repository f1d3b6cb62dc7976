//! Questions by the client program, which needs no library here and is what an administrator would type.

use crate::DatabaseError;
use crate::cluster::last_words;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// The client program, and the socket of a server.
pub(super) struct Client {
    pub program: PathBuf,
    pub socket: PathBuf,
}

impl Client {
    /// The program as this process' user, which stands in nobody's way.
    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        clean(&mut command).process_group(0).current_dir("/");
        command.args(["--no-defaults", "--user=root"]).arg(format!("--socket={}", self.socket.display()));
        command
    }

    /// Runs statements, and returns the rows of what they ask for, their columns divided by tabs.
    pub fn ask(&self, database: &str, what: &'static str, sql: &str) -> Result<Vec<String>, DatabaseError> {
        let mut command = self.command();
        command.args(["--batch", "--skip-column-names", "--execute", sql, database]);
        let output = command.output().map_err(DatabaseError::io(&self.program))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect());
        }
        let said = last_words(&String::from_utf8_lossy(&output.stderr));
        Err(DatabaseError::Program { program: what.into(), said: said.into() })
    }
}

/// Nothing of this process' environment counts but where programs are.
pub(super) fn clean(command: &mut Command) -> &mut Command {
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into());
    command.env_clear().env("PATH", path).env("LC_ALL", "C").env("TZ", "UTC").stdin(Stdio::null())
}

/// A session that stays.
pub(super) struct Session {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Session {
    pub fn open(client: &Client, database: &str) -> Result<Session, DatabaseError> {
        let mut command = client.command();
        // The answer to a commit is there when it is there, and not when a buffer is full.
        command.args(["--batch", "--skip-column-names", "--unbuffered", database]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(DatabaseError::io(&client.program))?;
        let (input, output) = (child.stdin.take().expect("a pipe"), child.stdout.take().expect("a pipe"));
        Ok(Session { child, input, output: BufReader::new(output) })
    }

    /// Runs statements of which the last gives one row; none where the session is at its end.
    pub fn row(&mut self, sql: &str) -> Option<String> {
        self.input.write_all(sql.as_bytes()).and_then(|()| self.input.write_all(b"\n")).ok()?;
        self.input.flush().ok()?;
        let mut line = String::new();
        let read = self.output.read_line(&mut line).ok()?;
        (read > 0 && line.ends_with('\n')).then(|| line.trim_end().to_owned())
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
