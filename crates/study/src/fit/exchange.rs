//! Several processes that carry out the same fit and divide its simulations.
//!
//! Each has the same results and options, so each comes to the same batches of points in the same order. Only figures go to
//! and fro: who simulates a point changes nothing, and a process that dies is missed by nobody.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Takes what a process asks of the others, as JSON, and returns the answer as JSON; none when there is nobody to ask, and then
/// the process simulates all by itself.
///
/// The question has `keys`, a name for each point of the batch; `states`, a name for the state that each begins with; and
/// `found`, pairs of a place in the batch and its figures. The answer has `known`, pairs likewise, and `todo`, places that this
/// process is to simulate now: none of them means that others are at work, and it asks again.
pub type Exchange<'a> = &'a (dyn Fn(&str) -> Option<String> + Sync);

#[derive(Serialize)]
pub(crate) struct Question<'a, T> {
    pub keys: &'a [String],
    pub states: &'a [String],
    pub found: Vec<(usize, T)>,
}

#[derive(Deserialize)]
pub(crate) struct Answer<T> {
    pub known: Vec<(usize, T)>,
    pub todo: Vec<usize>,
}

/// The answer of the others; none where nobody answers.
pub(crate) fn ask<T: Serialize + DeserializeOwned>(
    exchange: Exchange<'_>,
    question: &Question<'_, T>,
) -> Option<Answer<T>> {
    let text = serde_json::to_string(question).expect("keys are text");
    serde_json::from_str(&exchange(&text)?).ok()
}

/// A short name for a long one.
pub(crate) fn name(long: &str) -> String {
    Sha256::digest(long.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}
