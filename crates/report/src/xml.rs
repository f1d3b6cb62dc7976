//! Text within XML: pictures and files for build servers.

/// Text as an element or an attribute in double quotes bears it, on one line. A character that XML 1.0 can't hold is shown
/// as U+FFFD.
pub fn escaped_xml(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '&' => "&amp;".to_owned(),
            '<' => "&lt;".to_owned(),
            '>' => "&gt;".to_owned(),
            '"' => "&quot;".to_owned(),
            '\t' | '\n' | '\r' => " ".to_owned(),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => "\u{fffd}".to_owned(),
            c => c.to_string(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stays_text_whatever_is_in_it() {
        assert_eq!(escaped_xml("a<b & \"c\">\n\u{0}\u{ffff}d"), "a&lt;b &amp; &quot;c&quot;&gt; \u{fffd}\u{fffd}d");
    }
}
