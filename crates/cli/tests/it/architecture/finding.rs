//! The rules of the house, and a place that breaks one.

use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// Imports between crates run downward in the diagram of ARCHITECTURE.md.
    UpwardImport,
    /// The files of a crate import each other in one direction.
    Circle,
    /// A sealed folder imports nothing but what its seal names.
    Seal,
    /// A file has at most [`super::MAX_LINES`] lines.
    LongFile,
    /// A type of `card` or `session` has at most [`super::MAX_FIELDS`] fields.
    ManyFields,
    /// An error says what is wrong by its type.
    TextInError,
    /// A sentence in a comment has its subject first.
    Headless,
    /// A doc comment says more than the name below it.
    ShortDoc,
    /// The pages are read in ten minutes and name what exists.
    Page,
    /// There are at most [`super::MAX_CRATES`] crates.
    Crates,
}

impl Rule {
    pub const ALL: [Rule; 10] = [
        Rule::UpwardImport,
        Rule::Circle,
        Rule::Seal,
        Rule::LongFile,
        Rule::ManyFields,
        Rule::TextInError,
        Rule::Headless,
        Rule::ShortDoc,
        Rule::Page,
        Rule::Crates,
    ];
}

/// A place that breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub rule: Rule,
    /// The name of the crate, or [`super::WHOLE`] for pages and the number of crates.
    pub owner: String,
    /// A file and a line, as an editor opens it.
    pub place: String,
    pub text: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:?} {} {}", self.rule, self.place, self.text)
    }
}
