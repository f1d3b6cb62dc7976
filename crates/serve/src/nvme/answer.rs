//! The answer to a command that the target carries out.

use crate::nvme::status::Status;

/// The answer to a command that the target carries out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The status of the command.
    pub status: Status,
    /// The command specific part of the completion queue entry: dwords 0 and 1.
    pub value: u64,
    /// The data of a command that has some for the host.
    pub data: Option<Vec<u8>>,
}

impl Answer {
    /// A command that is refused.
    #[must_use]
    pub fn refused(status: Status) -> Answer {
        Answer { status, value: 0, data: None }
    }

    /// A command that succeeded, with a value.
    #[must_use]
    pub fn value(value: u64) -> Answer {
        Answer { status: Status::SUCCESS, value, data: None }
    }

    /// A command that succeeded, with data.
    #[must_use]
    pub fn data(data: Vec<u8>) -> Answer {
        Answer { status: Status::SUCCESS, value: 0, data: Some(data) }
    }

    /// A Connect that is refused for a parameter: its offset in the command, or in the data (`IPO` and `IATTR`).
    #[must_use]
    pub fn invalid_parameter(offset: u16, in_data: bool) -> Answer {
        Answer { status: Status::INVALID_PARAMETERS, value: u64::from(offset) | u64::from(in_data) << 16, data: None }
    }
}

impl From<Status> for Answer {
    fn from(status: Status) -> Answer {
        Answer::refused(status)
    }
}

/// A queue that was connected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connected {
    /// The identifier of the controller.
    pub controller: u16,
    /// The identifier of the queue; 0 is the admin queue.
    pub queue: u16,
    /// The number of entries of the submission queue.
    pub entries: u16,
    /// The host does without flow control of the submission queue.
    pub no_flow_control: bool,
}
