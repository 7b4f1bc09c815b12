//! Replications of the server itself: those that run, the documents of `_replicator` that ask for some, and how to
//! begin and end one.

use serde_json::Value;

use super::export_links;
use super::form::{self, About};
use super::frame::{Frame, empty, grouped, table, table_end};
use super::search::{Field, OfRows};
use crate::answer::Answer;
use crate::auth::{Access, Session};
use crate::error::{ApiError, Result};
use crate::html::links::{Parameters, document, in_console};
use crate::html::writer::Html;
use crate::http::replicate;
use crate::replication::documents::DATABASE;
use crate::request::Request;

/// Databases that are offered as ends.
const OFFERED_MAX: usize = 200;

/// `/_utils/-/replications`
pub(super) async fn page(request: &Request, session: &Session) -> Result<Answer> {
    let proof = session.server_admin()?;
    let text = request.query.get("q").unwrap_or_default().to_owned();
    let (of_search, mistake) = OfRows::read(&text);
    let is_of = |row: &Value| of_search.finds(&row.to_string());
    let jobs: Vec<Value> = request.app.replications.all().iter().map(|job| job.row()).filter(is_of).collect();
    let documents =
        replicate::document_rows(request, session.clone()).await?.into_iter().filter(is_of).collect::<Vec<_>>();
    let revs = revisions(request, session, &documents).await?;
    let app = request.app.clone();
    let names = request.app.blocking(move || app.databases.names(proof)).await?;
    let mut frame = Frame::begin(request, session, "Replications", None, "Replications", false);
    let html = &mut frame.html;
    let (path, none) = (request.head.uri.path(), Parameters::default());
    let placeholder = "a part of an address, or database = _replicator";
    Field { text: &text, placeholder, path, carried: &none, offers: &[] }.write(mistake.as_ref(), html);
    html.tag("<div id=\"running\" data-again=\"3000\"><h2>Running</h2>\n");
    if jobs.is_empty() {
        empty("No replication runs.", html);
    } else {
        let columns = ["From", "To", "State", "#Read", "#Written", "#Left", "Since", "End it"];
        table("Running replications", &columns, html);
        for job in &jobs {
            running(job, &revs, html);
        }
        table_end(html);
    }
    html.tag("</div>\n<div id=\"asked\" data-again=\"3000\"><h2>Asked for by documents</h2>\n");
    if documents.is_empty() {
        empty("No document of _replicator asks for one. Those go on after a restart.", html);
    } else {
        table("Documents", &["Document", "From", "To", "State", "Last", "End it"], html);
        for row in &documents {
            asked(row, &revs, html);
        }
        table_end(html);
    }
    html.tag("</div>\n");
    new(&names, html);
    export_links::of_endpoint("/_scheduler/jobs", html);
    Ok(frame.end())
}

/// The revisions of the documents, by their ids.
async fn revisions(request: &Request, session: &Session, documents: &[Value]) -> Result<Vec<(String, String)>> {
    let ids: Vec<String> = documents.iter().filter_map(|row| Some(text(row, "doc_id")?.to_owned())).collect();
    let database = match session.database(DATABASE, Access::Admin) {
        Err(error) if error == ApiError::no_database() => return Ok(Vec::new()),
        database => database?,
    };
    let at = database.opened().clone();
    let read = move || {
        let rev = |id: String| Some((id.clone(), at.current(&id).ok()??.rev.to_string()));
        Ok(ids.into_iter().filter_map(rev).collect())
    };
    request.app.streams.read(read).await
}

fn text<'v>(row: &'v Value, name: &str) -> Option<&'v str> {
    row.get(name).and_then(Value::as_str)
}

fn ends(row: &Value, html: &mut Html) {
    for side in ["source", "target"] {
        html.tag("<td><bdi>").text(text(row, side).unwrap_or("?")).tag("</bdi></td>");
    }
}

fn running(job: &Value, revs: &[(String, String)], html: &mut Html) {
    html.tag("<tr>");
    ends(job, html);
    let info = job.get("info").unwrap_or(&Value::Null);
    let last = job.pointer("/history/0").unwrap_or(&Value::Null);
    let reason = text(info, "error").or_else(|| text(last, "reason"));
    match reason {
        Some(reason) => html.tag("<td class=\"gone\"><span>tried again: <bdi>").text(reason).tag("</bdi></span></td>"),
        None => html.tag("<td>running</td>"),
    };
    for name in ["docs_read", "docs_written", "changes_pending"] {
        html.tag("<td class=\"number\">");
        html.text(info.get(name).and_then(Value::as_u64).map(grouped).unwrap_or_default()).tag("</td>");
    }
    html.tag("<td>").text(text(job, "start_time").unwrap_or_default()).tag("</td><td>");
    let id = text(job, "id").unwrap_or_default();
    match text(job, "doc_id") {
        Some(doc) => cancel_document(doc, revs, html),
        None => {
            let base = serde_json::json!({ "cancel": true, "replication_id": id }).to_string();
            let about = [About::Base(&base), About::Said("It ends.")];
            form::button("POST", "/_replicate", &about, ("", "Cancel"), html);
        }
    }
    html.tag("</td></tr>\n");
}

/// Its document is deleted, and with it the replication ends.
fn cancel_document(doc: &str, revs: &[(String, String)], html: &mut Html) {
    let Some((_, rev)) = revs.iter().find(|(id, _)| id == doc) else { return };
    let to = Parameters::default().with("rev", rev).on(&document(DATABASE, doc));
    let about = [About::Sure("Delete its document? The replication ends with it."), About::Said("It ends.")];
    form::button("DELETE", &to, &about, ("", "Cancel"), html);
}

fn asked(row: &Value, revs: &[(String, String)], html: &mut Html) {
    let id = text(row, "doc_id").unwrap_or_default();
    html.tag("<tr><th scope=\"row\">").link(&in_console(DATABASE, id), id.as_bytes()).tag("</th>");
    ends(row, html);
    let state = text(row, "state").unwrap_or_default();
    let bad = matches!(state, "failed" | "crashing");
    html.tag(if bad { "<td class=\"gone\"><span>" } else { "<td><span>" }).text(state);
    if let Some(error) = row.pointer("/info/error").and_then(Value::as_str) {
        html.tag(": <bdi>").text(error).tag("</bdi>");
    }
    html.tag("</span></td><td>").text(text(row, "last_updated").unwrap_or_default()).tag("</td><td>");
    cancel_document(id, revs, html);
    html.tag("</td></tr>\n");
}

/// One end: a database, and who logs in there. The password has a field of its own, so that no page shows it.
fn end(label: &'static str, at: &'static str, html: &mut Html) {
    html.tag("<fieldset><legend>")
        .tag(label)
        .tag("</legend><label>Database or URL <input data-kind=\"end\" data-at=\"");
    html.tag(at).tag("\" required list=\"names\" autocomplete=\"off\"></label> <label>Name there <input name=\"");
    html.tag(at).tag("_name\" autocomplete=\"off\"></label> <label>Password there <input type=\"password\" name=\"");
    html.tag(at).tag("_password\" autocomplete=\"new-password\"></label></fieldset>");
}

fn new(names: &[String], html: &mut Html) {
    html.tag("<details class=\"new\"><summary>New replication</summary>");
    form::begin("POST", "/_replicate", &[About::Said("The replication was begun.")], html);
    html.tag("<div class=\"fields\">");
    end("From", "source", html);
    end("To", "target", html);
    html.tag("<datalist id=\"names\">");
    for name in names.iter().filter(|name| !name.starts_with('_')).take(OFFERED_MAX) {
        html.tag("<option value=\"").text(name).tag("\">");
    }
    html.tag("</datalist>");
    form::flag("Continuous", "data-at=\"continuous\"", html);
    form::flag("Make the target if it is not there", "data-at=\"create_target\"", html);
    html.tag("<label class=\"long\">Only documents that this selects <input data-at=\"selector\" data-kind=\"json\" ");
    html.tag("placeholder=\"{&#34;type&#34;: &#34;note&#34;}\" spellcheck=\"false\"></label></div>");
    html.tag(
        "<p class=\"hint\">A database of this server by its name, or another one by its URL: \
         https://example.org/notes. ",
    );
    html.tag("With <code>Start and keep</code> a document of _replicator asks for it, which admins can read.</p>");
    html.tag("<p><button class=\"primary\">Start</button> <button data-to=\"").to(&format!("/{DATABASE}"));
    if !names.iter().any(|name| name == DATABASE) {
        html.tag("\" data-make=\"").to(&format!("/{DATABASE}"));
    }
    html.tag("\">Start and keep</button></p>");
    html.tag("<noscript><p>This needs JavaScript.</p></noscript></form></details>\n");
}
