//! Text from outside in errors.

use std::fmt;

/// Text of a person, a file or a device that an error quotes, as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quoted(Box<str>);

impl Quoted {
    /// The text in quotes, with its control characters escaped.
    pub fn in_quotes(&self) -> String {
        format!("{:?}", self.0)
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
