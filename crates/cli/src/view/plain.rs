//! Text of a page in a terminal.

use super::is_unprintable;

/// Cut with an ellipsis where it is too long.
pub fn short(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    text.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}

/// As the rest of a terminal's output is written: the page's thin separators and typographic minus are for paper. A
/// character that would move the cursor is shown as a mark.
pub fn plain(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let digit = |i: usize| chars.get(i).is_some_and(char::is_ascii_digit);
    let plain = |(i, &c): (usize, &char)| match c {
        '\u{202f}' if i > 0 && digit(i - 1) && digit(i + 1) => ',',
        '\u{202f}' => ' ',
        '\u{2212}' | '\u{2013}' => '-',
        c if is_unprintable(c) => '\u{fffd}',
        c => c,
    };
    chars.iter().enumerate().map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_written_as_everywhere_else_in_a_terminal() {
        assert_eq!(plain("19\u{202f}500\u{202f}IOPS"), "19,500 IOPS");
        assert_eq!(plain("\u{2212}37\u{202f}%"), "-37 %");
        assert_eq!(short("a long name", 6), "a lon…");
        assert_eq!(plain("a\u{1b}[2J\nb"), "a\u{fffd}[2J\u{fffd}b");
    }
}
