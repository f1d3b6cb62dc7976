//! The handshake: client flags, then options one by one, until one of them chooses an export.

use crate::wire::bytes::{Fields, put_u16, put_u64};
use crate::wire::close::Close;
use crate::wire::exports::Exports;
use crate::wire::limits::{MAX_OPTION_BYTES, MAX_OPTIONS, MAX_SKIPPED_OPTION_BYTES, MAX_STRING_BYTES};
use crate::wire::numbers::{
    FLAG_FIXED_NEWSTYLE, FLAG_NO_ZEROES, MAGIC, OPT_ABORT, OPT_EXPORT_NAME, OPT_GO, OPT_INFO, OPT_LIST,
    OPT_LIST_META_CONTEXT, OPT_SET_META_CONTEXT, OPT_STARTTLS, OPT_STRUCTURED_REPLY, OPTION_HEADER_BYTES, OPTION_MAGIC,
    REP_ACK, REP_ERR_INVALID, REP_ERR_POLICY, REP_ERR_SHUTDOWN, REP_ERR_TLS_REQD, REP_ERR_TOO_BIG, REP_ERR_UNSUP,
};
use crate::wire::option_reply::{Refused, put_reply};
use crate::wire::step::Step;

/// Whether connections are encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tls {
    /// Connections are never encrypted; `NBD_OPT_STARTTLS` is refused.
    Off,
    /// Connections are encrypted if the client asks for it; without, it may use everything too.
    Offered,
    /// Connections are always encrypted; before that a client can use and learn nothing.
    Required,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    ClientFlags,
    Options,
    /// The next bytes are data of an option that are skipped; behind them the option is refused, or it is `ABORT`.
    Skipping {
        option: u32,
        left: u32,
        refused: Option<Refused>,
    },
    /// The caller is negotiating TLS.
    Tls,
}

#[derive(Debug)]
pub struct Handshake {
    state: State,
    tls: Tls,
    encrypted: bool,
    shutting_down: bool,
    options: u32,
    fixed_newstyle: bool,
    no_zeroes: bool,
    pub structured: bool,
    /// The export whose `base:allocation` context was selected.
    pub allocation_of: Option<usize>,
}

pub fn put_greeting(out: &mut Vec<u8>) {
    put_u64(out, MAGIC);
    put_u64(out, OPTION_MAGIC);
    put_u16(out, FLAG_FIXED_NEWSTYLE | FLAG_NO_ZEROES);
}

impl Handshake {
    pub fn new(tls: Tls) -> Self {
        Self {
            state: State::ClientFlags,
            tls,
            encrypted: false,
            shutting_down: false,
            options: 0,
            fixed_newstyle: false,
            no_zeroes: false,
            structured: false,
            allocation_of: None,
        }
    }

    pub fn shut_down(&mut self) {
        self.shutting_down = true;
    }

    pub fn no_zeroes(&self) -> bool {
        self.no_zeroes
    }

    /// Whether the stream may end here, because no message was begun.
    pub fn is_between_messages(&self) -> bool {
        !matches!(self.state, State::Skipping { .. })
    }

    pub fn tls_started(&mut self) {
        assert_eq!(self.state, State::Tls, "TLS was not asked for");
        self.encrypted = true;
        self.state = State::Options;
    }

    pub fn parse(&mut self, exports: &Exports, input: &[u8], out: &mut Vec<u8>) -> (usize, Step) {
        match self.state {
            State::ClientFlags => match Fields(input).u32() {
                Some(flags) => self.client_flags(flags, exports, input, out),
                None => (0, Step::NeedMore { at_least_bytes: 4 - input.len() }),
            },
            State::Options => self.option_header(0, exports, input, out),
            State::Skipping { .. } => self.skip(0, input, out),
            State::Tls => panic!("nothing is parsed while TLS is negotiated"),
        }
    }

    fn client_flags(&mut self, flags: u32, exports: &Exports, input: &[u8], out: &mut Vec<u8>) -> (usize, Step) {
        let (fixed, no_zeroes) = (u32::from(FLAG_FIXED_NEWSTYLE), u32::from(FLAG_NO_ZEROES));
        if flags & !(fixed | no_zeroes) != 0 {
            return (0, Step::Close(Close::ClientFlags(flags)));
        }
        self.fixed_newstyle = flags & fixed != 0;
        self.no_zeroes = flags & no_zeroes != 0;
        self.state = State::Options;
        self.option_header(4, exports, input, out)
    }

    /// Handles the header of an option at `begin`. Replies that do not need the option's data are given before these
    /// arrive.
    fn option_header(&mut self, begin: usize, exports: &Exports, input: &[u8], out: &mut Vec<u8>) -> (usize, Step) {
        let there = &input[begin..];
        let mut fields = Fields(there);
        let (Some(magic), Some(option), Some(length)) = (fields.u64(), fields.u32(), fields.u32()) else {
            return (begin, Step::NeedMore { at_least_bytes: OPTION_HEADER_BYTES - there.len() });
        };
        let data_begin = begin + OPTION_HEADER_BYTES;
        if magic != OPTION_MAGIC {
            return (begin, Step::Close(Close::OptionMagic(magic)));
        }
        if self.options == MAX_OPTIONS {
            return (begin, Step::Close(Close::TooManyOptions));
        }
        if let Some(close) = self.intolerable(option, length) {
            return (begin, Step::Close(close));
        }
        let refused = self.refused(option, length);
        if refused.is_some() || option == OPT_ABORT {
            if option == OPT_SET_META_CONTEXT {
                // The document says that a failure unselects the context that was selected before.
                self.allocation_of = None;
            }
            self.options += 1;
            self.state = State::Skipping { option, left: length, refused };
            return self.skip(data_begin, input, out);
        }
        let wanted = usize::try_from(length).expect("a length was checked");
        let Some(data) = fields.bytes(wanted) else {
            let at_least_bytes = OPTION_HEADER_BYTES + wanted - there.len();
            return (begin, Step::NeedMore { at_least_bytes });
        };
        self.options += 1;
        let step = match option {
            OPT_STARTTLS => self.start_tls(input.len() - data_begin, out),
            _ => self.option(option, data, exports, out),
        };
        (data_begin + wanted, step)
    }

    /// The reason to close the connection, for an option that can't be answered by a refusal.
    fn intolerable(&self, option: u32, length: u32) -> Option<Close> {
        let bytes = usize::try_from(length).unwrap_or(usize::MAX);
        if option != OPT_EXPORT_NAME {
            return if !self.fixed_newstyle {
                Some(Close::NotFixedNewstyle(option))
            } else if bytes > MAX_SKIPPED_OPTION_BYTES {
                Some(Close::OptionTooLong { option, bytes: length })
            } else {
                None
            };
        }
        if self.shutting_down {
            Some(Close::ShuttingDown)
        } else if self.wants_tls() {
            Some(Close::TlsRequired)
        } else if bytes > MAX_STRING_BYTES {
            Some(Close::ExportNameTooLong(length))
        } else {
            None
        }
    }

    /// The refusal of an option by its header alone. `ABORT` is never refused.
    fn refused(&self, option: u32, length: u32) -> Option<Refused> {
        let no = |reply, message| Some(Refused { reply, message });
        if option == OPT_ABORT {
            return None;
        }
        if self.shutting_down {
            return no(REP_ERR_SHUTDOWN, "the server shuts down");
        }
        if self.wants_tls() && option != OPT_STARTTLS {
            return no(REP_ERR_TLS_REQD, "this server requires TLS");
        }
        match option {
            OPT_EXPORT_NAME => None,
            OPT_LIST | OPT_STARTTLS | OPT_STRUCTURED_REPLY if length > 0 => {
                no(REP_ERR_INVALID, "this option has no data")
            }
            OPT_STARTTLS if self.tls == Tls::Off => no(REP_ERR_POLICY, "this server has no TLS"),
            OPT_STARTTLS if self.encrypted => no(REP_ERR_INVALID, "the connection has TLS already"),
            OPT_LIST | OPT_STARTTLS | OPT_STRUCTURED_REPLY => None,
            OPT_INFO | OPT_GO | OPT_LIST_META_CONTEXT | OPT_SET_META_CONTEXT => {
                let fits = usize::try_from(length).is_ok_and(|bytes| bytes <= MAX_OPTION_BYTES);
                if fits { None } else { no(REP_ERR_TOO_BIG, "the option has too much data") }
            }
            // This includes NBD_OPT_EXTENDED_HEADERS (11), for requests and replies of 64 bits length.
            _ => no(REP_ERR_UNSUP, "this option is not known"),
        }
    }

    fn wants_tls(&self) -> bool {
        self.tls == Tls::Required && !self.encrypted
    }

    /// Skips data of an option from `begin` on.
    fn skip(&mut self, begin: usize, input: &[u8], out: &mut Vec<u8>) -> (usize, Step) {
        let State::Skipping { option, left, refused } = self.state else { unreachable!("nothing is skipped") };
        let there = u32::try_from(input.len() - begin).unwrap_or(u32::MAX).min(left);
        let consumed = begin + usize::try_from(there).expect("part of a slice");
        if there < left {
            self.state = State::Skipping { option, left: left - there, refused };
            return (consumed, Step::NeedMore { at_least_bytes: 1 });
        }
        self.state = State::Options;
        match refused {
            Some(refused) => {
                refused.put(option, out);
                (consumed, Step::Replied)
            }
            None => {
                put_reply(option, REP_ACK, &[], out);
                (consumed, Step::Close(Close::Aborted))
            }
        }
    }

    fn start_tls(&mut self, bytes_behind: usize, out: &mut Vec<u8>) -> Step {
        if bytes_behind > 0 {
            return Step::Close(Close::PlaintextBehindStartTls(bytes_behind));
        }
        put_reply(OPT_STARTTLS, REP_ACK, &[], out);
        self.structured = false;
        self.allocation_of = None;
        self.state = State::Tls;
        Step::StartTls
    }
}
