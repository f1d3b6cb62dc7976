//! Takes any bytes as structures on media: an answer that is encoded to the same bytes again, or an error of one line.
#![no_main]

use format::{
    Checkpoint, HEADER_BYTES, HOLES_HEAD_BYTES, LOG_HEAD_BYTES, LogRecord, ModuleHeader, SPARE_BYTES,
    SUMMARY_ENTRY_BYTES, Spare, SummaryEntry, VOLUME_PAGE_BYTES, VolumePage, decode_summary, encode_log_record,
    encode_summary, holes, payload_crc, set_hole,
};
use libfuzzer_sys::fuzz_target;
use std::error::Error;

fuzz_target!(|bytes: &[u8]| {
    let Some((kind, bytes)) = bytes.split_first() else { return };
    let mut bytes = bytes.to_vec();
    match kind % 12 {
        0 => spare(&bytes),
        1 => header(&bytes),
        2 => checkpoint(&bytes),
        3 => summary(&bytes),
        4 => hole_bits(&bytes),
        // Length, magic and checksums are made right, because chance would not find them.
        5 => {
            bytes.resize(SPARE_BYTES, 0);
            bytes[0] = 0xf1;
            put_crc(&mut bytes, 60);
            spare(&bytes);
        }
        6 => {
            bytes.resize(HEADER_BYTES, 0);
            bytes[..8].copy_from_slice(b"FLASHRIG");
            put_crc(&mut bytes, 4092);
            header(&bytes);
        }
        7 => {
            bytes.resize(bytes.len().max(80), 0);
            bytes[..8].copy_from_slice(b"FRIGCKPT");
            let number =
                |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]) as usize;
            let end = (80 + 4 * (number(12) + number(72)) + 16 * number(64)).min(bytes.len());
            let body_crc = payload_crc(&bytes[80..end]);
            bytes[68..72].copy_from_slice(&body_crc.to_le_bytes());
            put_crc(&mut bytes, 76);
            checkpoint(&bytes);
        }
        8 => log_record(&bytes),
        9 => volume_page(&bytes),
        10 => {
            bytes.resize(VOLUME_PAGE_BYTES, 0);
            bytes[..8].copy_from_slice(b"FRIGVOLS");
            bytes[8..10].copy_from_slice(&[1, 0]);
            let crc = payload_crc(&bytes[16..]);
            bytes[12..16].copy_from_slice(&crc.to_le_bytes());
            volume_page(&bytes);
        }
        _ => {
            bytes.resize(bytes.len().max(LOG_HEAD_BYTES), 0);
            bytes[..8].copy_from_slice(b"FRIGLOGR");
            // The checksum covers what the fields of the head say, as far as it is there.
            if let Ok(record) = LogRecord::decode_unchecked(&bytes) {
                let crc = payload_crc(&bytes[16..record.len_bytes()]);
                bytes[12..16].copy_from_slice(&crc.to_le_bytes());
            }
            log_record(&bytes);
        }
    }
});

fn put_crc(bytes: &mut [u8], at: usize) {
    let crc = payload_crc(&bytes[..at]);
    bytes[at..at + 4].copy_from_slice(&crc.to_le_bytes());
}

fn one_line(error: impl Error) {
    assert_eq!(error.to_string().lines().count(), 1);
}

fn spare(bytes: &[u8]) {
    match Spare::decode(bytes) {
        Ok(spare) => {
            let mut again = [0; SPARE_BYTES];
            spare.encode(&mut again);
            assert_eq!(again, bytes);
        }
        Err(error) => one_line(error),
    }
}

fn header(bytes: &[u8]) {
    match ModuleHeader::decode(bytes) {
        Ok(header) => assert_eq!(header.encode(), bytes),
        Err(error) => one_line(error),
    }
}

fn checkpoint(bytes: &[u8]) {
    match Checkpoint::decode(bytes) {
        Ok(checkpoint) => assert!(bytes.starts_with(&checkpoint.encode())),
        Err(error) => one_line(error),
    }
}

fn log_record(bytes: &[u8]) {
    match LogRecord::decode(bytes) {
        Ok(record) => {
            let sectors: Vec<_> = record.sectors().collect();
            let mut again = Vec::new();
            encode_log_record(&record.head, record.payload_bytes(), &sectors, &mut again);
            assert_eq!(again, bytes[..record.len_bytes()]);
        }
        Err(error) => one_line(error),
    }
}

fn volume_page(bytes: &[u8]) {
    match VolumePage::decode(bytes) {
        Ok(page) => assert_eq!(page.encode(), bytes[..VOLUME_PAGE_BYTES]),
        Err(error) => one_line(error),
    }
}

fn summary(bytes: &[u8]) {
    let entries: Vec<SummaryEntry> = decode_summary(bytes).collect();
    let mut again = vec![0xff; bytes.len()];
    encode_summary(&entries, &mut again);
    assert_eq!(decode_summary(&again).collect::<Vec<_>>(), entries);
    for (entry, again) in bytes.chunks_exact(SUMMARY_ENTRY_BYTES).zip(again.chunks_exact(SUMMARY_ENTRY_BYTES)) {
        // The last three bytes are reserved: they are written as 0 and ignored when read.
        assert_eq!(entry[..13], again[..13]);
    }
}

fn hole_bits(bytes: &[u8]) {
    let mut again = vec![0; bytes.len()];
    let head = bytes.len().min(HOLES_HEAD_BYTES);
    again[..head].copy_from_slice(&bytes[..head]);
    holes(bytes).for_each(|index| set_hole(&mut again, index));
    assert_eq!(again, bytes);
}
