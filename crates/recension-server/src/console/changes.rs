//! What has changed last in a database, and (with the module) what changes while one looks.

use recension::Change;

use super::export_links;
use super::frame::Frame;
use crate::answer::Answer;
use crate::auth::{Access, Session};
use crate::error::Result;
use crate::html::links::{Parameters, in_console};
use crate::request::{Request, at_its_moment};
use crate::route::encode;

const ROWS: usize = 100;

/// `/_utils/{db}/changes`
pub(super) async fn page(request: &Request, session: &Session, db: &str) -> Result<Answer> {
    let database = at_its_moment(request, session.database(db, Access::Member)?)?;
    let at = database.opened().clone();
    let (before, moment) = (request.query.number("before")?, at.seq());
    let read = move || {
        let mut rows: Vec<Change> = Vec::new();
        for change in at.changes_backward() {
            let change = change?;
            if before.is_some_and(|before| change.seq.0 >= before) {
                continue;
            }
            // Those of one commit are not torn apart.
            if rows.len() >= ROWS && rows.last().is_some_and(|last| last.seq != change.seq) {
                break;
            }
            rows.push(change);
            if rows.len() > 10 * ROWS {
                break;
            }
        }
        Ok(rows)
    };
    let rows = request.app.streams.read(read).await?;
    let mut frame = Frame::begin(request, session, "Changes", Some(db), "Changes", true);
    let html = &mut frame.html;
    if request.query.get("at").is_none() && before.is_none() {
        html.tag("<p><button type=\"button\" hidden data-live=\"").to(&format!("/{}/_changes", encode(db)));
        html.tag("\" data-since=\"").show(moment).tag("\" data-place=\"").to(&format!("/_utils/{}/doc/", encode(db)));
        html.tag("\">Follow what changes</button></p>\n");
    }
    html.tag("<div class=\"wide\" role=\"region\" aria-label=\"Changes\" tabindex=\"0\"><table><thead><tr>");
    html.tag("<th scope=\"col\">Document</th><th scope=\"col\" class=\"number\">Commit</th><th scope=\"col\">Revision");
    html.tag("</th><th scope=\"col\">What</th></tr></thead><tbody id=\"changes\">\n");
    for change in &rows {
        let seq = change.seq.to_string();
        html.tag("<tr><th scope=\"row\">").link(&in_console(db, &change.id), change.id.as_bytes());
        html.tag("</th><td class=\"number\">");
        html.link(&Parameters::default().with("at", &seq).on(&in_console(db, &change.id)), &seq);
        html.tag("</td><td><code>").show(change.rev).tag("</code></td>");
        html.tag(if change.deleted { "<td class=\"gone\">deleted" } else { "<td>written" }).tag("</td></tr>\n");
    }
    html.tag("</tbody></table></div>\n");
    if let Some(last) = rows.last().filter(|_| rows.len() >= ROWS) {
        let earlier = Parameters::of(&request.query).with("before", &last.seq.to_string());
        html.tag("<nav class=\"pages\" aria-label=\"More\"><a rel=\"next\" href=\"");
        html.to(&earlier.on(request.head.uri.path())).tag("\">Earlier changes</a></nav>\n");
    }
    export_links::of_rows(
        db,
        &Parameters::of(&request.query).only(&["at"]).with("of", "changes"),
        "All changes as",
        html,
    );
    Ok(frame.end())
}
