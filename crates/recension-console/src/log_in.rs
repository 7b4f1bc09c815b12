//! The page on which one says who one is. A wrong password stays on it.

use http::StatusCode;
use minijinja::context;

use super::frame::Frame;
use recension_app::auth::Session;
use recension_app::request::Request;
use recension_pages::writer::Html;
use recension_wire::answer::Answer;

/// `/_utils/-/log-in?next=…`
pub(super) fn page(request: &Request, session: &Session) -> Answer {
    let mut frame = Frame::begin(request, session, "Log in", None, "", false);
    let failed = request.query.get("failed").is_some();
    if failed {
        frame
            .html
            .tag("<p class=\"error\" role=\"alert\">Name or password is wrong. Nothing else is told of which.</p>\n");
    }
    form(request.query.get("next"), &mut frame.html);
    let mut answer = frame.end();
    if failed {
        answer.status = StatusCode::UNAUTHORIZED;
    }
    answer
}

/// The form, which leads to where one wanted to go.
pub(super) fn form(next: Option<&str>, html: &mut Html) {
    html.fill("log-in", context! { next => next.filter(|next| next.starts_with('/')).unwrap_or("/_utils/") });
}
