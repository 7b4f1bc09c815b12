//! Who may do what with a database: `_security`, for its admins to change; and dropping it.

use serde_json::Value;

use super::form::{self, About};
use super::frame::Frame;
use crate::answer::Answer;
use crate::auth::{Access, Session};
use crate::databases::Database;
use crate::error::Result;
use crate::html::value::whole;
use crate::html::writer::Html;
use crate::identity::security;
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
    let known: Value = serde_json::from_str(&text).unwrap_or_default();
    if admin {
        groups(db, &text, &known, html);
    } else {
        whole(&text, html);
    }
    if admin {
        let to = format!("/{}/_security", encode(db));
        html.tag("<details class=\"edit\"><summary>As JSON</summary>");
        form::begin("PUT", &to, &[About::Said("Security was changed.")], html);
        form::json("JSON", 8, &text, html);
        form::end("Save", html);
        html.tag("</details>\n");
        validation(&database, db, html);
    }
    if session.server_admin().is_ok() && !db.starts_with('_') {
        html.tag("<details class=\"drop\"><summary>Drop this database</summary>");
        let about = [About::Then("/_utils/"), About::Typed(db), About::Said("The database was dropped.")];
        form::begin("DELETE", &format!("/{}", encode(db)), &about, html);
        form::field("Type its name", "name=\"typed\" autocomplete=\"off\" required", "", html);
        html.tag("<button class=\"danger\">Drop it</button></form></details>\n");
    }
    Ok(frame.end())
}

/// Names and roles, as fields.
fn groups(db: &str, text: &str, known: &Value, html: &mut Html) {
    let to = format!("/{}/_security", encode(db));
    form::begin("PUT", &to, &[About::Base(text), About::Said("Security was changed.")], html);
    let list = |pointer: &str| {
        let words = known.pointer(pointer).and_then(Value::as_array).into_iter().flatten();
        words.filter_map(Value::as_str).collect::<Vec<_>>().join(", ")
    };
    for (group, parts) in [
        (
            "Members",
            [
                ("Names", "data-kind=\"list\" data-at=\"members/names\"", "/members/names"),
                ("Roles", "data-kind=\"list\" data-at=\"members/roles\"", "/members/roles"),
            ],
        ),
        (
            "Admins",
            [
                ("Names", "data-kind=\"list\" data-at=\"admins/names\"", "/admins/names"),
                ("Roles", "data-kind=\"list\" data-at=\"admins/roles\"", "/admins/roles"),
            ],
        ),
    ] {
        html.tag("<fieldset><legend>").tag(group).tag("</legend><div class=\"fields\">");
        for (label, markup, pointer) in parts {
            form::field(label, markup, &list(pointer), html);
        }
        html.tag("</div></fieldset>\n");
    }
    html.tag("<p class=\"hint\">Several are written with commas between them. Server admins have all rights; ");
    html.tag("their role is <code>_admin</code>.</p>");
    form::end("Save", html);
}

/// What documents have to be like.
fn validation(database: &Database, db: &str, html: &mut Html) {
    let schema = database.opened().schema();
    let to = format!("/{}/_schema", encode(db));
    html.tag("<details class=\"edit\"><summary>What documents have to be like (JSON Schema)</summary>");
    form::begin("PUT", &to, &[About::Said("The schema holds for whatever is written from now on.")], html);
    form::json("Schema", 12, schema.unwrap_or("{\n  \"type\": \"object\"\n}"), html);
    form::end("Save", html);
    if schema.is_some() {
        let about = [About::Said("Documents may be as they like.")];
        form::button("DELETE", &to, &about, ("", "Take the schema away"), html);
    }
    html.tag("</details>\n");
}
