//! Which tool wrote it? Told by content: files are renamed more often than their content is.

use crate::text::without_bom;
use crate::{Problem, pgbench, sysbench};

/// The kind of a file, as far as its head says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// JSON, perhaps with other text around it.
    Json,
    /// Output of sysbench.
    Sysbench,
    /// A log of pgbench.
    Pgbench,
}

/// The kind of a file that begins so.
pub(crate) fn of(head: &[u8]) -> Result<Kind, Problem> {
    let text = String::from_utf8_lossy(without_bom(head));
    let first = text.lines().map(str::trim).find(|line| !line.is_empty()).ok_or(Problem::Empty)?;
    if first.starts_with('{') {
        Ok(Kind::Json)
    } else if pgbench::is_log_line(first) {
        Ok(Kind::Pgbench)
    } else if text.lines().any(sysbench::is_telling) {
        Ok(Kind::Sysbench)
    } else if text.lines().any(|line| line.starts_with('{')) {
        // fio prints its notes and warnings before its results.
        Ok(Kind::Json)
    } else if serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok() {
        Err(Problem::NotOurs)
    } else {
        Err(Problem::Unrecognised)
    }
}
