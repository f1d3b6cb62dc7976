//! The state in which a load finds a card, made without time and used by all candidates that flash management is the same
//! for.

use crate::fit::condition::Condition;
use device::SECTOR_BYTES;
use ftl::{Ftl, Lba};
use profile::DeviceConfig;
use target::{Modelled, Pattern, Progress, RunError};

/// Number of rounds that streams take, so that nothing of what lay there before is left.
const ROUNDS: u32 = 3;

/// Returns the key of a state: everything of the card that is not a time, and how it was written.
pub(crate) fn state_key(device: &DeviceConfig, condition: &Condition) -> String {
    let cards = device.cards();
    let first = cards.first().map(|card| {
        let multi_plane = (card.nand.geometry, card.nand.endurance);
        (multi_plane, card.ftl, card.bands, cards.len())
    });
    format!("{first:?} {} {:?}", device.user_bytes(), condition.state())
}

/// A device as the load finds it.
pub(crate) fn make(
    device: &DeviceConfig,
    condition: &Condition,
    seed: u64,
    progress: &dyn Progress,
) -> Result<Modelled, RunError> {
    let mut state = Modelled::new(device, 1, false, seed)?;
    let user_bytes = device.user_bytes();
    let in_use = condition.in_use_bytes(user_bytes).next_multiple_of(SECTOR_BYTES).min(user_bytes);
    let pattern = if condition.fill > 0.0 { condition.pattern(user_bytes) } else { Pattern::None };
    target::precondition(&mut state, in_use, pattern, seed, progress)?;
    let streams = u64::from(condition.write_streams());
    if streams > 1 {
        let block_bytes = u64::from(condition.block_bytes);
        let file_bytes = condition.file_bytes(user_bytes).next_multiple_of(SECTOR_BYTES).min(user_bytes);
        match &mut state {
            Modelled::Card(card) => stream(card.ftl_mut(), file_bytes, streams, block_bytes)?,
            Modelled::Mirrored(mirrored) => {
                for card in mirrored.cards_mut() {
                    stream(card.ftl_mut(), file_bytes, streams, block_bytes)?;
                }
            }
            Modelled::Striped(striped) => {
                for i in 0..striped.cards().len() {
                    let share = striped.card_offset(i as u64, file_bytes);
                    let cards = striped.cards().len() as u64;
                    stream(striped.cards_mut()[i].ftl_mut(), share, streams, block_bytes / cards)?;
                }
            }
            // Their streams would meet on parity: fits are of single cards, stripes and mirrors.
            Modelled::Zoned(_)
            | Modelled::Raid5(_)
            | Modelled::Disks(_)
            | Modelled::Volume(_)
            | Modelled::Cached(_) => {}
        }
    }
    Ok(state)
}

/// Writes as streams do that each go through a region of their own: a block of each in turn. A card of the model has few
/// bands for each region, and would take several times its size in writes until its bands lie as they leave them.
fn stream(ftl: &mut Ftl, bytes: u64, streams: u64, block_bytes: u64) -> Result<(), ftl::ReadOnly> {
    let block = block_bytes.div_ceil(SECTOR_BYTES).max(1);
    let region = bytes / SECTOR_BYTES / streams / block * block;
    for _ in 0..ROUNDS {
        for at in (0..region).step_by(block as usize) {
            for first in (0..streams).map(|stream| stream * region + at) {
                for sector in first..first + block {
                    ftl.write_now(Lba(sector as u32))?;
                }
            }
        }
    }
    ftl.settle_now();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::start::write_amplification;
    use load::FileioMode;
    use profile::Profile;
    use target::Silent;

    /// The rest of a full card gathers in bands that nobody collects: what is overwritten has all spare space to itself.
    #[test]
    fn a_part_of_a_full_card_is_overwritten_as_a_card_of_the_rest_would_be() {
        let device = Profile::builtin("tachion-400").unwrap().lower(1.0 / 64.0).unwrap();
        for file in [0.1, 0.25, 0.5, 0.75] {
            let condition = Condition { file, ..Condition::random(FileioMode::RndWr, 4 << 10, 16) };
            let mut state = make(&device, &condition, 1, &Silent).unwrap();
            let Modelled::Card(card) = &mut state else { panic!("one card") };
            let sectors = condition.file_bytes(device.user_bytes()) / SECTOR_BYTES;
            let before = card.ftl().counters();
            let mut random = 1_u64;
            for _ in 0..4 * sectors {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                card.ftl_mut().write_now(Lba(((random >> 33) % sectors) as u32)).unwrap();
            }
            let seen = card.ftl().counters().since(&before);
            let seen = 1.0 + seen.relocated_sectors as f64 / seen.host_sectors as f64;
            let expected = write_amplification(condition.utilization(card.ftl().effective_spare_factor()));
            assert!((seen / expected - 1.0).abs() < 0.01, "{file}: {seen}, and {expected} by theory");
        }
    }

    #[test]
    fn streams_find_the_card_as_they_leave_it() {
        let device = Profile::builtin("tachion-400").unwrap().lower(1.0 / 256.0).unwrap();
        for threads in [4, 16, 64] {
            let condition =
                Condition { own_regions: true, ..Condition::random(FileioMode::SeqRewr, 128 << 10, threads) };
            let mut state = make(&device, &condition, 1, &Silent).unwrap();
            let Modelled::Card(card) = &mut state else { panic!("one card") };
            let before = card.ftl().counters();
            stream(card.ftl_mut(), device.user_bytes(), threads.into(), 128 << 10).unwrap();
            let done = card.ftl().counters().since(&before);
            // They overwrite all of a band before any of it is collected.
            assert!(done.relocated_sectors * 50 < done.host_sectors, "{threads}: {done:?}");
        }
    }
}
