//! The status of a command, as the completion queue entry has it (NVMe Base 2.0, section 3.3.3.2).

/// A status: type and code, with the bit that says that the same command would fail again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status(u16);

const GENERIC: u16 = 0;
const SPECIFIC: u16 = 1;
const MEDIA: u16 = 2;
const PATH: u16 = 3;
/// "Do Not Retry" in the status field, whose lowest bit is not part of it here.
const DO_NOT_RETRY: u16 = 1 << 14;

/// A status that is final.
const fn refusal(kind: u16, code: u16) -> Status {
    Status(kind << 8 | code | DO_NOT_RETRY)
}

/// A status after which the host may try again.
const fn passing(kind: u16, code: u16) -> Status {
    Status(kind << 8 | code)
}

#[allow(missing_docs, reason = "the names are those of the specification")]
impl Status {
    pub const SUCCESS: Status = Status(0);
    pub const INVALID_OPCODE: Status = refusal(GENERIC, 0x01);
    pub const INVALID_FIELD: Status = refusal(GENERIC, 0x02);
    pub const ID_CONFLICT: Status = refusal(GENERIC, 0x03);
    pub const INTERNAL_ERROR: Status = passing(GENERIC, 0x06);
    pub const ABORTED_BY_REQUEST: Status = passing(GENERIC, 0x07);
    pub const INVALID_NAMESPACE: Status = refusal(GENERIC, 0x0B);
    pub const COMMAND_SEQUENCE_ERROR: Status = refusal(GENERIC, 0x0C);
    pub const DATA_LENGTH_INVALID: Status = refusal(GENERIC, 0x0F);
    pub const DESCRIPTOR_TYPE_INVALID: Status = refusal(GENERIC, 0x11);
    pub const SGL_OFFSET_INVALID: Status = refusal(GENERIC, 0x16);
    pub const WRITE_PROTECTED: Status = refusal(GENERIC, 0x20);
    pub const TRANSIENT_TRANSPORT_ERROR: Status = passing(GENERIC, 0x22);
    pub const HOST_ID_FORMAT: Status = refusal(GENERIC, 0x24);
    pub const COMMAND_SET_NOT_SUPPORTED: Status = refusal(GENERIC, 0x2B);
    pub const LBA_OUT_OF_RANGE: Status = refusal(GENERIC, 0x80);
    pub const CAPACITY_EXCEEDED: Status = refusal(GENERIC, 0x81);
    pub const NAMESPACE_NOT_READY: Status = passing(GENERIC, 0x82);
    pub const RESERVATION_CONFLICT: Status = refusal(GENERIC, 0x83);
    pub const EVENT_REQUEST_LIMIT: Status = refusal(SPECIFIC, 0x05);
    pub const INVALID_LOG_PAGE: Status = refusal(SPECIFIC, 0x09);
    pub const NOT_SAVEABLE: Status = refusal(SPECIFIC, 0x0D);
    pub const NOT_CHANGEABLE: Status = refusal(SPECIFIC, 0x0E);
    pub const INCOMPATIBLE_FORMAT: Status = refusal(SPECIFIC, 0x80);
    pub const CONTROLLER_BUSY: Status = passing(SPECIFIC, 0x81);
    pub const INVALID_PARAMETERS: Status = refusal(SPECIFIC, 0x82);
    pub const INVALID_HOST: Status = refusal(SPECIFIC, 0x84);
    pub const AUTHENTICATION_REQUIRED: Status = refusal(SPECIFIC, 0x91);
    pub const WRITE_FAULT: Status = passing(MEDIA, 0x80);
    pub const UNRECOVERED_READ: Status = refusal(MEDIA, 0x81);
    pub const COMPARE_FAILURE: Status = refusal(MEDIA, 0x85);
    pub const ACCESS_INACCESSIBLE: Status = passing(PATH, 0x02);
    pub const ACCESS_TRANSITION: Status = passing(PATH, 0x03);
    pub const CONTROLLER_PATHING_ERROR: Status = passing(PATH, 0x60);

    /// The status code type and the status code.
    #[must_use]
    pub fn code(self) -> (u8, u8) {
        ((self.0 >> 8 & 7) as u8, self.0 as u8)
    }

    /// The command may be retried.
    #[must_use]
    pub fn is_passing(self) -> bool {
        self.0 & DO_NOT_RETRY == 0
    }

    /// The status field of a completion queue entry, with the phase tag, which fabrics do not use.
    #[must_use]
    pub fn field(self) -> u16 {
        self.0 << 1
    }

    /// The status in such a field.
    #[must_use]
    pub fn of_field(field: u16) -> Status {
        Status(field >> 1)
    }
}
