//! A client of a volume: its requests go to the extents of the card that the volume has, and come back as one reply each.

use crate::extents::{cut, joined as joined_extents};
use crate::lane::Lane;
use crate::reply::{ReadData, Reply};
use crate::volumes::{Leaving, Volumes};
use device::{ByteRange, Operation, SECTOR_BYTES, Time};
use media::SectorData;
use parking_lot::RwLockReadGuard;
use session::{Joints, ReplyError, Request, VolumeTable};
use slab::Slab;
use std::sync::Arc;

/// A part of a request that is with the card.
struct Part {
    /// The client's tag, or that of a part of a divided request.
    tag: u64,
    is_divided: bool,
    /// The extent of the card that it goes to; a flush goes to none.
    place: Option<u32>,
    /// The address in the volume that stands for the first byte of the extent.
    first_byte: u64,
    leaving: Option<Leaving>,
}

/// A piece of a request that lies in one extent.
struct Piece {
    extent: u32,
    range: ByteRange,
}

/// See the module.
pub(crate) struct Inside {
    volumes: Arc<Volumes>,
    id: u32,
    parts: Slab<Part>,
    joints: Joints<ReadData>,
    /// Replies of the card, on their way to the client.
    pub came: Vec<Reply>,
}

impl Inside {
    pub fn new(volumes: Arc<Volumes>, id: u32) -> Inside {
        volumes.count(id, 1);
        Inside { volumes, id, parts: Slab::new(), joints: Joints::default(), came: Vec::new() }
    }

    /// The requests of the card that stand for requests of the volume. Appends the replies to those that need none.
    pub fn resolve<'a>(
        &mut self,
        lanes: &mut [Lane],
        requests: &[Request<'a>],
        replies: &mut Vec<Reply>,
    ) -> Vec<Request<'a>> {
        let volumes = Arc::clone(&self.volumes);
        let mut out = Vec::with_capacity(requests.len());
        let mut table = look(lanes, &volumes);
        for request in requests {
            let looked_up = self.look_up(lanes, &volumes, table, request);
            table = match looked_up {
                Ok((table, pieces)) => {
                    self.place(&table, request, &pieces, &mut out, replies);
                    table
                }
                Err(error) => {
                    replies.push(Reply { tag: request.tag, result: Err(error), is_part: false });
                    look(lanes, &volumes)
                }
            };
        }
        out
    }

    /// The pieces of a request; those of a write have places then, which stay while the table is looked at.
    fn look_up<'t>(
        &self,
        lanes: &mut [Lane],
        volumes: &'t Volumes,
        mut table: RwLockReadGuard<'t, VolumeTable>,
        request: &Request,
    ) -> Result<(RwLockReadGuard<'t, VolumeTable>, Vec<Piece>), ReplyError> {
        if table.is_unsure() {
            drop(table);
            lanes.iter_mut().for_each(Lane::stop_hearing);
            table = volumes.settled()?;
        }
        if request.operation == Operation::Flush {
            return Ok((table, Vec::new()));
        }
        let range = request.range;
        let end_bytes = range.offset_bytes.checked_add(range.len_bytes.into());
        let size_bytes = table.size_bytes(self.id).unwrap_or(0);
        let end_bytes = end_bytes.filter(|end| *end <= size_bytes).ok_or(ReplyError::OutOfRange)?;
        let extent_bytes = table.layout().extent_bytes;
        let pieces: Vec<Piece> = cut(range.offset_bytes, end_bytes, extent_bytes)
            .map(|(offset_bytes, len)| Piece {
                extent: (offset_bytes / extent_bytes) as u32,
                range: ByteRange { offset_bytes, len_bytes: len as u32 },
            })
            .collect();
        let needs_room = request.operation == Operation::Write || request.keeps_room;
        let missing = |piece: &Piece| table.place(self.id, piece.extent).is_none().then_some(piece.extent);
        let missing: Vec<u32> = if needs_room { pieces.iter().filter_map(missing).collect() } else { Vec::new() };
        if !missing.is_empty() {
            drop(table);
            lanes.iter_mut().for_each(Lane::stop_hearing);
            table = volumes.with_places(self.id, &missing)?;
        }
        Ok((table, pieces))
    }

    /// Appends the parts of a request that go to the card. Parts without a place read as zeroes, and need no trim.
    fn place<'a>(
        &mut self,
        table: &VolumeTable,
        request: &Request<'a>,
        pieces: &[Piece],
        out: &mut Vec<Request<'a>>,
        replies: &mut Vec<Reply>,
    ) {
        let no_place = Part { tag: request.tag, is_divided: false, place: None, first_byte: 0, leaving: None };
        if request.operation == Operation::Flush {
            let tag = self.parts.insert(no_place) as u64;
            return out.push(Request { tag, ..*request });
        }
        let is_divided = pieces.len() != 1;
        let first_tag = match is_divided {
            true => self.joints.begin(request, Time::ZERO, pieces.len().max(1) as u32),
            false => request.tag,
        };
        if pieces.is_empty() {
            return self.answer(first_tag, true, Ok(ReadData::default()), replies);
        }
        let extent_bytes = table.layout().extent_bytes;
        // The bytes of a payload may stand for more bytes than they are.
        let bytes_before = |at: u64| {
            let share = u128::from(at - request.range.offset_bytes) * request.bytes.len() as u128;
            (share / u128::from(request.range.len_bytes.max(1))) as usize
        };
        for (tag, piece) in (first_tag..).zip(pieces) {
            let Piece { extent, range } = *piece;
            let Some(place) = table.place(self.id, extent) else {
                self.answer(tag, is_divided, Ok(zeroes(request.operation, range)), replies);
                continue;
            };
            let first_byte = u64::from(extent) * extent_bytes;
            let is_all = request.operation == Operation::Trim
                && !request.keeps_room
                && u64::from(range.len_bytes) == extent_bytes;
            let leaving = match is_all {
                true => self.volumes.begin_trim(self.id, extent, place),
                false => {
                    self.volumes.begin(place);
                    None
                }
            };
            let offset_bytes = table.layout().extent_at(place) + (range.offset_bytes - first_byte);
            let bytes = &request.bytes[bytes_before(range.offset_bytes)..bytes_before(range.end_bytes())];
            let part = Part { tag, is_divided, place: Some(place), first_byte, leaving };
            let tag = self.parts.insert(part) as u64;
            out.push(Request { tag, range: ByteRange { offset_bytes, ..range }, bytes, ..*request });
        }
    }

    /// Hands out what has come from the card.
    pub fn hand_out(&mut self, lanes: &mut [Lane], replies: &mut Vec<Reply>) {
        let mut leaving = Vec::new();
        let mut came = std::mem::take(&mut self.came);
        for Reply { tag, result, .. } in came.drain(..) {
            let part = self.parts.remove(tag as usize);
            let mut result = result;
            if let Some(place) = part.place {
                self.volumes.end(place);
                leaving.extend(part.leaving.filter(|_| result.is_ok()));
                let extent_at = self.volumes.extent_at(place);
                result = result.map_err(|error| match error {
                    ReplyError::Unreadable { offset_bytes } => {
                        ReplyError::Unreadable { offset_bytes: part.first_byte + (offset_bytes - extent_at) }
                    }
                    other => other,
                });
            }
            self.answer(part.tag, part.is_divided, result, replies);
        }
        self.came = came;
        if !leaving.is_empty() {
            lanes.iter_mut().for_each(Lane::stop_hearing);
            self.volumes.take_back(leaving.into_iter());
        }
    }

    fn answer(&mut self, tag: u64, is_divided: bool, result: Result<ReadData, ReplyError>, replies: &mut Vec<Reply>) {
        if !is_divided {
            return replies.push(Reply { tag, result, is_part: false });
        }
        let (result, data) = match result {
            Ok(data) => (Ok(()), data),
            Err(error) => (Err(error), ReadData::default()),
        };
        if let Some(joined) = self.joints.join(tag, result, data) {
            let result = joined.result.map(|()| ReadData::joined(joined.data));
            replies.push(Reply { tag: joined.tag, result, is_part: false });
        }
    }

    /// Finds the parts of a range of the volume that hold something; `of_card` does it for a range of the card.
    pub fn extents(
        &self,
        of_card: impl Fn(u64, u64, usize) -> Vec<(u64, bool)>,
        offset_bytes: u64,
        len_bytes: u64,
        most: usize,
    ) -> Vec<(u64, bool)> {
        let table = self.volumes.read();
        let extent_bytes = table.layout().extent_bytes;
        let mut found = Vec::new();
        for (at, len) in cut(offset_bytes, offset_bytes + len_bytes, extent_bytes) {
            match table.place(self.id, (at / extent_bytes) as u32) {
                None => found.push((len, false)),
                Some(place) => {
                    let pieces = of_card(table.layout().extent_at(place) + at % extent_bytes, len, most);
                    let looked_at: u64 = pieces.iter().map(|(len, _)| len).sum();
                    found.extend(pieces);
                    if looked_at < len {
                        break;
                    }
                }
            }
        }
        joined_extents(found.into_iter(), most)
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        // Requests in flight are carried out; nobody hears of it, so the extents that they go to are never given back.
        self.volumes.count(self.id, -1);
    }
}

/// The table, to be looked at.
fn look<'t>(lanes: &mut [Lane], volumes: &'t Volumes) -> RwLockReadGuard<'t, VolumeTable> {
    volumes.try_read().unwrap_or_else(|| {
        // The thread that has the table may wait for a medium that only this client hears.
        lanes.iter_mut().for_each(Lane::stop_hearing);
        volumes.read()
    })
}

/// The bytes of a range that has no place.
fn zeroes(operation: Operation, range: ByteRange) -> ReadData {
    match operation {
        Operation::Read => {
            let sectors = range.end_bytes().div_ceil(SECTOR_BYTES) - range.offset_bytes / SECTOR_BYTES;
            ReadData::new(vec![SectorData::Zero; sectors as usize], range)
        }
        _ => ReadData::default(),
    }
}
