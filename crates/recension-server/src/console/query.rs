//! Queries of Mango's and aggregations as people write them: what they find, how they are carried out, as of any
//! moment, with an address that can be shared.

use super::export;
use super::frame::{Frame, empty, grouped};
use super::{moments, plan};
use crate::answer::Answer;
use crate::auth::{Access, Session};
use crate::error::Result;
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

/// `/_utils/{db}/query`
pub(super) async fn page(request: &Request, session: &Session, db: &str) -> Result<Answer> {
    let database = at_its_moment(request, session.database(db, Access::Member)?)?;
    let text = |name: &str| request.query.get(name).map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
    let (mango, pipeline) = (text("find"), text("pipeline"));
    let aggregates = pipeline.is_some() || request.query.get("kind") == Some("aggregate");
    let now = request.query.get("at").is_none();
    let reading = database.clone();
    let (own, other) = (mango.clone().filter(|_| !aggregates), pipeline.clone());
    let looked = request.app.blocking(move || match (own, other) {
        (Some(mango), _) => look::query(&reading, &mango, now, ROWS).map(Some),
        (None, Some(pipeline)) => look::pipeline(&reading, &pipeline, BYTES_MAX).map(Some),
        (None, None) => Ok(None),
    });
    // What cannot be read is shown as it was written, with what is wrong.
    let (looked, wrong) = match looked.await {
        Ok(looked) => (looked, None),
        Err(error) => (None, Some(error)),
    };
    let mut frame = Frame::begin(request, session, "Query", Some(db), "Query", true);
    let parameters = Parameters::of(&request.query);
    let path = format!("/_utils/{}/query", encode(db));
    if let Some(moments) = moments::of(request, &database).await? {
        moments.write(&path, &parameters, &mut frame.html);
    }
    let html = &mut frame.html;
    if let Some(error) = &wrong {
        html.tag("<p class=\"error\" role=\"alert\">").text(error.reason.as_ref()).tag("</p>\n");
    }
    form(aggregates, (mango.as_deref(), pipeline.as_deref()), &parameters, &path, html);
    if let Some(looked) = looked {
        found(db, &looked, &parameters, html);
    } else if wrong.is_none() {
        empty("Nothing was asked yet.", html);
    }
    Ok(frame.end())
}

fn form(
    aggregates: bool,
    (mango, pipeline): (Option<&str>, Option<&str>),
    parameters: &Parameters,
    path: &str,
    html: &mut Html,
) {
    html.tag("<nav class=\"kinds\" aria-label=\"Kind of query\">");
    let at = parameters.only(&["at"]);
    for (name, kind, is_own) in [("Mango", "find", !aggregates), ("Aggregation", "aggregate", aggregates)] {
        html.tag("<a href=\"").to(&at.with("kind", kind).on(path));
        html.tag(if is_own { "\" aria-current=\"true\">" } else { "\">" }).tag(name).tag("</a> ");
    }
    html.tag("</nav>\n<form class=\"query\" method=\"get\" action=\"").to(path).tag("\">");
    for (name, value) in at.pairs() {
        html.tag("<input type=\"hidden\" name=\"").text(name).tag("\" value=\"").text(value).tag("\">");
    }
    let (label, name, text) = if aggregates {
        ("Pipeline", "pipeline", pipeline.unwrap_or(PIPELINE))
    } else {
        ("Query", "find", mango.unwrap_or(MANGO))
    };
    html.tag("<label>").tag(label).tag(" <textarea data-edit=\"").tag(label).tag("\" name=\"").tag(name);
    html.tag("\" rows=\"9\" spellcheck=\"false\">\n").text(text).tag("</textarea></label>");
    html.tag(
        "<p><button class=\"primary\">Ask</button> <span class=\"hint\"><kbd>Ctrl</kbd>+<kbd>Enter</kbd></span></p>",
    );
    html.tag("</form>\n");
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
    export::links(db, &parameters.only(&["find", "pipeline", "at"]), "All rows as", html);
}
