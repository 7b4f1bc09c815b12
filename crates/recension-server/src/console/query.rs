//! Queries of Mango's and aggregations as people write them: what they find, how they are carried out, as of any
//! moment, with an address that can be shared.

use super::frame::{Frame, empty, grouped};
use super::query_form::{self, Chosen};
use super::search::{self, Mistake, Sample};
use super::{designs, difference, export_links, moments, plan};
use crate::answer::Answer;
use crate::auth::{Access, Session};
use crate::error::{ApiError, Result};
use crate::html::asked::Kind;
use crate::html::links::{Parameters, in_console};
use crate::html::list::Table;
use crate::html::writer::Html;
use crate::http::mango::look::{self, Looked};
use crate::request::{Request, at_its_moment};
use crate::route::encode;

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

/// The kinds of the page: their names in addresses, and for people.
const KINDS: [(&str, &str); 4] =
    [("fields", "Fields"), ("find", "Mango"), ("aggregate", "Aggregation"), ("views", "Views")];

/// Which of them the page is of: the one that is named, or that of what is asked.
fn kind_of(request: &Request) -> &'static str {
    let named = request.query.get("kind").and_then(|name| KINDS.into_iter().find(|(own, _)| *own == name));
    let of_text = match Query::of(request) {
        Some(Query::Pipeline(_)) => "aggregate",
        Some(Query::Mango(_)) => "find",
        None => "fields",
    };
    named.map_or(of_text, |(own, _)| own)
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
    let mut frame = Frame::begin(request, session, "Query", Some(db), "Query", true);
    let parameters = Parameters::of(&request.query);
    let path = format!("/_utils/{}/query", encode(db));
    if let Some(moments) = moments::of(request, &database).await? {
        moments.write(&path, &parameters, &mut frame.html);
    }
    let html = &mut frame.html;
    let at = parameters.only(&["at"]);
    kinds(kind, &at, &path, html);
    match &chosen {
        Some(chosen) => chosen.write(&offered.sample, &path, &at, html),
        None if kind == "views" => query_form::views(db, &offered.designs, &path, &at, html),
        None => form(asked.as_ref(), kind, &at, &path, html),
    }
    match looked {
        Err(mistake) if chosen.is_some() => mistake.show(html),
        Err(mistake) => {
            let reason = ApiError::from(mistake).reason;
            html.tag("<p class=\"error\" role=\"alert\">").text(reason.as_ref()).tag("</p>\n");
        }
        Ok(Some(looked)) => {
            let parameters = run.map_or(parameters, |run| at.and(run.parameters()));
            if chosen.is_some() {
                html.tag("<p class=\"exports\">").link(&parameters.on(&path), "The same in JSON").tag("</p>\n");
            }
            found(db, &looked, &parameters, html);
            compare(&parameters, &path, html);
        }
        Ok(None) if kind == "views" => {}
        Ok(None) => empty("Nothing was run yet.", html),
    }
    Ok(frame.end())
}

fn kinds(kind: &str, at: &Parameters, path: &str, html: &mut Html) {
    html.tag("<nav class=\"kinds\" aria-label=\"Kind of query\">");
    for (own, name) in KINDS {
        html.tag("<a href=\"").to(&at.with("kind", own).on(path));
        html.tag(if own == kind { "\" aria-current=\"true\">" } else { "\">" }).tag(name).tag("</a> ");
    }
    html.tag("</nav>\n");
}

fn form(asked: Option<&Query>, kind: &str, at: &Parameters, path: &str, html: &mut Html) {
    html.tag("<form class=\"query\" method=\"get\" action=\"").to(path).tag("\">");
    search::hidden(at, html);
    match asked {
        None if kind == "aggregate" => text_field(Some(&Query::Pipeline(PIPELINE.to_owned())), html),
        asked => text_field(asked, html),
    }
    html.tag(
        "<p><button class=\"primary\">Run</button> <span class=\"hint\"><kbd>Ctrl</kbd>+<kbd>Enter</kbd></span></p>",
    );
    html.tag("</form>\n");
}

/// The field for the text of a query.
pub(super) fn text_field(asked: Option<&Query>, html: &mut Html) {
    let (label, name, text) = match asked {
        Some(Query::Pipeline(text)) => ("Pipeline", "pipeline", text.as_str()),
        Some(Query::Mango(text)) => ("Query", "find", text.as_str()),
        None => ("Query", "find", MANGO),
    };
    html.tag("<label>").tag(label).tag(" <textarea data-edit=\"").tag(label).tag("\" name=\"").tag(name);
    html.tag("\" rows=\"9\" spellcheck=\"false\">\n").text(text).tag("</textarea></label>");
}

/// The way to what the query answers at another moment. The answer of a past moment is compared with that of now.
fn compare(parameters: &Parameters, path: &str, html: &mut Html) {
    let at = parameters.pairs().find(|(name, _)| *name == "at").map_or("1h", |(_, at)| at).to_owned();
    html.tag("<form class=\"filter compare\" method=\"get\" action=\"").to(&format!("{path}/compare")).tag("\">");
    for (name, value) in parameters.only(&["find", "pipeline"]).pairs() {
        html.tag("<input type=\"hidden\" name=\"").text(name).tag("\" value=\"").text(value).tag("\">");
    }
    difference::moment_fields(&at, "now", html);
    html.tag("<button>Compare with another moment</button></form>\n");
}

fn found(db: &str, looked: &Looked, parameters: &Parameters, html: &mut Html) {
    let Looked { rows, plan, stages, examined, millis, warnings } = looked;
    for warning in warnings {
        html.tag("<p class=\"advice\">").text(warning).tag("</p>\n");
    }
    html.tag("<p class=\"summary\">").text(grouped(rows.len() as u64));
    html.tag(if rows.len() == 1 { " row in " } else { " rows in " }).text(format!("{millis:.1}")).tag(" ms");
    if let Some((keys, documents)) = examined {
        html.tag("; read: ").text(grouped(*keys)).tag(" keys, ").text(grouped(*documents)).tag(" documents");
    }
    html.tag(".</p>\n");
    plan::picture(plan, stages, html);
    let kind = if stages.is_empty() {
        Kind::Special { db: db.to_owned(), name: "_find".to_owned() }
    } else {
        Kind::Server { name: "_aggregate".to_owned() }
    };
    let mut table = Table::new(kind, parameters.only(&["at"]), None).placed(in_console);
    for row in rows.iter().take(ROWS) {
        table.row(row.as_bytes(), html);
    }
    table.end(html);
    export_links::of_rows(db, &parameters.only(&["find", "pipeline", "at"]), "All rows as", html);
}
