//! One document: what it says, as members and as JSON; its past as a line; its attachments and conflicts; and the
//! ways to change it, of which restoring is one.

use minijinja::{Value, context};
use recension::{At, AttachmentInfo, CollectionAt, Document, RevisionHead};

use super::frame::Frame;
use super::members_form;
use super::pretty::pretty;
use recension_app::auth::databases::Database;
use recension_app::auth::{Access, Session};
use recension_app::request::{Request, at_its_moment};
use recension_pages::links::{Parameters, document, in_console};
use recension_pages::writer::Html;
use recension_wire::answer::Answer;
use recension_wire::error::{ApiError, Result};
use recension_wire::members::members_of;
use recension_wire::route::encode;

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
    line: Vec<RevisionHead>,
    conflicts: Vec<String>,
}

fn read(at: &CollectionAt, now: &CollectionAt, id: &str) -> Result<Known> {
    let shown = at.current(id)?.map(Document::into_owned);
    let current = now.current(id)?.map(Document::into_owned);
    let mut line = Vec::new();
    for revision in now.revisions(id)?.take(LINE_MAX) {
        // A past that was given up ends the line.
        let Ok(revision) = revision else { break };
        line.push(revision);
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
    let mut shown = html.piece();
    let error = match known {
        Ok(known) => {
            whole(request, database, &here, &known, &mut shown);
            None
        }
        Err(error) => Some(error.reason.into_owned()),
    };
    html.fill(
        "beside",
        context! { id, close, error, alone => at.on(&in_console(db, id)), whole => shown.into_markup() },
    );
    Ok(())
}

/// What a page shows of a document, below its name.
fn whole(request: &Request, database: &Database, here: &Here<'_>, known: &Known, html: &mut Html) {
    let past = request.query.get("at");
    // The newest revision that the moment has.
    let at = known.line.iter().rposition(|revision| revision.seq <= database.opened().seq());
    let there = known.shown.as_ref().filter(|shown| !shown.deleted);
    let current = known.current.as_ref();
    let edits = past.is_none()
        && there
            .is_some_and(|shown| current.map(|own| own.rev) == Some(shown.rev) && shown.body.len() <= SHOWN_BYTES_MAX);
    let before = known.line.iter().rev().find(|revision| !revision.deleted);
    let members = there.filter(|_| edits).and_then(|shown| members_of(shown.body.as_bytes()).ok());
    let values = context! {
        page => in_console(here.db, here.id), raw => document(here.db, here.id), path => here.path.as_str(),
        kept => &here.parameters.without(&["at"]), now => here.now(), past, edits,
        opened => request.query.get("edit") == Some("form"),
        undo => request.query.get("undo").filter(|_| past.is_none()),
        line => line(here, known), at, deleted => known.shown.as_ref().filter(|own| own.deleted).map(|own| own.seq.0),
        before => before.map(|before| before.rev.to_string()), shown => there.map(shown),
        now_rev => current.filter(|own| !own.deleted).map(|own| own.rev.to_string()).unwrap_or_default(),
        fields => members.as_ref().map(|members| members_form::fields(members)),
        other_fields => members.as_ref().map_or(0, |members| members.len().saturating_sub(members_form::FIELDS_MAX)),
        attachments => there.map(|shown| attachments(here, shown)).unwrap_or_default(),
        shown_rev => known.shown.as_ref().map(|shown| shown.rev.to_string()),
        conflicts => known.conflicts.iter().filter(|_| known.shown.is_some()).cloned().collect::<Vec<_>>(),
    };
    html.fill("document", values);
}

/// The revisions as points on a line, oldest first.
fn line(here: &Here<'_>, known: &Known) -> Vec<Value> {
    let point = |(number, revision): (usize, &RevisionHead)| {
        let last = number + 1 == known.line.len();
        let to = if last { here.now() } else { here.at(&revision.seq.to_string()) };
        context! {
            to, seq => revision.seq.0, time => revision.time.0, deleted => revision.deleted,
            generation => revision.rev.generation(), rev => revision.rev.to_string(),
        }
    };
    known.line.iter().enumerate().map(point).collect()
}

fn shown(shown: &Document<'_>) -> Value {
    let long = shown.body.len() > SHOWN_BYTES_MAX;
    let (whole, body) = if long { Default::default() } else { (shown.to_json(), shown.body.as_bytes()) };
    let members = members_of(body).unwrap_or_default();
    context! {
        rev => shown.rev.to_string(), long => long.then_some(shown.body.len() as u64), pretty => pretty(&whole), whole,
        members => members.iter().map(|(name, value)| (name.clone(), value.get()).into()).collect::<Vec<Value>>(),
    }
}

fn attachments(here: &Here<'_>, shown: &Document<'_>) -> Vec<Value> {
    let one = |info: &AttachmentInfo| {
        let name: Vec<String> = info.name.split('/').map(encode).collect();
        let path = format!("{}/{}", document(here.db, here.id), name.join("/"));
        context! { path, name => info.name.as_str(), type => info.content_type.as_str(), bytes => info.length() }
    };
    shown.attachments.iter().map(one).collect()
}

/// A moment or a revision that the query names.
pub(super) fn version(text: &str) -> Result<recension::Version> {
    if let Ok(rev) = text.parse::<recension::RevId>() {
        return Ok(rev.into());
    }
    Ok(text.parse::<At>()?.into())
}
