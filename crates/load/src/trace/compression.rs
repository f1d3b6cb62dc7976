//! Plain, gzip, zstd: told by the first bytes. Several members or frames one after the other are one stream.

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::io::{self, BufRead, Read};

/// Compression of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Compression {
    /// Not at all.
    Plain,
    Gzip,
    Zstd,
}

impl Compression {
    /// As people call it.
    pub fn name(self) -> &'static str {
        match self {
            Compression::Plain => "plain",
            Compression::Gzip => "gzip",
            Compression::Zstd => "zstd",
        }
    }

    /// Returns the compression of a stream that begins so.
    fn of(head: &[u8]) -> Compression {
        match head {
            [0x1f, 0x8b, ..] => Compression::Gzip,
            // A frame, or one that is to be skipped before it.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Compression::Zstd,
            _ => Compression::Plain,
        }
    }
}

/// The contents of a stream, unpacked.
pub(crate) fn unpacked<'a>(
    mut source: impl BufRead + Send + 'a,
) -> io::Result<(Compression, Box<dyn Read + Send + 'a>)> {
    let compression = Compression::of(source.fill_buf()?);
    let unpacked: Box<dyn Read + Send + 'a> = match compression {
        Compression::Plain => Box::new(source),
        Compression::Gzip => Box::new(MultiGzDecoder::new(source)),
        Compression::Zstd => Box::new(Frames { source, decoder: FrameDecoder::new(), within: false }),
    };
    Ok((compression, unpacked))
}

/// Zstandard frames one after the other, as `zstd` makes of several files and pzstd of one. The decoder refuses windows
/// of more than 100 MiB.
struct Frames<R> {
    source: R,
    decoder: FrameDecoder,
    within: bool,
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.within {
                let wanted = buffer.len().min(UNPACKED_AT_ONCE);
                while self.decoder.can_collect() < wanted && !self.decoder.is_finished() {
                    let missing = wanted - self.decoder.can_collect();
                    let strategy = BlockDecodingStrategy::UptoBytes(missing);
                    self.decoder.decode_blocks(&mut self.source, strategy).map_err(invalid)?;
                }
                let read = self.decoder.read(&mut buffer[..wanted])?;
                if read > 0 || wanted == 0 {
                    return Ok(read);
                }
                self.frame_ended()?;
            }
            if self.source.fill_buf()?.is_empty() {
                return Ok(0);
            }
            self.begin_frame()?;
        }
    }
}

/// Bytes for which blocks are unpacked in one go.
const UNPACKED_AT_ONCE: usize = 256 << 10;

impl<R: BufRead> Frames<R> {
    fn begin_frame(&mut self) -> io::Result<()> {
        match self.decoder.init(&mut self.source) {
            Ok(()) => self.within = true,
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                let length = u64::from(length);
                if io::copy(&mut (&mut self.source).take(length), &mut io::sink())? < length {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
            }
            Err(error) => return Err(invalid(error)),
        }
        Ok(())
    }

    fn frame_ended(&mut self) -> io::Result<()> {
        self.within = false;
        match (self.decoder.get_checksum_from_data(), self.decoder.get_calculated_checksum()) {
            (Some(stored), Some(found)) if stored != found => Err(invalid("the checksum is another")),
            _ => Ok(()),
        }
    }
}

fn invalid(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::write::GzEncoder;
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};
    use std::io::Write;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn zstd(text: &[u8]) -> Vec<u8> {
        compress_to_vec(text, CompressionLevel::Fastest)
    }

    fn unpack(bytes: &[u8]) -> io::Result<(Compression, Vec<u8>)> {
        let (compression, mut source) = unpacked(bytes)?;
        let mut out = Vec::new();
        source.read_to_end(&mut out)?;
        Ok((compression, out))
    }

    fn text() -> Vec<u8> {
        (0..100_000_u32).flat_map(|i| format!("{i},{}\n", i.wrapping_mul(2_654_435_761)).into_bytes()).collect()
    }

    #[test]
    fn members_and_frames_that_follow_each_other_are_one_stream() {
        let text = text();
        let (a, b) = text.split_at(500_000);
        assert_eq!(unpack(&text).unwrap(), (Compression::Plain, text.clone()));
        assert_eq!(unpack(&[gzip(a), gzip(b)].concat()).unwrap(), (Compression::Gzip, text.clone()));
        // A frame that is to be skipped: its magic, its length, its bytes.
        let skipped = [&[0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"abc"].concat();
        let frames = [skipped.clone(), zstd(a), zstd(b""), skipped, zstd(b)].concat();
        assert_eq!(unpack(&frames).unwrap(), (Compression::Zstd, text));
        assert_eq!(unpack(b"").unwrap(), (Compression::Plain, Vec::new()));
    }

    #[test]
    fn what_is_cut_off_or_damaged_is_an_error() {
        let text = text();
        for packed in [gzip(&text), zstd(&text)] {
            for cut in [5, packed.len() / 2, packed.len() - 2] {
                assert!(unpack(&packed[..cut]).is_err(), "cut at {cut} of {}", packed.len());
            }
            let mut damaged = packed.clone();
            damaged[packed.len() / 2] ^= 0x10;
            assert!(unpack(&damaged).map(|(_, out)| out != text).unwrap_or(true));
            assert!(unpack(&[packed, b"stray".to_vec()].concat()).is_err());
        }
        assert!(unpack(&[0x50, 0x2a, 0x4d, 0x18, 9, 0, 0, 0, 1]).is_err());
    }

    #[test]
    fn what_the_zstd_command_makes_is_read() {
        // printf 'fio version 2 iolog\n' | zstd -c
        let made = [
            0x28, 0xb5, 0x2f, 0xfd, 0x04, 0x58, 0xa1, 0x00, 0x00, b'f', b'i', b'o', b' ', b'v', b'e', b'r', b's', b'i',
            b'o', b'n', b' ', b'2', b' ', b'i', b'o', b'l', b'o', b'g', b'\n', 0x33, 0x63, 0x61, 0xe8,
        ];
        assert_eq!(unpack(&made).unwrap().1, b"fio version 2 iolog\n");
    }
}
