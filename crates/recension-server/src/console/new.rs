//! `/_utils/{db}/new`: a document that is written, or the documents of a file (`?from=file`). A page of its own, so
//! that a browser without scripts has the rows of a list first.

use super::form::{self, About};
use super::frame::Frame;
use crate::answer::Answer;
use crate::auth::{Access, Session};
use crate::error::Result;
use crate::html::writer::Html;
use crate::request::Request;
use crate::route::encode;

/// The page.
pub(super) fn page(request: &Request, session: &Session, db: &str) -> Result<Answer> {
    session.database(db, Access::Member)?;
    let of_file = request.query.get("from") == Some("file");
    let title = if of_file { "Import a file" } else { "New document" };
    let mut frame = Frame::begin(request, session, title, Some(db), "Documents", false);
    let (to, list) = (format!("/{}", encode(db)), format!("/_utils/{}", encode(db)));
    if of_file {
        import(&to, &list, &mut frame.html);
    } else {
        write(&to, &list, &mut frame.html);
    }
    Ok(frame.end())
}

/// A document, which is shown beside the list when it is made.
fn write(to: &str, list: &str, html: &mut Html) {
    let then = format!("{list}?doc={{id}}");
    form::begin("POST", to, &[About::Then(&then), About::Said("It was made.")], html);
    form::json("JSON", 16, "{\n  \"_id\": \"\"\n}", html);
    html.tag("<p class=\"hint\">Without an <code>_id</code> it gets one. <kbd>Ctrl</kbd>+<kbd>S</kbd> creates it.</p>");
    form::end("Create", html);
}

fn import(to: &str, list: &str, html: &mut Html) {
    html.tag("<form data-import=\"").to(&format!("{to}/_bulk_docs")).tag("\" data-then=\"").to(list).tag("\">");
    html.tag("<p><label>CSV, JSON or a document a line <input type=\"file\" ");
    html.tag("accept=\".csv,.tsv,.json,.jsonl,.ndjson,text/csv,application/json\"></label> ");
    html.tag("<button class=\"primary\">Import</button> <output></output></p>");
    html.tag(
        "<p class=\"hint\">A file can also be dropped on the list. The first line of CSV has the names of members; a ",
    );
    html.tag("column <code>_id</code> has ids.</p><noscript><p>This needs JavaScript.</p></noscript></form>\n");
    html.tag("<p>Larger files, and other forms, from a terminal:</p><pre><code>recension import STORE DATABASE FILE");
    html.tag("</code></pre>\n");
}
