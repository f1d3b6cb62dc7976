//! Whether a modelled card was too hot.

use super::claim::claim;
use crate::words::axis_value;
use results::{Claim, Point, ReviewResult, ThermalReport, Tone};

/// The claim about the heat of a card that has a temperature.
pub(super) fn heat(result: &ReviewResult) -> Option<Claim> {
    let of_sweeps = result.sweeps.iter().flat_map(|sweep| {
        sweep.points.iter().map(move |point| (format!("{} at {}", sweep.name, axis_value(sweep.axis, point.x)), point))
    });
    let of_timeline = result.timeline.iter().map(|line| ("the timeline".to_owned(), &line.point));
    let points: Vec<(String, &Point, &ThermalReport)> =
        of_sweeps.chain(of_timeline).filter_map(|(at, point)| Some((at, point, point.thermal.as_ref()?))).collect();
    let hottest = points.iter().map(|(.., heat)| heat.highest_celsius).max_by(f64::total_cmp)?;
    let share = |point: &Point, heat: &ThermalReport| heat.throttled_share(point.seconds);
    let throttled = points.iter().filter(|(.., heat)| heat.throttled_s() > 0.0);
    let most = throttled.clone().max_by(|(_, a, of_a), (_, b, of_b)| share(a, of_a).total_cmp(&share(b, of_b)));
    let Some((at, point, heat)) = most else {
        let text = format!("Heat: {hottest:.0} °C at most, never throttled. Each point begins at rest.");
        return Some(claim("heat", Tone::Neutral, text, "thermal"));
    };
    let text = format!(
        "Throttled by heat at {} of {} points, for {:.0} % of the time of {at}; {hottest:.0} °C at most. Each point begins \
         at rest: a longer load is throttled for more of its time.",
        throttled.count(),
        points.len(),
        100.0 * share(point, heat),
    );
    Some(claim("heat", Tone::Warning, text, "thermal"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::testing::nothing_measured;
    use results::{Axis, Sweep};

    fn result(heats: &[Option<(f64, f64)>]) -> ReviewResult {
        let mut result = nothing_measured("model");
        let points = heats.iter().zip([1.0, 4.0, 16.0]).map(|(heat, x)| {
            let thermal = heat.map(|(highest_celsius, light_s)| ThermalReport {
                highest_celsius,
                light_s,
                ..ThermalReport::default()
            });
            Point { x, seconds: 20.0, thermal, ..Point::default() }
        });
        let (name, text) = ("threads-rndwr".to_owned(), String::new);
        let points = points.collect();
        result.sweeps = vec![Sweep { name, phase: text(), title: text(), note: text(), axis: Axis::Threads, points }];
        result
    }

    #[test]
    fn the_point_that_was_throttled_most_is_named_and_cards_without_a_temperature_are_not() {
        assert_eq!(heat(&result(&[None, None])), None);
        let cool = heat(&result(&[Some((40.2, 0.0)), Some((61.7, 0.0)), None])).unwrap();
        assert_eq!(cool.text, "Heat: 62 °C at most, never throttled. Each point begins at rest.");
        let hot = heat(&result(&[Some((81.0, 2.0)), Some((80.6, 5.0)), Some((50.0, 0.0))])).unwrap();
        assert_eq!((hot.tone, hot.chart.as_str()), (Tone::Warning, "thermal"));
        assert!(
            hot.text.starts_with(
                "Throttled by heat at 2 of 3 points, for 25 % of the time of threads-rndwr at 4 threads; 81 °C at most."
            ),
            "{}",
            hot.text
        );
    }
}
