//! Text that the kernel or a drive wrote, made safe to show.

/// Trimmed, and without control characters: a drive's firmware chose these bytes, and they end up on a terminal.
/// Nothing left: absent.
pub(crate) fn clean(text: &str) -> Option<String> {
    let text: String = text
        .trim_matches(|c: char| c.is_whitespace() || c == '\0')
        .chars()
        .map(|c| if c.is_control() { '?' } else { c })
        .collect();
    (!text.is_empty()).then_some(text)
}

/// Bytes of which a drive claims that they are text.
pub(crate) fn clean_bytes(bytes: &[u8]) -> Option<String> {
    clean(&String::from_utf8_lossy(bytes))
}

/// Undoes the octal escapes (`\040`) of `/proc/mounts`, `/proc/swaps`.
pub(crate) fn unescape(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let digits = bytes.get(at + 1..at + 4);
        match digits {
            Some(&[a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7']) if bytes[at] == b'\\' => {
                out.push((a - b'0') * 64 + (b - b'0') * 8 + (c - b'0'));
                at += 4;
            }
            _ => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    out
}

/// `400 GB`: decimal, as devices are sold; no more digits than are true.
pub(crate) fn bytes(value: u64) -> String {
    const UNITS: [(&str, u64); 5] = [
        ("PB", 1_000_000_000_000_000),
        ("TB", 1_000_000_000_000),
        ("GB", 1_000_000_000),
        ("MB", 1_000_000),
        ("kB", 1000),
    ];
    for (unit, size) in UNITS {
        if value >= size {
            let scaled = value as f64 / size as f64;
            let text = if scaled < 99.95 { format!("{scaled:.1}") } else { format!("{scaled:.0}") };
            return format!("{} {unit}", text.strip_suffix(".0").unwrap_or(&text));
        }
    }
    format!("{value} B")
}

/// `512 B`, `4 KiB`, `1 GiB`: for sizes that are powers of two. A large one that isn't reads as decimal.
pub(crate) fn binary(value: u64) -> String {
    const UNITS: [(&str, u32); 4] = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
    for (unit, shift) in UNITS {
        if value != 0 && value.is_multiple_of(1 << shift) {
            return format!("{} {unit}", value >> shift);
        }
    }
    if value < 1_000_000 { format!("{value} B") } else { bytes(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_firmware_says_can_not_drive_a_terminal() {
        assert_eq!(clean("  \u{1b}[2JSSD \0\0").as_deref(), Some("?[2JSSD"));
        assert_eq!(clean(" \n\0 "), None);
    }

    #[test]
    fn octal_escapes_are_undone_and_half_ones_are_left() {
        assert_eq!(unescape(r"/mnt/a\040b"), b"/mnt/a b");
        assert_eq!(unescape(r"a\04"), br"a\04");
        assert_eq!(unescape(r"a\999"), br"a\999");
    }

    #[test]
    fn sizes_read_as_on_the_box() {
        assert_eq!(bytes(400_088_457_216), "400 GB");
        assert_eq!(bytes(1_000_204_886_016), "1 TB");
        assert_eq!(bytes(512), "512 B");
        assert_eq!(binary(4096), "4 KiB");
        assert_eq!(binary(512), "512 B");
        assert_eq!(binary(0), "0 B");
        assert_eq!(binary(520), "520 B");
        assert_eq!(binary((1 << 41) - 512), "2.2 TB");
    }
}
