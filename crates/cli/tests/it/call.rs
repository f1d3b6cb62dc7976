//! Commands that a program calls within its own process.

use crate::common::command;
use cli::{Call, Refused, call};
use std::ffi::OsString;
use std::sync::Arc;
use std::thread;

fn words(text: &str) -> Vec<OsString> {
    std::iter::once("flashrig").chain(text.split(' ')).map(OsString::from).collect()
}

#[test]
fn a_call_answers_with_what_the_command_prints() {
    for text in
        ["cards --json", "show tachion-400 --sources", "compare published:tachion-400-fill published:duo-320-fill"]
    {
        let printed = command().args(text.split(' ')).output().expect("the command runs");
        let answer = call(words(text), &Arc::new(Call::default())).expect(text);
        assert_eq!(answer.output.printed.as_bytes(), printed.stdout, "{text}");
        assert_eq!(Some(i32::from(answer.code)), printed.status.code(), "{text}");
    }
}

#[test]
fn a_call_is_refused_with_the_line_that_the_command_prints() {
    for text in ["show nope", "run tachion-400 --load rndwrr", "whatif tachion-400 --fill 20..90", "nope"] {
        let printed = command().args(text.split(' ')).output().expect("the command runs");
        let Err(Refused::Wrong(line)) = call(words(text), &Arc::new(Call::default())) else { panic!("{text}") };
        assert_eq!(format!("flashrig: error: {line}\n").as_bytes(), printed.stderr, "{text}");
    }
}

#[test]
fn a_program_is_no_call() {
    for text in ["top", "man", "--help", "serve memory-16 --memory", "completions bash"] {
        assert!(matches!(call(words(text), &Arc::new(Call::default())), Err(Refused::Wrong(_))), "{text}");
    }
}

#[test]
fn calls_side_by_side_keep_to_themselves_and_one_of_them_is_stopped() {
    let stopped = Arc::new(Call::default());
    let endless = {
        let stopped = stopped.clone();
        thread::spawn(move || call(words("run tachion-400 --load rndrd --fresh --seconds 2000 --json -"), &stopped))
    };
    let other =
        call(words("run tachion-400 --load rndrd --fresh --requests 1000 --json -"), &Arc::new(Call::default()));
    assert!(!other.expect("it runs").output.printed.contains("partial"));
    while stopped.position().is_none() {
        thread::yield_now();
    }
    stopped.stop();
    let answer = endless.join().expect("no panic");
    match answer {
        Ok(answer) => assert!(answer.code == 130 && answer.output.printed.contains("\"partial\": true")),
        Err(refused) => assert_eq!(refused, Refused::Stopped),
    }
}
