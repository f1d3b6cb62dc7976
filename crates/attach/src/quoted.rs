//! Text from outside in an error.

use std::fmt;

/// Text of a person or a program that an error quotes, as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quoted(Box<str>);

impl Quoted {
    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<T: Into<Box<str>>> From<T> for Quoted {
    fn from(text: T) -> Quoted {
        Quoted(text.into())
    }
}

impl fmt::Display for Quoted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
