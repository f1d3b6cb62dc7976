//! Everything that is asked of media, whatever lies on them: an answer or an error of one line, no panic, and an end.
//! Tests and the fuzzer use it.

use card::StorageCard;
use device::{Completion, Device, Request, RequestId, SECTOR_BYTES, Time};
use format::ModuleHeader;
use fsck::Examined;
use media::{Flash, Media, RequestData};
use torture::config_of;

/// Media with more sectors are left alone: nothing new, but slow.
pub const MOST_SECTORS: u64 = 1 << 14;
/// Events of a card until it has answered.
const MOST_EVENTS: u32 = 200_000;

fn one_line(error: &dyn std::fmt::Display) {
    assert_eq!(error.to_string().lines().count(), 1, "{error}");
}

/// Explains the media, and opens them as a card and uses it.
pub fn exercise(flash: Flash) {
    let shape = *flash.shape();
    let units = u64::from(shape.modules) * u64::from(shape.dies_per_module) * u64::from(shape.blocks_per_die);
    let sectors = units.saturating_mul(u64::from(shape.rows_per_block)).saturating_mul(shape.unit_sectors.into());
    if sectors > MOST_SECTORS {
        return;
    }
    explain(flash.clone());
    serve(flash);
}

fn explain(flash: Flash) {
    let bands = flash.shape().blocks_per_die;
    let mut card = match Examined::new(flash) {
        Ok(card) => card,
        Err(error) => return one_line(&error),
    };
    let report = card.report(true, 50_000).unwrap_or_else(|error| panic!("no report: {error}"));
    report.verdict.reasons.iter().for_each(|reason| one_line(reason));
    let last = report.card.as_ref().map_or(0, |card| card.user_sectors.min(256) as u32 - 1);
    if let Err(error) = card.sectors(0..=last) {
        one_line(&error);
    }
    for band in 0..bands {
        match card.band(band) {
            Ok(detail) => detail.stripes.iter().take(4).for_each(|line| {
                card.stripe(band, line.stripe).unwrap_or_else(|error| panic!("no stripe: {error}"));
            }),
            Err(error) => one_line(&error),
        }
    }
}

fn serve(mut flash: Flash) {
    let slots = flash.shape().modules;
    let headers = (0..slots).flat_map(|slot| [(slot, 0), (slot, 1)]);
    let headers: Vec<ModuleHeader> =
        headers.filter_map(|(slot, copy)| ModuleHeader::decode(&flash.read_header(slot, copy).ok()??).ok()).collect();
    let Some(header) = headers.into_iter().max_by_key(|header| header.generation) else { return };
    let config = config_of(&header);
    let mut card = match StorageCard::open(&config, flash, None, 4, 1) {
        Ok((card, _)) => card,
        Err(failed) => return one_line(&failed.0),
    };
    let (mut now, mut done, mut events) = (Time::ZERO, Vec::new(), 0);
    card.start_up(now, &mut done);
    while !card.is_ready() && step(&mut card, &mut now, &mut done, &mut events) {}
    let sectors = config.ftl.user_sectors;
    let payload = vec![7; header.shape.payload_bytes as usize];
    for round in 0..40u64 {
        let (offset_bytes, len_bytes) = (round * 7 % sectors * SECTOR_BYTES, SECTOR_BYTES as u32);
        let request = match round % 5 {
            0 | 1 => {
                let data = card.pack(0, &payload);
                Request::write(offset_bytes, len_bytes).with(data)
            }
            2 => Request::read(offset_bytes, len_bytes).with(RequestData::none()),
            3 => Request::trim(offset_bytes, len_bytes).with(RequestData::none()),
            _ => Request::flush().with(RequestData::none()),
        };
        done.clear();
        card.submit(now, RequestId(0), request, &mut done);
        while done.is_empty() {
            // A card that can't take writes any more, or whose media fail, answers nothing, and has nothing to do.
            if !step(&mut card, &mut now, &mut done, &mut events) {
                return;
            }
        }
    }
    if let Some(flash) = card.into_media() {
        explain(flash);
    }
}

/// The card's next event; `false`: there is none.
fn step(card: &mut StorageCard, now: &mut Time, done: &mut Vec<Completion<RequestData>>, events: &mut u32) -> bool {
    *events += 1;
    assert!(*events < MOST_EVENTS, "the card never comes to rest");
    let next = card.next_event();
    if next == Time::NEVER || card.is_halted() {
        return false;
    }
    *now = next;
    card.advance(next, done);
    true
}
