//! A question as it was typed, for a plan.

use clap::parser::ValueSource;
use clap::{ArgMatches, Command};

/// Arguments that are no part of the question: the card and the host come along as texts, the rest is output.
const APART: [&str; 7] = ["card", "host", "out", "csv", "json", "plan", "help"];

/// The options that were typed, in the order of their definitions, each with its value: `--fill=50,90`.
pub(super) fn words(command: &Command, matches: &ArgMatches) -> Vec<String> {
    let Some((name, matches)) = matches.subcommand() else { return Vec::new() };
    let command = command.find_subcommand(name).expect("clap matched it");
    let typed = |id: &str| matches.value_source(id) == Some(ValueSource::CommandLine);
    let options = command.get_arguments().filter(|arg| !APART.contains(&arg.get_id().as_str()));
    let typed = options.filter(|arg| typed(arg.get_id().as_str()));
    typed
        .flat_map(|arg| {
            let long = arg.get_long().expect("options have long names");
            let values = matches.get_raw(arg.get_id().as_str()).into_iter().flatten();
            values.map(move |value| format!("--{long}={}", value.to_string_lossy()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use crate::args::{Command, parse};

    #[test]
    fn a_question_is_what_was_typed_without_the_card_and_the_output() {
        let typed = "flashrig whatif card -l rndrd --vary a.b=1,2 --fill 50,90 --vary c.d=3 --host h --json - --seed 3";
        let Command::Whatif(whatif) = parse(typed.split(' ')).unwrap().command else { panic!("a whatif") };
        assert_eq!(whatif.words, ["--fill=50,90", "--load=rndrd", "--vary=a.b=1,2", "--vary=c.d=3", "--seed=3"]);
    }
}
