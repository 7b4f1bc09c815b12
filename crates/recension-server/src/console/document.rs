//! One document: what it says, as members and as JSON; its past as a line; its attachments and conflicts; and the
//! ways to change it, of which restoring is one.

use recension::{At, CollectionAt, Document, Revision, format_time};

use super::form::{self, About};
use super::frame::{Frame, bytes};
use super::{attachments, members_form, when};
use crate::answer::Answer;
use crate::auth::{Access, Session};
use crate::databases::Database;
use crate::error::{ApiError, Result};
use crate::html::links::{Parameters, document, in_console};
use crate::html::value;
use crate::html::writer::Html;
use crate::members::members_of;
use crate::request::{Request, at_its_moment};

/// Revisions on the line.
const LINE_MAX: usize = 40;
/// The longest document that is shown whole; of longer ones there is the JSON.
const SHOWN_BYTES_MAX: usize = 2 << 20;

/// Where a document is shown: on a page of its own, or beside a list.
struct Here<'a> {
    db: &'a str,
    id: &'a str,
    path: String,
    parameters: Parameters,
}

impl Here<'_> {
    /// The address of the same as it is now.
    fn now(&self) -> String {
        self.parameters.without(&["at", "undo"]).on(&self.path)
    }

    /// The same as of a moment.
    fn at(&self, seq: &str) -> String {
        self.parameters.without(&["undo"]).with("at", seq).on(&self.path)
    }
}

/// What is known of it.
struct Known {
    shown: Option<Document<'static>>,
    current: Option<Document<'static>>,
    line: Vec<Revision>,
    conflicts: Vec<String>,
}

fn read(at: &CollectionAt, now: &CollectionAt, id: &str) -> Result<Known> {
    let shown = at.current(id)?.map(Document::into_owned);
    let current = now.current(id)?.map(Document::into_owned);
    let mut line = Vec::new();
    for revision in now.history(id)?.take(LINE_MAX) {
        // A past that was given up ends the line.
        let Ok(revision) = revision else { break };
        line.push(Revision { body: String::new(), ..revision });
    }
    line.reverse();
    let conflicts = at.conflicts(id)?.iter().map(ToString::to_string).collect();
    if shown.is_none() && line.is_empty() {
        return Err(ApiError::missing());
    }
    Ok(Known { shown, current, line, conflicts })
}

/// `/_utils/{db}/doc/{id}`
pub(super) async fn page(request: &Request, session: &Session, db: &str, id: &str) -> Result<Answer> {
    let database: Database = at_its_moment(request, session.database(db, Access::Member)?)?;
    let known = known(request, &database, id).await?;
    let mut frame = Frame::begin(request, session, id, Some(db), "", true);
    let (path, parameters) = (in_console(db, id), Parameters::default());
    whole(request, &database, &Here { db, id, path, parameters }, &known, &mut frame.html);
    Ok(frame.end())
}

async fn known(request: &Request, database: &Database, id: &str) -> Result<Known> {
    let (at, now, own) = (database.opened().clone(), database.now()?, id.to_owned());
    request.app.streams.read(move || read(&at, &now, &own)).await
}

/// The same beside a list, which is at `path` with its parameters. A document that is not there is said to be none.
pub(super) async fn beside(
    request: &Request,
    database: &Database,
    (db, id): (&str, &str),
    (path, parameters): (&str, &Parameters),
    html: &mut Html,
) -> Result<()> {
    let known = known(request, database, id).await;
    let (at, close) = (parameters.only(&["at"]), parameters.without(&["doc"]).on(path));
    let here = Here { db, id, path: path.to_owned(), parameters: parameters.clone() };
    html.tag("<aside class=\"doc\" id=\"doc\" aria-label=\"Document\"><p class=\"bar\">")
        .link(&close, "Close")
        .tag(" ");
    html.link(&at.on(&in_console(db, id)), "Open alone").tag("</p><h2><bdi>").text(id).tag("</bdi></h2>\n");
    match known {
        Ok(known) => whole(request, database, &here, &known, html),
        Err(error) => drop(html.tag("<p class=\"empty\">").text(error.reason.as_ref()).tag("</p>\n")),
    }
    html.tag("</aside>\n");
    Ok(())
}

/// What a page shows of a document, below its name.
fn whole(request: &Request, database: &Database, here: &Here<'_>, known: &Known, html: &mut Html) {
    let past = request.query.get("at");
    line(here, known, database.opened().seq(), html);
    let there = known.shown.as_ref().filter(|shown| !shown.deleted);
    match (there, &known.shown) {
        (Some(shown), _) => {
            actions(here, shown, known, (past, request.query.get("undo")), html);
            body(here.db, here.id, shown, past, html);
        }
        (None, Some(deleted)) => {
            html.tag("<p class=\"empty\">Deleted at commit ").show(deleted.seq).tag(".</p>\n");
            undo(here, known, html);
        }
        (None, None) => {
            html.tag("<p class=\"empty\">The document was not there yet.</p>\n");
        }
    }
    conflicts(here, known, html);
}

/// The revisions as points on a line, oldest first.
fn line(here: &Here<'_>, known: &Known, moment: recension::engine::Seq, html: &mut Html) {
    let now = when::now();
    html.tag("<nav class=\"line\" aria-label=\"History\"><ol>");
    // The newest one that the moment has.
    let shown = known.line.iter().rposition(|revision| revision.seq <= moment);
    for (number, revision) in known.line.iter().enumerate() {
        let last = number + 1 == known.line.len();
        let to = if last { here.now() } else { here.at(&revision.seq.to_string()) };
        html.tag(if revision.deleted { "<li class=\"deleted\">" } else { "<li>" });
        html.tag("<a href=\"").to(&to).tag("\" title=\"commit ").show(revision.seq).tag(", ");
        html.text(format_time(revision.time)).tag(if revision.deleted { ": deleted" } else { "" });
        html.tag(if shown == Some(number) { "\" aria-current=\"step\">" } else { "\">" });
        html.show(revision.rev.generation()).tag("</a><small title=\"").text(format_time(revision.time)).tag("\">");
        html.text(when::ago(revision.time, now)).tag("</small></li>");
    }
    html.tag("</ol></nav>\n");
    if let Some(revision) = shown.and_then(|at| known.line.get(at)) {
        html.tag("<p class=\"summary\">Revision <code>").show(revision.rev).tag("</code>, commit ").show(revision.seq);
        html.tag(", ");
        when::write(revision.time, html);
        html.tag(". ");
        if let Some(before) = shown.and_then(|at| known.line.get(at.checked_sub(1)?)) {
            let compare =
                Parameters::default().with("from", &before.seq.to_string()).with("to", &revision.seq.to_string());
            html.link(&compare.on(&format!("{}/compare", in_console(here.db, here.id))), "What changed here");
        }
        html.tag(" ").link(&format!("{}/_history", document(here.db, here.id)), "All revisions").tag("</p>\n");
    }
}

/// What can be done: now it is edited and deleted, in the past it is restored.
fn actions(
    here: &Here<'_>,
    shown: &Document<'_>,
    known: &Known,
    (past, undo): (Option<&str>, Option<&str>),
    html: &mut Html,
) {
    let Here { db, id, .. } = *here;
    let current = known.current.as_ref().map(|current| current.rev);
    html.tag("<div class=\"bar\">");
    if let Some(moment) = past {
        let then = known.current.as_ref().filter(|current| !current.deleted).map(|current| current.rev.to_string());
        restore_button(here, &shown.rev.to_string(), then.as_deref(), "Restore this version", html);
        let compare = Parameters::default().with("from", moment).with("to", "now");
        html.link(&compare.on(&format!("{}/compare", in_console(db, id))), "Compare with now").tag(" ");
    } else {
        if let Some(rev) = undo {
            html.tag("<span class=\"notice\">Restored.</span> ");
            restore_button(here, rev, None, "Undo", html);
        }
        let to = Parameters::default().with("rev", &shown.rev.to_string()).on(&document(db, id));
        let sure = About::Sure("Delete this document? Its history stays, and it can be restored.");
        form::button("DELETE", &to, &[sure, About::Said("It was deleted.")], ("danger", "Delete"), html);
    }
    let carried = past.map_or(Parameters::default(), |at| Parameters::default().with("at", at));
    html.link(&carried.with("format", "json").on(&document(db, id)), "JSON").tag(" ");
    html.link(&carried.with("format", "html").on(&document(db, id)), "Plain page").tag("</div>\n");
    if past.is_none() && current == Some(shown.rev) && shown.body.len() <= SHOWN_BYTES_MAX {
        html.tag("<details class=\"edit\"><summary>Edit</summary>");
        let (then, conflict) = (here.now(), format!("{}/conflicts", in_console(db, id)));
        let about = [About::Then(&then), About::Said("It was saved."), About::Conflict(&conflict)];
        form::begin("PUT", &document(db, id), &about, html);
        form::json("JSON", 20, &pretty(&shown.to_json()), html);
        html.tag("<span class=\"hint\"><kbd>Ctrl</kbd>+<kbd>S</kbd> saves</span>");
        form::end("Save", html);
        html.tag("</details>\n");
        members_form::write(shown, &document(db, id), about, html);
    }
}

fn restore_button(here: &Here<'_>, rev: &str, undo: Option<&str>, text: &'static str, html: &mut Html) {
    let to = Parameters::default().with("rev", rev).on(&format!("{}/restore", in_console(here.db, here.id)));
    let then = here.parameters.without(&["at"]).with("undo", undo.unwrap_or_default()).on(&here.path);
    let about = [About::Then(&then), About::Said("It is the newest version now.")];
    form::button("POST", &to, &about, ("primary", text), html);
}

/// Of a deleted document: back to what it said before.
fn undo(here: &Here<'_>, known: &Known, html: &mut Html) {
    if let Some(before) = known.line.iter().rev().find(|revision| !revision.deleted) {
        html.tag("<div class=\"bar\">");
        restore_button(here, &before.rev.to_string(), None, "Restore what it said before", html);
        html.tag("</div>\n");
    }
}

/// A JSON text with its members on lines of their own.
pub(super) fn pretty(text: &str) -> String {
    // Numbers stay as they are: nothing is read into floating point.
    let (mut out, mut depth, mut in_string, mut escaped) =
        (String::with_capacity(text.len() * 2), 0_usize, false, false);
    let line = |out: &mut String, depth: usize| {
        out.push('\n');
        out.extend(std::iter::repeat_n("  ", depth.min(64)));
    };
    let mut last = ' ';
    for c in text.chars() {
        if in_string {
            out.push(c);
            in_string = escaped || c != '"';
            escaped = !escaped && c == '\\';
        } else {
            match c {
                '{' | '[' => {
                    out.push(c);
                    depth += 1;
                    last = c;
                    continue;
                }
                '}' | ']' => {
                    depth = depth.saturating_sub(1);
                    if !matches!(last, '{' | '[') {
                        line(&mut out, depth);
                    }
                    out.push(c);
                }
                ',' => {
                    out.push(c);
                    line(&mut out, depth);
                }
                ':' => out.push_str(": "),
                c => {
                    if matches!(last, '{' | '[') {
                        line(&mut out, depth);
                    }
                    in_string = c == '"';
                    out.push(c);
                }
            }
        }
        last = c;
    }
    out
}

fn body(db: &str, id: &str, shown: &Document<'_>, past: Option<&str>, html: &mut Html) {
    if shown.body.len() > SHOWN_BYTES_MAX {
        html.tag("<p>The document has ").text(bytes(shown.body.len() as u64));
        html.tag(": it is shown as JSON and as a plain page only.</p>\n");
        return;
    }
    html.tag("<dl class=\"members\">\n");
    for (name, value) in members_of(shown.body.as_bytes()).unwrap_or_default() {
        html.tag("<dt><bdi>").text(name.as_bytes()).tag("</bdi></dt><dd>");
        value::whole(value.get(), html);
        html.tag("</dd>\n");
    }
    html.tag("</dl>\n");
    attachments::section(db, id, shown, past, html);
    html.tag("<details><summary>JSON</summary><pre tabindex=\"0\"><code>").text(pretty(&shown.to_json()));
    html.tag("</code></pre></details>\n");
}

/// Revisions in conflict, each beside the winner.
fn conflicts(here: &Here<'_>, known: &Known, html: &mut Html) {
    let Here { db, id, .. } = *here;
    let Some(winner) = known.shown.as_ref().filter(|_| !known.conflicts.is_empty()) else { return };
    html.tag("<section class=\"conflicts\" aria-label=\"Conflicts\"><h2>Conflicts</h2><p>Replication brought these ");
    html.tag("revisions beside the one that is shown. ");
    html.link(&format!("{}/conflicts", in_console(db, id)), "Look at them side by side, and choose");
    html.tag(", or discard some.</p><ul>\n");
    for rev in &known.conflicts {
        let compare = Parameters::default().with("from", rev).with("to", &winner.rev.to_string());
        html.tag("<li><code>").text(rev).tag("</code> ");
        html.link(&compare.on(&format!("{}/compare", in_console(db, id))), "Compare").tag(" ");
        let to = Parameters::default().with("rev", rev).on(&document(db, id));
        form::button("DELETE", &to, &[About::Then(&here.now())], ("", "Discard"), html);
        html.tag("</li>\n");
    }
    html.tag("</ul></section>\n");
}

/// A moment or a revision that the query names.
pub(super) fn version(text: &str) -> Result<recension::Version> {
    if let Ok(rev) = text.parse::<recension::RevId>() {
        return Ok(rev.into());
    }
    Ok(text.parse::<At>()?.into())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn json_is_written_for_people() {
        let text = r#"{"a":[1,{"b":"x,{\"}"}],"c":{},"d":[]}"#;
        let expected =
            "{\n  \"a\": [\n    1,\n    {\n      \"b\": \"x,{\\\"}\"\n    }\n  ],\n  \"c\": {},\n  \"d\": []\n}";
        assert_eq!(pretty(text), expected);
    }

    proptest! {
        #[test]
        fn what_is_pretty_means_the_same(
            members in prop::collection::btree_map(".{0,9}", prop::collection::vec(".{0,9}", 0..4), 0..5),
        ) {
            let text = serde_json::to_string(&members).unwrap();
            let value: serde_json::Value = serde_json::from_str(&pretty(&text)).unwrap();
            prop_assert_eq!(value.to_string(), text);
        }
    }
}
