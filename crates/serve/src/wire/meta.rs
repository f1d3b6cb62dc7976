//! Metadata contexts: there is one, `base:allocation`.

use crate::wire::bytes::Fields;
use crate::wire::exports::Exports;
use crate::wire::handshake::Handshake;
use crate::wire::limits::MAX_META_QUERIES;
use crate::wire::numbers::{OPT_SET_META_CONTEXT, REP_ERR_INVALID, REP_ERR_TOO_BIG, REP_META_CONTEXT};
use crate::wire::option_reply::{Refused, find, put_reply, string};

/// The number of the context in replies to block status requests. In listings it is 0.
pub const ALLOCATION_ID: u32 = 1;

const NAMESPACE: &str = "base:";
const ALLOCATION: &str = "base:allocation";

const NOT_STRUCTURED: Refused =
    Refused { reply: REP_ERR_INVALID, message: "metadata contexts need structured replies: ask for them first" };
const TOO_MANY: Refused = Refused { reply: REP_ERR_TOO_BIG, message: "too many queries" };
const NO_NAMESPACE: Refused = Refused { reply: REP_ERR_INVALID, message: "a query has no namespace and colon" };

impl Handshake {
    /// `LIST_META_CONTEXT`, and `SET_META_CONTEXT`, which selects and has other wildcards.
    pub fn meta_context(
        &mut self,
        option: u32,
        data: &[u8],
        exports: &Exports,
        out: &mut Vec<u8>,
    ) -> Result<Option<usize>, Refused> {
        let set = option == OPT_SET_META_CONTEXT;
        if set {
            // The earlier selection is forgotten, even if this option fails.
            self.allocation_of = None;
        }
        if !self.structured {
            return Err(NOT_STRUCTURED);
        }
        let mut fields = Fields(data);
        let name = string(&mut fields)?;
        let count = fields.u32().ok_or(Refused::MALFORMED)?;
        if count > MAX_META_QUERIES {
            return Err(TOO_MANY);
        }
        // Without queries, a listing has all contexts and a selection has none.
        let mut selected = !set && count == 0;
        for _ in 0..count {
            let query = string(&mut fields)?;
            if !query.contains(':') {
                return Err(NO_NAMESPACE);
            }
            // The document says that other namespaces and leaves are ignored.
            selected |= query == ALLOCATION || (!set && query == NAMESPACE);
        }
        if !fields.is_empty() {
            return Err(Refused::MALFORMED);
        }
        let export = find(exports, name)?;
        if selected && exports.all()[export].features.block_status {
            let id = if set { ALLOCATION_ID } else { 0 };
            put_reply(option, REP_META_CONTEXT, &[&id.to_be_bytes(), ALLOCATION.as_bytes()], out);
            if set {
                self.allocation_of = Some(export);
            }
        }
        Ok(None)
    }
}
