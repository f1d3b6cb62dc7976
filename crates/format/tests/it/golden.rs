//! The bytes of one example of each structure. Cards that people have look like this: when one of these tests fails,
//! the format has changed, and needs a new version.

use crate::common::*;
use format::*;

const SPARE: &str = "\
0000  f1 01 01 01 01 00 03 02 a0 a1 a2 a3 a4 a5 a6 a7
0010  08 07 06 05 04 03 02 01 18 17 16 15 14 13 12 11
0020  0f 00 00 00 00 00 00 00 44 33 22 11 88 77 66 55
0030  cc bb aa 99 00 ff ee dd 00 00 00 00 0e 76 3c 1d
";

const HEADER: &str = "\
0000  46 4c 41 53 48 52 49 47 01 00 01 00 07 00 00 00
0010  a0 a1 a2 a3 a4 a5 a6 a7 a8 a9 aa ab ac ad ae af
0020  11 11 11 11 11 11 11 11 11 11 11 11 11 11 11 11
0030  07 00 00 00 00 00 00 00 09 00 00 00 00 00 00 00
0040  03 00 00 00 04 00 00 00 00 04 00 00 40 00 00 00
0050  02 00 00 00 00 10 00 00 02 00 00 00 03 00 00 00
0060  01 00 00 00 03 00 00 00 00 35 0c 00 00 00 00 00
0070  05 00 00 00 00 00 00 00 01 00 00 00 00 00 00 00
0080  07 ca 9a 3b 00 00 00 00 0b 94 35 77 00 00 00 00
0090  03 00 00 00 00 00 00 00 00 00 4f 91 94 4e 00 00
00a0  00 00 9e 22 29 9d 00 00 03 65 cd 1d 00 00 00 00
00b0  09 84 d7 17 00 00 00 00 40 42 0f 00 00 00 00 00
00c0  03 00 00 00 00 00 00 00 07 00 00 00 03 00 00 00
00d0  05 00 00 00 03 00 00 00 0b 00 00 00 02 00 00 00
0100  10 10 10 10 10 10 10 10 10 10 10 10 10 10 10 10
0110  01 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
0120  11 11 11 11 11 11 11 11 11 11 11 11 11 11 11 11
0130  03 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
0140  12 12 12 12 12 12 12 12 12 12 12 12 12 12 12 12
0150  02 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
0900  01 02 00 00 00 00 00 00 01 00 00 00 00 00 00 00
0ff0  00 00 00 00 00 00 00 00 00 00 00 00 98 85 0b 3e
";

const CHECKPOINT: &str = "\
0000  46 52 49 47 43 4b 50 54 01 00 00 00 03 00 00 00
0010  15 00 00 00 00 00 00 00 28 00 00 00 00 00 00 00
0020  e8 03 00 00 00 00 00 00 f2 03 00 00 00 00 00 00
0030  2c 00 00 00 00 00 00 00 34 00 00 00 00 00 00 00
0040  02 00 00 00 24 63 2d aa 02 00 00 00 d4 d8 80 da
0050  05 00 00 00 ff ff ff ff 04 03 02 01 27 00 00 00
0060  00 00 00 00 0c 00 00 00 02 00 00 00 29 00 00 00
0070  00 00 00 00 0b 00 00 00 01 00 00 00 00 00 00 00
0080  07 00 00 00
";

const SUMMARY: &str = "\
0000  08 07 06 05 04 03 02 01 44 33 22 11 01 00 00 00
0020  09 00 00 00 00 00 00 00 07 00 00 00 07 00 00 00
";

const HOLES: &str = "\
0000  08 07 06 05 04 03 02 01 09 01 00 00 00 00 00 00
0010  00 00 00 00 00 00 00 80
";

/// Lines of 16 bytes; runs of lines that are all 0 are left out.
fn hex(bytes: &[u8]) -> String {
    let mut text = String::new();
    for (line, bytes) in bytes.chunks(16).enumerate().filter(|(_, bytes)| bytes.iter().any(|byte| *byte != 0)) {
        let digits: Vec<_> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        text += &format!("{:04x}  {}\n", line * 16, digits.join(" "));
    }
    text
}

#[test]
fn a_spare_area_has_these_bytes() {
    assert_eq!(hex(&encoded(&spare())), SPARE);
}

#[test]
fn a_header_has_these_bytes() {
    assert_eq!(hex(&header().encode()), HEADER);
}

#[test]
fn a_checkpoint_has_these_bytes() {
    assert_eq!(hex(&checkpoint().encode()), CHECKPOINT);
    assert_eq!(Checkpoint::decode(&checkpoint().encode()), Ok(checkpoint()));
}

#[test]
fn a_summary_has_these_bytes() {
    let mut payload = [0xff; 72];
    encode_summary(&summary(), &mut payload);
    assert_eq!(hex(&payload), SUMMARY);
}

#[test]
fn holes_have_these_bytes() {
    let mut payload = [0; 24];
    set_holes_as_of(&mut payload, 0x0102_0304_0506_0708);
    [0, 3, 8, 127].into_iter().for_each(|index| set_hole(&mut payload, index));
    assert_eq!(hex(&payload), HOLES);
}

/// The value that everybody's crc32c gives for the digits 1 to 9.
#[test]
fn the_checksum_is_castagnolis() {
    assert_eq!(payload_crc(b"123456789"), 0xe306_9283);
}

const DOCS: &str = include_str!("../../../../docs/media-format.md");

#[test]
fn the_docs_show_these_examples() {
    for (name, example) in
        [("SPARE", SPARE), ("HEADER", HEADER), ("CHECKPOINT", CHECKPOINT), ("SUMMARY", SUMMARY), ("HOLES", HOLES)]
    {
        let shown = example.lines().map(|line| format!("    {line}\n")).collect::<String>();
        assert!(DOCS.contains(&shown), "docs/media-format.md doesn't show {name}:\n{shown}");
    }
}

#[test]
fn the_docs_show_the_diagrams_beside_the_structs() {
    for source in [
        include_str!("../../src/header.rs"),
        include_str!("../../src/spare.rs"),
        include_str!("../../src/summary.rs"),
        include_str!("../../src/checkpoint.rs"),
        include_str!("../../src/holes.rs"),
    ] {
        let mut lines = source.lines().map_while(|line| line.strip_prefix("//!"));
        assert!(lines.any(|line| line == " ```text"));
        let diagram = lines.map_while(|line| (line != " ```").then(|| format!("{}\n", line.trim_start_matches(' '))));
        let docs = DOCS.lines().map(|line| format!("{}\n", line.trim_start_matches(' '))).collect::<String>();
        let diagram = diagram.collect::<String>();
        assert!(docs.contains(&diagram), "docs/media-format.md doesn't show\n{diagram}");
    }
}
