//! Choosers decide the details of a fault.

use device::Rng;

/// Decides what is left open: which operations a cut leaves undone, which byte is damaged.
pub trait Chooser {
    /// One of `bound` possibilities, from 0; 0 when there is only one. Callers put the mildest first.
    fn choose(&mut self, bound: u64) -> u64;
}

impl Chooser for Rng {
    fn choose(&mut self, bound: u64) -> u64 {
        self.below(bound)
    }
}

/// Takes every possible way through a sequence of choices, one after the other:
///
/// ```
/// # use torture::sim::{Chooser, Paths};
/// let mut paths = Paths::new();
/// let mut seen = Vec::new();
/// loop {
///     let first = paths.choose(2);
///     // The second choice is there only after the first went one way.
///     seen.push((first, if first == 1 { paths.choose(3) } else { 0 }));
///     if !paths.advance() {
///         break;
///     }
/// }
/// assert_eq!(seen, [(0, 0), (1, 0), (1, 1), (1, 2)]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Paths {
    /// Each choice that was taken, and the number of possibilities that it had.
    taken: Vec<(u64, u64)>,
    at: usize,
}

impl Paths {
    /// At the first way: always 0.
    pub fn new() -> Paths {
        Paths::default()
    }

    /// To the next way. `false`: there was none left.
    pub fn advance(&mut self) -> bool {
        self.taken.truncate(self.at);
        self.at = 0;
        while let Some((choice, bound)) = self.taken.pop() {
            if choice + 1 < bound {
                self.taken.push((choice + 1, bound));
                return true;
            }
        }
        false
    }

    /// The choices taken on this way, up to here.
    pub fn taken(&self) -> Vec<u64> {
        self.taken[..self.at].iter().map(|t| t.0).collect()
    }
}

impl Chooser for Paths {
    fn choose(&mut self, bound: u64) -> u64 {
        if bound <= 1 {
            return 0;
        }
        if self.at == self.taken.len() {
            self.taken.push((0, bound));
        }
        let (choice, of) = self.taken[self.at];
        assert_eq!(of, bound, "the same way asks the same questions");
        self.at += 1;
        choice
    }
}
