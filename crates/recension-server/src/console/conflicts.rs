//! `/_utils/{db}/doc/{id}/conflicts`: revisions in conflict side by side, member by member. With a script one chooses
//! what is kept of each; that is written, and the others are taken away.

use recension::{CollectionAt, Revision, json};
use serde_json::value::RawValue;

use super::document::pretty;
use super::form;
use super::frame::{Frame, bytes, empty, table_end};
use crate::answer::Answer;
use crate::auth::{Access, Session};
use crate::error::{ApiError, Result};
use crate::html::links::{Parameters, document, in_console};
use crate::html::value::whole;
use crate::html::writer::Html;
use crate::members::{Members, member, members_of};
use crate::request::{Request, at_its_moment};

/// Revisions that are shown beside each other.
const SHOWN_MAX: usize = 6;
/// The longest revision that can be chosen from in a page, and that a value is shown of.
const BYTES_MAX: usize = 256 << 10;
const VALUE_BYTES_MAX: usize = 20_000;

fn read(at: &CollectionAt, id: &str) -> Result<Vec<Revision>> {
    let winner = at.current(id)?.ok_or_else(ApiError::missing)?.rev;
    let revs = std::iter::once(winner).chain(at.conflicts(id)?);
    let found = revs.take(SHOWN_MAX).map(|rev| at.get_revision(id, &rev));
    Ok(found.collect::<recension::Result<Vec<_>>>()?.into_iter().flatten().collect())
}

/// The page.
pub(super) async fn page(request: &Request, session: &Session, db: &str, id: &str) -> Result<Answer> {
    let database = at_its_moment(request, session.database(db, Access::Member)?)?;
    let (at, own) = (database.opened().clone(), id.to_owned());
    let revisions = request.app.streams.read(move || read(&at, &own)).await?;
    let mut frame = Frame::begin(request, session, id, Some(db), "", true);
    let html = &mut frame.html;
    let back = Parameters::of(&request.query).only(&["at"]).on(&in_console(db, id));
    html.tag("<p class=\"summary\">").link(&back, "Back to the document").tag("</p>\n");
    if revisions.len() < 2 {
        empty("The document has no conflicts.", html);
        return Ok(frame.end());
    }
    html.tag("<p>Replication brought these revisions beside each other. Choose what is kept of each member; the ");
    html.tag("first one is what readers see now.</p>\n");
    let long = revisions.iter().any(|revision| revision.body.len() > BYTES_MAX);
    let resolves = request.query.get("at").is_none() && !long;
    if resolves {
        html.tag("<form data-resolve=\"").to(&document(db, id)).tag("\" data-then=\"");
        html.to(&in_console(db, id)).tag("\" data-head=\"").text(head(id, &revisions[0])).tag("\">\n");
    }
    beside(&revisions, resolves, html);
    if resolves {
        form::json("What is kept", 14, "{}", html);
        form::end("Keep this, and discard the others", html);
    } else if long {
        html.tag("<p class=\"advice\">They are longer than ").text(bytes(BYTES_MAX as u64));
        html.tag(": discard those that are not wanted, at the document.</p>\n");
    }
    Ok(frame.end())
}

/// The members that a document has beside its body, as JSON texts: they stay as the winner has them.
fn head(id: &str, winner: &Revision) -> String {
    let text = Revision { body: "{}".to_owned(), ..winner.clone() }.to_json(id);
    let members = members_of(text.as_bytes()).unwrap_or_default();
    let lines = members.iter().map(|(name, value)| format!("{}: {}", json::quote(name), value.get()));
    lines.collect::<Vec<_>>().join(",\n  ")
}

/// The table. Cells carry the text of their value for the script, which puts texts together and reads none.
fn beside(revisions: &[Revision], resolves: bool, html: &mut Html) {
    html.tag("<div class=\"wide\" role=\"region\" aria-label=\"Revisions\" tabindex=\"0\">");
    html.tag("<table class=\"beside\"><thead><tr><th scope=\"col\">Member</th>");
    for (number, revision) in revisions.iter().enumerate() {
        html.tag("<th scope=\"col\"");
        if resolves && number > 0 {
            html.tag(" data-loser=\"").show(revision.rev).tag("\"");
        }
        html.tag("><code>").show(revision.rev).tag("</code>");
        html.tag(if number == 0 { " is seen</th>" } else { "</th>" });
    }
    html.tag("</tr></thead><tbody>\n");
    let bodies: Vec<Members<'_>> =
        revisions.iter().map(|revision| members_of(revision.body.as_bytes()).unwrap_or_default()).collect();
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in bodies.iter().flatten() {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    for (row, name) in names.iter().enumerate() {
        let values: Vec<Option<&str>> = bodies.iter().map(|own| member(own, name).map(RawValue::get)).collect();
        let differ = values.iter().any(|value| *value != values[0]);
        html.tag(if differ { "<tr class=\"differs\" data-name=\"" } else { "<tr data-name=\"" });
        html.text(json::quote(name)).tag("\"><th scope=\"row\"><bdi>").text(name).tag("</bdi></th>");
        for (number, value) in values.iter().enumerate() {
            html.tag("<td");
            if let Some(value) = value.filter(|_| resolves && (differ || number == 0)) {
                html.tag(" data-value=\"").text(pretty(value)).tag("\"");
            }
            html.tag(">");
            if differ && resolves {
                html.tag("<label class=\"choice\"><input type=\"radio\" name=\"m").show(row).tag("\" value=\"");
                html.show(number);
                html.tag(if number == 0 { "\" checked> " } else { "\"> " }).tag("<span class=\"unseen\">Keep of ");
                html.show(revisions[number].rev).tag("</span></label>");
            }
            shown(*value, html);
            html.tag("</td>");
        }
        html.tag("</tr>\n");
    }
    table_end(html);
}

fn shown(value: Option<&str>, html: &mut Html) {
    match value {
        None => {
            html.tag("<i>absent</i>");
        }
        Some(value) if value.len() > VALUE_BYTES_MAX => {
            html.tag("<i>").text(bytes(value.len() as u64)).tag("</i>");
        }
        Some(value) => whole(value, html),
    }
}
