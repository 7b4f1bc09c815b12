//! Who may do what with a database: `_security`, for its admins to change; and dropping it.

use minijinja::context;
use minijinja::value::Serde;
use serde_json::Value;

use super::frame::Frame;
use recension_app::auth::{Access, Session};
use recension_app::identity::security;
use recension_app::request::Request;
use recension_wire::answer::Answer;
use recension_wire::error::Result;

/// `/_utils/{db}/security`
pub(super) fn page(request: &Request, session: &Session, db: &str) -> Result<Answer> {
    let database = session.database(db, Access::Member)?;
    let text = database.setting(security::SETTING)?.unwrap_or_else(|| security::DEFAULT.to_owned());
    let admin = session.database(db, Access::Admin).is_ok();
    let known: Value = serde_json::from_str(&text).unwrap_or_default();
    let list = |pointer: &str| {
        let words = known.pointer(pointer).and_then(Value::as_array).into_iter().flatten();
        words.filter_map(Value::as_str).collect::<Vec<_>>().join(", ")
    };
    let group = |name: &str| {
        let part = |label: &'static str| (label, list(&format!("/{}/{}", name.to_lowercase(), label.to_lowercase())));
        (name.to_owned(), ["Names", "Roles"].map(part))
    };
    let values = context! {
        db, admin, text => text.as_str(), groups => Serde(["Members", "Admins"].map(group)),
        schema => database.opened().schema(), drops => session.server_admin().is_ok() && !db.starts_with('_'),
    };
    Ok(Frame::begin(request, session, "Security", Some(db), "Security", false).page("security", values))
}
