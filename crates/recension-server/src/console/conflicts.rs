//! `/_utils/{db}/doc/{id}/conflicts`: revisions in conflict side by side, member by member. With a script one chooses
//! what is kept of each; that is written, and the others are taken away.

use recension::{CollectionAt, Revision, json};
use serde_json::value::RawValue;

use super::document::pretty;
use super::frame::{Frame, bytes, empty, table_end};
use super::{form, when};
use crate::answer::Answer;
use crate::auth::{Access, Session};
use crate::error::{ApiError, Result};
use crate::html::links::{Parameters, document, in_console};
use crate::html::value::whole;
use crate::html::writer::Html;
use crate::members::{Members, member, members_of};
use crate::query::Query;
use crate::request::{Request, at_its_moment};

/// Revisions that are shown beside each other.
const SHOWN_MAX: usize = 6;
/// The longest revision that can be chosen from in a page, and that a value is shown of.
const BYTES_MAX: usize = 256 << 10;
const VALUE_BYTES_MAX: usize = 20_000;
/// A text that was typed, percent-encoded.
const MINE_BYTES_MAX: usize = 3 * BYTES_MAX + 4096;

/// A text of the document: a revision, or what somebody has typed and could not save.
struct Side {
    revision: Option<Revision>,
    body: String,
}

fn read(at: &CollectionAt, id: &str) -> Result<Vec<Side>> {
    let winner = at.current(id)?.ok_or_else(ApiError::missing)?.rev;
    let revs = std::iter::once(winner).chain(at.conflicts(id)?);
    let found = revs.take(SHOWN_MAX).map(|rev| at.get_revision(id, &rev));
    let all = found.collect::<recension::Result<Vec<_>>>()?.into_iter().flatten();
    Ok(all.map(|revision| Side { body: revision.body.clone(), revision: Some(revision) }).collect())
}

/// The page.
pub(super) async fn page(request: &Request, session: &Session, db: &str, id: &str) -> Result<Answer> {
    let database = at_its_moment(request, session.database(db, Access::Member)?)?;
    let (at, own) = (database.opened().clone(), id.to_owned());
    let sides = request.app.streams.read(move || read(&at, &own)).await?;
    let about = "Replication or a merge brought these revisions beside each other. Choose what is kept of each member; \
                 the first one is what readers see now.";
    Ok(shown_beside(request, session, (db, id), &sides, (None, about)))
}

/// `POST`: what somebody has typed, and could not save since another was faster, beside what is there now.
pub(super) async fn with_mine(request: &mut Request, session: &Session, db: &str, id: &str) -> Result<Answer> {
    let database = session.database(db, Access::Member)?;
    let body = request.bytes_up_to(MINE_BYTES_MAX).await?;
    let sent = Query::parse(std::str::from_utf8(&body).map_err(|_| ApiError::bad_json())?)?;
    let mine = json::minify(sent.get("mine").unwrap_or_default().as_bytes()).map_err(recension::Error::from)?;
    let (at, own) = (database.now()?, id.to_owned());
    let read = move || {
        let now = at.current(&own)?.ok_or_else(ApiError::missing)?.rev;
        let now = at.get_revision(&own, &now)?.ok_or_else(ApiError::missing)?;
        let members = members_of(mine.as_bytes())?;
        let base = member(&members, "_rev").and_then(|rev| serde_json::from_str::<String>(rev.get()).ok());
        let base = base.and_then(|rev| rev.parse().ok()).map(|rev| at.get_revision(&own, &rev)).transpose()?.flatten();
        let kept = members.iter().filter(|(name, _)| !name.starts_with('_'));
        let kept: Vec<String> = kept.map(|(name, value)| format!("{}:{}", json::quote(name), value.get())).collect();
        let mine = Side { revision: None, body: format!("{{{}}}", kept.join(",")) };
        Ok((vec![Side { body: now.body.clone(), revision: Some(now) }, mine], base.map(|base| base.body)))
    };
    let (sides, base) = request.app.streams.read(read).await?;
    let about = "Somebody else has changed the document since you opened it. Nothing of yours is saved yet: choose \
                 what is kept of each member. What only you have changed is chosen already.";
    let mut answer = shown_beside(request, session, (db, id), &sides, (base.as_deref(), about));
    answer.status = http::StatusCode::CONFLICT;
    Ok(answer)
}

fn shown_beside(
    request: &Request,
    session: &Session,
    (db, id): (&str, &str),
    sides: &[Side],
    (base, about): (Option<&str>, &'static str),
) -> Answer {
    let mut frame = Frame::begin(request, session, id, Some(db), "", true);
    let html = &mut frame.html;
    let back = Parameters::of(&request.query).only(&["at"]).on(&in_console(db, id));
    html.tag("<p class=\"summary\">").link(&back, "Back to the document").tag("</p>\n");
    let Some(winner) = sides.first().and_then(|side| side.revision.as_ref()).filter(|_| sides.len() > 1) else {
        empty("The document has no conflicts.", html);
        return frame.end();
    };
    html.tag("<p>").tag(about).tag("</p>\n");
    let long = sides.iter().any(|side| side.body.len() > BYTES_MAX);
    let resolves = request.query.get("at").is_none() && !long;
    if resolves {
        html.tag("<form data-resolve=\"").to(&document(db, id)).tag("\" data-then=\"");
        html.to(&in_console(db, id)).tag("\" data-head=\"").text(head(id, winner)).tag("\">\n");
    }
    beside(sides, base, resolves, html);
    if resolves {
        let others = sides.iter().filter(|side| side.revision.is_some()).count() > 1;
        form::json("What is kept", 14, "{}", html);
        form::end(if others { "Keep this, and discard the others" } else { "Save this" }, html);
    } else if long {
        html.tag("<p class=\"advice\">They are longer than ").text(bytes(BYTES_MAX as u64));
        html.tag(": discard those that are not wanted, at the document.</p>\n");
    }
    frame.end()
}

/// The members that a document has beside its body, as JSON texts: they stay as the winner has them.
fn head(id: &str, winner: &Revision) -> String {
    let text = Revision { body: "{}".to_owned(), ..winner.clone() }.to_json(id);
    let members = members_of(text.as_bytes()).unwrap_or_default();
    let lines = members.iter().map(|(name, value)| format!("{}: {}", json::quote(name), value.get()));
    lines.collect::<Vec<_>>().join(",\n  ")
}

/// The table. Cells carry the text of their value for the script, which puts texts together and reads none.
fn beside(sides: &[Side], base: Option<&str>, resolves: bool, html: &mut Html) {
    html.tag("<div class=\"wide\" role=\"region\" aria-label=\"Revisions\" tabindex=\"0\">");
    html.tag("<table class=\"beside\"><thead><tr><th scope=\"col\">Member</th>");
    for (number, side) in sides.iter().enumerate() {
        html.tag("<th scope=\"col\"");
        let Some(revision) = &side.revision else {
            html.tag(">Yours, not saved yet</th>");
            continue;
        };
        if resolves && number > 0 {
            html.tag(" data-loser=\"").show(revision.rev).tag("\"");
        }
        html.tag("><code>").show(revision.rev).tag(if number == 0 { "</code> is seen<br>" } else { "</code><br>" });
        html.tag("commit ").show(revision.seq).tag(", ");
        when::write(revision.time, html);
        html.tag("</th>");
    }
    html.tag("</tr></thead><tbody>\n");
    let bodies: Vec<Members<'_>> =
        sides.iter().map(|side| members_of(side.body.as_bytes()).unwrap_or_default()).collect();
    let base = base.and_then(|base| members_of(base.as_bytes()).ok());
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in bodies.iter().flatten() {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    for (row, name) in names.iter().enumerate() {
        let values: Vec<Option<&str>> = bodies.iter().map(|own| member(own, name).map(RawValue::get)).collect();
        let differ = values.iter().any(|value| *value != values[0]);
        // What only the last one has changed since the text that both come from is theirs to decide.
        let was = base.as_ref().map(|base| member(base, name).map(RawValue::get));
        let kept = if was == Some(values[0]) { values.len() - 1 } else { 0 };
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
                html.tag(if number == kept { "\" checked> " } else { "\"> " }).tag("<span class=\"unseen\">Keep of ");
                match &sides[number].revision {
                    Some(revision) => html.show(revision.rev),
                    None => html.tag("yours"),
                };
                html.tag("</span></label>");
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
