//! Takes any text as a plan and as a part of a campaign: what is read is written as it was, or an error of one line.
#![no_main]

use libfuzzer_sys::fuzz_target;
use study::campaign::{Part, Plan, merge};

const GENERATOR: &str = "flashrig 0.1.0";

fuzz_target!(|text: &str| {
    match Plan::parse(text, GENERATOR) {
        Ok(plan) => assert_eq!(Plan::parse(&plan.to_json(), GENERATOR).expect("it was read once"), plan),
        Err(error) => assert_eq!(error.to_string().lines().count(), 1),
    }
    match Part::parse(text, GENERATOR) {
        Ok(part) => {
            let lines: String = part.records.iter().map(|record| record.line()).collect();
            let again = Part::parse(&(Part::head(&part.plan) + &lines), GENERATOR).expect("it was read once");
            assert_eq!(again.records, part.records);
            let _ = merge(&[part, again]);
        }
        Err(error) => assert_eq!(error.to_string().lines().count(), 1),
    }
});
