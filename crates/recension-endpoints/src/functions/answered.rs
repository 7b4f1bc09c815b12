//! The answer of a function: CouchDB's response object. A browser shows it in a sandbox, as CouchDB 3 has it: what a
//! design document says must not act in the name of the console, which has the same origin.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::StatusCode;
use http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, HeaderValue, X_CONTENT_TYPE_OPTIONS};
use serde_json::Value;

use recension_wire::answer::Answer;
use recension_wire::error::{ApiError, Result};

/// What a response object has. Anything else, such as a misspelt `header`, would do nothing.
const MEMBERS: [&str; 6] = ["base64", "body", "code", "headers", "json", "stop"];

/// Headers that a function may set, beside those of the application's own that begin with `X-`.
const SETTABLE: [&str; 12] = [
    "cache-control",
    "content-disposition",
    "content-language",
    "content-location",
    "content-type",
    "etag",
    "expires",
    "last-modified",
    "location",
    "pragma",
    "retry-after",
    "vary",
];

/// Of the headers with `X-` in front, those that browsers, web servers before this one, and this server act on.
const ACTED_ON: [&str; 17] = [
    "x-accel-",
    "x-content-",
    "x-couch-id",
    "x-couch-request-id",
    "x-couch-update-newrev",
    "x-dns-",
    "x-forwarded-",
    "x-frame-",
    "x-lighttpd-",
    "x-litespeed-",
    "x-permitted-",
    "x-recension-",
    "x-reproxy-",
    "x-send",
    "x-sourcemap",
    "x-webkit-",
    "x-xss-",
];

/// Whether a function may set a header.
fn is_settable(name: &HeaderName) -> bool {
    let name = name.as_str();
    SETTABLE.contains(&name) || name.starts_with("x-") && !ACTED_ON.iter().any(|prefix| name.starts_with(prefix))
}

/// A response object as an answer; `usual` is the status that it has if it does not say.
pub(crate) fn answer(response: &Value, usual: StatusCode) -> Result<Answer> {
    let failed = |reason: &'static str| ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "render_error", reason);
    let response = response.as_object().ok_or_else(|| failed("a function answered no object"))?;
    if let Some((name, value)) = response.iter().find(|(name, _)| !MEMBERS.contains(&name.as_str())) {
        let shown: String = format!("{name:?}: {value}").chars().take(80).collect();
        let reason = format!("Invalid data from external server: {{{shown}}}");
        return Err(ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "external_response_error", reason));
    }
    let status = match response.get("code").filter(|code| !code.is_null()) {
        Some(Value::String(code)) => code.parse().ok(),
        Some(code) => {
            code.as_u64().and_then(|code| u16::try_from(code).ok()).and_then(|code| StatusCode::from_u16(code).ok())
        }
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
        (None, None, Some(body)) => ("text/html; charset=utf-8", Bytes::from(body.to_owned())),
        (None, None, None) if response.get("body").is_none_or(Value::is_null) => ("application/json", Bytes::new()),
        (None, None, None) => return Err(failed("`body` is no text")),
    };
    let mut answer = Answer::of(status, kind, body);
    for (name, value) in response.get("headers").and_then(Value::as_object).into_iter().flatten() {
        let name = name.parse::<HeaderName>().ok().filter(is_settable).ok_or_else(|| {
            let shown: String = name.chars().take(80).collect();
            let reason = format!(
                "the function sets the header {shown:?}; it may set {}, and those of its own that begin with X-",
                SETTABLE.join(", ")
            );
            ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "render_error", reason)
        })?;
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        if HeaderValue::from_str(&value).is_err() {
            let reason = format!("the function gives the header {name} a value that no header can have");
            return Err(ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "render_error", reason));
        }
        answer = answer.with(name, value);
    }
    if !answer.headers.contains_key(CONTENT_TYPE) {
        answer = answer.with(CONTENT_TYPE, kind);
    }
    Ok(answer.with(CONTENT_SECURITY_POLICY, "sandbox").with(X_CONTENT_TYPE_OPTIONS, "nosniff"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_answer_is_in_a_sandbox_and_its_headers_are_from_a_list() {
        let made =
            answer(&json!({ "body": "<script>", "headers": { "X-Foo": "bar", "ETag": "\"1\"" } }), StatusCode::OK);
        let made = made.unwrap();
        assert_eq!(made.headers[CONTENT_SECURITY_POLICY], "sandbox");
        assert_eq!(made.headers["x-foo"], "bar");
        assert_eq!(made.headers[X_CONTENT_TYPE_OPTIONS], "nosniff");
        for name in [
            "Set-Cookie",
            "Access-Control-Allow-Origin",
            "Content-Security-Policy",
            "Content-Security-Policy-Report-Only",
            "Strict-Transport-Security",
            "X-Frame-Options",
            "X-Content-Type-Options",
            "X-Accel-Redirect",
            "X-Sendfile",
            "X-LIGHTTPD-send-file",
            "X-Couch-Id",
            "X-Recension-Seq",
            "X-SourceMap",
            "Service-Worker-Allowed",
            "Clear-Site-Data",
            "Refresh",
            "Link",
            "WWW-Authenticate",
            "Server",
            "Content-Length",
            "Transfer-Encoding",
            "Connection",
            "a b",
        ] {
            let refused = answer(&json!({ "body": "", "headers": { name: "x" } }), StatusCode::OK).unwrap_err();
            assert!(refused.reason.contains(name), "{name}: {}", refused.reason);
        }
        for value in ["a\r\nSet-Cookie: b=c", "a\nb", "\0"] {
            let refused = answer(&json!({ "body": "", "headers": { "X-Foo": value } }), StatusCode::OK).unwrap_err();
            assert!(refused.reason.contains("x-foo"), "{value:?}: {}", refused.reason);
        }
        let refused = answer(&json!({ "body": "", "header": {} }), StatusCode::OK).unwrap_err();
        assert_eq!(
            (refused.error, &*refused.reason),
            ("external_response_error", "Invalid data from external server: {\"header\": {}}")
        );
        let coded = answer(&json!({ "body": "", "code": "404" }), StatusCode::OK).unwrap();
        assert_eq!(coded.status, StatusCode::NOT_FOUND);
        for code in [
            json!("x"),
            json!("99"),
            json!("101"),
            json!(-1),
            json!(200.5),
            json!(99),
            json!(1000),
            json!(101),
            json!({}),
        ] {
            let refused = answer(&json!({ "body": "", "code": code }), StatusCode::OK).unwrap_err();
            assert_eq!(refused.reason, "`code` is no status", "{code}");
        }
    }
}
