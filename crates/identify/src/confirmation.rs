//! The words that a person must type before a device is overwritten.

use crate::identity::Identity;
use std::fmt;

/// The fact about a device that a person types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfirmationKind {
    /// The serial number.
    Serial,
    /// The model, of a disk that has no serial number.
    Model,
    /// The name, where there is neither.
    Name,
}

impl fmt::Display for ConfirmationKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ConfirmationKind::Serial => "serial number",
            ConfirmationKind::Model => "model",
            ConfirmationKind::Name => "name",
        })
    }
}

/// The words that a person must type before a device is overwritten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Confirmation {
    /// The fact that is to be typed.
    pub what: ConfirmationKind,
    /// The text that is to be typed.
    pub value: String,
    model: Option<String>,
}

impl Confirmation {
    /// Returns whether it was typed. The serial number counts exactly, the model in any case.
    pub fn matches(&self, typed: &str) -> bool {
        let typed = typed.trim();
        if typed.is_empty() {
            return false;
        }
        typed == self.value || self.model.as_ref().is_some_and(|model| model.to_lowercase() == typed.to_lowercase())
    }
}

impl Identity {
    /// Returns the words that a person must type before this is overwritten.
    pub fn confirmation(&self) -> Confirmation {
        // None of an array's disks stands for the whole.
        let model = self.disk().map(|disk| &disk.model);
        let name = || match &self.device {
            Some(device) => device.name.clone(),
            None => self.path.display().to_string(),
        };
        let title = model.and_then(|model| model.model.clone());
        let (what, value) = match (model.and_then(|model| model.serial.clone()), title.clone()) {
            (Some(serial), _) => (ConfirmationKind::Serial, serial),
            (None, Some(model)) => (ConfirmationKind::Model, model),
            (None, None) => (ConfirmationKind::Name, name()),
        };
        Confirmation { what, value, model: title }
    }
}

#[cfg(test)]
mod tests {
    use crate::ConfirmationKind;
    use crate::fake::Fake;

    #[test]
    fn the_serial_number_counts_exactly_and_the_model_in_any_case() {
        let fake = Fake::new();
        fake.nvme();
        let confirmation = fake.identity("nvme0n1").confirmation();
        assert_eq!(confirmation.what, ConfirmationKind::Serial);
        assert_eq!(confirmation.value, "S5GXNF0R123456");
        assert!(confirmation.matches(" S5GXNF0R123456\n"));
        assert!(!confirmation.matches("s5gxnf0r123456"));
        assert!(confirmation.matches("samsung ssd 980 PRO 1TB"));
        assert!(!confirmation.matches("nvme0n1"));
        assert!(!confirmation.matches(""));
        assert!(!confirmation.matches("y"));
    }

    #[test]
    fn without_serial_number_and_model_the_name_is_typed() {
        let fake = Fake::new();
        fake.disk("loop0", "7:0", "virtual/block", 1 << 20);
        let confirmation = fake.identity("loop0").confirmation();
        assert_eq!(confirmation.what, ConfirmationKind::Name);
        assert_eq!(confirmation.what.to_string(), "name");
        assert!(confirmation.matches("loop0"));
    }
}
