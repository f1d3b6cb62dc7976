//! Programs of the system.
//!
//! They run as processes of their own: a thread of ours that waited in the kernel for a card that is gone could not be
//! ended.

use crate::error::AttachError;
use std::io;
use std::process::{Command, Stdio};

/// A command as a person would type it.
pub(crate) fn typed(program: &str, words: &[&str]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:,@%=[]".contains(c);
    let quoted = words.iter().map(|word| match !word.is_empty() && word.chars().all(plain) {
        true => (*word).to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    });
    [program.to_owned()].into_iter().chain(quoted).collect::<Vec<_>>().join(" ")
}

/// Runs a program and gives what it says on its standard output, or what it said if that was a no. `package` is Debian's.
pub fn run(program: &'static str, package: &'static str, words: &[&str]) -> Result<String, AttachError> {
    let command = || typed(program, words);
    let output = match Command::new(program).args(words).env("LC_ALL", "C").stdin(Stdio::null()).output() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(AttachError::NoProgram { program, package });
        }
        Err(error) => return Err(AttachError::Program { command: command().into(), said: error.to_string().into() }),
        Ok(output) => output,
    };
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    // Hints and usage follow the reason.
    let reason = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with("Warning"));
    let said = reason.map_or_else(|| output.status.to_string(), str::to_owned);
    Err(AttachError::Program { command: command().into(), said: said.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_told_as_they_can_be_typed() {
        assert_eq!(typed("losetup", &["--show", "/mnt/my card/it's"]), r"losetup --show '/mnt/my card/it'\''s'");
    }

    #[test]
    fn a_program_that_fails_or_is_missing_is_told_in_one_line() {
        let error = run("ls", "coreutils", &["/no/such/file"]).unwrap_err().to_string();
        assert!(error.starts_with("ls /no/such/file: ") && error.contains("No such file"), "{error}");
        let error = run("no-such-program", "such", &[]).unwrap_err().to_string();
        assert_eq!(error, "no-such-program is missing: install such");
    }
}
