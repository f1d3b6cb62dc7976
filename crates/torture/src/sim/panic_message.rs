//! The message of a panic, as a card under test leaves it behind.

use std::any::Any;
use std::fmt;

/// The message of a panic. A panic whose payload is no text has none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PanicMessage(Option<String>);

impl From<Box<dyn Any + Send>> for PanicMessage {
    fn from(payload: Box<dyn Any + Send>) -> PanicMessage {
        PanicMessage(match payload.downcast::<String>() {
            Ok(text) => Some(*text),
            Err(payload) => payload.downcast_ref::<&str>().map(|text| (*text).to_owned()),
        })
    }
}

impl fmt::Display for PanicMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_deref().unwrap_or("no message"))
    }
}
