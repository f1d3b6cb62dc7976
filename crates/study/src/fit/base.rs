//! The base from which a fit begins.

use profile::{Profile, ProfileError};

const NEUTRAL: &str = include_str!("neutral.toml");
/// Pages of its blocks.
const NEUTRAL_PAGES: u64 = 128;

/// A card's file that a fit begins with.
#[derive(Clone, Debug)]
pub struct Base {
    /// Name of the base.
    pub name: String,
    /// Text of its card file.
    pub text: String,
    /// No card in particular: geometry may be changed freely.
    pub neutral: bool,
}

impl Base {
    /// Makes a base of which nothing is known but its size.
    pub fn neutral(user_bytes: Option<u64>) -> Base {
        let mut text = NEUTRAL.to_string();
        if let Some(bytes) = user_bytes.map(|bytes| bytes / 4096 * 4096).filter(|&bytes| bytes > 0) {
            let source = "basis = \"assumed\", source = \"no result says how large the device is\"";
            let known = "basis = \"derived\", source = \"of the device that was measured\"";
            text = text.replace("400_000_000_000", &bytes.to_string()).replace(source, known);
            // Small devices keep enough bands for spare space to be told in small steps.
            let mut pages = NEUTRAL_PAGES;
            while pages > 16 && bytes / (64 * pages * 4096) < 512 {
                pages /= 2;
            }
            text = text.replace(
                &format!("pages_per_block = {{ value = {NEUTRAL_PAGES}"),
                &format!("pages_per_block = {{ value = {pages}"),
            );
        }
        Base { name: "neutral".into(), text, neutral: true }
    }

    /// A built-in card, or a file that was read.
    pub fn card(name: &str, text: &str) -> Base {
        Base { name: name.to_string(), text: text.to_string(), neutral: false }
    }

    /// Parses the card file.
    pub(crate) fn profile(&self) -> Result<Profile, ProfileError> {
        Profile::parse(&self.text, &format!("{}.toml", self.name))
    }
}
