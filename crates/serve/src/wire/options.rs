//! The options that are carried out, and their replies.

use crate::wire::bytes::{Fields, put_u16, put_u64, short};
use crate::wire::close::Close;
use crate::wire::exports::{Export, Exports};
use crate::wire::handshake::Handshake;
use crate::wire::numbers::{
    INFO_BLOCK_SIZE, INFO_DESCRIPTION, INFO_EXPORT, INFO_NAME, OPT_EXPORT_NAME, OPT_GO, OPT_INFO, OPT_LIST,
    OPT_LIST_META_CONTEXT, OPT_SET_META_CONTEXT, OPT_STRUCTURED_REPLY, REP_ACK, REP_INFO, REP_SERVER,
};
use crate::wire::option_reply::{Refused, find, put_reply, string, text};
use crate::wire::step::Step;

impl Handshake {
    /// Carries out an option with all its data. The option is known and was not refused by its header.
    pub fn option(&mut self, option: u32, data: &[u8], exports: &Exports, out: &mut Vec<u8>) -> Step {
        let answered = match option {
            OPT_EXPORT_NAME => return self.export_name(data, exports, out),
            OPT_LIST => list(exports, out),
            OPT_STRUCTURED_REPLY => {
                self.structured = true;
                Ok(None)
            }
            OPT_INFO | OPT_GO => self.info(option, data, exports, out),
            OPT_LIST_META_CONTEXT | OPT_SET_META_CONTEXT => self.meta_context(option, data, exports, out),
            _ => unreachable!("option {option} was refused before"),
        };
        match answered {
            Ok(chosen) => {
                put_reply(option, REP_ACK, &[], out);
                chosen.map_or(Step::Replied, |export| Step::Ready { export })
            }
            Err(refused) => {
                refused.put(option, out);
                Step::Replied
            }
        }
    }

    fn export_name(&mut self, data: &[u8], exports: &Exports, out: &mut Vec<u8>) -> Step {
        let Some(name) = text(data) else { return Step::Close(Close::ExportNameNotText) };
        let Some(index) = exports.find(name) else { return Step::Close(Close::UnknownExport(name.into())) };
        let export = &exports.all()[index];
        if let Some(reason) = export.refusal {
            return Step::Close(Close::Refused { name: name.into(), reason });
        }
        put_u64(out, export.size_bytes);
        put_u16(out, export.transmission_flags(self.structured));
        if !self.no_zeroes() {
            out.extend_from_slice(&[0; 124]);
        }
        Step::Ready { export: index }
    }

    /// `INFO`, and `GO`, which is the same and then chooses the export.
    fn info(
        &mut self,
        option: u32,
        data: &[u8],
        exports: &Exports,
        out: &mut Vec<u8>,
    ) -> Result<Option<usize>, Refused> {
        let mut fields = Fields(data);
        let name = string(&mut fields)?;
        let count = fields.u16().ok_or(Refused::MALFORMED)?;
        // Each kind is reported once, even if it is asked for several times; unknown kinds are ignored.
        let mut wanted = [false; 4];
        for _ in 0..count {
            let kind = fields.u16().ok_or(Refused::MALFORMED)?;
            if let Some(wanted) = wanted.get_mut(usize::from(kind)) {
                *wanted = true;
            }
        }
        if !fields.is_empty() {
            return Err(Refused::MALFORMED);
        }
        let index = find(exports, name)?;
        let export = &exports.all()[index];
        self.put_export(option, export, out);
        let wanted = |kind: u16| wanted[usize::from(kind)];
        let mut put = |kind: u16, payload: &[u8]| put_reply(option, REP_INFO, &[&kind.to_be_bytes(), payload], out);
        if wanted(INFO_NAME) {
            put(INFO_NAME, export.name.as_bytes());
        }
        if wanted(INFO_DESCRIPTION) && !export.description.is_empty() {
            put(INFO_DESCRIPTION, export.description.as_bytes());
        }
        if wanted(INFO_BLOCK_SIZE) {
            let sizes = [export.blocks.minimum, export.blocks.preferred, export.blocks.maximum];
            put(INFO_BLOCK_SIZE, sizes.map(u32::to_be_bytes).as_flattened());
        }
        Ok((option == OPT_GO).then_some(index))
    }

    fn put_export(&self, option: u32, export: &Export, out: &mut Vec<u8>) {
        let (kind, size) = (INFO_EXPORT.to_be_bytes(), export.size_bytes.to_be_bytes());
        let flags = export.transmission_flags(self.structured).to_be_bytes();
        put_reply(option, REP_INFO, &[&kind, &size, &flags], out);
    }
}

fn list(exports: &Exports, out: &mut Vec<u8>) -> Result<Option<usize>, Refused> {
    for export in exports.all() {
        let name_bytes = short(export.name.len()).to_be_bytes();
        let parts = [&name_bytes[..], export.name.as_bytes(), export.description.as_bytes()];
        put_reply(OPT_LIST, REP_SERVER, &parts, out);
    }
    Ok(None)
}
