//! Planes that read on their own: which read each plane is doing, and which wait for it.
//!
//! A die with such planes reads a page of each at the same time, each begun when its plane is free. Programs, erases and
//! reads of more than a page need all planes, and wait until none reads.

use std::collections::VecDeque;

const NONE: u32 = u32::MAX;
/// No page is in the register.
const NOTHING: u64 = u64::MAX;

#[derive(Clone, Debug)]
struct Plane {
    current: u32,
    waiting: VecDeque<u32>,
    in_register: u64,
}

/// The planes of all dies, numbered die by die.
#[derive(Clone, Debug)]
pub struct Planes {
    per_die: u32,
    page_sectors: u32,
    planes: Vec<Plane>,
    /// Planes of each die that read.
    reading: Vec<u32>,
    /// Reads of each die that wait for their plane.
    waiting: Vec<u32>,
}

impl Planes {
    /// Planes of so many dies, none of which reads.
    pub fn new(dies: u32, per_die: u32, page_sectors: u32) -> Planes {
        let plane = Plane { current: NONE, waiting: VecDeque::new(), in_register: NOTHING };
        Planes {
            per_die,
            page_sectors,
            planes: vec![plane; (dies * per_die) as usize],
            reading: vec![0; dies as usize],
            waiting: vec![0; dies as usize],
        }
    }

    pub fn count(&self) -> usize {
        self.planes.len()
    }

    /// The plane that sectors of a unit lie on; `None`: on several.
    pub fn of(&self, die: u32, first_sector: u32, sectors: u32) -> Option<usize> {
        let plane = first_sector / self.page_sectors;
        let last = (first_sector + sectors - 1) / self.page_sectors;
        (plane == last).then(|| (die * self.per_die + plane) as usize)
    }

    pub fn die_of(&self, plane: usize) -> usize {
        plane / self.per_die as usize
    }

    /// Whether a plane of the die reads.
    #[inline]
    pub fn reads(&self, die: usize) -> bool {
        self.reading[die] > 0
    }

    /// Whether a read waits for a plane of the die.
    #[inline]
    pub fn have_waiting(&self, die: usize) -> bool {
        self.waiting[die] > 0
    }

    pub fn push(&mut self, plane: usize, read: u32) {
        self.planes[plane].waiting.push_back(read);
        let die = self.die_of(plane);
        self.waiting[die] += 1;
    }

    /// A plane of the die that is idle and has a read waiting.
    pub fn next_idle(&self, die: usize) -> Option<usize> {
        let first = die * self.per_die as usize;
        (first..first + self.per_die as usize)
            .find(|&plane| self.planes[plane].current == NONE && !self.planes[plane].waiting.is_empty())
    }

    /// All reads of a die that wait.
    pub fn all_waiting(&self, die: usize) -> impl Iterator<Item = u32> + '_ {
        let first = die * self.per_die as usize;
        self.planes[first..first + self.per_die as usize].iter().flat_map(|plane| plane.waiting.iter().copied())
    }

    /// An idle plane begins the read that waits longest for it: the read, and whether `page_of` it is in its register.
    pub fn begin(&mut self, plane: usize, page_of: impl Fn(u32) -> u64) -> (u32, bool) {
        let die = self.die_of(plane);
        let of = &mut self.planes[plane];
        let read = of.waiting.pop_front().expect("a read waits");
        of.current = read;
        let page = page_of(read);
        let is_in_register = std::mem::replace(&mut of.in_register, page) == page;
        self.waiting[die] -= 1;
        self.reading[die] += 1;
        (read, is_in_register)
    }

    /// The read that a plane does.
    pub fn current(&self, plane: usize) -> u32 {
        self.planes[plane].current
    }

    /// A plane has done its read, which is returned.
    pub fn finish(&mut self, plane: usize) -> u32 {
        let die = self.die_of(plane);
        self.reading[die] -= 1;
        std::mem::replace(&mut self.planes[plane].current, NONE)
    }

    /// The registers of a die hold something else from now on.
    pub fn forget_registers(&mut self, die: usize) {
        let first = die * self.per_die as usize;
        self.planes[first..first + self.per_die as usize].iter_mut().for_each(|plane| plane.in_register = NOTHING);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_of_one_page_takes_one_plane_and_keeps_the_register() {
        let mut planes = Planes::new(2, 4, 4);
        assert_eq!((planes.of(1, 5, 3), planes.of(1, 5, 4), planes.of(0, 12, 4)), (Some(5), None, Some(3)));
        planes.push(5, 7);
        planes.push(5, 8);
        planes.push(6, 9);
        assert!(planes.have_waiting(1) && !planes.reads(1) && !planes.have_waiting(0));
        assert_eq!(planes.next_idle(1), Some(5));
        assert_eq!(planes.begin(5, |_| 100), (7, false));
        assert_eq!(planes.next_idle(1), Some(6), "the plane of the next is busy");
        assert_eq!(planes.begin(6, |_| 100), (9, false));
        assert_eq!((planes.next_idle(1), planes.all_waiting(1).collect::<Vec<_>>()), (None, vec![8]));
        assert_eq!((planes.current(5), planes.finish(5)), (7, 7));
        assert_eq!(planes.begin(5, |_| 100), (8, true));
        planes.finish(5);
        planes.finish(6);
        assert!(!planes.reads(1) && !planes.have_waiting(1));
        planes.forget_registers(1);
        planes.push(5, 7);
        assert_eq!(planes.begin(5, |_| 100), (7, false));
    }
}
