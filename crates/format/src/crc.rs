//! Checksums: crc32c (Castagnoli), as iSCSI and ext4 use it.

/// Bytes from this length on are folded.
const FOLDED_BYTES: usize = 512;
/// The polynomial, reflected: RFC 7143, section 13.1.
const POLYNOMIAL: u32 = 0x82f6_3b78;

/// The checksum of earlier bytes and these together. `crc` is the checksum of the earlier bytes, or 0 if there are
/// none.
pub fn crc_append(crc: u32, bytes: &[u8]) -> u32 {
    crc32c::crc32c_append(crc, bytes)
}

/// The checksum of a payload, or of more bytes.
pub fn payload_crc(payload: &[u8]) -> u32 {
    // Carry-less multiplication is three times as fast as the CRC instruction, once there is enough to be folded.
    if payload.len() < FOLDED_BYTES {
        return crc32c::crc32c(payload);
    }
    crc_fast::checksum(crc_fast::CrcAlgorithm::Crc32Iscsi, payload) as u32
}

/// A linear map of checksums: the images of the single bits.
type Matrix = [u32; 32];

const fn image(matrix: &Matrix, of: u32) -> u32 {
    let (mut sum, mut bit) = (0, 0);
    while bit < 32 {
        if of >> bit & 1 == 1 {
            sum ^= matrix[bit];
        }
        bit += 1;
    }
    sum
}

/// The map from a checksum to that of the same bytes and `2^doublings` zero bits, but for a constant.
const fn zero_bits(doublings: u32) -> Matrix {
    let mut matrix: Matrix = [POLYNOMIAL; 32];
    let mut bit = 1;
    while bit < 32 {
        matrix[bit] = 1 << (bit - 1);
        bit += 1;
    }
    let mut done = 0;
    while done < doublings {
        let mut twice: Matrix = [0; 32];
        bit = 0;
        while bit < 32 {
            twice[bit] = image(&matrix, matrix[bit]);
            bit += 1;
        }
        matrix = twice;
        done += 1;
    }
    matrix
}

/// The map of a matrix, by the bytes of a checksum.
const fn table(matrix: &Matrix) -> [[u32; 256]; 4] {
    let mut table = [[0; 256]; 4];
    let mut byte = 0;
    while byte < 4 {
        let mut value = 0;
        while value < 256 {
            table[byte][value] = image(matrix, (value as u32) << (8 * byte));
            value += 1;
        }
        byte += 1;
    }
    table
}

/// The payloads that are joined by a table: 4,096 bytes are 2^15 bits.
const JOINED_BYTES: usize = 4096;
static JOINED: [[u32; 256]; 4] = table(&zero_bits(15));

/// The checksum of payloads one after the other, by the checksum of each; `None`: payloads of this length are not joined.
pub fn joined_crc(payload_bytes: usize, crcs: impl IntoIterator<Item = u32>) -> Option<u32> {
    let join = |before: u32, crc: u32| {
        let [a, b, c, d] = before.to_le_bytes().map(usize::from);
        crc ^ JOINED[0][a] ^ JOINED[1][b] ^ JOINED[2][c] ^ JOINED[3][d]
    };
    (payload_bytes == JOINED_BYTES).then(|| crcs.into_iter().fold(0, join))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_and_short_payloads_have_the_same_checksum() {
        let bytes: Vec<u8> = (0..5_000u32).map(|at| ((at * at) >> 3) as u8).collect();
        for len in [0, 1, 511, 512, 513, 4095, 4096, 5_000] {
            assert_eq!(payload_crc(&bytes[..len]), crc32c::crc32c(&bytes[..len]), "{len} bytes");
        }
        // Appendix A.4 of RFC 7143: 32 bytes of zeroes.
        assert_eq!(payload_crc(&[0; 32]), 0x8a91_36aa);
    }

    #[test]
    fn checksums_of_payloads_make_that_of_all() {
        let bytes: Vec<u8> = (0..5 * 4096u32).map(|at| ((at * at) >> 5) as u8).collect();
        for payloads in 0..=5 {
            let all = &bytes[..payloads * 4096];
            let joined = joined_crc(4096, all.chunks(4096).map(payload_crc));
            assert_eq!(joined, Some(payload_crc(all)), "{payloads} payloads");
        }
        assert_eq!(joined_crc(4096, [0x1234_5678]), Some(0x1234_5678));
        assert_eq!(joined_crc(2048, [1, 2]), None);
    }
}
