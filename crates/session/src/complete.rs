//! The end of requests: from the completions of the device to replies.

use crate::backend::{Backend, Condition, Finished};
use crate::request::{Reply, ReplyError};
use crate::session::{Outstanding, Session};
use crate::slots::InFlight;
use device::{Completion, Operation, RequestError, SECTOR_BYTES};

impl<D: Default> Session<D> {
    /// Replies to the requests whose last piece is completed.
    pub(crate) fn reply<B: Backend<Data = D>>(&mut self, backend: &mut B, replies: &mut Vec<Reply<D>>) {
        let mut completions = std::mem::take(&mut self.completions);
        for Completion { id, result, data, .. } in completions.drain(..) {
            let Some(InFlight { request: key, piece }) = self.slots.release(id) else {
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
            if request.in_flight == 0 && request.pieces.is_empty() {
                self.finish(backend, key, replies);
            }
        }
        self.completions = completions;
    }

    pub(crate) fn finish<B: Backend<Data = D>>(&mut self, backend: &mut B, key: usize, replies: &mut Vec<Reply<D>>) {
        let Outstanding { client, tag, operation, range, submitted, result, data, .. } = self.requests.remove(key);
        backend.finished(&Finished { operation, len_bytes: range.len_bytes, submitted, is_ok: result.is_ok() });
        if self.clients.is_connected(client) {
            replies.push(Reply { client, tag, operation, range, submitted, result, data });
        }
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
                self.finish(backend, key, replies);
            }
        }
        assert!(self.requests.is_empty(), "a request was lost");
        had_any
    }
}
