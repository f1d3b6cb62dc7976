//! Conditions of a comparison: what became of each.

use super::plain::plain;
use crate::table::wrap;
use crate::units::counted;
use report::conditions::{Condition, Finding, Outcome};

/// A condition, and the figures that it means, the worst first.
pub struct Judged<'a> {
    /// As it was typed.
    pub condition: &'a Condition,
    /// At least one.
    pub findings: Vec<Finding>,
}

/// Figures of a condition that are told one by one.
const SHOWN: usize = 5;

/// Each condition, with the figures that meet it, and of the others the one nearest to the limit.
pub fn conditions(judged: &[Judged], devices: &[String]) -> String {
    let mut out = String::new();
    for Judged { condition, findings } in judged {
        let worst = findings[0].outcome;
        let (bad, word) = match worst {
            Outcome::Kept => (1, "kept"),
            outcome => (findings.iter().filter(|finding| finding.outcome == outcome).count(), word(outcome)),
        };
        out.push('\n');
        let head = match worst {
            Outcome::Kept => format!("{word}, {}; nearest to its limit:", counted(findings.len() as u64, "figure")),
            Outcome::Unsure => format!("{word} at {bad} of {}: more repeats would tell", findings.len()),
            Outcome::Failed => format!("{word} at {bad} of {}", counted(findings.len() as u64, "figure")),
        };
        out.push_str(&wrap("", 2, &plain(&format!("--fail-if '{condition}': {head}"))));
        for finding in findings.iter().take(bad.min(SHOWN)) {
            out.push_str(&wrap("  ", 4, &plain(&line(finding, devices))));
        }
        if bad > SHOWN {
            out.push_str(&format!("  and {} more (--json has them)\n", bad - SHOWN));
        }
    }
    out
}

fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Kept => "kept",
        Outcome::Unsure => "unsure",
        Outcome::Failed => "FAILED",
    }
}

fn line(finding: &Finding, devices: &[String]) -> String {
    let device = if devices.len() > 2 { format!("{}: ", devices[finding.side]) } else { String::new() };
    let host = if finding.limited_by_host { "; limited by the machine that asked" } else { "" };
    format!("{device}{}: {}, {}{host}", finding.sweep, finding.figure, change(finding))
}

/// `120 µs, then 150 µs, +25 % (95 %: +18…+32 %)`, or the figure and its interval.
pub fn change(finding: &Finding) -> String {
    let value = finding.unit.show(finding.value);
    match (finding.first, finding.judged.interval) {
        (Some(first), interval) => {
            let interval =
                interval.map_or(String::new(), |(low, high)| format!(" (95 %: {})", change_of_ends(low, high)));
            format!("{}, then {value}, {}{interval}", finding.unit.show(first), percent(finding.judged.value) + " %")
        }
        (None, Some((low, high))) => {
            format!("{value} (95 %: {} to {})", finding.unit.show(low), finding.unit.show(high))
        }
        (None, None) => value,
    }
}

/// Both ends of an interval of changes: `+8…+16 %`.
pub fn change_of_ends(low: f64, high: f64) -> String {
    format!("{}…{} %", percent(low), percent(high))
}

/// With its sign; decimals where they count. A change of many times has as many digits as are known.
fn percent(change: f64) -> String {
    let percent = change * 100.0;
    match percent.abs() {
        size if size < 0.05 => "0".to_owned(),
        size if size < 9.95 => format!("{percent:+.1}"),
        size if size < 9_999.5 => format!("{percent:+.0}"),
        _ => format!("{percent:+.1e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_have_their_sign_and_the_decimals_that_count() {
        assert_eq!(change_of_ends(-0.041, 0.166), "-4.1…+17 %");
        assert_eq!(change_of_ends(0.0001, 0.0), "0…0 %");
        assert_eq!(change_of_ends(-0.5, 1e9), "-50…+1.0e11 %");
    }
}
