//! What is different between two moments: of a database, document by document; of a document, value by value.

use recension::{At, Collation, Collection, Document, DocumentDiff, Selector, json};

use super::document::version;
use super::export_links;
use super::frame::Frame;
use super::search;
use crate::answer::Answer;
use crate::auth::{Access, Session};
use crate::error::Result;
use crate::html::links::{Parameters, in_console};
use crate::html::value;
use crate::html::writer::Html;
use crate::request::Request;

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

fn form(from: &str, to: &str, filter: Option<&str>, html: &mut Html) {
    html.tag("<form class=\"filter\" method=\"get\">");
    moment_fields(from, to, html);
    if let Some(filter) = filter {
        html.tag("<label class=\"long\">Search <input type=\"search\" name=\"q\" data-filter spellcheck=\"false\" ");
        html.tag("placeholder=\"country = PT\" value=\"").text(filter).tag("\"></label>");
    }
    html.tag("<button class=\"primary\">Compare</button> ");
    moment_hint(html);
    html.tag("</form>\n");
}

/// The fields for two moments.
pub(super) fn moment_fields(from: &str, to: &str, html: &mut Html) {
    html.tag("<label>Before <input name=\"from\" value=\"").text(from);
    html.tag("\"></label> <label>After <input name=\"to\" value=\"").text(to).tag("\"></label> ");
}

/// What can be written there.
pub(super) fn moment_hint(html: &mut Html) {
    html.tag(
        "<span class=\"hint\">A moment is a commit (1234), a time (2026-01-31T12:00:00Z), an age (2h) or now.</span>",
    );
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
    let mut frame = Frame::begin(request, session, "Compare moments", Some(db), "Compare moments", false);
    form(&from, &to, Some(&filter), &mut frame.html);
    let html = &mut frame.html;
    if let Some(mistake) = &mistake {
        mistake.show(html);
    }
    if rows.is_empty() {
        html.tag("<p class=\"empty\">Nothing is different between the two.</p>\n");
        return Ok(frame.end());
    }
    html.tag("<div class=\"wide\" role=\"region\" aria-label=\"Differences\" tabindex=\"0\"><table><thead><tr>");
    html.tag("<th scope=\"col\">Document</th><th scope=\"col\">What happened</th></tr></thead><tbody>\n");
    for Difference { id, before, after } in rows.iter().take(ROWS) {
        let what = match (before, after) {
            (false, _) => {
                if filter.is_empty() {
                    "<td class=\"made\">made"
                } else {
                    "<td class=\"made\">came in"
                }
            }
            (_, false) => {
                if filter.is_empty() {
                    "<td class=\"gone\">deleted"
                } else {
                    "<td class=\"gone\">fell out"
                }
            }
            _ => "<td>changed",
        };
        let compare = Parameters::default().with("from", &from).with("to", &to);
        html.tag("<tr><th scope=\"row\">");
        html.link(&compare.on(&format!("{}/compare", in_console(db, id))), id.as_bytes()).tag("</th>");
        html.tag(what).tag("</td></tr>\n");
    }
    html.tag("</tbody></table></div>\n");
    if rows.len() > ROWS {
        html.tag("<p>There are more: compare moments that are closer to each other, or take all of them.</p>\n");
    }
    let shown = Parameters::default().with("of", "differences").with("from", &from).with("to", &to).with("q", &filter);
    export_links::of_rows(db, &shown, "All differences as", html);
    Ok(frame.end())
}

/// `/_utils/{db}/doc/{id}/compare`
pub(super) async fn of_document(request: &Request, session: &Session, db: &str, id: &str) -> Result<Answer> {
    let database = session.database(db, Access::Member)?;
    let (from, to) = moments(request);
    let (collection, own) = (database.share(), id.to_owned());
    let (before, after) = (version(&from)?, version(&to)?);
    let found = request.app.streams.read(move || Ok(collection.diff(&own, before, after)?.changes()?));
    let changes = found.await?;
    let mut frame = Frame::begin(request, session, id, Some(db), "", false);
    let html = &mut frame.html;
    html.tag("<p class=\"summary\">").link(&in_console(db, id), "Back to the document").tag("</p>\n");
    form(&from, &to, None, html);
    if changes.is_empty() {
        html.tag("<p class=\"empty\">It said the same at both.</p>\n");
        return Ok(frame.end());
    }
    html.tag(
        "<div class=\"wide\" role=\"region\" aria-label=\"Differences\" tabindex=\"0\"><table class=\"difference\">",
    );
    html.tag("<thead><tr><th scope=\"col\">Where</th><th scope=\"col\">Before</th><th scope=\"col\">After</th></tr>");
    html.tag("</thead><tbody>\n");
    for json::Change { path, before, after } in changes.iter().take(CHANGES) {
        html.tag("<tr><th scope=\"row\"><code>").text(if path.to_string().is_empty() {
            "(all)".into()
        } else {
            path.to_string()
        });
        html.tag("</code></th><td class=\"gone\">");
        side(before.as_deref(), html);
        html.tag("</td><td class=\"made\">");
        side(after.as_deref(), html);
        html.tag("</td></tr>\n");
    }
    html.tag("</tbody></table></div>\n");
    if changes.len() > CHANGES {
        html.tag("<p>And ").show(changes.len() - CHANGES).tag(" more.</p>\n");
    }
    Ok(frame.end())
}

/// One side of a change.
pub(super) fn side(value: Option<&str>, html: &mut Html) {
    match value {
        None => {
            html.tag("<i>absent</i>");
        }
        Some(value) if value.len() > 100_000 => {
            html.tag("<i>").show(value.len()).tag(" bytes</i>");
        }
        Some(value) => value::whole(value, html),
    }
}
