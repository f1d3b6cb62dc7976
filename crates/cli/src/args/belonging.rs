//! Which options belong to which loads. An option without an effect is an error, not a surprise.

use super::LoadName;
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, Command};

/// Refuses options that the load does not know.
pub(super) fn check(command: &mut Command, matches: &ArgMatches, load: LoadName) -> Result<(), clap::Error> {
    let Some((name, matches)) = matches.subcommand() else { return Ok(()) };
    let command = command.find_subcommand_mut(name).expect("clap matched it");
    let typed = |id: &str| matches.value_source(id) == Some(ValueSource::CommandLine);
    let stray = command.get_arguments().find(|arg| {
        let id = arg.get_id().as_str();
        typed(id) && !belongs(id, load)
    });
    let Some(stray) = stray.map(ToString::to_string) else { return Ok(()) };
    let message = format!("the argument '{stray}' cannot be used with '--load {}'", load.name());
    Err(command.error(ErrorKind::ArgumentConflict, message))
}

fn belongs(id: &str, load: LoadName) -> bool {
    let fileio = load.fileio();
    match id {
        "block" | "threads" | "depth" | "file_size" | "offset_shift" | "think" | "rate" => fileio.is_some(),
        "rw_ratio" => load == LoadName::Rndrw,
        "fsync_freq" | "fsync_all" => fileio.is_some_and(|mode| mode.writes()),
        "own_regions" => fileio.is_some_and(|mode| mode.is_sequential()),
        "access" => fileio.is_some_and(|mode| !mode.is_sequential()),
        "writes" => fileio.is_some_and(|mode| !mode.reads()),
        _ if id.starts_with("redo_") => load == LoadName::Redo,
        _ if id.starts_with("slob_") => load == LoadName::Slob,
        _ if id.starts_with("oltp_") => load == LoadName::Oltp,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use crate::args::parse;

    fn run(words: &str) -> Result<(), String> {
        let words = format!("flashrig run card {words}");
        parse(words.split(' ')).map(drop).map_err(|e| e.to_string())
    }

    #[test]
    fn an_option_of_another_load_is_refused() {
        for (stray, words) in [
            ("--slob-readers", "--load rndwr --slob-readers 4"),
            ("--oltp-sessions", "--load slob --oltp-sessions 4"),
            ("--own-regions", "--load rndwr --own-regions"),
            ("--redo-readers", "--load slob --redo-readers 4"),
            ("--block", "--load slob --block 8k"),
            ("--rw-ratio", "--load rndwr --rw-ratio 2"),
            ("--access", "--load seqwr --access uniform"),
            ("--fsync-all", "--load rndrd --fsync-all"),
            ("--writes", "--load rndrw --writes 100"),
        ] {
            let message = run(words).expect_err(words);
            assert!(
                message.contains(&format!("'{stray}")) && message.contains("cannot be used with '--load"),
                "{message}"
            );
        }
    }

    #[test]
    fn an_option_of_this_load_is_taken() {
        for words in [
            "--load rndwr --fsync-all --access zipf:0.99 --writes 100",
            "--load rndrw --rw-ratio 2 --fsync-freq 100",
            "--load seqrd --own-regions",
            "--load redo --redo-readers 4 --redo-no-sync",
            "--load slob --slob-readers 4 --seconds 10",
            "--load oltp --oltp-sessions 4 --requests 100",
        ] {
            run(words).unwrap_or_else(|e| panic!("{words}: {e}"));
        }
    }
}
