//! The drive's own account of its health, in sentences.

use results::words::amount;
use results::{Claim, DriveSmart, HealthReport, Tone};

/// Spare blocks below this share are few, percent.
const FEW_SPARE_PERCENT: u64 = 10;
/// Endurance beyond this share is nearly used up, percent.
const WORN_PERCENT: u64 = 90;

/// Claims about a drive's health, the worst first; none where the drive says nothing.
pub fn judge_health(report: &HealthReport) -> Vec<Claim> {
    let mut claims = Vec::new();
    let mut claim = |tone, text: String| {
        claims.push(Claim { topic: "health".to_owned(), tone, text, chart: String::new() });
    };
    let Some(after) = report.after.or(report.before) else { return heat_alone(report) };
    let before = report.before.unwrap_or(after);
    if after.passed == Some(false) {
        claim(Tone::Bad, "The drive says of itself that it is failing.".to_owned());
    }
    let grown =
        |of: fn(&DriveSmart) -> Option<u64>| of(&after).zip(of(&before)).map_or(0, |(a, b)| a.saturating_sub(b));
    match grown(|smart| smart.media_errors) {
        0 => {}
        errors => claim(Tone::Bad, format!("It could not give back what it held {errors} times during the review.")),
    }
    let warm = grown(|smart| smart.warm_minutes) + grown(|smart| smart.hot_minutes);
    let hottest = hottest(report, &before, &after);
    let beyond = hottest.zip(report.warning_c).filter(|(hottest, limit)| hottest >= limit);
    if warm > 0 || beyond.is_some() {
        let degrees = hottest.map_or(String::new(), |hottest| format!(" It came to {hottest} °C."));
        let limit = report.warning_c.map_or(String::new(), |limit| format!(" of {limit} °C"));
        let minutes = if warm > 0 { format!(" for {warm} min by its own count") } else { String::new() };
        claim(
            Tone::Warning,
            format!(
                "It was hotter than its limit{limit}{minutes}, and slows down there.{degrees} Cool it, and measure again."
            ),
        );
    }
    if let Some(spare) = after.spare_percent.filter(|&spare| spare <= FEW_SPARE_PERCENT) {
        claim(Tone::Warning, format!("Only {spare} % of its spare blocks are left."));
    }
    let used = |smart: &DriveSmart| smart.used_percent;
    let by_review = grown(used);
    let written = grown(|smart| smart.written_bytes);
    if let Some(worn) = used(&after).filter(|&worn| worn >= WORN_PERCENT) {
        claim(Tone::Warning, format!("{worn} % of its rated endurance are used."));
    }
    if by_review > 0 {
        claim(
            Tone::Neutral,
            format!("The review wrote {} and used {by_review} % of its rated endurance.", amount(written)),
        );
    }
    if claims.is_empty() {
        let mut said = vec!["Healthy by the drive's own account".to_owned()];
        said.extend(hottest.map(|hottest| format!("{hottest} °C at most")));
        said.extend(used(&after).map(|used| format!("{used} % of its rated endurance used")));
        said.extend((written > 0).then(|| format!("{} written by this review", amount(written))));
        let text = said.join(", ") + ".";
        claims.push(Claim { topic: "health".to_owned(), tone: Tone::Good, text, chart: String::new() });
    }
    claims
}

/// A drive whose SMART data nobody can read may still have a thermometer.
fn heat_alone(report: &HealthReport) -> Vec<Claim> {
    let hottest = report.temperatures.iter().map(|sample| sample.celsius).max();
    let Some((hottest, limit)) = hottest.zip(report.warning_c).filter(|(hottest, limit)| hottest >= limit) else {
        return Vec::new();
    };
    let text = format!("It came to {hottest} °C, and from {limit} °C on it slows down. Cool it, and measure again.");
    vec![Claim { topic: "health".to_owned(), tone: Tone::Warning, text, chart: String::new() }]
}

fn hottest(report: &HealthReport, before: &DriveSmart, after: &DriveSmart) -> Option<i64> {
    let sampled = report.temperatures.iter().map(|sample| sample.celsius);
    sampled.chain([before.temperature_c, after.temperature_c].into_iter().flatten()).max()
}

#[cfg(test)]
mod tests {
    use super::*;
    use results::Temperature;

    fn smart() -> DriveSmart {
        DriveSmart {
            passed: Some(true),
            temperature_c: Some(40),
            used_percent: Some(3),
            spare_percent: Some(100),
            media_errors: Some(2),
            power_on_hours: Some(100),
            written_bytes: Some(1_000_000_000_000),
            warm_minutes: Some(5),
            hot_minutes: Some(0),
        }
    }

    fn judged(after: DriveSmart, celsius: &[i64]) -> Vec<(Tone, String)> {
        let temperatures = celsius.iter().map(|&celsius| Temperature { t_s: 0.0, celsius }).collect();
        let report = HealthReport { before: Some(smart()), after: Some(after), temperatures, warning_c: Some(70) };
        judge_health(&report).into_iter().map(|claim| (claim.tone, claim.text)).collect()
    }

    #[test]
    fn a_healthy_drive_is_told_in_one_sentence() {
        let after = DriveSmart { written_bytes: Some(1_012_000_000_000), ..smart() };
        let said = judged(after, &[41, 61, 55]);
        assert_eq!(
            said,
            [(
                Tone::Good,
                "Healthy by the drive's own account, 61 °C at most, 3 % of its rated endurance used, 12.0 GB written by \
                 this review."
                    .to_owned()
            )]
        );
    }

    #[test]
    fn what_went_wrong_during_the_review_is_told_and_what_was_wrong_before_is_not() {
        let hot = judged(DriveSmart { warm_minutes: Some(9), ..smart() }, &[75]);
        assert_eq!(hot.len(), 1);
        assert!(hot[0].0 == Tone::Warning && hot[0].1.contains("of 70 °C for 4 min") && hot[0].1.contains("75 °C"));
        let sampled = judged(smart(), &[70]);
        assert!(sampled[0].1.starts_with("It was hotter than its limit of 70 °C, and slows"), "{sampled:?}");
        let errors = judged(DriveSmart { media_errors: Some(4), ..smart() }, &[]);
        assert!(errors[0].0 == Tone::Bad && errors[0].1.contains("2 times"), "{errors:?}");
        let failing =
            judged(DriveSmart { passed: Some(false), used_percent: Some(95), spare_percent: Some(4), ..smart() }, &[]);
        let tones: Vec<Tone> = failing.iter().map(|(tone, _)| *tone).collect();
        assert_eq!(tones, [Tone::Bad, Tone::Warning, Tone::Warning, Tone::Neutral], "{failing:?}");
    }

    #[test]
    fn a_drive_that_says_nothing_has_no_claim() {
        assert_eq!(judge_health(&HealthReport::default()), []);
        let warm = HealthReport {
            temperatures: vec![Temperature { t_s: 1.0, celsius: 80 }],
            warning_c: Some(75),
            ..HealthReport::default()
        };
        assert!(judge_health(&warm)[0].text.contains("80 °C"));
    }
}
