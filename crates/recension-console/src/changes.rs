//! What has changed last in a database, and (with the module) what changes while one looks.

use std::time::{Duration, Instant};

use minijinja::context;
use recension::engine::{Seq, Timestamp};
use recension::{At, Change, Collation, Collection, CollectionAt, SelectorTest};

use super::frame::Frame;
use super::search::{self, Field};
use recension_app::auth::{Access, Session};
use recension_app::request::{Request, at_its_moment};
use recension_pages::links::{Parameters, in_console};
use recension_wire::answer::Answer;
use recension_wire::error::Result;

const ROWS: usize = 100;
/// How long is searched among the changes for a page.
const PATIENCE: Duration = Duration::from_millis(1500);

/// `/_utils/{db}/changes`
pub(super) async fn page(request: &Request, session: &Session, db: &str) -> Result<Answer> {
    let database = at_its_moment(request, session.database(db, Access::Member)?)?;
    let at = database.opened().clone();
    let (before, moment) = (request.query.number("before")?, at.seq());
    let text = request.query.get("q").unwrap_or_default().trim().to_owned();
    let (searched, test, mistake) = match search::selector(&text, &at) {
        Ok(selector) => (text.to_lowercase(), selector.map(|selector| selector.test(Collation::Unicode)), None),
        Err(mistake) => (String::new(), None, Some(mistake)),
    };
    let collection = database.share();
    let read = move || {
        let (mut rows, mut last, begun): (Vec<Change>, _, _) = (Vec::new(), None, Instant::now());
        let mut times: Vec<(Seq, Option<Timestamp>)> = Vec::new();
        for (number, change) in at.changes_backward().enumerate() {
            let change = change?;
            if before.is_some_and(|before| change.seq.0 >= before) {
                continue;
            }
            // Those of one commit are not torn apart.
            let next_commit = last.is_some_and(|last| last != change.seq);
            let tired = test.is_some() && number % 64 == 0 && begun.elapsed() > PATIENCE;
            if next_commit && (rows.len() >= ROWS || tired) || rows.len() > 10 * ROWS {
                return Ok((rows, times, last));
            }
            last = Some(change.seq);
            if is_of(&change, &searched, test.as_ref(), &at)? {
                let time = times.last().filter(|(seq, _)| *seq == change.seq).map(|(_, time)| *time);
                let read = || at_of(&collection, change.seq);
                times.push((change.seq, time.unwrap_or_else(read)));
                rows.push(change);
            }
        }
        Ok((rows, times, None))
    };
    let (rows, times, goes_on) = request.app.streams.read(read).await?;
    let (parameters, path) = (Parameters::of(&request.query), request.head.uri.path());
    let placeholder = "a word, an id, or what the document says now: country = PT";
    let field = Field { text: &text, placeholder, path, carried: &parameters, offers: &[] };
    let row = |(change, (_, time)): (&Change, &(Seq, Option<Timestamp>))| {
        context! {
            id => change.id.as_str(), page => in_console(db, &change.id), seq => change.seq.0,
            rev => change.rev.to_string(), deleted => change.deleted, time => time.map(|time| time.0),
        }
    };
    let values = context! {
        db, field => field.values(mistake.as_ref()), rows => rows.iter().zip(&times).map(row).collect::<Vec<_>>(),
        seq => moment.0, follows => request.query.get("at").is_none() && before.is_none() && text.is_empty(),
        at => parameters.get("at"),
        earlier => goes_on.map(|last| parameters.with("before", &last.to_string()).on(path)),
    };
    Ok(Frame::begin(request, session, "Changes", Some(db), "Changes", true).page("changes", values))
}

/// When a commit was made, if it was not given up.
fn at_of(collection: &Collection, seq: Seq) -> Option<Timestamp> {
    collection.at(At::Seq(seq)).ok()?.time().ok()
}

/// Whether a change is of the search: its id has the words, or what the document said then is selected.
fn is_of(change: &Change, words: &str, test: Option<&SelectorTest>, at: &CollectionAt) -> Result<bool> {
    let Some(test) = test else { return Ok(true) };
    if change.id.to_lowercase().contains(words) {
        return Ok(true);
    }
    Ok(at.get(&change.id)?.is_some_and(|document| test.selects(&document)))
}
