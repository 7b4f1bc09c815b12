//! What a query answers at two moments, beside each other: rows that came, went and changed. A query has two whole
//! answers here, so both are bounded.

use std::time::{Duration, Instant};

use minijinja::context;
use recension::At;
use recension::json::quote;

use super::answers::{Changed, Differences, Different, Placed, id_of};
use super::frame::{Frame, empty, grouped, table, table_end};
use super::query::{self, Query};
use super::{difference, export_links};
use recension_app::auth::databases::Database;
use recension_app::auth::{Access, Session};
use recension_app::request::Request;
use recension_endpoints::mango::look::{self, Bounds};
use recension_pages::links::{Parameters, in_console};
use recension_pages::value::cell;
use recension_pages::writer::Html;
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
    let mut frame = Frame::begin(request, session, "Compare answers", Some(db), "Query", false);
    let html = &mut frame.html;
    if let Some(error) = &wrong {
        html.tag("<p class=\"error\" role=\"alert\">").text(error.reason.as_ref()).tag("</p>\n");
    }
    let path = format!("/_utils/{}/query", encode(db));
    form(asked.as_ref(), &moments, &path, html);
    let Some(query) = &asked else {
        empty("Nothing was asked yet.", html);
        return Ok(frame.end());
    };
    let shown = query.parameters().with("from", &moments.0).with("to", &moments.1);
    match &found {
        Some(found) => differences(db, found, &moments, &shown, html),
        // Without the bounds of its query, the selector can be compared document by document.
        None => whole_selector(db, query, &moments, html),
    }
    Ok(frame.end())
}

fn form(asked: Option<&Query>, (from, to): &(String, String), path: &str, html: &mut Html) {
    html.tag("<form class=\"query\" method=\"get\" action=\"").to(&format!("{path}/compare")).tag("\">");
    html.tag("<div class=\"filter\">");
    html.fill("moment-fields", context! { from => from, to => to });
    html.tag("</div>");
    html.fill("query-field", context! { text => query::text_field(asked) });
    html.tag("<p><button class=\"primary\">Compare</button> ");
    let now = to.eq_ignore_ascii_case("now");
    let back = asked.map(Query::parameters).unwrap_or_default().with("at", if now { "" } else { to });
    html.link(&back.on(path), "Back to the query").tag(" ");
    html.fill("moment-hint", context! {});
    html.tag("</p></form>\n");
}

fn differences(db: &str, found: &Compared, moments: &(String, String), shown: &Parameters, html: &mut Html) {
    let all = &found.differences;
    let (came, changed, went) = all.counts();
    html.tag("<p class=\"summary\">");
    for (count, what) in
        [(came, " came, "), (changed, " changed, "), (went, " went, "), (all.same, " stayed the same.")]
    {
        html.text(grouped(count as u64)).tag(what);
    }
    html.tag("</p>\n");
    if all.rows.is_empty() {
        empty("The query answers the same at both.", html);
        return;
    }
    table("Differences", &["Row", "What happened", "#Place", "Before", "After"], html);
    for row in all.rows.iter().take(ROWS) {
        write(db, found, row, moments, html);
    }
    table_end(html);
    if all.rows.len() > ROWS {
        html.tag("<p>And ").text(grouped((all.rows.len() - ROWS) as u64)).tag(" more: take all of them.</p>\n");
    }
    export_links::of_rows(db, &shown.with("of", "differences"), "All differences as", html);
}

fn write(db: &str, found: &Compared, row: &Different, (from, to): &(String, String), html: &mut Html) {
    html.tag("<tr><th scope=\"row\">");
    if found.documents {
        let compare = Parameters::default().with("from", from).with("to", to);
        html.link(&compare.on(&format!("{}/compare", in_console(db, &row.key))), row.key.as_bytes());
    } else {
        match found.id(row) {
            None => {
                html.tag("<i>row</i>");
            }
            Some(id) => cell(&id, html),
        }
    }
    html.tag(match row.what() {
        "came" => "</th><td class=\"made\">came</td>",
        "went" => "</th><td class=\"gone\">went</td>",
        _ => "</th><td>changed</td>",
    });
    let place = |row: &Option<Placed>| row.as_ref().map(|row| row.place.to_string());
    html.tag("<td class=\"number\">");
    match (place(&row.before), place(&row.after)) {
        (Some(before), Some(after)) if before != after => html.text(before).tag(" → ").text(after),
        (before, after) => html.text(after.or(before).unwrap_or_default()),
    };
    html.tag("</td>");
    let members = row.members();
    side(row.before.as_ref(), &members, |changed| changed.before.as_deref(), html);
    side(row.after.as_ref(), &members, |changed| changed.after.as_deref(), html);
    html.tag("</tr>\n");
}

/// What a row said at one of the moments, as far as it is different.
fn side(row: Option<&Placed>, members: &[Changed], value: impl Fn(&Changed) -> Option<&str>, html: &mut Html) {
    let Some(row) = row else {
        html.tag("<td><i>no row</i></td>");
        return;
    };
    html.tag("<td>");
    if members.is_empty() {
        // It is no object.
        cell(&row.text, html);
    } else {
        html.tag("<dl>");
        for member in members.iter().take(MEMBERS) {
            html.tag("<dt><bdi>").text(member.name.as_bytes()).tag("</bdi></dt><dd>");
            match value(member) {
                None => {
                    html.tag("<i>absent</i>");
                }
                Some(value) => cell(value, html),
            }
            html.tag("</dd>\n");
        }
        html.tag("</dl>");
        if members.len() > MEMBERS {
            html.tag("<p>And ").show(members.len() - MEMBERS).tag(" more.</p>");
        }
    }
    html.tag("</td>");
}

/// A way on from a query whose answer is too long.
fn whole_selector(db: &str, query: &Query, (from, to): &(String, String), html: &mut Html) {
    let Query::Mango(text) = query else { return };
    let Ok(members) = members_of(text.as_bytes()) else { return };
    let Some(selector) = member(&members, "selector").filter(|selector| selector.get().starts_with('{')) else {
        return;
    };
    let all = Parameters::default().with("from", from).with("to", to).with("q", selector.get());
    html.tag("<p>");
    html.link(&all.on(&format!("/_utils/{}/compare", encode(db))), "Compare all documents that its selector selects");
    html.tag("</p>\n");
}
