//! Lines as they stand in the public traces and in what the tools print.

use device::Operation;
use load::trace::{Format, LineCounts, Options, Problem, Reader, Record, TraceError};

const MSR: &str = "\
128166372003061629,usr,0,Read,7014609920,24576,41286\r
128166372016382155,usr,0,Write,1317441536,8192,1963\r
128166372026382245,usr,0,Write,2436440064,4096,1835\r
";

const SYSTOR: &str = "\
Timestamp,Response,IOType,LUN,Offset,Size
1456135200.013118000,0.000806000,R,0,899056122368,131072
1456135200.013200000,0.000101000,,0,0,0
1456135200.013218000,,W,3,4096,512
";

const ALIBABA: &str = "\
0,R,126703644672,4096,1577808000000626
419,W,8792731648,16384,1577808000000627
";

/// As blktrace records a file system: queued, merged, issued, completed; a flush, a discard, FUA, a command.
const BLKPARSE: &str = "\
  8,0    3        1     0.000000000   697  Q   W 223490 + 8 [kjournald]
  8,0    3        2     0.000001829   697  G   W 223490 + 8 [kjournald]
  8,0    3        3     0.000002197   697  P   N [kjournald]
  8,0    3        4     0.000004171   697  I   W 223490 + 8 [kjournald]
  8,0    3        5     0.000020000   697  U   N [kjournald] 1
  8,0    3       11     0.009507758   697  D   W 223490 + 56 [kjournald]
  8,0    1        2     0.009538995     0  C   W 223490 + 56 [0]
  8,0    0        0     0.009600000     0  m   N cfq697 slice expired t=0
  8,0    1        3     0.010000000   698  D  FN [kworker/1:1H]
  8,0    1        4     0.010100000   698  D FWFS 2048 + 16 [a name [x] 0]
  8,0    1        5     0.010200000   698  D  WFSM 4096 + 8 [xfsaild/sda]
  8,0    1        6     0.010300000   698  D   D 1000000 + 2048 [fstrim]
  8,0    1        7     0.010400000   698  D RSM 0 + 8 [ls]
  8,0    1        8     0.010500000   698  D   R 36 (12 00 00 00 24 00 ..) [hdparm]
  8,0    1        9     0.010600000   698  D  FF [kworker/1:1H]
CPU0 (8,0):
 Reads Queued:           1,        4KiB\t Writes Queued:          26,      104KiB
 Read Dispatches:        1,        4KiB\t Write Dispatches:        4,      104KiB

Total (8,0):
Throughput (R/W): 10KiB/s / 264KiB/s
Events (8,0): 99 entries
Skips: 0 forward (0 -   0.0%)
";

/// An iolog of fio 3.33 (`--write_iolog`), with a trim put in.
const FIO_V3: &str = "\
fio version 3 iolog
23 /tmp/f add
158 /tmp/f open
166 /tmp/f read 61440 4096
472 /tmp/f write 774144 4096
39627 /tmp/f sync 585728 0
40000 /tmp/f trim 8192 1048576
40100 /tmp/f datasync 0 0
50000 /tmp/f close
";

const FIO_V2: &str = "\
fio version 2 iolog
/dev/sda add
/dev/sda open
/dev/sda write 0 4096
/dev/sda wait 500 0
/dev/sda read 4096 512
/dev/sda wait 1000 0
/dev/sda sync 0 0
/dev/sda close
";

fn read(text: &str, options: Options) -> Result<(Format, Vec<Record>, LineCounts), TraceError> {
    let mut reader = Reader::new("f", text.as_bytes(), options)?;
    let mut records = Vec::new();
    while reader.read(records.len() + 1, &mut records)? {}
    Ok((reader.format(), records, reader.counts()))
}

fn records(text: &str, format: Format) -> Vec<Record> {
    let (found, records, _) = read(text, Options::default()).unwrap();
    assert_eq!(found, format);
    records
}

fn record(at_ns: u64, op: Operation, offset_bytes: u64, len_bytes: u64) -> Record {
    Record { at_ns, op, fua: false, offset_bytes, len_bytes }
}

#[test]
fn msr_cambridge_is_read() {
    let expected = [
        record(0, Operation::Read, 7_014_609_920, 24_576),
        record(1_332_052_600, Operation::Write, 1_317_441_536, 8192),
        record(2_332_061_600, Operation::Write, 2_436_440_064, 4096),
    ];
    assert_eq!(records(MSR, Format::Msr), expected);
}

#[test]
fn systor_17_is_read_and_lines_without_a_type_ask_nothing() {
    let expected = [record(0, Operation::Read, 899_056_122_368, 131_072), record(100_000, Operation::Write, 4096, 512)];
    assert_eq!(records(SYSTOR, Format::Systor), expected);
    let (_, _, counts) = read(SYSTOR, Options::default()).unwrap();
    assert_eq!(counts, LineCounts { lines: 4, other: 2, volumes: 2, ..LineCounts::default() });
}

#[test]
fn alibaba_is_read() {
    let expected =
        [record(0, Operation::Read, 126_703_644_672, 4096), record(1000, Operation::Write, 8_792_731_648, 16_384)];
    assert_eq!(records(ALIBABA, Format::Alibaba), expected);
}

#[test]
fn of_blkparse_what_was_issued_is_read() {
    let at = |ns: u64| ns - 9_507_758;
    let expected = [
        record(0, Operation::Write, 223_490 * 512, 56 * 512),
        record(at(10_000_000), Operation::Flush, 0, 0),
        record(at(10_100_000), Operation::Flush, 0, 0),
        Record { fua: true, ..record(at(10_100_000), Operation::Write, 2048 * 512, 16 * 512) },
        Record { fua: true, ..record(at(10_200_000), Operation::Write, 4096 * 512, 8 * 512) },
        record(at(10_300_000), Operation::Trim, 1_000_000 * 512, 2048 * 512),
        record(at(10_400_000), Operation::Read, 0, 8 * 512),
        record(at(10_600_000), Operation::Flush, 0, 0),
    ];
    assert_eq!(records(BLKPARSE, Format::Blkparse), expected);
}

#[test]
fn a_device_that_issues_nothing_is_told() {
    let queued: String =
        BLKPARSE.lines().filter(|line| !line.contains(" D ")).map(|line| format!("{line}\n")).collect();
    assert!(matches!(*read(&queued, Options::default()).unwrap_err().problem, Problem::NoIssues));
}

#[test]
fn fio_iologs_are_read() {
    let expected = [
        record(0, Operation::Read, 61_440, 4096),
        record(306_000, Operation::Write, 774_144, 4096),
        record(39_461_000, Operation::Flush, 0, 0),
        record(39_834_000, Operation::Trim, 8192, 1 << 20),
        record(39_934_000, Operation::Flush, 0, 0),
    ];
    assert_eq!(records(FIO_V3, Format::FioV3), expected);
    let expected = [
        record(0, Operation::Write, 0, 4096),
        record(500_000, Operation::Read, 4096, 512),
        record(1_500_000, Operation::Flush, 0, 0),
    ];
    assert_eq!(records(FIO_V2, Format::FioV2), expected);
}

#[test]
fn only_the_volume_that_was_asked_for_is_read() {
    let of = |text: &str, volume: &str| {
        let volume = Some(volume.to_owned());
        read(text, Options { volume, ..Options::default() }).map(|(_, records, counts)| (records.len(), counts))
    };
    let (found, counts) = of(ALIBABA, "419").unwrap();
    assert_eq!((found, counts.other_volumes, counts.volumes), (1, 1, 1));
    assert_eq!(of(MSR, "usr,0").unwrap().0, 3);
    assert_eq!(of(BLKPARSE, "8,0").unwrap().0, 8);
    assert_eq!(of(SYSTOR, "3").unwrap().0, 1);
    assert_eq!(of(MSR, "usr,1").unwrap_err().to_string(), "f: has no request of volume 'usr,1'");
}

/// Each broken line, with what is said of it.
const BROKEN: &[(&str, &str)] = &[
    ("128166372003061629,usr,0,Raed,1,2,3", "1:26: the type is 'Raed', must be Read or Write"),
    ("128166372003061629,usr,0,Read,-1,2,3", "1:31: the offset is '-1', must be a whole number below 2^64"),
    ("128166372003061629,usr,0,Read,1", "1:32: the line ends before the size"),
    ("128166372003061629,usr,0,Read,1,512,3,4", "1:39: '4' follows the last field"),
    ("984467440737095517,usr,0,Read,1,2,3", "1:1: the timestamp is '984467440737095517', must be a smaller number"),
    ("128166372003061629,usr,0,Read,18446744073709551000,4096,3", "1:31: the request ends beyond 2^64 bytes"),
    ("128166372003061629,usr,0,Write,0,4294967296,3", "1:32: the request has 4294967296 bytes, the most is 4294967295"),
    (
        "1456135200.0131180001,0,R,0,1,2",
        "1:1: the timestamp is '1456135200.0131180001', must be seconds with at most nine decimals",
    ),
    ("1456135200.01,0,Q,0,1,2", "1:17: the type is 'Q', must be R, W or empty"),
    ("419,X,1,2,3", "1:5: the opcode is 'X', must be R or W"),
    ("  8,0 3 11 0.1 697 D W 223490 x 8 [a]", "1:31: the plus sign is 'x', must be +"),
    ("  8,0 3 11 0.1 697 D Q 223490 + 8 [a]", "1:22: the kind is 'Q', must be R, W, D, F or N with flags"),
    ("  8;0 3 11 0.1 697 D W 223490 + 8 [a]", "1:3: the device is '8;0', must be a device, as 8,0"),
    (
        "100 /dev/sda wait 1 2",
        "1:14: the action is 'wait', must be read, write, trim, sync, datasync, add, open or close",
    ),
    ("100 /dev/sda read 1", "1:20: the line ends before the length"),
    ("\u{1b}[31m", "1:1: the time is '\\u{1b}[31m', must be a whole number below 2^64"),
];

fn format_of(line: &str) -> Format {
    match line.split(',').count() {
        5 if !line.starts_with(' ') => Format::Alibaba,
        6 => Format::Systor,
        4.. if !line.starts_with(' ') => Format::Msr,
        _ if line.starts_with(' ') => Format::Blkparse,
        _ => Format::FioV3,
    }
}

#[test]
fn a_broken_line_is_named_with_its_column() {
    for (line, message) in BROKEN {
        let format = if line.starts_with("12") || line.starts_with("98") { Format::Msr } else { format_of(line) };
        let error = read(line, Options { format: Some(format), ..Options::default() }).unwrap_err();
        assert!(error.is_of_a_line());
        assert_eq!(error.to_string(), format!("f:{message}"), "{line}");
    }
    let error = read(&format!("{MSR}\n{MSR}"), Options::default()).unwrap_err().to_string();
    assert_eq!(error, "f:5:1: time runs backwards: 2.332062 s before the request above");
}

#[test]
fn broken_lines_are_skipped_and_counted_where_that_is_wanted() {
    let skip = || Options { skip_bad: true, ..Options::default() };
    let text = format!("{MSR}garbage\n{MSR}");
    let (_, records, counts) = read(&text, skip()).unwrap();
    assert_eq!((records.len(), counts.bad, counts.backwards, counts.lines), (6, 1, 2, 7));
    // Time that ran backwards stands still; what is not before the last request counts as it is.
    let times: Vec<u64> = records.iter().map(|record| record.at_ns).collect();
    assert_eq!(times, [0, 1_332_052_600, 2_332_061_600, 2_332_061_600, 2_332_061_600, 2_332_061_600]);
    let long = format!("{}\n{MSR}", "x".repeat(100_000));
    let (_, records, counts) = read(&long, Options { format: Some(Format::Msr), ..skip() }).unwrap();
    assert_eq!((records.len(), counts.bad), (3, 1));
}

#[test]
fn what_stands_before_a_broken_line_is_read() {
    let text = format!("{MSR}garbage\n");
    let mut reader = Reader::new("f", text.as_bytes(), Options::default()).unwrap();
    let mut records = Vec::new();
    assert_eq!(reader.read(100, &mut records).unwrap_err().to_string(), "f:4:8: the line ends before the host name");
    assert_eq!(records.len(), 3);
}

#[test]
fn files_without_a_request_are_told() {
    assert!(matches!(*read("", Options::default()).unwrap_err().problem, Problem::Empty { volume: None }));
    assert!(matches!(*read("{}\n", Options::default()).unwrap_err().problem, Problem::Unrecognised));
    assert!(matches!(*read("fio version 3 iolog\n", Options::default()).unwrap_err().problem, Problem::Empty { .. }));
}
