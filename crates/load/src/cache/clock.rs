//! The blocks in memory: CLOCK over a dense table.
//!
//! Every block of the data has four bytes that say in which frame it lies, so a logical read costs one or two cache
//! misses of the machine and no hashing. Replacement is CLOCK, the usual stand-in for LRU: a frame that was
//! referenced since the hand last came by gets a second chance.
//!
//! Invariants:
//! - a block lies in at most one frame, and `frame_of` and `frames` agree;
//! - a frame that is pinned, dirty or being written is not replaced;
//! - `unclean` is the number of such frames.

/// No frame; also the block of an empty frame.
const NONE: u32 = u32::MAX;

/// Referenced since the hand last came by.
const REFERENCED: u8 = 1;
/// A process reads the block in order to change it.
const PINNED: u8 = 2;
/// Changed, and not yet handed to a writer.
const DIRTY: u8 = 4;
/// A writer writes it.
const WRITING: u8 = 8;
const UNCLEAN: u8 = PINNED | DIRTY | WRITING;

/// A frame of the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FrameId(u32);

/// The cache's directory.
#[derive(Clone, Debug)]
pub(super) struct Clock {
    frame_of: Vec<u32>,
    block_in: Vec<u32>,
    flags: Vec<u8>,
    hand: usize,
    unclean: u64,
}

impl Clock {
    /// An empty cache of `frames` frames over `blocks` blocks.
    pub fn new(frames: u32, blocks: u32) -> Clock {
        assert!(frames >= 1 && blocks < NONE);
        Clock {
            frame_of: vec![NONE; blocks as usize],
            block_in: vec![NONE; frames as usize],
            flags: vec![0; frames as usize],
            hand: 0,
            unclean: 0,
        }
    }

    /// Returns the frame in which a block lies.
    #[inline]
    pub fn find(&self, block: u32) -> Option<FrameId> {
        let frame = self.frame_of[block as usize];
        (frame != NONE).then_some(FrameId(frame))
    }

    /// Notes a reference.
    #[inline]
    pub fn reference(&mut self, frame: FrameId) {
        self.flags[frame.0 as usize] |= REFERENCED;
    }

    /// Puts a block that is not in the cache into a frame; another block goes.
    pub fn install(&mut self, block: u32) -> FrameId {
        debug_assert!(self.find(block).is_none());
        let frame = self.victim();
        let old = std::mem::replace(&mut self.block_in[frame], block);
        if old != NONE {
            self.frame_of[old as usize] = NONE;
        }
        self.frame_of[block as usize] = frame as u32;
        self.flags[frame] = REFERENCED;
        FrameId(frame as u32)
    }

    /// Frames that can't be replaced.
    pub fn unclean(&self) -> u64 {
        self.unclean
    }

    /// Returns whether a frame is pinned, dirty or being written.
    pub fn is_unclean(&self, frame: FrameId) -> bool {
        self.flags[frame.0 as usize] & UNCLEAN != 0
    }

    /// Keeps a frame until [`Clock::dirty`].
    pub fn pin(&mut self, frame: FrameId) {
        self.change(frame, 0, PINNED);
    }

    /// The block was changed by the process that pinned it (`unpin`) or by another. True: it needs a place in the
    /// queue of dirty blocks.
    pub fn dirty(&mut self, frame: FrameId, unpin: bool) -> bool {
        let before = self.change(frame, if unpin { PINNED } else { 0 }, DIRTY);
        // A block that is being written queues when that write is done: two writes of one block never race.
        before & (DIRTY | WRITING) == 0
    }

    /// A writer takes a dirty block.
    pub fn start_write(&mut self, frame: FrameId) {
        let before = self.change(frame, DIRTY, WRITING);
        assert!(before & (DIRTY | WRITING) == DIRTY, "only a dirty block is written, by one writer");
    }

    /// The write is done. True: the block was changed meanwhile and needs a place in the queue again.
    pub fn finish_write(&mut self, frame: FrameId) -> bool {
        let before = self.change(frame, WRITING, 0);
        assert!(before & WRITING != 0, "a write that nobody started");
        before & DIRTY != 0
    }

    fn change(&mut self, frame: FrameId, clear: u8, set: u8) -> u8 {
        let flags = &mut self.flags[frame.0 as usize];
        let before = *flags;
        *flags = (before & !clear) | set;
        self.unclean += u64::from(*flags & UNCLEAN != 0);
        self.unclean -= u64::from(before & UNCLEAN != 0);
        before
    }

    fn victim(&mut self) -> usize {
        // Twice around clears every reference; a third time finds whatever is clean.
        for _ in 0..2 * self.flags.len() + 1 {
            let frame = self.hand;
            self.hand = if frame + 1 == self.flags.len() { 0 } else { frame + 1 };
            let flags = &mut self.flags[frame];
            if *flags & UNCLEAN != 0 {
                continue;
            }
            if *flags & REFERENCED == 0 || self.block_in[frame] == NONE {
                return frame;
            }
            *flags &= !REFERENCED;
        }
        panic!("all {} frames are unclean: the limit on dirty blocks was not kept", self.flags.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touch(clock: &mut Clock, block: u32) -> bool {
        match clock.find(block) {
            Some(frame) => {
                clock.reference(frame);
                true
            }
            None => {
                clock.install(block);
                false
            }
        }
    }

    #[test]
    fn a_referenced_block_gets_a_second_chance() {
        let mut clock = Clock::new(3, 10);
        for block in [0, 1, 2] {
            assert!(!touch(&mut clock, block));
        }
        // The hand goes once around, clearing references, and takes the first frame; then block 1 is referenced again.
        assert!(!touch(&mut clock, 3));
        assert!(touch(&mut clock, 1));
        assert!(!touch(&mut clock, 4));
        assert!(touch(&mut clock, 1), "referenced: kept");
        assert!(!touch(&mut clock, 2), "not referenced: gone");
    }

    #[test]
    fn the_directory_agrees_with_the_frames() {
        let mut clock = Clock::new(7, 50);
        let mut rng = device::Rng::stream(1, "clock");
        for _ in 0..10_000 {
            touch(&mut clock, rng.below(50) as u32);
            let present = (0..50).filter(|&b| clock.find(b).is_some()).count();
            assert!(present <= 7);
        }
        for block in 0..50 {
            if let Some(FrameId(frame)) = clock.find(block) {
                assert_eq!(clock.block_in[frame as usize], block);
            }
        }
    }

    #[test]
    fn unclean_frames_stay_and_are_counted() {
        let mut clock = Clock::new(4, 100);
        let pinned = clock.install(0);
        clock.pin(pinned);
        let dirty = clock.install(1);
        assert!(clock.dirty(dirty, false));
        assert!(!clock.dirty(dirty, false), "queued once");
        let writing = clock.install(2);
        assert!(clock.dirty(writing, false));
        clock.start_write(writing);
        assert_eq!(clock.unclean(), 3);
        (10..90).for_each(|block| assert!(!touch(&mut clock, block)));
        assert!([0, 1, 2].iter().all(|&b| clock.find(b).is_some()));
        assert!(!clock.dirty(writing, false), "changed while written: queues when the write is done");
        assert!(clock.finish_write(writing));
        assert!(clock.dirty(pinned, true));
        assert_eq!(clock.unclean(), 3);
        for frame in [pinned, dirty, writing] {
            clock.start_write(frame);
            assert!(!clock.finish_write(frame));
        }
        assert_eq!(clock.unclean(), 0);
    }

    #[test]
    #[should_panic(expected = "unclean")]
    fn a_cache_without_a_clean_frame_is_a_bug() {
        let mut clock = Clock::new(1, 2);
        let frame = clock.install(0);
        clock.pin(frame);
        clock.install(1);
    }
}
