//! Errors of JSON in one line: a key that is quoted in one may have any letters.

/// A text is not the JSON that it should be.
#[derive(Debug, thiserror::Error)]
pub struct JsonError(#[from] serde_json::Error);

impl std::fmt::Display for JsonError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let message = self.0.to_string();
        message.chars().try_for_each(|letter| match letter.is_control() {
            true => write!(f, "{}", letter.escape_default()),
            false => write!(f, "{letter}"),
        })
    }
}
