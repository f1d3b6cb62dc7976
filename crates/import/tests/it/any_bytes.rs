//! Any bytes are an answer or an error of one line, never a panic; what is answered is valid throughout.

use import::{ImportError, parse, parse_all};
use proptest::prelude::*;
use results::{IoClass, ReviewResult};
use std::fs;

fn judge(result: Result<ReviewResult, ImportError>) {
    match result {
        Err(error) => assert!(error.to_string().lines().count() == 1, "{error}"),
        Ok(review) => {
            let json = serde_json::to_string(&review).unwrap();
            // A figure that is not finite would be null and not come back.
            assert!(parse("again.json", json.as_bytes()).is_ok(), "{json}");
            for sweep in &review.sweeps {
                assert!(!sweep.points.is_empty());
                assert!(review.generator.starts_with("flash") || sweep.points.windows(2).all(|p| p[0].x < p[1].x));
                for class in sweep.points.iter().flat_map(|p| [&p.read, &p.write, &p.sync]) {
                    sound(class);
                }
            }
        }
    }
}

fn sound(class: &IoClass) {
    if let Some(histogram) = &class.histogram {
        histogram.percentile_ns(99.0);
    }
}

fn fixtures() -> Vec<Vec<u8>> {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures");
    let mut paths: Vec<_> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).unwrap()).collect()
}

/// Numbers and words that parsers stumble over.
const STUMBLES: [&str; 12] = [
    "0",
    "-1",
    "18446744073709551615",
    "1e308",
    "99999999999999999999",
    "nan",
    "\"\"",
    "null",
    "[",
    "}",
    "\n",
    "253402300799",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn bytes(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        judge(parse("f", &bytes));
    }

    #[test]
    fn words_of_logs(words in proptest::collection::vec("[0-9]{1,3}|17952592[0-9]{2}|skipped|\n|\n|[0-9]{12}", 0..80)) {
        let text = words.join(" ").replace(" \n ", "\n");
        judge(parse("f", text.as_bytes()));
        judge(parse_all(&[("a", text.as_bytes()), ("b", b"0 1 5 0 1795259200 1")]));
    }

    #[test]
    fn fixtures_with_a_wound(
        which in any::<prop::sample::Index>(),
        wounds in proptest::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<bool>()), 1..6),
    ) {
        let all = fixtures();
        let mut bytes = all[which.index(all.len())].clone();
        for (at, stumble, cut) in wounds {
            if bytes.is_empty() { break; }
            let at = at.index(bytes.len());
            // A whole number goes, so that what comes in its place is taken for one.
            let digits = bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            let end = if cut { at + (bytes.len() - at) / 2 } else { at + digits };
            bytes.splice(at..end, STUMBLES[stumble.index(STUMBLES.len())].bytes());
        }
        judge(parse("f", &bytes));
    }
}
