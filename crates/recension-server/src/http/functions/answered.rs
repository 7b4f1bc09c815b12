//! The answer of a function: CouchDB's response object.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::StatusCode;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderName, TRANSFER_ENCODING};
use serde_json::Value;

use crate::answer::Answer;
use crate::error::{ApiError, Result};

/// A response object as an answer; `usual` is the status that it has if it does not say.
pub(crate) fn answer(response: &Value, usual: StatusCode) -> Result<Answer> {
    let failed = |reason: &'static str| ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "render_error", reason);
    let response = response.as_object().ok_or_else(|| failed("a function answered no object"))?;
    let status = match response.get("code").and_then(Value::as_u64) {
        Some(code) => u16::try_from(code).ok().and_then(|code| StatusCode::from_u16(code).ok()),
        None => Some(usual),
    };
    let status = status.filter(|status| !status.is_informational()).ok_or_else(|| failed("`code` is no status"))?;
    let text = |name: &str| response.get(name).and_then(Value::as_str);
    let (kind, body) = match (response.get("json"), text("base64"), text("body")) {
        (Some(json), ..) => ("application/json", Bytes::from(json.to_string())),
        (None, Some(bytes), _) => {
            let bytes = STANDARD.decode(bytes).map_err(|_| failed("`base64` does not read"))?;
            ("application/binary", Bytes::from(bytes))
        }
        (None, None, body) => ("text/html; charset=utf-8", Bytes::from(body.unwrap_or_default().to_owned())),
    };
    let mut answer = Answer::of(status, kind, body);
    for (name, value) in response.get("headers").and_then(Value::as_object).into_iter().flatten() {
        let Ok(name) = name.parse::<HeaderName>() else { continue };
        // A function may not set how the body is sent, nor sessions.
        if matches!(name, CONTENT_LENGTH | TRANSFER_ENCODING) || name.as_str() == "connection" {
            continue;
        }
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        answer = answer.with(name, value);
    }
    if !answer.headers.contains_key(CONTENT_TYPE) {
        answer = answer.with(CONTENT_TYPE, kind);
    }
    Ok(answer)
}
