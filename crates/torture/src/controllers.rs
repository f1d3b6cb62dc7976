//! Two controllers that both have the modules.

use crate::CardUnderTest;
use crate::sim::Impact;
use crate::subject::{CARD, MAX_IN_FLIGHT};
use card::StorageCard;
use device::{Device, Request, RequestId, Rng, SECTOR_BYTES, Time};
use media::RequestData;

impl CardUnderTest {
    /// Another controller claims the modules and writes, while this one serves; every sector keeps the contents that
    /// the media have for it. Where media can't refuse this one, its next program would land on what the other has
    /// written: then it is not applicable. Nor is it while the capacitors of this one hold what it has acknowledged:
    /// nobody could bring that to the media any more.
    pub(crate) fn other_controller_writes(&mut self, seed: u64) -> Option<Impact> {
        let config = *self.config();
        let flash = self.card.as_ref()?.media_contents()?;
        if !flash.physics().fencing || config.power_loss_protection {
            return None;
        }
        let (ours, mut media) = (flash.controller(), flash.clone());
        media.set_controller(seed | 1 << 63);
        let (mut other, _) = StorageCard::open(&config, media, Some(CARD), MAX_IN_FLIGHT, seed).ok()?;
        let (mut now, mut done) = (self.now, Vec::new());
        other.start_up(now, &mut done);
        // Any start is waited for. The data that this one had under way lie in stripes that are not whole, and stand
        // for versions whose bands are being erased: until the other has moved them, the redundancy is in use, and a
        // module that is pulled next would be one too many.
        while !other.is_ready() && other.next_event() != Time::NEVER {
            now = other.next_event();
            other.advance(now, &mut done);
        }
        let mut rng = Rng::stream(seed, "the other controller");
        for _ in 0..1 + rng.below(16) {
            let lba = rng.below(config.ftl.user_sectors);
            let bytes = SECTOR_BYTES as u32;
            let read = Request::read(lba * SECTOR_BYTES, bytes).with(RequestData::none());
            if let [sector] = ask(&mut other, &mut now, read)?.sectors()
                && let Some(payload) = sector.payload()
            {
                let data = other.pack(0, payload);
                ask(&mut other, &mut now, Request::write(lba * SECTOR_BYTES, bytes).with(data))?;
            }
        }
        ask(&mut other, &mut now, Request::flush().with(RequestData::none()))?;
        let mut media = other.into_media()?;
        media.set_controller(ours);
        *self.flash_mut() = media;
        Some(Impact { may_fail: true, ..Impact::default() })
    }
}

/// Asks and waits for the answer; `None`: the card has stopped, for more is gone than it can do without.
fn ask(card: &mut StorageCard, now: &mut Time, request: Request<RequestData>) -> Option<RequestData> {
    let mut done = Vec::new();
    card.submit(*now, RequestId(0), request, &mut done);
    loop {
        if let Some(completion) = done.pop() {
            return Some(completion.data);
        }
        if card.is_halted() {
            return None;
        }
        *now = card.next_event();
        assert_ne!(*now, Time::NEVER, "the other controller hangs");
        card.advance(*now, &mut done);
    }
}
