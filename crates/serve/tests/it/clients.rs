//! Real clients, as Debian has them.

use crate::common::{client, served, succeeds};
use serve::{Limits, Security};

const MIB: u64 = 1 << 20;

/// Bytes that neither repeat nor compress.
fn noise(len: usize) -> Vec<u8> {
    let mut state = 88_172_645_463_325_252u64;
    (0..len)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 32) as u8
        })
        .collect()
}

#[test]
fn nbdinfo_sees_what_is_exported() {
    let served = served(64 * MIB, Security::Plain, Limits::default());
    let list = succeeds("nbdinfo", "libnbd-bin", &["--list", "--json", &served.uri()]);
    for word in ["\"export-name\": \"card\"", "\"export-name\": \"looked-at\"", "\"export-size\": 67108864"] {
        assert!(list.contains(word), "{word} is missing in\n{list}");
    }
    let info = succeeds("nbdinfo", "libnbd-bin", &["--json", &served.uri()]);
    for word in ["flush", "fua", "trim", "zero", "fast_zero", "multi_conn", "df", "cache"] {
        assert!(info.contains(&format!("\"can_{word}\": true")), "{word} is missing in\n{info}");
    }
    assert!(
        succeeds("nbdinfo", "libnbd-bin", &["--json", &served.uri_of("looked-at")]).contains("\"is_read_only\": true")
    );
    let map = succeeds("nbdinfo", "libnbd-bin", &["--map", &served.uri()]);
    assert!(map.contains("67108864") && map.contains("hole,zero"), "{map}");
    assert!(!client("nbdinfo", "libnbd-bin", &[&served.uri_of("another")]).status.success());
}

#[test]
fn nbdcopy_brings_back_what_it_brought() {
    let served = served(64 * MIB, Security::Plain, Limits::default());
    let (there, back) = (served.file("there"), served.file("back"));
    let mut bytes = noise(64 << 20);
    bytes[8 << 20..24 << 20].fill(0);
    std::fs::write(&there, &bytes).unwrap();
    succeeds("nbdcopy", "libnbd-bin", &["--connections=4", "--flush", there.to_str().unwrap(), &served.uri()]);
    succeeds("nbdcopy", "libnbd-bin", &[&served.uri(), back.to_str().unwrap()]);
    assert!(std::fs::read(&back).unwrap() == bytes);
    let map = succeeds("nbdinfo", "libnbd-bin", &["--map", &served.uri()]);
    assert!(map.contains("16777216") && map.contains("hole,zero"), "the zeroes are a hole:\n{map}");
}

#[test]
fn nbdsh_finds_each_command_as_the_protocol_has_it() {
    let served = served(64 * MIB, Security::Plain, Limits::default());
    let script = r#"
import errno
h.set_request_structured_replies(True)
h.add_meta_context("base:allocation")
h.connect_uri(uri)
assert h.get_size() == 64 << 20
assert h.get_structured_replies_negotiated()
h.pwrite(b"x" * 8192, 4096)
h.pwrite(b"y" * 512, 5000, nbd.CMD_FLAG_FUA)
assert h.pread(8192, 4096) == b"x" * 904 + b"y" * 512 + b"x" * (8192 - 904 - 512)
assert h.pread(100, 12288 - 50) == b"x" * 50 + b"\0" * 50
h.flush()
h.trim(4096, 4096)
assert h.pread(4096, 4096) == b"\0" * 4096
h.pwrite(b"z" * 4096, 0)
h.zero(4096, 0, nbd.CMD_FLAG_FAST_ZERO)
assert h.pread(4096, 0) == b"\0" * 4096
h.pwrite(b"z" * 8192, 0)
h.zero(3000, 1000, nbd.CMD_FLAG_FUA)
assert h.pread(8192, 0) == b"z" * 1000 + b"\0" * 3000 + b"z" * 4192
h.zero(4096, 0, nbd.CMD_FLAG_NO_HOLE)
found = []
h.block_status(64 << 20, 0, lambda context, offset, entries, error: found.append((context, offset, entries)) or 0)
assert found[0][0] == "base:allocation" and found[0][2][:2] == [12288, 0], found
assert found[0][2][2] == (64 << 20) - 12288 and found[0][2][3] == 3, found
h.cache(1 << 20, 0)
chunks = []
h.pread_structured(8192, 0, lambda data, offset, status, error: chunks.append((len(data), offset)) or 0)
assert sum(c[0] for c in chunks) == 8192, chunks
def fails(what, number):
    try:
        what()
    except nbd.Error as e:
        assert e.errnum == number, (e.errnum, number)
    else:
        raise AssertionError("it worked")
h.set_strict_mode(0)
fails(lambda: h.pread(4096, 64 << 20), errno.EINVAL)
fails(lambda: h.pwrite(b"x" * 4096, (64 << 20) - 1), errno.ENOSPC)
fails(lambda: h.zero(4096, 0, nbd.CMD_FLAG_FAST_ZERO | nbd.CMD_FLAG_NO_HOLE), errno.EOPNOTSUPP)
h.pwrite(b"still here" * 10, 77)
# Many at once, in any order.
import random
buffers = {}
for i in range(300):
    b = nbd.Buffer.from_bytearray(bytearray([i % 251]) * 4096)
    buffers[h.aio_pwrite(b, (1 << 20) + i * 4096)] = i
    while h.aio_in_flight() > 60:
        h.poll(-1)
        for c in list(buffers):
            if h.aio_command_completed(c): del buffers[c]
while h.aio_in_flight() > 0:
    h.poll(-1)
for i in random.sample(range(300), 60):
    assert h.pread(4096, (1 << 20) + i * 4096) == bytes([i % 251]) * 4096
h.shutdown()
"#;
    let uri = format!("uri = '{}'", served.uri());
    succeeds("nbdsh", "python3-libnbd", &["-c", &uri, "-c", script]);
    let read_only = format!(
        "uri = '{}'\nimport errno\nh.set_strict_mode(0)\nh.connect_uri(uri)\ntry:\n  h.pwrite(b'x' * 512, 0)\n  raise SystemExit('it was written')\nexcept nbd.Error as e:\n  assert e.errnum == errno.EPERM, e",
        served.uri_of("looked-at")
    );
    succeeds("nbdsh", "python3-libnbd", &["-c", &read_only]);
}

#[test]
fn what_one_connection_flushes_covers_the_other() {
    let served = served(64 * MIB, Security::Plain, Limits::default());
    let script = format!(
        "uri = '{}'\nother = nbd.NBD()\nother.connect_uri(uri)\nh.connect_uri(uri)\nh.pwrite(b'a' * 65536, 0)\nother.flush()\nassert other.pread(65536, 0) == b'a' * 65536",
        served.uri()
    );
    succeeds("nbdsh", "python3-libnbd", &["-c", &script]);
    served.live.act(live::Action::PowerCut).unwrap();
    served.live.act(live::Action::PowerOn).unwrap();
    let check = format!("h.connect_uri('{}')\nassert h.pread(65536, 0) == b'a' * 65536", served.uri());
    succeeds("nbdsh", "python3-libnbd", &["-c", &check]);
}

#[test]
fn qemu_converts_compares_and_measures() {
    let served = served(64 * MIB, Security::Plain, Limits::default());
    let raw = served.file("raw");
    std::fs::write(&raw, noise(64 << 20)).unwrap();
    let (raw, uri) = (raw.to_str().unwrap(), served.uri());
    let uri = uri.as_str();
    succeeds("qemu-img", "qemu-utils", &["convert", "-n", "-m", "16", "-W", "-f", "raw", "-O", "raw", raw, uri]);
    let same = succeeds("qemu-img", "qemu-utils", &["compare", "-f", "raw", "-F", "raw", raw, uri]);
    assert!(same.contains("identical"), "{same}");
    let qcow = served.file("card.qcow2");
    succeeds("qemu-img", "qemu-utils", &["convert", "-O", "qcow2", uri, qcow.to_str().unwrap()]);
    succeeds("qemu-img", "qemu-utils", &["compare", qcow.to_str().unwrap(), uri]);
    let bench = ["bench", "-f", "raw", "-t", "none", "-w", "-c", "5000", "-d", "32", "-s", "4096", "-S", "8192"];
    succeeds("qemu-img", "qemu-utils", &[&bench[..], &["--flush-interval=64", uri]].concat());
    let io = [
        "write -P 0x5a 0 1M",
        "read -P 0x5a 0 1M",
        "write -z 64k 64k",
        "read -P 0 64k 64k",
        "discard 256k 128k",
        "read -P 0 256k 128k",
        "write -f -P 7 512 512",
        "read -P 7 512 512",
        "flush",
        "aio_write -P 9 2M 4M",
        "aio_flush",
        "read -P 9 2M 4M",
        "map",
    ];
    let mut args = vec!["-f", "raw", "-t", "none"];
    io.iter().for_each(|command| args.extend(["-c", command]));
    args.push(uri);
    let out = succeeds("qemu-io", "qemu-utils", &args);
    assert!(!out.contains("failed") && !out.contains("mismatch"), "{out}");
}

#[test]
fn fio_verifies_what_it_wrote() {
    let served = served(256 * MIB, Security::Plain, Limits::default());
    let uri = format!("--uri={}", served.uri());
    for (block, depth) in [("4k", "32"), ("512", "8"), ("16k-130k", "16")] {
        let size = if block == "512" { "--size=8m" } else { "--size=128m" };
        let (block, depth) = (format!("--bsrange={block}"), format!("--iodepth={depth}"));
        let block = if block.contains("k-") { block } else { block.replace("bsrange", "bs") };
        let args = [
            "--ioengine=nbd",
            &uri,
            "--name=verify",
            "--rw=randrw",
            "--rwmixread=30",
            size,
            &depth,
            &block,
            "--verify=crc32c",
            "--verify_fatal=1",
            // A file of its own in the working directory.
            "--verify_state_save=0",
            "--norandommap=0",
            "--randrepeat=1",
            "--fsync=64",
        ];
        let out = succeeds("fio", "fio", &args);
        assert!(out.contains("err= 0"), "{out}");
    }
}
