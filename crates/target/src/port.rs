//! The way to one of the devices: requests get numbers that are free, and wait in order where none is.

use device::{Completion, Device, Request, RequestId, Time};
use std::collections::VecDeque;

/// Requests under way at a device, each with the job that it is for.
#[derive(Clone, Debug)]
pub(crate) struct Port<J> {
    free: Vec<u32>,
    jobs: Vec<Option<J>>,
    waiting: VecDeque<(J, Request)>,
    /// Requests that were sent.
    pub sent: u64,
    /// Completions, of which the first `looked_at` have been looked at.
    pub done: Vec<Completion>,
    looked_at: usize,
}

impl<J: Copy> Port<J> {
    /// A way for at most `depth` requests at once.
    pub fn new(depth: u32) -> Port<J> {
        // The lowest number first, as a host without a cache would use them.
        let free = (0..depth).rev().collect();
        Port {
            free,
            jobs: vec![None; depth as usize],
            waiting: VecDeque::new(),
            sent: 0,
            done: Vec::new(),
            looked_at: 0,
        }
    }

    pub fn send<D: Device<Data = ()>>(&mut self, device: &mut D, now: Time, job: J, request: Request) {
        match self.free.pop() {
            Some(id) => self.submit(device, now, id, job, request),
            None => self.waiting.push_back((job, request)),
        }
    }

    fn submit<D: Device<Data = ()>>(&mut self, device: &mut D, now: Time, id: u32, job: J, request: Request) {
        self.sent += 1;
        self.jobs[id as usize] = Some(job);
        device.submit(now, RequestId(id), request, &mut self.done);
    }

    /// The next completion with its job; a request that waited takes its place.
    pub fn next_done<D: Device<Data = ()>>(&mut self, device: &mut D, now: Time) -> Option<(J, Completion)> {
        let Some(completion) = self.done.get(self.looked_at).copied() else {
            self.done.clear();
            self.looked_at = 0;
            return None;
        };
        self.looked_at += 1;
        let id = completion.id.0;
        let job = self.jobs[id as usize].take().expect("a completion belongs to a request");
        match self.waiting.pop_front() {
            Some((next, request)) => self.submit(device, now, id, next, request),
            None => self.free.push(id),
        }
        Some((job, completion))
    }
}
