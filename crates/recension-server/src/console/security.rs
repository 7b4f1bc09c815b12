//! Who may do what with a database: `_security`, for its admins to change; and dropping it.

use super::frame::Frame;
use crate::answer::Answer;
use crate::auth::{Access, Session, security};
use crate::error::Result;
use crate::html::value::whole;
use crate::request::Request;
use crate::route::encode;

/// `/_utils/{db}/security`
pub(super) fn page(request: &Request, session: &Session, db: &str) -> Result<Answer> {
    let database = session.database(db, Access::Member)?;
    let text = database.setting(security::SETTING)?.unwrap_or_else(|| security::DEFAULT.to_owned());
    let admin = session.database(db, Access::Admin).is_ok();
    let mut frame = Frame::begin(request, session, "Security", Some(db), "Security", false);
    let html = &mut frame.html;
    html.tag(
        "<p>Admins change design documents and this; members read and write. A database without members is open to ",
    );
    html.tag("everybody who may ask the server.</p>\n");
    whole(&text, html);
    if admin {
        html.tag("<details class=\"edit\"><summary>Edit</summary><form data-send=\"PUT\" data-to=\"");
        html.text(format!("/{}/_security", encode(db))).tag("\" data-then=\"").text(request.head.uri.path());
        html.tag("\"><label>JSON <textarea name=\"body\" rows=\"8\" spellcheck=\"false\">\n").text(text);
        html.tag("</textarea></label><p><button class=\"primary\">Save</button></p></form></details>\n");
    }
    if session.server_admin().is_ok() && !db.starts_with('_') {
        html.tag("<details class=\"drop\"><summary>Drop this database</summary><form data-send=\"DELETE\" data-to=\"");
        html.text(format!("/{}", encode(db))).tag("\" data-then=\"/_utils/\" data-typed=\"").text(db);
        html.tag("\"><label>Type its name <input name=\"typed\" autocomplete=\"off\" required></label>");
        html.tag("<button class=\"danger\">Drop it</button></form></details>\n");
    }
    Ok(frame.end())
}
