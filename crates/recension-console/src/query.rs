//! Queries of Mango's and aggregations as people write them: what they find, how they are carried out, as of any
//! moment, with an address that can be shared.

use minijinja::{Value, context};

use super::frame::Frame;
use super::query_form::{self, Chosen};
use super::search::{Mistake, Sample};
use super::{designs, moments, plan};
use recension_app::auth::{Access, Session};
use recension_app::request::{Request, at_its_moment};
use recension_endpoints::mango::look::{self, Looked};
use recension_pages::links::{Parameters, in_console};
use recension_pages::list::Table;
use recension_pages::page_request::Kind;
use recension_wire::answer::Answer;
use recension_wire::error::{ApiError, Result};
use recension_wire::route::encode;

/// Rows that are shown; an export has all of them.
const ROWS: usize = 200;
/// Bytes that an aggregation may hold for a page.
pub(super) const BYTES_MAX: usize = 8 << 20;

const MANGO: &str = "{\n  \"selector\": {},\n  \"limit\": 25\n}";
const PIPELINE: &str = "[\n  {\"$group\": {\"_id\": \"$countrycode\", \"count\": {\"$count\": {}}}},\n  {\"$sort\": \
                        {\"count\": -1}}\n]";

/// What is asked.
#[derive(Clone)]
pub(super) enum Query {
    Mango(String),
    Pipeline(String),
}

impl Query {
    /// Reads it; `None`: nothing is asked yet.
    pub(super) fn of(request: &Request) -> Option<Self> {
        let text =
            |name: &str| request.query.get(name).map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
        text("pipeline").map(Query::Pipeline).or_else(|| text("find").map(Query::Mango))
    }

    /// As a page's address has it.
    pub(super) fn parameters(&self) -> Parameters {
        match self {
            Query::Mango(text) => Parameters::default().with("find", text),
            Query::Pipeline(text) => Parameters::default().with("pipeline", text),
        }
    }
}

/// The kinds of the page, as addresses have them.
const KINDS: [&str; 4] = ["fields", "find", "aggregate", "views"];

/// Which of them the page is of: the one that is named, or that of what is asked.
fn kind_of(request: &Request) -> &'static str {
    let named = request.query.get("kind").and_then(|name| KINDS.into_iter().find(|own| *own == name));
    let of_text = match Query::of(request) {
        Some(Query::Pipeline(_)) => "aggregate",
        Some(Query::Mango(_)) => "find",
        None => "fields",
    };
    named.unwrap_or(of_text)
}

/// What is known of the database for the forms: what there is to choose.
struct Offered {
    sample: Sample,
    designs: Vec<designs::Design>,
}

/// What is asked on the page; a mistake in the conditions is said below them.
fn asked_of(request: &Request, kind: &str) -> Option<Query> {
    Query::of(request).filter(|asked| match asked {
        Query::Mango(_) => kind == "find",
        Query::Pipeline(_) => kind == "aggregate",
    })
}

/// `/_utils/{db}/query`
pub(super) async fn page(request: &Request, session: &Session, db: &str) -> Result<Answer> {
    let database = at_its_moment(request, session.database(db, Access::Member)?)?;
    let kind = kind_of(request);
    if kind == "views"
        && let Some(rows) = query_form::of_view(request, db)
    {
        return Ok(rows);
    }
    let now = request.query.get("at").is_none();
    let asked = asked_of(request, kind);
    // What was chosen is asked when its form was sent.
    let chosen = (kind == "fields").then(|| Chosen::of(request));
    let sent = request.query.get("limit").is_some();
    let (reading, own, own_chosen) = (database.clone(), asked.clone(), chosen.clone());
    let looked = request.app.blocking(move || {
        let at = reading.opened();
        let offered = Offered { sample: Sample::of(at)?, designs: designs::of(at)? };
        let asked = match own_chosen.filter(|_| sent).map(|chosen| chosen.as_mango(at)).transpose() {
            Ok(chosen) => chosen.map(Query::Mango).or(own),
            Err(mistake) => return Ok((offered, None, Err(mistake))),
        };
        let looked = match &asked {
            Some(Query::Mango(text)) => look::query(&reading, text, now, ROWS).map(Some),
            Some(Query::Pipeline(text)) => look::pipeline(&reading, text, BYTES_MAX).map(Some),
            None => Ok(None),
        };
        Ok((offered, asked, looked.map_err(Mistake::from)))
    });
    // What cannot be read is shown as it was written, with what is wrong.
    let (offered, run, looked) = looked.await?;
    let frame = Frame::begin(request, session, "Query", Some(db), "Query", true);
    let (parameters, path) = (Parameters::of(&request.query), format!("/_utils/{}/query", encode(db)));
    let (at, mut moment) = (parameters.only(&["at"]), frame.piece());
    if let Some(moments) = moments::of(request, &database).await? {
        moments.write(&path, &parameters, &mut moment);
    }
    let (found, mistake, error) = match looked {
        Err(mistake) if chosen.is_some() => (None, Some(mistake.values()), None),
        Err(mistake) => (None, None, Some(ApiError::from(mistake).reason.into_owned())),
        Ok(looked) => {
            let query = run.map_or(parameters, |run| at.and(run.parameters()));
            (looked.map(|looked| found(db, &looked, &query, &frame)), None, None)
        }
    };
    let text = match &asked {
        None if kind == "aggregate" => text_field(Some(&Query::Pipeline(PIPELINE.to_owned()))),
        asked => text_field(asked.as_ref()),
    };
    let values = context! {
        db, kind, path, found, mistake, error, text, at => at.get("at"), moments => moment.into_markup(),
        chosen => chosen.as_ref().map(|chosen| chosen.values(&offered.sample)),
        views => offered.designs.iter().flat_map(designs::Design::views).collect::<Vec<_>>(),
    };
    Ok(frame.page("query", values))
}

/// The field for the text of a query.
pub(super) fn text_field(asked: Option<&Query>) -> Value {
    let (label, name, text) = match asked {
        Some(Query::Pipeline(text)) => ("Pipeline", "pipeline", text.as_str()),
        Some(Query::Mango(text)) => ("Query", "find", text.as_str()),
        None => ("Query", "find", MANGO),
    };
    context! { label, name, text }
}

/// What was found, for the query that the page's address has. The answer of a past moment is compared with that of now.
fn found(db: &str, looked: &Looked, query: &Parameters, frame: &Frame) -> Value {
    let Looked { rows, plan, stages, examined, millis, warnings } = looked;
    let (mut picture, mut shown) = (frame.piece(), frame.piece());
    plan::picture(plan, stages, &mut picture);
    let kind = if stages.is_empty() {
        Kind::Special { db: db.to_owned(), name: "_find".to_owned() }
    } else {
        Kind::Server { name: "_aggregate".to_owned() }
    };
    let mut table = Table::new(kind, query.only(&["at"]), None).placed(in_console);
    for row in rows.iter().take(ROWS) {
        table.row(row.as_bytes(), &mut shown);
    }
    table.end(&mut shown);
    context! {
        warnings, count => rows.len(), millis => format!("{millis:.1}"), query,
        examined => examined.map(|(keys, documents)| vec![keys, documents]),
        picture => picture.into_markup(), table => shown.into_markup(),
        asked => &query.only(&["find", "pipeline", "at"]), text => &query.only(&["find", "pipeline"]),
        then => Some(query.get("at")).filter(|at| !at.is_empty()).unwrap_or("1h"),
    }
}
