//! The words of the driver: commands, and the layout of what they point to (`linux/ublk_cmd.h`).

use std::path::PathBuf;

/// Bytes of the unit in which the driver counts.
pub(crate) const UNIT_BYTES: u64 = 512;
/// Bytes between the descriptors of two queues, in the device's file: room for the driver's deepest queue.
pub(crate) const QUEUE_SPAN_BYTES: u64 = 4096 * DESCRIPTOR_BYTES as u64;
/// Bytes of the descriptor of a request.
pub(crate) const DESCRIPTOR_BYTES: usize = 24;

/// `_IOC` of a command: it reads and may write what it points to.
const fn command(number: u32, bytes: u32, writes: bool) -> u32 {
    let direction = if writes { 3 } else { 2 };
    direction << 30 | bytes << 16 | (b'u' as u32) << 8 | number
}

const CONTROL_BYTES: u32 = 32;
const IO_BYTES: u32 = 16;

pub(crate) const GET_DEV_INFO: u32 = command(0x02, CONTROL_BYTES, false);
pub(crate) const ADD_DEV: u32 = command(0x04, CONTROL_BYTES, true);
pub(crate) const DEL_DEV: u32 = command(0x05, CONTROL_BYTES, true);
pub(crate) const START_DEV: u32 = command(0x06, CONTROL_BYTES, true);
pub(crate) const STOP_DEV: u32 = command(0x07, CONTROL_BYTES, true);
pub(crate) const SET_PARAMS: u32 = command(0x08, CONTROL_BYTES, true);
pub(crate) const START_USER_RECOVERY: u32 = command(0x10, CONTROL_BYTES, true);
pub(crate) const END_USER_RECOVERY: u32 = command(0x11, CONTROL_BYTES, true);
pub(crate) const GET_FEATURES: u32 = command(0x13, CONTROL_BYTES, false);
pub(crate) const DEL_DEV_ASYNC: u32 = command(0x14, CONTROL_BYTES, false);
pub(crate) const FETCH: u32 = command(0x20, IO_BYTES, true);
pub(crate) const COMMIT_AND_FETCH: u32 = command(0x21, IO_BYTES, true);

/// The disk waits for a new server when its own has died.
const USER_RECOVERY: u64 = 1 << 3;
/// Requests that the dead server had are asked again, and don't fail.
const USER_RECOVERY_REISSUE: u64 = 1 << 4;
/// Commands are encoded as those of `ioctl`.
const IOCTL_ENCODED: u64 = 1 << 6;
/// The features without which a driver is too old.
pub(crate) const NEEDED: u64 = USER_RECOVERY | USER_RECOVERY_REISSUE | IOCTL_ENCODED;

const PARAMS_BYTES: usize = 60;
const HAS_BASIC: u32 = 1;
const HAS_DISCARD: u32 = 2;
const IS_READ_ONLY: u32 = 1;
const HAS_VOLATILE_CACHE: u32 = 1 << 2;
const HAS_FUA: u32 = 1 << 3;

const FUA: u32 = 1 << 13;
const NO_UNMAP: u32 = 1 << 15;

/// The path of the disk of a number.
pub fn block_path(number: u32) -> PathBuf {
    format!("/dev/ublkb{number}").into()
}

/// The path of the file by which a server takes the requests of a disk.
pub(crate) fn server_path(number: u32) -> PathBuf {
    format!("/dev/ublkc{number}").into()
}

/// A command about a disk; `address` and `bytes` are what it points to.
pub(crate) fn control_command(number: u32, address: u64, bytes: u16, data: u64) -> [u8; 80] {
    let mut words = [0; 80];
    words[0..4].copy_from_slice(&number.to_ne_bytes());
    // No queue is meant.
    words[4..6].copy_from_slice(&u16::MAX.to_ne_bytes());
    words[6..8].copy_from_slice(&bytes.to_ne_bytes());
    words[8..16].copy_from_slice(&address.to_ne_bytes());
    words[16..24].copy_from_slice(&data.to_ne_bytes());
    words
}

/// A command about a request of a queue.
pub(crate) fn io_command(queue: u16, tag: u16, result: i32, address: u64) -> [u8; 16] {
    let mut words = [0; 16];
    words[0..2].copy_from_slice(&queue.to_ne_bytes());
    words[2..4].copy_from_slice(&tag.to_ne_bytes());
    words[4..8].copy_from_slice(&result.to_ne_bytes());
    words[8..16].copy_from_slice(&address.to_ne_bytes());
    words
}

/// A disk to be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Queues; the driver makes no more of them than there are processors.
    pub queues: u16,
    /// Requests that each queue has at once.
    pub depth: u16,
    /// Bytes of the longest read or write.
    pub request_bytes: u32,
    /// The disk outlives its server, and waits for a new one.
    pub waits_for_server: bool,
    /// The mark by which a new server finds it again.
    pub mark: u64,
}

/// The state of a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceState {
    /// It was not started, or was stopped.
    Dead,
    /// It has a server.
    Live,
    /// Its server has died, and it waits for a new one.
    Waiting,
    /// A state that later drivers know.
    Other(u16),
}

/// A disk as the driver has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceInfo {
    /// The number in its name.
    pub number: u32,
    /// Queues that it has.
    pub queues: u16,
    /// Requests that each of them has at once.
    pub depth: u16,
    /// Bytes of the longest read or write.
    pub request_bytes: u32,
    /// The state that it is in.
    pub state: DeviceState,
    /// The process that serves it, or did so last.
    pub server_pid: i32,
    /// It outlives its server.
    pub waits_for_server: bool,
    /// The mark that it was added with.
    pub mark: u64,
}

/// Bytes of the description of a disk.
pub(crate) const INFO_BYTES: usize = 64;

impl Wanted {
    pub(crate) fn encode(&self, pid: i32) -> [u8; INFO_BYTES] {
        let recovery = if self.waits_for_server { USER_RECOVERY | USER_RECOVERY_REISSUE } else { 0 };
        let mut words = [0; INFO_BYTES];
        words[0..2].copy_from_slice(&self.queues.to_ne_bytes());
        words[2..4].copy_from_slice(&self.depth.to_ne_bytes());
        words[8..12].copy_from_slice(&self.request_bytes.to_ne_bytes());
        // The driver chooses the number.
        words[12..16].copy_from_slice(&u32::MAX.to_ne_bytes());
        words[16..20].copy_from_slice(&pid.to_ne_bytes());
        words[24..32].copy_from_slice(&(IOCTL_ENCODED | recovery).to_ne_bytes());
        words[32..40].copy_from_slice(&self.mark.to_ne_bytes());
        words
    }
}

impl DeviceInfo {
    pub(crate) fn decode(words: &[u8; INFO_BYTES]) -> DeviceInfo {
        let state = match u16_at(words, 4) {
            0 => DeviceState::Dead,
            1 => DeviceState::Live,
            2 => DeviceState::Waiting,
            other => DeviceState::Other(other),
        };
        DeviceInfo {
            number: u32_at(words, 12),
            queues: u16_at(words, 0),
            depth: u16_at(words, 2),
            request_bytes: u32_at(words, 8),
            state,
            server_pid: u32_at(words, 16) as i32,
            waits_for_server: u64_at(words, 24) & USER_RECOVERY != 0,
            mark: u64_at(words, 32),
        }
    }
}

/// The write cache that a disk says it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cache {
    /// A write is durable when it is answered.
    WriteThrough,
    /// A flush makes writes durable, and a write with FUA is when it is answered.
    Volatile,
}

/// Parameters of a disk: sizes and limits in bytes, sizes as powers of two where the driver wants shifts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Size of the disk.
    pub size_bytes: u64,
    /// Unit of addresses.
    pub logical_bytes: u32,
    /// Unit that the card writes as a whole.
    pub physical_bytes: u32,
    /// Unit below which a request costs more.
    pub io_min_bytes: u32,
    /// Size at which requests are fastest.
    pub io_opt_bytes: u32,
    /// Bytes of the longest read or write.
    pub request_bytes: u32,
    /// Bytes that a discard frees as a whole.
    pub discard_granularity_bytes: u32,
    /// Bytes of the longest discard.
    pub discard_bytes: u64,
    /// Bytes of the longest run of zeroes.
    pub zeroes_bytes: u64,
    /// The write cache that it has.
    pub cache: Cache,
    /// Nothing can be written.
    pub read_only: bool,
}

impl Limits {
    pub(crate) fn encode(&self) -> [u8; PARAMS_BYTES] {
        let units = |bytes: u64| u32::try_from(bytes / UNIT_BYTES).unwrap_or(u32::MAX);
        let shift = |bytes: u32| bytes.trailing_zeros() as u8;
        let cache = match self.cache {
            Cache::WriteThrough => 0,
            Cache::Volatile => HAS_VOLATILE_CACHE | HAS_FUA,
        };
        let attributes = cache | if self.read_only { IS_READ_ONLY } else { 0 };
        let mut words = [0; PARAMS_BYTES];
        words[0..4].copy_from_slice(&(PARAMS_BYTES as u32).to_ne_bytes());
        words[4..8].copy_from_slice(&(HAS_BASIC | HAS_DISCARD).to_ne_bytes());
        words[8..12].copy_from_slice(&attributes.to_ne_bytes());
        words[12] = shift(self.logical_bytes);
        words[13] = shift(self.physical_bytes);
        words[14] = shift(self.io_opt_bytes);
        words[15] = shift(self.io_min_bytes);
        words[16..20].copy_from_slice(&units(self.request_bytes.into()).to_ne_bytes());
        words[24..32].copy_from_slice(&(self.size_bytes / UNIT_BYTES).to_ne_bytes());
        words[44..48].copy_from_slice(&self.discard_granularity_bytes.to_ne_bytes());
        words[48..52].copy_from_slice(&units(self.discard_bytes).to_ne_bytes());
        words[52..56].copy_from_slice(&units(self.zeroes_bytes).to_ne_bytes());
        // The driver knows discards of one range only.
        words[56..58].copy_from_slice(&1u16.to_ne_bytes());
        words
    }
}

/// The operation of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Bytes are wanted.
    Read,
    /// Bytes are brought.
    Write,
    /// All that was answered is to be durable.
    Flush,
    /// A range is not needed.
    Discard,
    /// A range is to read as zeroes.
    WriteZeroes,
    /// An operation that was not offered.
    Other(u8),
}

/// A request as the driver describes it. Nothing is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Requested {
    /// The operation that is asked for.
    pub op: Op,
    /// It is durable when it is answered.
    pub fua: bool,
    /// Zeroes keep their room.
    pub keeps_room: bool,
    /// First sector of 512 bytes.
    pub first_unit: u64,
    /// Sectors of 512 bytes.
    pub units: u32,
}

impl Requested {
    pub(crate) fn decode(words: &[u8; DESCRIPTOR_BYTES]) -> Requested {
        let flags = u32_at(words, 0);
        let op = match flags as u8 {
            0 => Op::Read,
            1 => Op::Write,
            2 => Op::Flush,
            3 => Op::Discard,
            5 => Op::WriteZeroes,
            other => Op::Other(other),
        };
        Requested {
            op,
            fua: flags & FUA != 0,
            keeps_room: flags & NO_UNMAP != 0,
            first_unit: u64_at(words, 8),
            units: u32_at(words, 4),
        }
    }

    /// First byte of its range; `None`: it lies beyond all addresses.
    pub fn offset_bytes(&self) -> Option<u64> {
        self.first_unit.checked_mul(UNIT_BYTES)
    }

    /// Bytes of its range.
    pub fn len_bytes(&self) -> u64 {
        u64::from(self.units) * UNIT_BYTES
    }
}

fn u16_at(words: &[u8], at: usize) -> u16 {
    u16::from_ne_bytes([words[at], words[at + 1]])
}

fn u32_at(words: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes(words[at..at + 4].try_into().expect("four bytes"))
}

fn u64_at(words: &[u8], at: usize) -> u64 {
    u64::from_ne_bytes(words[at..at + 8].try_into().expect("eight bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_have_the_numbers_of_the_kernels_header() {
        // As `_IOR('u', ..)` and `_IOWR('u', ..)` of linux/ublk_cmd.h come out on x86-64 and aarch64.
        assert_eq!(GET_DEV_INFO, 0x8020_7502);
        assert_eq!(ADD_DEV, 0xc020_7504);
        assert_eq!(START_USER_RECOVERY, 0xc020_7510);
        assert_eq!(GET_FEATURES, 0x8020_7513);
        assert_eq!(FETCH, 0xc010_7520);
        assert_eq!(COMMIT_AND_FETCH, 0xc010_7521);
        assert_eq!(QUEUE_SPAN_BYTES, 98_304);
    }

    #[test]
    fn a_disk_is_wanted_in_the_layout_of_the_driver_and_read_back() {
        let wanted = Wanted {
            queues: 3,
            depth: 128,
            request_bytes: 524_288,
            waits_for_server: true,
            mark: 0x0123_4567_89ab_cdef,
        };
        let mut words = wanted.encode(77);
        assert_eq!(u32_at(&words, 12), u32::MAX);
        assert_eq!(u64_at(&words, 24), 0b101_1000);
        // The driver fills in its number and the state.
        words[12..16].copy_from_slice(&5u32.to_ne_bytes());
        let info = DeviceInfo {
            number: 5,
            queues: 3,
            depth: 128,
            request_bytes: 524_288,
            state: DeviceState::Dead,
            server_pid: 77,
            waits_for_server: true,
            mark: wanted.mark,
        };
        assert_eq!(DeviceInfo::decode(&words), info);
        for (number, state) in [(1, DeviceState::Live), (2, DeviceState::Waiting), (3, DeviceState::Other(3))] {
            words[4] = number;
            assert_eq!(DeviceInfo::decode(&words).state, state);
        }
        let mortal = Wanted { waits_for_server: false, ..wanted };
        assert!(!DeviceInfo::decode(&mortal.encode(1)).waits_for_server);
    }

    #[test]
    fn limits_lie_where_the_driver_looks_for_them() {
        let limits = Limits {
            size_bytes: 1 << 30,
            logical_bytes: 512,
            physical_bytes: 4096,
            io_min_bytes: 8192,
            io_opt_bytes: 65_536,
            request_bytes: 524_288,
            discard_granularity_bytes: 4096,
            discard_bytes: 1 << 30,
            zeroes_bytes: 4 << 20,
            cache: Cache::Volatile,
            read_only: false,
        };
        let words = limits.encode();
        assert_eq!((u32_at(&words, 0), u32_at(&words, 4)), (60, 3));
        assert_eq!(u32_at(&words, 8), 0b1100);
        assert_eq!(words[12..16], [9, 12, 16, 13]);
        assert_eq!((u32_at(&words, 16), u64_at(&words, 24)), (1024, 1 << 21));
        assert_eq!((u32_at(&words, 44), u32_at(&words, 48), u32_at(&words, 52)), (4096, 1 << 21, 8192));
        assert_eq!(u16_at(&words, 56), 1);
        let fixed = Limits { cache: Cache::WriteThrough, read_only: true, discard_bytes: u64::MAX, ..limits };
        assert_eq!(u32_at(&fixed.encode(), 8), 1);
        assert_eq!(u32_at(&fixed.encode(), 48), u32::MAX);
    }

    #[test]
    fn requests_are_read_with_any_operation_and_flag() {
        let words = |flags: u32, units: u32, first: u64| {
            let mut words = [0xff; DESCRIPTOR_BYTES];
            words[0..4].copy_from_slice(&flags.to_ne_bytes());
            words[4..8].copy_from_slice(&units.to_ne_bytes());
            words[8..16].copy_from_slice(&first.to_ne_bytes());
            words
        };
        let ops = [
            (0, Op::Read),
            (1, Op::Write),
            (2, Op::Flush),
            (3, Op::Discard),
            (4, Op::Other(4)),
            (5, Op::WriteZeroes),
            (13, Op::Other(13)),
            (255, Op::Other(255)),
        ];
        for (number, op) in ops {
            for (flags, fua, keeps_room) in
                [(0, false, false), (1 << 13, true, false), (1 << 15, false, true), (0xffff_ff00, true, true)]
            {
                let read = Requested::decode(&words(number | flags, 8, 16));
                assert_eq!(read, Requested { op, fua, keeps_room, first_unit: 16, units: 8 });
            }
        }
        let far = Requested::decode(&words(0, u32::MAX, u64::MAX));
        assert_eq!((far.offset_bytes(), far.len_bytes()), (None, 512 * u64::from(u32::MAX)));
    }
}
