//! Fields of a structure in little-endian order, at their offsets.
//!
//! # Panics
//!
//! All functions panic when the field lies outside: structures have the length of their definition before a field of them
//! is asked for.

pub fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

pub fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

pub fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}

pub fn array_at<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut array = [0; N];
    array.copy_from_slice(&bytes[at..at + N]);
    array
}

/// Writes a field over what stands there.
pub fn put(bytes: &mut [u8], at: usize, field: &[u8]) {
    bytes[at..at + field.len()].copy_from_slice(field);
}

pub fn put_u16(bytes: &mut [u8], at: usize, value: u16) {
    put(bytes, at, &value.to_le_bytes());
}

pub fn put_u32(bytes: &mut [u8], at: usize, value: u32) {
    put(bytes, at, &value.to_le_bytes());
}

pub fn put_u64(bytes: &mut [u8], at: usize, value: u64) {
    put(bytes, at, &value.to_le_bytes());
}

/// Writes text that is filled up with spaces, as serial and model numbers are.
pub fn put_padded(bytes: &mut [u8], at: usize, length: usize, text: &str) {
    let text = text.as_bytes();
    bytes[at..at + length].fill(b' ');
    put(bytes, at, &text[..text.len().min(length)]);
}

/// The text in a field that is filled up with zeroes; `None` if it has no end or is not UTF-8.
pub fn text_at(bytes: &[u8], at: usize, length: usize) -> Option<&str> {
    let field = &bytes[at..at + length];
    let end = field.iter().position(|byte| *byte == 0)?;
    std::str::from_utf8(&field[..end]).ok()
}

/// The length of something that is known to be short.
pub fn short(bytes: usize) -> u32 {
    u32::try_from(bytes).expect("structures and transfers are far shorter than 4 GiB")
}
