//! Takes any bytes as those of an NVMe controller, in any pieces, while commands are in flight: each command ends once, data stay
//! within their command, and nothing is asked to be sent that the command does not have.
#![no_main]

mod counted;

use libfuzzer_sys::fuzz_target;
use serve::nvme::initiator::{
    Arrival, Ask, Broken, ControllerFacts, DEPTH, Discovered, DiscoveryPage, HostQueue, NamespaceFacts, Report,
    is_optimized, namespaces,
};

/// A PDU with its digests, most of its fields plausible, from a few bytes, because chance alone seldom makes one.
fn pdu(part: &[u8]) -> Vec<u8> {
    let &[kind, slot, uses, a, b, flags] = part else { return part.to_vec() };
    let id = u16::from(slot & 0x7F) | u16::from(uses & 3) << 7;
    let mut header = vec![0u8; 24];
    header[2] = 24;
    header[8..10].copy_from_slice(&id.to_le_bytes());
    let data: Vec<u8> = match kind % 4 {
        0 => {
            (header[0], header[1]) = (5, 1);
            header[8..20].fill(0);
            header[20..22].copy_from_slice(&id.to_le_bytes());
            header[22] = if flags & 1 == 0 { 0 } else { a };
            header[23] = if flags & 1 == 0 { 0 } else { b };
            Vec::new()
        }
        1 => {
            (header[0], header[1]) = (9, 1);
            header[12..16].copy_from_slice(&(u32::from(a) << 10).to_le_bytes());
            header[16..20].copy_from_slice(&(u32::from(b) << 10).to_le_bytes());
            Vec::new()
        }
        2 => {
            (header[0], header[1]) = (7, 3 | flags & 12);
            let data = vec![a; usize::from(b) * 512];
            header[12..16].copy_from_slice(&(u32::from(a) << 9).to_le_bytes());
            header[16..20].copy_from_slice(&(data.len() as u32).to_le_bytes());
            data
        }
        _ => return part.to_vec(),
    };
    let tail = if data.is_empty() { 0 } else { data.len() + 4 };
    header[3] = if data.is_empty() { 0 } else { 28 };
    header[4..8].copy_from_slice(&(28 + tail as u32).to_le_bytes());
    let mut bytes = header.clone();
    bytes.extend(crc32c::crc32c(&header).to_le_bytes());
    if !data.is_empty() {
        let sum = crc32c::crc32c(&data) ^ u32::from(flags >> 7);
        bytes.extend(&data);
        bytes.extend(sum.to_le_bytes());
    }
    // Sometimes a field is wrong.
    if kind >= 0xE0 {
        let at = usize::from(flags) % bytes.len().min(32);
        bytes[at] ^= 1 << (a & 7);
    }
    bytes
}

fn initialized() -> Vec<u8> {
    let mut bytes = vec![0u8; 128];
    (bytes[0], bytes[2], bytes[4], bytes[11]) = (1, 128, 128, 3);
    bytes[12..16].copy_from_slice(&(8u32 << 10).to_le_bytes());
    bytes
}

type Seen = (Vec<Arrival>, Option<Broken>, Vec<u8>);

fn run(stream: &[u8], piece: usize) -> Seen {
    let mut out = Vec::new();
    let mut queue = HostQueue::begin(&mut out);
    // Reads, writes in the capsule and behind it, and flushes.
    let asks =
        [Ask::read(1, 0, 16, 4096), Ask::write(1, 0, 1, 4096, true), Ask::write(1, 0, 32, 4096, false), Ask::flush(1)];
    let data = vec![7; 128 << 10];
    let mut running: Vec<Option<(usize, u64)>> = vec![None; DEPTH];
    let (mut input, mut begin, mut seen, mut next) = (Vec::new(), 0, Vec::new(), 0);
    let mut ready = false;
    for piece in stream.chunks(piece) {
        input.extend_from_slice(piece);
        loop {
            while ready && queue.in_flight() < 8 {
                let ask = &asks[next % asks.len()];
                let slot = queue.send(ask, &data[..ask.write_bytes as usize], &mut out);
                assert!(running[slot].replace((next % asks.len(), 0)).is_none(), "a slot has one command");
                next += 1;
            }
            let (consumed, arrival) = match queue.parse(&input[begin..]) {
                Ok(parsed) => parsed,
                Err(broken) => return (seen, Some(broken), out),
            };
            let mut end = None;
            match &arrival {
                Arrival::Missing { at_least_bytes } => {
                    assert!(*at_least_bytes > 0 && consumed == 0);
                    break;
                }
                Arrival::Initialized => ready = true,
                Arrival::Data { slot, offset, range, completion } => {
                    let (ask, moved) = running[*slot].as_mut().expect("data of a command in flight");
                    assert!(*moved == *offset as u64 && range.end <= consumed);
                    *moved += range.len() as u64;
                    assert!(*moved <= asks[*ask].read_bytes.into(), "data stay within their command");
                    end = *completion;
                }
                Arrival::Wants { slot, tag, offset, length } => {
                    let (ask, moved) = running[*slot].as_mut().expect("a command in flight");
                    assert_eq!(*moved, u64::from(*offset), "each byte is asked for once");
                    *moved += u64::from(*length);
                    assert!(*moved <= asks[*ask].write_bytes.into());
                    let range = *offset as usize..(*offset + *length) as usize;
                    queue.send_data(*slot, *tag, *offset, &data[range], &mut out);
                }
                Arrival::Completed(completion) => end = Some(*completion),
            }
            if let Some(end) = end {
                assert!(running[end.slot].take().is_some(), "a command ends once");
            }
            begin += consumed;
            seen.push(match arrival {
                // The place in the input depends on the pieces.
                Arrival::Data { slot, offset, range, completion } => {
                    Arrival::Data { slot, offset, range: 0..range.len(), completion }
                }
                other => other,
            });
        }
    }
    assert_eq!(running.iter().flatten().count(), queue.in_flight());
    (seen, None, out)
}

fuzz_target!(|data: &[u8]| {
    let Some(([how, most], stream)) = data.split_first_chunk() else { return };
    // The structures that commands bring.
    let mut page = stream.to_vec();
    page.resize(4096, 0);
    let _ = (ControllerFacts::of(&page), NamespaceFacts::of(&page), namespaces(&page));
    let _ = is_optimized(&page[..48]);
    let _ = (DiscoveryPage::of(&page[..1024]), Discovered::of(&page[..1024]));
    if let Ok(report) = Report::of(stream) {
        assert!(report.registered.len() * 64 < stream.len().max(1));
    }
    let pdus = match how & 1 {
        0 => stream.chunks(6).map(pdu).collect::<Vec<_>>().concat(),
        _ => stream.to_vec(),
    };
    let whole = if how & 2 == 0 { [initialized(), pdus].concat() } else { pdus };
    let one = run(&whole, usize::MAX);
    let pieces = run(&whole, 1 + usize::from(*most));
    counted::parsed(2 * whole.len());
    // More commands are sent after each arrival, in whatever pieces it came.
    assert!(one == pieces, "pieces do not matter");
});
