//! The page on which one says who one is. A wrong password stays on it.

use http::StatusCode;
use minijinja::context;

use super::frame::Frame;
use recension_app::auth::Session;
use recension_app::request::Request;
use recension_endpoints::session::is_own_path;
use recension_wire::answer::Answer;

/// `/_utils/-/log-in?next=…`
pub(super) fn page(request: &Request, session: &Session) -> Answer {
    let failed = request.query.get("failed").is_some();
    let reason = failed.then_some("Name or password is wrong. Nothing else is told of which.");
    let values = context! { reason, way => "", next => next(request.query.get("next")) };
    let mut answer = Frame::begin(request, session, "Log in", None, "", false).page("failed", values);
    if failed {
        answer.status = StatusCode::UNAUTHORIZED;
    }
    answer
}

/// Where one goes from there: to where one wanted to go.
pub(super) fn next(wanted: Option<&str>) -> &str {
    wanted.filter(|next| is_own_path(next)).unwrap_or("/_utils/")
}
