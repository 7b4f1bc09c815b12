//! `/_utils/{db}/doc/{id}/conflicts`: revisions in conflict side by side, member by member. With a script one chooses
//! what is kept of each; that is written, and the others are taken away.

use minijinja::{Value, context};
use recension::{CollectionAt, Revision, json};
use serde_json::value::RawValue;

use super::frame::Frame;
use super::pretty::pretty;
use recension_app::auth::{Access, Session};
use recension_app::request::{Request, at_its_moment};
use recension_pages::links::{Parameters, document, in_console};
use recension_wire::answer::Answer;
use recension_wire::error::{ApiError, Result};
use recension_wire::members::{Members, member, members_of};
use recension_wire::query::Query;

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
    let back = Parameters::of(&request.query).only(&["at"]).on(&in_console(db, id));
    let winner = sides.first().and_then(|side| side.revision.as_ref()).filter(|_| sides.len() > 1);
    let long = sides.iter().any(|side| side.body.len() > BYTES_MAX);
    let resolves = request.query.get("at").is_none() && !long;
    let side = |side: &Side| {
        let own = side.revision.as_ref();
        context! {
            rev => own.map(|own| own.rev.to_string()), seq => own.map(|own| own.seq.0),
            time => own.map(|own| own.time.0),
        }
    };
    let values = context! {
        back, about, resolves, long, bytes_max => BYTES_MAX as u64, path => document(db, id),
        page => in_console(db, id),
        head => winner.map(|winner| head(id, winner)), rows => rows(sides, base, resolves),
        others => sides.iter().filter(|side| side.revision.is_some()).count() > 1,
        sides => sides.iter().filter(|_| winner.is_some()).map(side).collect::<Vec<_>>(),
    };
    Frame::begin(request, session, id, Some(db), "", true).page("conflicts", values)
}

/// The members that a document has beside its body, as JSON texts: they stay as the winner has them.
fn head(id: &str, winner: &Revision) -> String {
    let text = Revision { body: "{}".to_owned(), ..winner.clone() }.to_json(id);
    let members = members_of(text.as_bytes()).unwrap_or_default();
    let lines = members.iter().map(|(name, value)| format!("{}: {}", json::quote(name), value.get()));
    lines.collect::<Vec<_>>().join(",\n  ")
}

/// The rows of the table, one a member. Cells carry the text of their value for the script, which puts texts together
/// and reads none.
fn rows(sides: &[Side], base: Option<&str>, resolves: bool) -> Vec<Value> {
    let bodies: Vec<Members<'_>> =
        sides.iter().map(|side| members_of(side.body.as_bytes()).unwrap_or_default()).collect();
    let base = base.and_then(|base| members_of(base.as_bytes()).ok());
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in bodies.iter().flatten() {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let row = |(number, name): (usize, &&str)| {
        let values: Vec<Option<&str>> = bodies.iter().map(|own| member(own, name).map(RawValue::get)).collect();
        let differs = values.iter().any(|value| *value != values[0]);
        // What only the last one has changed since the text that both come from is theirs to decide.
        let was = base.as_ref().map(|base| member(base, name).map(RawValue::get));
        let kept = if was == Some(values[0]) { values.len() - 1 } else { 0 };
        let cell = |(number, value): (usize, Option<&str>)| {
            let text = value.filter(|_| resolves && (differs || number == 0)).map(pretty);
            let bytes = value.map(str::len).filter(|length| *length > VALUE_BYTES_MAX);
            let rev = sides[number].revision.as_ref().map(|revision| revision.rev.to_string());
            context! { text, bytes => bytes.map(|bytes| bytes as u64), rev, value }
        };
        let cells: Vec<Value> = values.iter().copied().enumerate().map(cell).collect();
        context! { number, name => *name, quoted => json::quote(name), differs, kept, cells }
    };
    names.iter().enumerate().map(row).collect()
}
