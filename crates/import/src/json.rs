//! JSON: whose is it?

use crate::document::Document;
use crate::input::Input;
use crate::scalar::Scalar;
use crate::{ImportError, Problem, fio, flashrig};
use results::ReviewResult;
use serde::Deserialize;
use serde::de::IgnoredAny;

/// The keys that tell whose it is.
#[derive(Deserialize)]
struct Probe {
    kind: Option<Scalar>,
    schema: Option<Scalar>,
    #[serde(rename = "fio version")]
    fio_version: Option<Scalar>,
    load: Option<IgnoredAny>,
    read: Option<IgnoredAny>,
    sweeps: Option<IgnoredAny>,
}

/// Reads a file that has JSON in it.
pub(crate) fn read(input: Input) -> Result<ReviewResult, ImportError> {
    let (file, bytes) = input.into_bytes()?;
    let whole = Document::whole(&file, &bytes);
    // There was one when the kind was told.
    let document = whole.next_document().ok_or_else(|| whole.error(Problem::Unrecognised))?;
    let (probe, _): (Probe, _) = document.first_value()?;
    let schema = probe.schema.as_ref().and_then(Scalar::number);
    match (probe.kind, schema) {
        (Some(Scalar::Text(kind)), Some(schema)) if kind == ReviewResult::KIND => flashrig::review(document, schema),
        (None, _) if probe.fio_version.is_some() => fio::read(document),
        (None, Some(schema)) if probe.load.is_some() && probe.read.is_some() => flashrig::run(document, schema),
        (None, Some(schema)) if probe.sweeps.is_some() => Err(document.error(Problem::OlderReview { schema })),
        _ => Err(document.error(Problem::NotOurs)),
    }
}
