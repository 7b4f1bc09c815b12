//! What a query answers at two moments, beside each other: rows that came, went and changed. A query has two whole
//! answers here, so both are bounded.

use std::time::{Duration, Instant};

use minijinja::{Value, context};
use recension::At;
use recension::json::quote;

use super::answers::{Changed, Differences, Different, Placed, id_of};
use super::difference;
use super::frame::Frame;
use super::query::{self, Query};
use recension_app::auth::databases::Database;
use recension_app::auth::{Access, Session};
use recension_app::request::Request;
use recension_endpoints::mango::look::{self, Bounds};
use recension_pages::links::{Parameters, in_console};
use recension_wire::answer::Answer;
use recension_wire::error::{ApiError, Result};
use recension_wire::members::{member, members_of};
use recension_wire::route::encode;

/// Rows of an answer, and bytes of them, that are compared.
const ANSWER_ROWS_MAX: usize = 2000;
const ANSWER_BYTES_MAX: usize = 8 << 20;
/// How long rows of both answers are taken.
const PATIENCE: Duration = Duration::from_secs(5);
/// Different rows that are shown, and members of each; an export has all of them.
const ROWS: usize = 200;
const MEMBERS: usize = 12;

/// The columns of all differences as a table.
pub(super) const COLUMNS: &[&str] = &["id", "what", "place_before", "place_after", "before", "after"];

/// Both answers, compared.
pub(super) struct Compared {
    pub(super) differences: Differences,
    /// Whether rows are documents, which have pages of their own.
    documents: bool,
}

/// Compares what a query answers at two moments; `None`: an answer is beyond the bounds.
pub(super) fn compared(db: &Database, query: &Query, moments: &(String, String)) -> Result<Option<Compared>> {
    let (from, to) = moments;
    match query {
        Query::Mango(text) => {
            let bounds =
                Bounds { rows_max: ANSWER_ROWS_MAX, bytes_max: ANSWER_BYTES_MAX, until: Instant::now() + PATIENCE };
            let answer = |moment: &str| {
                then(db, moment, |db, now| look::whole(db, text, now, bounds))
                    .map(|rows| rows.unwrap_or(Some(Vec::new())))
            };
            let (Some(before), Some(after)) = (answer(from)?, answer(to)?) else { return Ok(None) };
            Ok(Some(Compared { differences: Differences::between(before, after), documents: true }))
        }
        Query::Pipeline(text) => {
            let answer = |moment: &str| {
                let rows = then(db, moment, |db, _| Ok(look::pipeline(db, text, query::BYTES_MAX)?.rows));
                rows.map(Option::unwrap_or_default)
            };
            Ok(Some(Compared { differences: Differences::between_rows(answer(from)?, answer(to)?), documents: false }))
        }
    }
}

/// The answer at a moment, which is told whether it is now; `None`: the database was not there yet.
fn then<T>(db: &Database, moment: &str, answer: impl FnOnce(&Database, bool) -> Result<T>) -> Result<Option<T>> {
    let at: At = moment.parse()?;
    if !db.collection().at(at)?.exists() {
        return Ok(None);
    }
    let answer = answer(&db.clone().seen_at(at)?, at == At::Now);
    answer.map(Some).map_err(|error| ApiError { reason: format!("As of {moment}: {}", error.reason).into(), ..error })
}

impl Compared {
    /// Each different row as a line of a file.
    pub(super) fn rows(&self) -> Vec<String> {
        self.differences.rows.iter().map(|row| row.to_json(self.id(row).as_deref().unwrap_or("null"))).collect()
    }

    /// The id of a row, as JSON, if it has one.
    fn id(&self, row: &Different) -> Option<String> {
        if self.documents {
            return Some(quote(&row.key));
        }
        id_of(&row.after.as_ref().or(row.before.as_ref())?.text)
    }
}

/// What is said if an answer is beyond the bounds.
pub(super) fn too_long() -> ApiError {
    ApiError::bad_request(format!(
        "The answer at one of the moments has more than {ANSWER_ROWS_MAX} rows or {} MiB, or takes longer than {} \
         seconds. Give the query a smaller limit, or name fewer fields.",
        ANSWER_BYTES_MAX >> 20,
        PATIENCE.as_secs()
    ))
}

/// `/_utils/{db}/query/compare`
pub(super) async fn page(request: &Request, session: &Session, db: &str) -> Result<Answer> {
    let database = session.database(db, Access::Member)?;
    let asked = Query::of(request);
    let moments = difference::moments(request);
    let (reading, own, both) = (database.clone(), asked.clone(), moments.clone());
    let found = request.app.blocking(move || match own {
        Some(query) => compared(&reading, &query, &both)?.map(Some).ok_or_else(too_long),
        None => Ok(None),
    });
    // What cannot be compared is shown as it was written, with what is wrong.
    let (found, wrong) = match found.await {
        Ok(found) => (found, None),
        Err(error) => (None, Some(error)),
    };
    let frame = Frame::begin(request, session, "Compare answers", Some(db), "Query", false);
    let path = format!("/_utils/{}/query", encode(db));
    let (from, to) = &moments;
    let own = asked.as_ref().map(Query::parameters).unwrap_or_default();
    let back = own.with("at", if to.eq_ignore_ascii_case("now") { "" } else { to }).on(&path);
    // Without the bounds of its query, the selector can be compared document by document.
    let whole = asked.as_ref().filter(|_| found.is_none()).and_then(|query| whole_selector(db, query, &moments));
    let values = context! {
        db, path, from, to, back, whole, text => query::text_field(asked.as_ref()), asked => asked.is_some(),
        error => wrong.as_ref().map(|error| error.reason.as_ref()),
        exported => &own.with("from", from).with("to", to).with("of", "differences"),
        found => found.as_ref().map(|found| differences(db, found)),
    };
    Ok(frame.page("query-compare", values))
}

fn differences(db: &str, found: &Compared) -> Value {
    let all = &found.differences;
    let (came, changed, went) = all.counts();
    let rows: Vec<Value> = all.rows.iter().take(ROWS).map(|row| difference(db, found, row)).collect();
    context! { came, changed, went, same => all.same, rows, more => all.rows.len().saturating_sub(ROWS) }
}

fn difference(db: &str, found: &Compared, row: &Different) -> Value {
    let place = |row: &Option<Placed>| row.as_ref().map(|row| row.place.to_string());
    let place = match (place(&row.before), place(&row.after)) {
        (Some(before), Some(after)) if before != after => format!("{before} → {after}"),
        (before, after) => after.or(before).unwrap_or_default(),
    };
    let members = row.members();
    context! {
        place, what => row.what(), key => row.key.as_str(), id => found.id(row),
        page => found.documents.then(|| format!("{}/compare", in_console(db, &row.key))),
        before => row.before.as_ref().map(|row| said(row, &members, |changed| changed.before.as_deref())),
        after => row.after.as_ref().map(|row| said(row, &members, |changed| changed.after.as_deref())),
    }
}

/// What a row said at one of the moments, as far as it is different; all of it if it is no object.
fn said(row: &Placed, members: &[Changed], value: impl Fn(&Changed) -> Option<&str>) -> Value {
    let shown = members.iter().take(MEMBERS).map(|member| (member.name.as_str(), value(member)));
    context! {
        whole => members.is_empty().then_some(row.text.as_str()), more => members.len().saturating_sub(MEMBERS),
        members => shown.map(|(name, value)| vec![Value::from(name), Value::from(value)]).collect::<Vec<_>>(),
    }
}

/// A way on from a query whose answer is too long.
fn whole_selector(db: &str, query: &Query, (from, to): &(String, String)) -> Option<String> {
    let Query::Mango(text) = query else { return None };
    let members = members_of(text.as_bytes()).ok()?;
    let selector = member(&members, "selector").filter(|selector| selector.get().starts_with('{'))?;
    let all = Parameters::default().with("from", from).with("to", to).with("q", selector.get());
    Some(all.on(&format!("/_utils/{}/compare", encode(db))))
}
