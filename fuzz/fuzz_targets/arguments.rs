//! Takes any words as a command line: it is refused, or understood, and then the load that it describes can be judged.

#![no_main]

use cli::args::{Command, LoadName, parse};
use libfuzzer_sys::fuzz_target;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

fuzz_target!(|data: &[u8]| {
    let words = data.split(|byte| *byte == 0 || *byte == b'\n').map(|word| OsString::from_vec(word.to_vec()));
    // Options alone go to the command that has the most of them, because finding its name by chance would take long.
    let load = ["rndrw", "slob", "oltp"][data.len() % 3];
    let begin: &[&str] =
        if data.starts_with(b"-") { &["flashrig", "run", "card", "--load", load] } else { &["flashrig"] };
    let words = begin.iter().map(OsString::from).chain(words);
    let Ok(cli) = parse(words) else { return };
    if let Command::Run(run) = cli.command {
        for fill_bytes in [4096, 400_000_000_000] {
            if let Some(mode) = run.load.and_then(LoadName::fileio) {
                let _ = run.fileio.config(mode, fill_bytes).validate();
            }
            let _ = run.slob.config().validate();
            let _ = run.oltp.config(fill_bytes).validate();
        }
    }
});
