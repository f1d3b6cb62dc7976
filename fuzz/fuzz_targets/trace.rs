//! Any bytes as a block trace, in each format and in whichever they look like: requests in order of time, or an error of one
//! line; and never more than what stands there. The first byte says whether broken lines are skipped.
#![no_main]

use libfuzzer_sys::fuzz_target;
use load::trace::{Format, Options, Reader};

fuzz_target!(|bytes: &[u8]| {
    let Some((&first, text)) = bytes.split_first() else { return };
    for format in [None].into_iter().chain(Format::ALL.map(Some)) {
        judge(text, Options { format, skip_bad: first & 1 == 1, volume: (first & 2 == 2).then(|| "0".to_owned()) });
    }
});

/// What a small file may unpack to is limited here, not in the reader, which holds a batch at a time.
const RECORDS_LIMIT: usize = 1 << 20;

fn judge(text: &[u8], options: Options) {
    let skip_bad = options.skip_bad;
    let mut records = Vec::new();
    let read = Reader::new("fuzzed", text, options).and_then(|mut reader| {
        while records.len() < RECORDS_LIMIT && reader.read(records.len() + 100, &mut records)? {}
        Ok(reader.counts())
    });
    assert!(records.is_sorted_by_key(|record| record.at_ns));
    assert!(records.first().is_none_or(|record| record.at_ns == 0 || record.at_ns <= load::trace::SPAN_LIMIT_NS));
    assert!(records.iter().all(|record| record.offset_bytes.checked_add(record.len_bytes).is_some()));
    match read {
        Ok(counts) => assert!(skip_bad || counts.bad + counts.backwards == 0),
        Err(error) => {
            assert_eq!(error.to_string().lines().count(), 1);
            assert!(!skip_bad || !error.is_of_a_line());
        }
    }
}
