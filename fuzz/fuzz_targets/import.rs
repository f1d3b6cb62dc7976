//! Takes any bytes as another tool's result: an answer that can be written and read again, or an error of one line.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    judge(import::parse("fuzzed", bytes));
    // Input with a separating line is two logs of one run.
    if let Some(cut) = bytes.windows(2).position(|pair| pair == b"\n\n") {
        judge(import::parse_all(&[("first", &bytes[..cut]), ("second", &bytes[cut..])]));
    }
});

fn judge(result: Result<results::ReviewResult, import::ImportError>) {
    match result {
        Ok(review) => {
            let json = serde_json::to_vec(&review).expect("a review is JSON");
            import::parse("again", &json).expect("what was read can be read again");
            for sweep in &review.sweeps {
                for class in sweep.points.iter().flat_map(|point| [&point.read, &point.write, &point.sync]) {
                    if let Some(histogram) = &class.histogram {
                        histogram.percentile_ns(99.9);
                    }
                }
            }
        }
        Err(error) => assert_eq!(error.to_string().lines().count(), 1),
    }
}
