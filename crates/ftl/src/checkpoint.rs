//! Checkpoints: the map as it was at one moment, written while the card continues.
//!
//! A checkpoint is begun at one moment and handed out part by part. Before an entry of the map changes, its part is
//! copied if it was not handed out yet, so that all parts show the map at that moment. Part 0, with the head, comes
//! last, and only when everything that the map points to is on flash. So a complete checkpoint can be believed.
//!
//! Checkpoints lie in bands of their own, which are taken from the free bands like any other. When a checkpoint is
//! complete, the bands of the one before are erased.

use crate::bands::BandState;
use crate::canary::{Canary, planted};
use crate::checkpoint_state::{ENTRY_BYTES, Snapshot};
use crate::ftl::Ftl;
use crate::layout::{BandId, NONE, Ppa};
use crate::recover::{BAND_KNOWN, Found};
use crate::stream::StreamId;
use format::{BandRecord, CHECKPOINT_HEAD_BYTES, Checkpoint, CheckpointHead};
use std::collections::BTreeMap;

impl Ftl {
    /// The number of bands that two checkpoints take: the newest, and the one being written.
    pub(crate) fn checkpoint_bands(&self) -> u32 {
        let Some(persistence) = self.config.persistence.filter(|p| p.checkpoint_every_bands > 0) else { return 0 };
        let entries = self.config.map_entries() as u32;
        let segments = entries - self.config.user_sectors as u32;
        let parts = Checkpoint::sectors(entries, self.bands.count(), segments, persistence.payload_bytes);
        // The last stripe of the body and the stripe of the head are filled up with padding.
        2 * (parts + 2 * self.layout.stripe_sectors).div_ceil(self.full_band_sectors)
    }

    /// The number of bands that were opened for sectors since the newest checkpoint was begun. Recovery has to read
    /// these bands beside the checkpoint.
    pub fn bands_since_checkpoint(&self) -> u64 {
        self.checkpoints.opened - self.checkpoints.opened_before
    }

    /// Whether a band of the newest checkpoint can't be read well any more.
    pub fn checkpoint_is_flawed(&self) -> bool {
        self.checkpoints.is_flawed
    }

    /// Whether a checkpoint is being written.
    pub fn writes_checkpoint(&self) -> bool {
        self.checkpoints.snapshot.is_some()
    }

    /// Remembers that a band of the newest checkpoint can't be read well.
    pub(crate) fn flaw_checkpoint(&mut self) {
        self.checkpoints.is_flawed = true;
    }

    /// Begins a checkpoint. `version` was given to nothing else: all writes so far have lower versions, and all later
    /// writes have higher ones. `owed_segments` have holes that no list names yet. `payload_bytes` is a multiple of 4
    /// and has room for the head.
    pub fn begin_checkpoint(&mut self, version: u64, owed_segments: &[u32], payload_bytes: usize) {
        assert!(self.checkpoints.snapshot.is_none(), "one checkpoint at a time");
        let fits = payload_bytes.is_multiple_of(ENTRY_BYTES) && payload_bytes >= CHECKPOINT_HEAD_BYTES;
        assert!(fits, "payloads of {payload_bytes} bytes");
        let known = |band: BandId| {
            let of_band = self.bands.get(band);
            let is_full = matches!(of_band.state, BandState::Closed | BandState::Victim | BandState::Stale);
            is_full && of_band.has_summary && of_band.stream != StreamId::Checkpoint as u8
        };
        let bands: Vec<BandRecord> = (0..self.bands.count())
            .map(|band| {
                let of_band = self.bands.get(BandId(band));
                let state = if known(BandId(band)) { BAND_KNOWN } else { 0 };
                BandRecord { sequence: of_band.sequence, cycles: of_band.cycles, state }
            })
            .collect();
        let next_sequence = self.bands.last_sequence + 1;
        let open = (0..self.bands.count()).filter(|band| !known(BandId(*band)));
        let replay_from = open
            .filter(|band| self.bands.get(BandId(*band)).state != BandState::Free)
            .map(|band| self.bands.get(BandId(band)).sequence)
            .fold(next_sequence, u64::min);
        let mut head = CheckpointHead {
            id: version,
            map_entries: self.config.map_entries() as u32,
            bands: bands.len() as u32,
            replay_from,
            version_start: version,
            next_version: version + 1,
            next_band_sequence: next_sequence,
            body_bytes: 0,
            body_crc: 0,
            owed_segments: owed_segments.len() as u32,
        };
        head.body_bytes = head.expected_body_bytes();
        let mut rest: Vec<u8> = bands.iter().flat_map(BandRecord::encode).collect();
        rest.extend(owed_segments.iter().flat_map(|segment| segment.to_le_bytes()));
        // The sectors in open stripes must be on flash before the checkpoint counts.
        self.seal_for_durability(StreamId::Relocation);
        self.seal_for_durability(StreamId::Host);
        let barriers = [StreamId::Host, StreamId::Relocation].map(|stream| self.streams[stream as usize].barrier());
        let mut snapshot = Snapshot {
            parts: Checkpoint::sectors(head.map_entries, head.bands, head.owed_segments, payload_bytes as u32),
            head,
            payload_bytes,
            next: 1,
            kept: BTreeMap::new(),
            rest,
            barriers,
            own_barrier: 0,
            head_is_out: false,
        };
        let first = self.body_of(&snapshot, 0);
        snapshot.head.body_crc = format::crc_append(0, &first);
        snapshot.kept.insert(0, first.into());
        self.checkpoints.opened_before = self.checkpoints.opened;
        self.checkpoints.snapshot = Some(Box::new(snapshot));
        self.map_is_watched = true;
    }

    /// The bytes of the body that a part holds, from the map as it is now.
    fn body_of(&self, snapshot: &Snapshot, part: u32) -> Vec<u8> {
        let range = snapshot.body_range(part);
        let map_bytes = snapshot.head.map_entries as usize * ENTRY_BYTES;
        let of_map = range.start.min(map_bytes) / ENTRY_BYTES..range.end.min(map_bytes) / ENTRY_BYTES;
        let of_rest = range.start.max(map_bytes) - map_bytes..range.end.max(map_bytes) - map_bytes;
        let mut bytes: Vec<u8> = of_map.flat_map(|entry| self.map.get(entry).to_le_bytes()).collect();
        bytes.extend_from_slice(&snapshot.rest[of_rest]);
        bytes
    }

    /// Must be called before a map entry changes.
    #[inline]
    pub(crate) fn map_changes(&mut self, entry: u32, relocated: bool) {
        if self.map_is_watched {
            self.watched_map_changes(entry, relocated);
        }
    }

    #[cold]
    fn watched_map_changes(&mut self, entry: u32, relocated: bool) {
        if self.map_cache.is_some() {
            self.map_page_changes(entry, relocated);
        } else if !planted(Canary::ChangesNotKept) {
            self.keep_part(entry);
        }
    }

    #[cold]
    fn keep_part(&mut self, entry: u32) {
        let Some(snapshot) = self.checkpoints.snapshot.as_deref() else { return };
        let part = snapshot.part_of(entry as usize);
        if part >= snapshot.next && !snapshot.kept.contains_key(&part) {
            let bytes = self.body_of(snapshot, part);
            let snapshot = self.checkpoints.snapshot.as_deref_mut().expect("looked at");
            snapshot.kept.insert(part, bytes.into());
        }
    }

    /// Whether there is room for one more part. The rule is that for a sector of the host.
    pub fn has_room_for_part(&self) -> bool {
        !self.streams[StreamId::Checkpoint as usize].needs_band() || self.bands.free_worth() > self.config.reserve_bands
    }

    /// The next part of the checkpoint, with its payload and its address; `None` while something has to become durable
    /// first, or when all parts are handed out. The caller has asked [`Ftl::has_room_for_part`].
    pub fn next_part(&mut self) -> Option<(u32, Vec<u8>, Ppa)> {
        let mut snapshot = self.checkpoints.snapshot.take()?;
        let part = self.part(&mut snapshot);
        self.checkpoints.snapshot = Some(snapshot);
        let (part, payload) = part?;
        let ppa = self.append_part();
        let snapshot = self.checkpoints.snapshot.as_deref().expect("put back");
        if snapshot.next == snapshot.parts {
            // This was the last part of the body, or the head.
            self.seal_for_durability(StreamId::Checkpoint);
            let barrier = self.streams[StreamId::Checkpoint as usize].barrier();
            self.checkpoints.snapshot.as_deref_mut().expect("put back").own_barrier = barrier;
        }
        Some((part, payload, ppa))
    }

    /// The number of parts of the checkpoint that were handed out.
    pub fn parts_handed_out(&self) -> u32 {
        self.checkpoints.snapshot.as_deref().map_or(0, |snapshot| snapshot.next - 1 + u32::from(snapshot.head_is_out))
    }

    fn part(&self, snapshot: &mut Snapshot) -> Option<(u32, Vec<u8>)> {
        let (part, mut payload) = if snapshot.next < snapshot.parts {
            let part = snapshot.next;
            let bytes: Vec<u8> = match snapshot.kept.remove(&part) {
                Some(bytes) => bytes.into(),
                None => self.body_of(snapshot, part),
            };
            snapshot.head.body_crc = format::crc_append(snapshot.head.body_crc, &bytes);
            snapshot.next += 1;
            (part, bytes)
        } else {
            let is_durable = |(stream, barrier): (&crate::stream::Stream, &u64)| stream.is_durable(*barrier);
            let safe = self.streams.iter().zip(&snapshot.barriers).all(is_durable)
                && self.streams[StreamId::Checkpoint as usize].is_durable(snapshot.own_barrier);
            if snapshot.head_is_out || !safe && !planted(Canary::CheckpointTooSoon) {
                return None;
            }
            snapshot.head_is_out = true;
            let mut payload = snapshot.head.encode().to_vec();
            payload.extend_from_slice(&snapshot.kept.remove(&0).expect("kept from the beginning"));
            (0, payload)
        };
        payload.resize(snapshot.payload_bytes, 0);
        Some((part, payload))
    }

    fn append_part(&mut self) -> Ppa {
        let stream = StreamId::Checkpoint;
        if self.streams[stream as usize].needs_band() {
            let band = self.open_band(stream);
            self.checkpoints.being_written.push(band);
        }
        let taken = self.streams[stream as usize].take(true, &self.layout, &self.bands);
        self.reverse.set(taken.ppa as usize, NONE);
        self.counters.metadata_sectors += 1;
        if let Some(sealed) = taken.sealed {
            self.seal(sealed, taken.closed);
        }
        Ppa(taken.ppa)
    }

    /// If all of the checkpoint is on flash, puts it in the place of the one before and returns `true`.
    pub fn finish_checkpoint(&mut self) -> bool {
        let is_complete = self.checkpoints.snapshot.as_deref().is_some_and(|snapshot| {
            snapshot.head_is_out && self.streams[StreamId::Checkpoint as usize].is_durable(snapshot.own_barrier)
        });
        if !is_complete {
            return false;
        }
        self.checkpoints.snapshot = None;
        self.map_is_watched = false;
        self.abandon_band(StreamId::Checkpoint);
        let newest = std::mem::take(&mut self.checkpoints.being_written);
        let before = std::mem::replace(&mut self.checkpoints.complete, newest);
        self.checkpoints.is_flawed = false;
        before.into_iter().for_each(|band| self.drop_checkpoint_band(band));
        true
    }

    /// Gives up the checkpoint that is being written, because a part of it could not be programmed or a die has gone.
    pub fn give_up_checkpoint(&mut self) {
        if self.checkpoints.snapshot.take().is_none() {
            return;
        }
        self.map_is_watched = false;
        self.abandon_band(StreamId::Checkpoint);
        let bands = std::mem::take(&mut self.checkpoints.being_written);
        bands.into_iter().for_each(|band| self.drop_checkpoint_band(band));
    }

    /// Continues from the checkpoint that recovery used.
    pub(crate) fn adopt_checkpoint(&mut self, found: &Found) {
        self.checkpoints.complete = found.checkpoint_bands.clone();
        self.checkpoints.opened = u64::from(found.report.bands_by_summary + found.report.bands_scanned);
    }

    /// Makes a band of a checkpoint stale, so that it is erased as soon as none of its programs is in flight.
    fn drop_checkpoint_band(&mut self, band: BandId) {
        self.bands.set_state(band, BandState::Closed, BandState::Stale);
        let barrier = self.streams[StreamId::Checkpoint as usize].barrier();
        self.put_aside_stale(band, barrier);
    }
}
