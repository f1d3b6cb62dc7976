//! Reads round a module that is missing or slow: the same sectors of the other members of the stripe, whose sum by
//! exclusive or is what was wanted.
//!
//! Nothing but the sum is checked, by the checksums beside the map: so no member needs more than its payloads, and a
//! member that is stale, or of another opening of the band, is found out all the same.

use crate::card::{Card, Done};
use crate::contents::Storage;
use crate::contents::direct_reads::{DirectRead, For, ReadRebuild};
use crate::contents::read_bytes::ReadBytes;
use crate::core::read_run::Wanted;
use crate::flows::direct_reads::Findings;
use device::Time;
use media::{SectorData, SectorsAt};

impl Card<Storage> {
    /// Begins to rebuild what a request wants, perhaps as the hedge of a read in flight; false where that can't be.
    pub(crate) fn begin_read_rebuild(&mut self, now: Time, wanted: Wanted, hedges: Option<u64>) -> bool {
        let layout = *self.core.ftl.layout();
        let stripe = layout.stripe_of(wanted.unit);
        let units = self.core.ftl.stripe_units(stripe);
        let unit = wanted.unit.die % layout.width;
        if units.parity == 0 || !self.knows_checksums(&wanted) {
            return false;
        }
        let others = (units.data | units.parity) & !(1 << unit);
        let mut members = Vec::new();
        for other in (0..layout.width).filter(|other| others >> other & 1 == 1) {
            let address = layout.unit_address(stripe, other);
            let at = self.sectors_at(address, wanted.ppa, wanted.count, false);
            let (Some(at), Some(ends)) = (at, self.end_of_direct(now, address)) else { return false };
            members.push((address, at, ends));
        }
        let sum = vec![0; wanted.count as usize * self.contents.store.payload_bytes()];
        let rebuild = ReadRebuild { wanted, hedges, left: members.len() as u32, lacks_member: false, sum };
        let rebuild = self.contents.direct_reads.begin_rebuild(rebuild);
        for (address, at, ends) in members {
            let tag = self.contents.direct_reads.begin_member(rebuild, address, at, now, ends);
            self.begin_direct_on_medium(tag, &at);
        }
        true
    }

    /// A read takes far longer than others.
    pub(crate) fn hedge(&mut self, now: Time, tag: u64, read: &DirectRead) {
        if let For::Host(wanted) = read.purpose
            && self.contents.direct_reads.may_hedge(tag)
            && self.begin_read_rebuild(now, wanted, Some(tag))
        {
            self.contents.store.counters.hedged_reads += 1;
        }
    }

    /// A member of a stripe has come, or can't be read.
    pub(crate) fn member_came(
        &mut self,
        now: Time,
        number: u64,
        read: &DirectRead,
        brought: Option<&ReadBytes>,
        done: &mut Done<Storage>,
    ) {
        let bytes = self.contents.store.payload_bytes();
        let Some(rebuild) = self.contents.direct_reads.rebuild(number) else { return };
        let SectorsAt { first, count, .. } = read.at;
        let payload = |sector| brought.and_then(|brought| brought.payload(sector));
        match (first..first + count).map(payload).collect::<Option<Vec<&[u8]>>>() {
            Some(payloads) => {
                for (sum, payload) in rebuild.sum.chunks_exact_mut(bytes).zip(payloads) {
                    sum.iter_mut().zip(payload).for_each(|(sum, byte)| *sum ^= byte);
                }
            }
            None => rebuild.lacks_member = true,
        }
        rebuild.left -= 1;
        if rebuild.left == 0 {
            let rebuild = self.contents.direct_reads.end_rebuild(number).expect("just seen");
            self.finish_read_rebuild(now, read.began, rebuild, done);
        }
    }

    fn finish_read_rebuild(&mut self, now: Time, began: Time, rebuild: ReadRebuild, done: &mut Done<Storage>) {
        let ReadRebuild { wanted, hedges, lacks_member, sum, .. } = rebuild;
        let mut findings = Findings::default();
        let sectors = sum.chunks_exact(self.contents.store.payload_bytes());
        for (i, payload) in (0..wanted.count).zip(sectors) {
            let data = (!lacks_member).then(|| SectorData::Data(payload.into()));
            if !self.find(&mut findings, &wanted, i, data) {
                findings.unfit.push(i);
            }
        }
        if let Some(tag) = hedges {
            // The read that it hedges may yet bring what the rebuild could not.
            if !findings.unfit.is_empty() {
                return;
            }
            self.contents.direct_reads.give_up(tag);
        }
        self.contents.store.counters.rebuilt_sectors += findings.contents.len() as u64;
        self.deliver(now, &wanted, began, findings, done);
    }
}
