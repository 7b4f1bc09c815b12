//! What is different between two moments: of a database, document by document; of a document, value by value.

use minijinja::{Value, context};
use recension::{At, Collation, Collection, Document, DocumentDiff, Selector, json};

use super::document::version;
use super::frame::Frame;
use super::search::{self, Mistake};
use recension_app::auth::{Access, Session};
use recension_app::request::Request;
use recension_pages::links::in_console;
use recension_wire::answer::Answer;
use recension_wire::error::Result;

const ROWS: usize = 200;
const CHANGES: usize = 500;

/// A document that is different: whether it was there, or was of the filter, before and after.
pub(super) struct Difference {
    pub(super) id: String,
    pub(super) before: bool,
    pub(super) after: bool,
}

/// What is different between two moments among the documents of a search.
pub(super) fn between(
    collection: &Collection,
    (from, to): &(String, String),
    selector: Option<Selector>,
) -> Result<impl Iterator<Item = Result<Difference>> + Send + use<>> {
    let selects = selector.map(|selector| selector.test(Collation::Unicode));
    let all = collection.diff_between(from.parse::<At>()?, to.parse::<At>()?)?;
    let is_of = move |document: Option<Document<'static>>| {
        document.is_some_and(|own| selects.as_ref().is_none_or(|selects| selects.selects(&own)))
    };
    let row = move |different: recension::Result<DocumentDiff>| {
        let DocumentDiff { id, before, after } = different?;
        Ok(Difference { id, before: is_of(before), after: is_of(after) })
    };
    Ok(all.map(row).filter(|row| !row.as_ref().is_ok_and(|row| !row.before && !row.after)))
}

/// The moments of the query, with those that are meant without it.
pub(super) fn moments(request: &Request) -> (String, String) {
    let text = |name: &str, usual: &str| {
        request.query.get(name).map(str::trim).filter(|text| !text.is_empty()).unwrap_or(usual).to_owned()
    };
    (text("from", "1h"), text("to", request.query.get("at").unwrap_or("now")))
}

/// `/_utils/{db}/compare`
pub(super) async fn of_database(request: &Request, session: &Session, db: &str) -> Result<Answer> {
    let database = session.database(db, Access::Member)?;
    let (from, to) = moments(request);
    let filter = request.query.get("q").unwrap_or_default().to_owned();
    let (selector, mistake) = match search::selector(&filter, database.opened()) {
        Ok(selector) => (selector, None),
        Err(mistake) => (None, Some(mistake)),
    };
    let all = between(&database.share(), &(from.clone(), to.clone()), selector)?;
    let found = request.app.streams.read(move || all.take(ROWS + 1).collect::<Result<Vec<_>>>());
    let rows = found.await?;
    let row = |row: &Difference| {
        let page = format!("{}/compare", in_console(db, &row.id));
        context! { id => row.id.as_str(), page, before => row.before, after => row.after }
    };
    let values = context! {
        db, from, to, filter, mistake => mistake.as_ref().map(Mistake::values), back => (), changes => (),
        documents => rows.iter().take(ROWS).map(row).collect::<Vec<_>>(), more_of => rows.len().saturating_sub(ROWS),
    };
    let frame = Frame::begin(request, session, "Compare moments", Some(db), "Compare moments", false);
    Ok(frame.page("compare", values))
}

/// `/_utils/{db}/doc/{id}/compare`
pub(super) async fn of_document(request: &Request, session: &Session, db: &str, id: &str) -> Result<Answer> {
    let database = session.database(db, Access::Member)?;
    let (from, to) = moments(request);
    let (collection, own) = (database.share(), id.to_owned());
    let (before, after) = (version(&from)?, version(&to)?);
    let found = request.app.streams.read(move || Ok(collection.diff(&own, before, after)?.changes()?));
    let changes = found.await?;
    let values = context! {
        from, to, filter => (), mistake => (), back => in_console(db, id), documents => (),
        changes => changes.iter().take(CHANGES).map(shown).collect::<Vec<_>>(),
        more_of => changes.len().saturating_sub(CHANGES),
    };
    Ok(Frame::begin(request, session, id, Some(db), "", false).page("compare", values))
}

/// A change as templates have it.
pub(super) fn shown(change: &json::Change) -> Value {
    let json::Change { path, before, after } = change;
    context! { path => path.to_string(), before => before.as_deref(), after => after.as_deref() }
}
