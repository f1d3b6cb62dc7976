//! A result that a card is fitted to.

use results::ReviewResult;
use review::Circumstances;

/// A result, what its file is called, and how it was measured where that is known from elsewhere.
#[derive(Clone, Debug)]
pub struct Input {
    /// The file, for people.
    pub file: String,
    /// The result in the file.
    pub result: ReviewResult,
    /// Circumstances of a published table.
    pub circumstances: Option<Circumstances>,
}
