//! The loads that each option belongs to. An option without an effect is an error, not a surprise.

use super::LoadName;
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, Command};
use load::FileioMode;

/// Refuses options that the load, or without one the trace, does not know.
pub(super) fn check(command: &mut Command, matches: &ArgMatches, load: Option<LoadName>) -> Result<(), clap::Error> {
    let Some((name, matches)) = matches.subcommand() else { return Ok(()) };
    let command = command.find_subcommand_mut(name).expect("clap matched it");
    let typed = |id: &str| matches.value_source(id) == Some(ValueSource::CommandLine);
    let stray = command.get_arguments().find(|arg| {
        let id = arg.get_id().as_str();
        typed(id) && !load.map_or_else(|| belongs_to_a_trace(id), |load| belongs(id, load))
    });
    let Some(stray) = stray.map(ToString::to_string) else { return Ok(()) };
    let with = load.map_or("--trace".to_owned(), |load| format!("--load {}", load.name()));
    let message = format!("the argument '{stray}' cannot be used with '{with}'");
    Err(command.error(ErrorKind::ArgumentConflict, message))
}

fn belongs(id: &str, load: LoadName) -> bool {
    let fileio = load.fileio();
    match id {
        "block" | "threads" | "depth" | "file_size" | "offset_shift" | "think" | "rate" => fileio.is_some(),
        "rw_ratio" => fileio.is_some_and(FileioMode::mixes),
        "fsync_freq" | "fsync_all" => fileio.is_some_and(|mode| mode.writes()),
        "own_regions" => fileio.is_some_and(|mode| mode.is_sequential()),
        "access" => fileio.is_some_and(|mode| !mode.is_sequential()),
        "writes" => fileio.is_some_and(|mode| !mode.reads()),
        "trace_format" | "speed" | "skip_bad" | "trace_volume" => false,
        _ if id.starts_with("redo_") => load == LoadName::Redo,
        _ if id.starts_with("slob_") => load == LoadName::Slob,
        _ if id.starts_with("oltp_") => load == LoadName::Oltp,
        _ if id.starts_with("tpcc_") => load == LoadName::Tpcc,
        _ if id.starts_with("replica_") => load == LoadName::Replica,
        _ => true,
    }
}

fn belongs_to_a_trace(id: &str) -> bool {
    match id {
        // These belong to no load in particular, or to traces.
        "card" | "fill" | "scale" | "settings" | "host" | "seed" | "fresh" | "seconds" | "requests"
        | "explain_tail" | "histograms" | "json" | "depth" | "trace" | "trace_format" | "speed" | "skip_bad"
        | "trace_volume" | "help" => true,
        _ => id.starts_with("cache_"),
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
            ("--tpcc-sessions", "--load oltp --tpcc-sessions 4"),
            ("--replica-workers", "--load tpcc --replica-workers 4"),
            ("--own-regions", "--load rndwr --own-regions"),
            ("--redo-readers", "--load slob --redo-readers 4"),
            ("--block", "--load slob --block 8k"),
            ("--rw-ratio", "--load rndwr --rw-ratio 2"),
            ("--access", "--load seqwr --access uniform"),
            ("--fsync-all", "--load rndrd --fsync-all"),
            ("--writes", "--load rndrw --writes 100"),
            ("--speed", "--load rndrw --speed max"),
            ("--trace-volume", "--load slob --trace-volume 0"),
        ] {
            let message = run(words).expect_err(words);
            assert!(
                message.contains(&format!("'{stray}")) && message.contains("cannot be used with '--load"),
                "{message}"
            );
        }
    }

    #[test]
    fn a_trace_has_no_options_of_loads() {
        assert_eq!(
            run("--trace f --cache-of disks --cache-size 1g --cache-policy fifo --cache-mode writearound"),
            Ok(())
        );
        for (stray, words) in [
            ("--threads", "--trace f --threads 8"),
            ("--block", "--trace f --block 8k"),
            ("--writes", "--trace f --writes 8"),
            ("--rate", "--trace f --rate 8"),
            ("--oltp-sessions", "--trace f --oltp-sessions 4"),
        ] {
            let message = run(words).expect_err(words);
            assert!(
                message.contains(&format!("'{stray}")) && message.contains("cannot be used with '--trace'"),
                "{message}"
            );
        }
        let both = run("--trace f --load rndwr").unwrap_err();
        assert!(both.contains("cannot be used with"), "{both}");
        let neither = run("--speed max").unwrap_err();
        assert!(neither.contains("--load <LOAD>"), "{neither}");
        run("--trace f --depth 8 --speed 2x --skip-bad --trace-format msr --trace-volume 0 --requests 9 --fresh")
            .unwrap();
        run("--trace - --seconds 9 --explain-tail --json - --scale 1 --seed 2 --fill 50%").unwrap();
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
            "--load tpcc --tpcc-warehouses 4 --seconds 10",
            "--load replica --replica-sessions 4 --seconds 10",
        ] {
            run(words).unwrap_or_else(|e| panic!("{words}: {e}"));
        }
    }
}
