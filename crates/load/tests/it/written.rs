//! Records that are written in a format are read back as the same, plain or compressed, in one go or in batches.

use device::Operation;
use flate2::write::GzEncoder;
use load::trace::{Compression, Feed, Format, Options, Reader, Record, Writer};
use proptest::prelude::*;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use std::io::{Cursor, Write};

/// Requests that the format has words for. Times are whole microseconds, which is the coarsest unit; the first is at 0.
fn record(format: Format) -> impl Strategy<Value = Record> {
    let plain = matches!(format, Format::Msr | Format::Systor | Format::Alibaba);
    let sectors = format == Format::Blkparse;
    let op = prop_oneof![Just(Operation::Read), Just(Operation::Write), Just(Operation::Trim), Just(Operation::Flush)];
    let wait_us = prop_oneof![3 => Just(0_u64), 3 => 1..100_000_u64, 1 => 0..10_000_000_000_u64];
    (wait_us, op, any::<bool>(), 0..1_u64 << 54, 1..1_u64 << 32).prop_map(move |(wait_us, op, fua, offset, len)| {
        let op = if plain && matches!(op, Operation::Trim | Operation::Flush) { Operation::Write } else { op };
        let unit = if sectors { 512 } else { 1 };
        let (offset_bytes, len_bytes) =
            if op == Operation::Flush { (0, 0) } else { (offset / unit * unit, (len / unit * unit).max(unit)) };
        Record { at_ns: wait_us * 1000, op, fua: sectors && fua && op == Operation::Write, offset_bytes, len_bytes }
    })
}

fn trace(format: Format) -> impl Strategy<Value = Vec<Record>> {
    prop::collection::vec(record(format), 1..200).prop_map(|mut records| {
        let mut now_ns = 0;
        for (i, record) in records.iter_mut().enumerate() {
            now_ns += if i == 0 { 0 } else { record.at_ns };
            record.at_ns = now_ns;
        }
        records
    })
}

fn any_trace() -> impl Strategy<Value = (Format, Vec<Record>)> {
    prop::sample::select(Format::ALL.to_vec()).prop_flat_map(|format| trace(format).prop_map(move |t| (format, t)))
}

fn write(format: Format, records: &[Record]) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), format).unwrap();
    records.iter().for_each(|record| writer.write(record).unwrap());
    writer.finish().unwrap()
}

fn pack(text: &[u8], compression: Compression) -> Vec<u8> {
    match compression {
        Compression::Plain => text.to_vec(),
        Compression::Gzip => {
            let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(text).unwrap();
            encoder.finish().unwrap()
        }
        Compression::Zstd => compress_to_vec(text, CompressionLevel::Fastest),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn what_is_written_is_read_back((format, records) in any_trace(), batch in 1..50_usize) {
        let text = write(format, &records);
        for compression in [Compression::Plain, Compression::Gzip, Compression::Zstd] {
            let packed = pack(&text, compression);
            let mut reader = Reader::new("f", &packed[..], Options::default()).unwrap();
            prop_assert_eq!((reader.format(), reader.compression()), (format, compression));
            let mut found = Vec::new();
            while reader.read(found.len() + batch, &mut found).unwrap() {}
            prop_assert_eq!(&found, &records);
            prop_assert_eq!((reader.counts().bad, reader.counts().backwards), (0, 0));
        }
    }

    #[test]
    fn a_damaged_trace_is_read_or_refused_in_one_line(
        (format, records) in any_trace(),
        place in any::<prop::sample::Index>(),
        byte in any::<u8>(),
        skip_bad in any::<bool>(),
    ) {
        let mut text = write(format, &records);
        let at = place.index(text.len());
        text[at] = byte;
        let mut found = Vec::new();
        let options = Options { format: Some(format), skip_bad, ..Options::default() };
        let read = Reader::new("f", &text[..], options).and_then(|mut reader| {
            while reader.read(found.len() + 100, &mut found)? {}
            Ok(reader.counts())
        });
        match read {
            Ok(counts) => prop_assert!(skip_bad || counts.bad == 0),
            Err(error) => {
                prop_assert_eq!(error.to_string().lines().count(), 1);
                prop_assert!(!skip_bad || !error.is_of_a_line(), "{}", error);
            }
        }
        prop_assert!(found.is_sorted_by_key(|record| record.at_ns));
    }
}

#[test]
fn a_feed_hands_out_the_whole_trace_and_says_how_far_it_is() {
    let records: Vec<Record> = (0..100_000)
        .map(|i| Record { at_ns: i * 100, op: Operation::Read, fua: false, offset_bytes: i * 4096, len_bytes: 4096 })
        .collect();
    let text = write(Format::Msr, &records);
    let size_bytes = text.len() as u64;
    let mut feed = Feed::new("f", Cursor::new(text), size_bytes, Options::default()).unwrap();
    let mut found = Vec::new();
    while let Some(batch) = feed.next_batch().unwrap() {
        found.extend(batch.records);
    }
    assert_eq!(found, records);
    assert_eq!(feed.bytes_read().load(std::sync::atomic::Ordering::Relaxed), feed.size_bytes());
}

#[test]
fn a_feed_hands_out_what_stands_before_a_broken_line_and_then_the_error() {
    let text = b"fio version 3 iolog\n1 f read 0 512\n2 f read 512 512\nnonsense\n3 f read 0 512\n".to_vec();
    let mut feed = Feed::new("f", Cursor::new(text), 0, Options::default()).unwrap();
    assert_eq!(feed.next_batch().unwrap().unwrap().records.len(), 2);
    let error = feed.next_batch().unwrap_err().to_string();
    assert_eq!(error, "f:4:1: the time is 'nonsense', must be a whole number below 2^64");
    assert!(feed.next_batch().unwrap().is_none());
}

#[test]
fn a_feed_that_nobody_reads_to_its_end_ends() {
    let records: Vec<Record> = (0..1_000_000)
        .map(|i| Record { at_ns: i * 1000, op: Operation::Write, fua: false, offset_bytes: i * 4096, len_bytes: 4096 })
        .collect();
    let text = write(Format::Alibaba, &records);
    let mut feed = Feed::new("f", Cursor::new(text), 0, Options::default()).unwrap();
    assert!(feed.next_batch().unwrap().is_some());
    let read = feed.bytes_read();
    drop(feed);
    // The thread owns the other one; when it has ended, this is the last.
    let began = std::time::Instant::now();
    while std::sync::Arc::strong_count(&read) > 1 {
        assert!(began.elapsed().as_secs() < 20, "the thread goes on");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}
