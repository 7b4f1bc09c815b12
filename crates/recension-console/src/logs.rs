//! What the server logged last, to be looked through; for server admins.

use minijinja::context;

use super::frame::Frame;
use super::search::Field;
use recension_app::auth::Session;
use recension_app::request::Request;
use recension_pages::links::Parameters;
use recension_wire::answer::Answer;
use recension_wire::error::Result;

/// `/_utils/-/logs`
pub(super) fn page(request: &Request, session: &Session) -> Result<Answer> {
    session.server_admin()?;
    let shown = request.query.get("q").unwrap_or_default();
    let (wanted, all) = (shown.to_lowercase(), recension_app::logs::recent());
    let lines: Vec<_> = all.iter().rev().filter(|line| line.to_lowercase().contains(&wanted)).cloned().collect();
    let (path, carried) = (request.head.uri.path(), &Parameters::default());
    let field = Field { text: shown, placeholder: "a part of a line: warn", path, carried, offers: &[] };
    let settings = &request.app.settings;
    let values = context! {
        lines, any => !all.is_empty(), field => field.values(None), level => settings.live().log.as_str(),
        levels => recension_app::logs::LEVELS.to_vec(), can_be_set => recension_app::logs::can_be_set(),
        changed => settings.is_changed("log", "level"),
    };
    Ok(Frame::begin(request, session, "Logs", None, "Logs", false).page("logs", values))
}
