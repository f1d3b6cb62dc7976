//! JUnit's XML, which build servers show: a test case for each figure that a condition means.

use crate::view::{Judged, change};
use report::conditions::Outcome;
use report::escaped_xml as escaped;

/// The file. Times are left out: nothing ran here.
pub fn junit(judged: &[Judged], devices: &[String]) -> String {
    let count = |outcome: Outcome| {
        judged.iter().flat_map(|judged| &judged.findings).filter(|finding| finding.outcome == outcome).count()
    };
    let (tests, failures) = (judged.iter().map(|judged| judged.findings.len()).sum::<usize>(), count(Outcome::Failed));
    let mut out =
        format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites tests=\"{tests}\" failures=\"{failures}\">\n");
    for Judged { condition, findings } in judged {
        let failures = findings.iter().filter(|finding| finding.outcome == Outcome::Failed).count();
        let name = escaped(&format!("fail if {condition}"));
        let tests = findings.len();
        out.push_str(&format!(
            "  <testsuite name=\"{name}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" skipped=\"0\">\n"
        ));
        for finding in findings {
            let class = escaped(&format!("{}.{}", devices[finding.side], finding.sweep));
            let case = escaped(&format!("{}: {condition}", finding.figure));
            let host = if finding.limited_by_host { "; limited by the machine that asked" } else { "" };
            let told = escaped(&format!("{}{host}", change(finding)));
            out.push_str(&format!("    <testcase classname=\"{class}\" name=\"{case}\">"));
            out.push_str(&match finding.outcome {
                Outcome::Failed => {
                    format!("<failure type=\"regression\" message=\"{told}\">{name}: {told}</failure>")
                }
                Outcome::Unsure => format!("<system-out>unsure, more repeats would tell: {told}</system-out>"),
                Outcome::Kept => format!("<system-out>{told}</system-out>"),
            });
            out.push_str("</testcase>\n");
        }
        out.push_str("  </testsuite>\n");
    }
    out.push_str("</testsuites>\n");
    out
}
