//! Requests of the kernel as requests of a card.

use live::{ReplyError, Request};
use rustix::io::Errno;
use ublk::{Op, Requested};

/// The bounds within which a request of the kernel lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ublk) struct Bounds {
    pub size_bytes: u64,
    /// Bytes of the longest read or write.
    pub request_bytes: u32,
    pub read_only: bool,
}

/// A request that lies within its bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ublk) struct Asked {
    pub op: Action,
    pub offset_bytes: u64,
    pub len_bytes: u32,
    pub fua: bool,
}

/// The action of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ublk) enum Action {
    Read,
    Write,
    Flush,
    Trim,
    Zero { keeps_room: bool },
}

impl Action {
    /// The request brings or wants a payload.
    pub fn has_payload(self) -> bool {
        matches!(self, Action::Read | Action::Write)
    }

    /// The request changes what is on the card.
    pub fn changes(self) -> bool {
        matches!(self, Action::Write | Action::Trim | Action::Zero { .. })
    }
}

impl Bounds {
    /// The request, or the error number with which it is answered.
    pub fn check(&self, requested: &Requested) -> Result<Asked, Errno> {
        let keeps_room = requested.keeps_room;
        let (op, fua) = match requested.op {
            Op::Read => (Action::Read, false),
            Op::Write => (Action::Write, requested.fua),
            Op::Flush => return Ok(Asked { op: Action::Flush, offset_bytes: 0, len_bytes: 0, fua: false }),
            Op::Discard => (Action::Trim, requested.fua),
            Op::WriteZeroes => (Action::Zero { keeps_room }, requested.fua),
            Op::Other(_) => return Err(Errno::OPNOTSUPP),
        };
        if self.read_only && op.changes() {
            return Err(Errno::ROFS);
        }
        let offset_bytes = requested.offset_bytes().ok_or(Errno::INVAL)?;
        let len_bytes = u32::try_from(requested.len_bytes()).map_err(|_| Errno::INVAL)?;
        let end = offset_bytes.checked_add(len_bytes.into()).ok_or(Errno::INVAL)?;
        let is_long = op.has_payload() && len_bytes > self.request_bytes;
        if len_bytes == 0 || is_long || end > self.size_bytes {
            return Err(Errno::INVAL);
        }
        Ok(Asked { op, offset_bytes, len_bytes, fua })
    }
}

impl Asked {
    /// Bytes of the payload.
    pub fn payload_bytes(&self) -> usize {
        if self.op.has_payload() { self.len_bytes as usize } else { 0 }
    }

    /// The result that the kernel gets when it has worked.
    pub fn done(&self) -> i32 {
        self.payload_bytes() as i32
    }

    /// The request for the card; `payload` are the bytes of a write.
    pub fn request<'a>(&self, tag: u64, payload: &'a [u8]) -> Request<'a> {
        let Asked { op, offset_bytes, len_bytes, fua } = *self;
        match op {
            Action::Read => Request::read(tag, offset_bytes, len_bytes),
            Action::Write => Request::write(tag, offset_bytes, payload).with_fua(fua),
            Action::Flush => Request::flush(tag),
            Action::Trim => Request::trim(tag, offset_bytes, len_bytes).with_fua(fua),
            Action::Zero { keeps_room } => {
                Request::write_zeroes(tag, offset_bytes, len_bytes, keeps_room).with_fua(fua)
            }
        }
    }
}

/// The result that the kernel gets for an error number.
pub(in crate::ublk) fn failed(errno: Errno) -> i32 {
    -errno.raw_os_error()
}

/// The error number for a request that the card did not carry out.
pub(in crate::ublk) fn errno(error: ReplyError) -> Errno {
    match error {
        ReplyError::OutOfRange => Errno::INVAL,
        ReplyError::ReadOnly => Errno::ROFS,
        ReplyError::NoSpace => Errno::NOSPC,
        // The kernel tells it as an error of the medium.
        ReplyError::Unreadable { .. } => Errno::NODATA,
        ReplyError::NoPower | ReplyError::Halted => Errno::IO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: Bounds = Bounds { size_bytes: 1 << 20, request_bytes: 64 << 10, read_only: false };

    fn requested(op: Op, first_unit: u64, units: u32) -> Requested {
        Requested { op, fua: false, keeps_room: false, first_unit, units }
    }

    #[test]
    fn every_operation_with_every_flag_becomes_the_cards_request() {
        let payload = [7; 4096];
        let (offset, len) = (8192, 4096);
        for fua in [false, true] {
            for keeps_room in [false, true] {
                let table = [
                    (Op::Read, Request::read(3, offset, len), 4096),
                    (Op::Write, Request::write(3, offset, &payload).with_fua(fua), 4096),
                    (Op::Flush, Request::flush(3), 0),
                    (Op::Discard, Request::trim(3, offset, len).with_fua(fua), 0),
                    (Op::WriteZeroes, Request::write_zeroes(3, offset, len, keeps_room).with_fua(fua), 0),
                ];
                for (op, wanted, result) in table {
                    let requested = Requested { fua, keeps_room, ..requested(op, 16, 8) };
                    let asked = BOUNDS.check(&requested).unwrap();
                    assert_eq!((asked.request(3, &payload), asked.done()), (wanted, result), "{op:?}");
                }
            }
        }
    }

    #[test]
    fn odd_and_hostile_requests_are_refused_and_none_panics() {
        let end = (1 << 20) / 512;
        let refused = [
            (requested(Op::Other(4), 0, 8), Errno::OPNOTSUPP),
            (requested(Op::Other(15), 0, 8), Errno::OPNOTSUPP),
            (requested(Op::Other(255), u64::MAX, u32::MAX), Errno::OPNOTSUPP),
            (requested(Op::Read, 0, 0), Errno::INVAL),
            (requested(Op::Write, 8, 0), Errno::INVAL),
            (requested(Op::Discard, 8, 0), Errno::INVAL),
            (requested(Op::Read, 0, 129), Errno::INVAL),
            (requested(Op::Write, 0, u32::MAX), Errno::INVAL),
            (requested(Op::Read, end, 1), Errno::INVAL),
            (requested(Op::Read, end - 1, 2), Errno::INVAL),
            (requested(Op::Read, u64::MAX, 8), Errno::INVAL),
            (requested(Op::Discard, u64::MAX / 512, u32::MAX), Errno::INVAL),
            (requested(Op::WriteZeroes, 0, u32::MAX), Errno::INVAL),
            (requested(Op::Discard, 0, end as u32 + 1), Errno::INVAL),
        ];
        for (requested, errno) in refused {
            assert_eq!(BOUNDS.check(&requested), Err(errno), "{requested:?}");
        }
        // A flush has no range, whatever the driver left there; a range may begin within a sector.
        assert!(BOUNDS.check(&requested(Op::Flush, u64::MAX, u32::MAX)).is_ok());
        assert_eq!(BOUNDS.check(&requested(Op::Read, end - 1, 1)).unwrap().len_bytes, 512);
        assert_eq!(BOUNDS.check(&requested(Op::Discard, 0, end as u32)).unwrap().len_bytes, 1 << 20);
    }

    #[test]
    fn a_disk_that_is_read_only_is_read_and_flushed() {
        let bounds = Bounds { read_only: true, ..BOUNDS };
        for op in [Op::Write, Op::Discard, Op::WriteZeroes] {
            assert_eq!(bounds.check(&requested(op, 0, 8)), Err(Errno::ROFS), "{op:?}");
        }
        for op in [Op::Read, Op::Flush] {
            assert!(bounds.check(&requested(op, 0, 8)).is_ok(), "{op:?}");
        }
    }

    #[test]
    fn the_kernel_gets_the_error_of_the_card() {
        let table = [
            (ReplyError::OutOfRange, -22),
            (ReplyError::ReadOnly, -30),
            (ReplyError::NoSpace, -28),
            (ReplyError::Unreadable { offset_bytes: 0 }, -61),
            (ReplyError::NoPower, -5),
            (ReplyError::Halted, -5),
        ];
        for (error, result) in table {
            assert_eq!(failed(errno(error)), result, "{error:?}");
        }
    }
}
