//! Answers that say no, and bodies that are asked with.

use axum::Json;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use live::{ControlError, ReplyError};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::error::Category;
use serde_json::json;
use std::time::Duration;

/// Most bytes of a body.
const MAX_BODY_BYTES: usize = 64 << 10;
/// Bound on the time that a body may take to come.
const BODY_TIME: Duration = Duration::from_secs(10);

/// The reason why something was not done.
#[derive(Debug)]
pub(crate) struct Refusal {
    status: StatusCode,
    message: String,
}

impl Refusal {
    pub fn new(status: StatusCode, message: impl Into<String>) -> Refusal {
        Refusal { status, message: message.into() }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        (self.status, Json(json!({ "error": self.message }))).into_response()
    }
}

impl From<ControlError> for Refusal {
    fn from(error: ControlError) -> Refusal {
        let status = match &error {
            ControlError::NoSlot { .. } => StatusCode::NOT_FOUND,
            ControlError::Unreadable { .. }
            | ControlError::Image { .. }
            | ControlError::Setting(_)
            | ControlError::RebuildRate => StatusCode::UNPROCESSABLE_ENTITY,
            // Any other request that is refused now may be taken in another state.
            _ => StatusCode::CONFLICT,
        };
        Refusal::new(status, error.to_string())
    }
}

impl From<ReplyError> for Refusal {
    fn from(error: ReplyError) -> Refusal {
        let status = match error {
            ReplyError::OutOfRange => StatusCode::UNPROCESSABLE_ENTITY,
            _ => StatusCode::CONFLICT,
        };
        Refusal::new(status, error.to_string())
    }
}

/// Reads a request's body; a body that is not there says nothing.
pub(crate) async fn body<T: DeserializeOwned>(request: Request) -> Result<T, Refusal> {
    let read = axum::body::to_bytes(request.into_body(), MAX_BODY_BYTES);
    let Ok(read) = tokio::time::timeout(BODY_TIME, read).await else {
        return Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, "the body did not come in 10 s"));
    };
    let Ok(bytes) = read else {
        let message = format!("a body may have {MAX_BODY_BYTES} bytes, and has to come whole");
        return Err(Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, message));
    };
    let text: &[u8] = if bytes.is_empty() { b"{}" } else { &bytes };
    serde_json::from_slice(text).map_err(|error| {
        let status = match error.classify() {
            Category::Data => StatusCode::UNPROCESSABLE_ENTITY,
            Category::Syntax | Category::Eof | Category::Io => StatusCode::BAD_REQUEST,
        };
        Refusal::new(status, format!("the body: {error}"))
    })
}

/// A body that has nothing to say.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Nothing {}
