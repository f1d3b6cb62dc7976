//! The end of requests: from the completions of the device to replies.

use crate::backend::{Backend, Condition, Finished, LastPiece};
use crate::canary::{Canary, planted};
use crate::client::ClientId;
use crate::outstanding::Outstanding;
use crate::request::{Reply, ReplyError};
use crate::session::Session;
use crate::slots::InFlight;
use device::{Completion, Operation, RequestError, SECTOR_BYTES};

/// No client has this id.
const NOBODY: ClientId = ClientId(u64::MAX);

impl<D: Default> Session<D> {
    /// Replies to the requests whose last piece is completed.
    pub(crate) fn reply<B: Backend<Data = D>>(&mut self, backend: &mut B, replies: &mut Vec<Reply<D>>) {
        let mut completions = std::mem::take(&mut self.completions);
        for Completion { id, result, data, parts } in completions.drain(..) {
            let Some(InFlight { request: key, piece, since }) = self.slots.release(id) else {
                assert!(backend.condition() != Condition::Serving, "{id:?} was not in flight");
                continue;
            };
            let request = &mut self.requests[key];
            request.in_flight -= 1;
            let first_bytes = piece.first_sector() * SECTOR_BYTES;
            let result = result.map_err(|error| match error {
                RequestError::ReadOnly => ReplyError::ReadOnly,
                RequestError::EdgeUnreadable => ReplyError::Unreadable { offset_bytes: first_bytes },
            });
            request.result = request.result.and(result);
            if piece.operation == Operation::Read {
                if let Some(sector) = backend.first_unreadable(&data) {
                    let offset_bytes = first_bytes + sector * SECTOR_BYTES;
                    request.result = request.result.and(Err(ReplyError::Unreadable { offset_bytes }));
                }
                request.data = data;
            }
            let is_last = request.in_flight == 0 && request.pieces.is_empty();
            if planted(Canary::FirstPieceBelieved) && !is_last {
                self.believe(key, replies);
            }
            if is_last {
                self.finish(backend, key, Some(LastPiece { since, parts: &parts }), replies);
            }
        }
        self.completions = completions;
    }

    pub(crate) fn finish<B: Backend<Data = D>>(
        &mut self,
        backend: &mut B,
        key: usize,
        last: Option<LastPiece>,
        replies: &mut Vec<Reply<D>>,
    ) {
        let Outstanding { client, tag, is_part, operation, range, submitted, result, data, .. } =
            self.requests.remove(key);
        let tag = if planted(Canary::WrongTag) { self.swap_tag(tag, operation) } else { tag };
        self.clients.note_finished(client, operation);
        let is_ok = result.is_ok();
        backend.finished(&Finished { operation, len_bytes: range.len_bytes, submitted, is_ok, is_part, last });
        if self.clients.is_connected(client) {
            replies.push(Reply { client, tag, is_part, operation, range, submitted, result, data });
        }
    }

    /// A planted bug: a request is acknowledged, and what is left of it is nobody's.
    fn believe(&mut self, key: usize, replies: &mut Vec<Reply<D>>) {
        let request = &mut self.requests[key];
        let Outstanding { client, tag, is_part, operation, range, submitted, result, .. } = *request;
        if self.clients.is_connected(client) {
            request.client = NOBODY;
            let data = D::default();
            replies.push(Reply { client, tag, is_part, operation, range, submitted, result, data });
        }
    }

    /// A planted bug: two requests of one operation change their tags.
    fn swap_tag(&mut self, tag: u64, operation: Operation) -> u64 {
        let other = self.requests.iter_mut().find(|(_, other)| other.operation == operation);
        other.map_or(tag, |(_, other)| std::mem::replace(&mut other.tag, tag))
    }

    /// The device will do nothing more of what it has: all requests fail. False: there were none.
    pub fn give_up<B: Backend<Data = D>>(
        &mut self,
        backend: &mut B,
        error: ReplyError,
        replies: &mut Vec<Reply<D>>,
    ) -> bool {
        self.completions.clear();
        let in_flight = self.slots.take_all();
        let waiting = self.waiting.take_all();
        let had_any = !self.requests.is_empty();
        for key in in_flight.into_iter().chain(waiting) {
            // A request with several pieces comes several times.
            if let Some(request) = self.requests.get_mut(key) {
                (request.result, request.data) = (Err(error), D::default());
                self.finish(backend, key, None, replies);
            }
        }
        assert!(self.requests.is_empty(), "a request was lost");
        had_any
    }
}
