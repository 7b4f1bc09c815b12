//! The databases: how many documents each has, how much they take, and the way to them.

use super::frame::{Frame, bytes, grouped};
use crate::answer::Answer;
use crate::auth::{Access, Session};
use crate::error::Result;
use crate::html::links::Parameters;
use crate::request::Request;
use crate::route::encode;

/// Databases on a page.
const PAGE: usize = 100;

/// `/_utils/`
pub(super) async fn page(request: &Request, session: &Session) -> Result<Answer> {
    if let Some(db) = request.query.get("db").filter(|db| !db.is_empty()) {
        let to = format!("/_utils/{}", encode(db));
        return Ok(Answer::empty(http::StatusCode::SEE_OTHER).location(&to));
    }
    let Ok(proof) = session.server_admin() else { return Ok(without_rights(request, session)) };
    let parameters = Parameters::of(&request.query);
    let part = request.query.get("name").unwrap_or_default().to_owned();
    let after = request.query.get("after").unwrap_or_default().to_owned();
    let (app, own) = (request.app.clone(), session.clone());
    let found = request
        .app
        .blocking(move || {
            let mut names = app.databases.names(proof)?;
            names.retain(|name| name.contains(&part) && *name > after);
            let more = names.len() > PAGE;
            names.truncate(PAGE);
            let counted = |name: String| {
                let counts = own.database(&name, Access::Member)?.opened().counts()?;
                Ok((name, counts))
            };
            // One that was dropped meanwhile is left out.
            let rows: Vec<_> = names.into_iter().map(counted).filter_map(Result::ok).collect();
            Ok((rows, more))
        })
        .await?;
    let (rows, more) = found;
    let mut frame = Frame::begin(request, session, "Databases", None, "Databases", false);
    let html = &mut frame.html;
    html.tag("<div class=\"bar\"><form method=\"get\" class=\"filter\"><label>Name contains ");
    html.tag("<input type=\"search\" name=\"name\" data-filter value=\"")
        .text(request.query.get("name").unwrap_or_default());
    html.tag("\"></label><button>Find</button></form>\n");
    html.tag("<form class=\"create\" data-create=\"database\"><label>New database ");
    html.tag("<input name=\"id\" required pattern=\"[a-z][a-z0-9_$\\(\\)+\\-\\/]*\" autocomplete=\"off\" ");
    html.tag("title=\"Lowercase letters, digits and _$()+-/, from a letter on\"></label>");
    html.tag("<button class=\"primary\">Create</button></form></div>\n");
    if rows.is_empty() {
        html.tag("<p class=\"empty\">There are no databases here yet.</p>\n");
    } else {
        html.tag("<div class=\"wide\" role=\"region\" aria-label=\"Databases\" tabindex=\"0\"><table><thead><tr>");
        html.tag("<th scope=\"col\">Name</th><th scope=\"col\" class=\"number\">Documents</th>");
        html.tag("<th scope=\"col\" class=\"number\">Deleted</th><th scope=\"col\" class=\"number\">Size</th>");
        html.tag("<th scope=\"col\" class=\"number\">Last change</th></tr></thead><tbody>\n");
        for (name, counts) in &rows {
            html.tag("<tr><th scope=\"row\">").link(&format!("/_utils/{}", encode(name)), name.as_bytes());
            html.tag("</th><td class=\"number\">").text(grouped(counts.documents));
            html.tag("</td><td class=\"number\">").text(grouped(counts.deleted));
            html.tag("</td><td class=\"number\">").text(bytes(counts.body_bytes));
            html.tag("</td><td class=\"number\">").show(counts.changed).tag("</td></tr>\n");
        }
        html.tag("</tbody></table></div>\n");
    }
    if let (true, Some((last, _))) = (more, rows.last()) {
        html.tag("<nav class=\"pages\" aria-label=\"More\"><a rel=\"next\" href=\"");
        html.text(parameters.with("after", last).on("/_utils/")).tag("\">Next page</a></nav>\n");
    }
    Ok(frame.end())
}

/// For those who may not see which databases there are.
fn without_rights(request: &Request, session: &Session) -> Answer {
    let mut frame = Frame::begin(request, session, "Databases", None, "Databases", false);
    if session.identity().name.is_none() {
        frame.html.tag("<p>Log in to see the databases.</p>\n");
        frame.log_in(request);
    } else {
        frame.html.tag("<p>Only server admins see all databases. Open one that you know:</p>\n");
    }
    frame.html.tag("<form method=\"get\" action=\"/_utils/\"><label>Database <input name=\"db\" required></label>");
    frame.html.tag("<button>Open</button></form>\n");
    frame.end()
}
