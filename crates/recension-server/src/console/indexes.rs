//! The indexes of a database, its design documents, how a query would be carried out, and what queries of late say
//! about indexes that are missing.

use recension::{CollectionAt, IndexInfo, IndexState, ListOptions, Plan, Query};

use super::form::{self, About};
use super::frame::{Frame, empty, grouped, table, table_end};
use super::{moments, plan, search};
use crate::answer::Answer;
use crate::auth::{Access, Session};
use crate::error::Result;
use crate::html::links::{Parameters, in_console};
use crate::html::value::whole;
use crate::html::writer::Html;
use crate::members::{member, members_of};
use crate::request::{Request, at_its_moment};
use crate::route::encode;
use crate::slow::SlowQuery;

/// Design documents, and of each the functions that are shown.
const DESIGNS_MAX: usize = 100;
const VIEWS_MAX: usize = 50;
/// Slow queries that are shown.
const SLOW_MAX: usize = 20;

/// A design document: its id, its language, and its views.
struct Design {
    id: String,
    language: String,
    views: Vec<String>,
    others: Vec<String>,
}

fn designs(at: &CollectionAt) -> Result<Vec<Design>> {
    let mut all = Vec::new();
    let options = ListOptions { limit: Some(DESIGNS_MAX), ..ListOptions::prefix("_design/") };
    for document in at.list(&options)? {
        let document = document?;
        let members = members_of(document.body.as_bytes()).unwrap_or_default();
        let names = |name: &str| -> Vec<String> {
            let value = member(&members, name).and_then(|value| members_of(value.get().as_bytes()).ok());
            value.unwrap_or_default().into_iter().take(VIEWS_MAX).map(|(name, _)| name).collect()
        };
        let language = member(&members, "language").and_then(|value| serde_json::from_str(value.get()).ok());
        let shown = |(name, _): &(String, _)| !matches!(name.as_str(), "views" | "language");
        let others = members.iter().filter(|own| shown(own)).map(|(name, _)| name.clone()).take(VIEWS_MAX).collect();
        let language = language.unwrap_or_else(|| "javascript".to_owned());
        all.push(Design { id: document.id.to_string(), language, views: names("views"), others });
    }
    Ok(all)
}

/// `/_utils/{db}/indexes`
pub(super) async fn page(request: &Request, session: &Session, db: &str) -> Result<Answer> {
    let database = at_its_moment(request, session.database(db, Access::Member)?)?;
    let text = request.query.get("q").unwrap_or_default().to_owned();
    let (at, searched) = (database.opened().clone(), text.clone());
    let explained = request.app.streams.read(move || {
        let asked = search::selector(&searched, &at)?;
        let plan = asked.map(|selector| at.explain(&Query::new().selecting(selector))).transpose()?;
        Ok((plan, at.indexes(), designs(&at)?))
    });
    let (plan, indexes, designs) = explained.await?;
    let now = request.query.get("at").is_none();
    let admin = session.database(db, Access::Admin).is_ok() && now;
    let parameters = Parameters::of(&request.query);
    let path = format!("/_utils/{}/indexes", encode(db));
    let moments = moments::of(request, &database).await?;
    let mut frame = Frame::begin(request, session, "Indexes", Some(db), "Indexes", true);
    let html = &mut frame.html;
    if let Some(moments) = moments {
        moments.write(&path, &parameters, html);
    }
    list(&indexes, html);
    if admin {
        html.tag("<details class=\"new\"><summary>New index</summary>");
        let about = [About::Said("The index is being made.")];
        form::begin("POST", &format!("/{}/_index", encode(db)), &about, html);
        form::json("JSON", 6, "{\"index\": {\"fields\": [\"name\"]}, \"type\": \"json\"}", html);
        form::end("Create", html);
        html.tag("</details>\n");
    }
    html.tag("<h2>How would a query go?</h2>\n<form class=\"filter\" method=\"get\">");
    for (name, value) in parameters.only(&["at"]).pairs() {
        html.tag("<input type=\"hidden\" name=\"").text(name).tag("\" value=\"").text(value).tag("\">");
    }
    html.tag("<label class=\"long\">Search <input type=\"search\" name=\"q\" data-filter placeholder=\"");
    html.tag("population &gt; 1000000 and country = PT\" value=\"").text(&text);
    html.tag("\"></label><button class=\"primary\">Explain</button></form>\n");
    if let Some(plan) = plan {
        explained_plan(db, &plan, admin, html);
    }
    if admin {
        slow(db, &request.app.slow.of(db), html);
    }
    design_documents(db, &designs, &parameters, admin, html);
    Ok(frame.end())
}

fn list(indexes: &[IndexInfo], html: &mut Html) {
    table("Indexes", &["Name", "On", "State"], html);
    html.tag("<tr><th scope=\"row\">ids</th><td><code>_id</code></td><td>always there</td></tr>\n");
    for index in indexes {
        html.tag("<tr><th scope=\"row\"><bdi>").text(&index.spec.name).tag("</bdi></th><td><code>");
        html.text(index.spec.to_string()).tag("</code></td><td>");
        html.tag(if index.state == IndexState::Building { "is being built" } else { "ready" }).tag("</td></tr>\n");
    }
    table_end(html);
}

fn explained_plan(db: &str, plan: &Plan, admin: bool, html: &mut Html) {
    plan::picture(plan, &[], html);
    if let (Some(paths), true) = (&plan.suggestion, admin) {
        make_index(db, paths, html);
    }
    html.tag("<details><summary>All of the plan</summary>");
    whole(&plan.to_json(), html);
    html.tag("</details>\n");
}

/// A button that makes the index that would help.
fn make_index(db: &str, paths: &str, html: &mut Html) {
    let fields: Vec<&str> = paths.split(',').map(str::trim).collect();
    let base = serde_json::json!({ "index": { "fields": fields }, "type": "json" }).to_string();
    let about = [About::Base(&base), About::Said("The index is being made.")];
    let text = format!("Make an index on {paths}");
    form::button("POST", &format!("/{}/_index", encode(db)), &about, ("", &text), html);
}

/// Queries of late that took long, with what would have helped.
fn slow(db: &str, queries: &[SlowQuery], html: &mut Html) {
    if queries.is_empty() {
        return;
    }
    html.tag("<h2>Queries that took long</h2>\n");
    let columns = ["Selector", "#Milliseconds", "#Documents read", "#Answered", "How", "What would help"];
    table("Queries that took long", &columns, html);
    for query in queries.iter().take(SLOW_MAX) {
        html.tag("<tr><td><code>").text(&query.selector).tag("</code></td>");
        for number in [query.millis, query.examined, query.answered] {
            html.tag("<td class=\"number\">").text(grouped(number)).tag("</td>");
        }
        html.tag("<td>").text(&query.plan).tag("</td><td>");
        match &query.suggestion {
            Some(paths) => make_index(db, paths, html),
            None => {
                html.tag("a narrower selector, or fewer rows");
            }
        }
        html.tag("</td></tr>\n");
    }
    table_end(html);
}

fn design_documents(db: &str, designs: &[Design], parameters: &Parameters, admin: bool, html: &mut Html) {
    html.tag("<h2>Design documents</h2>\n");
    if designs.is_empty() {
        empty("There are none: no views, no functions, no templates.", html);
    } else {
        table("Design documents", &["Document", "Language", "Views", "What else"], html);
        let carried = parameters.only(&["at"]);
        for design in designs {
            html.tag("<tr><th scope=\"row\">").link(&carried.on(&in_console(db, &design.id)), design.id.as_bytes());
            html.tag("</th><td>").text(&design.language).tag("</td><td>");
            let own = design.id.strip_prefix("_design/").unwrap_or_default();
            for view in &design.views {
                let of = carried.with("reduce", "false");
                let to = format!("/{}/_design/{}/_view/{}", encode(db), encode(own), encode(view));
                let page = of.with("limit", "100").with("format", "html").on(&to);
                html.tag("<div>").link(&page, view.as_bytes()).tag(", all rows as ");
                html.link(&of.with("format", "csv").on(&to), "CSV").tag(" ");
                html.link(&of.with("format", "ndjson").on(&to), "NDJSON").tag("</div>");
            }
            html.tag("</td><td>").text(design.others.join(", ")).tag("</td></tr>\n");
        }
        table_end(html);
    }
    if admin {
        html.tag("<details class=\"new\"><summary>New design document</summary>");
        let then = format!("/_utils/{}/doc/{{id}}", encode(db));
        form::begin("POST", &format!("/{}", encode(db)), &[About::Then(&then), About::Said("It was made.")], html);
        let text = "{\n  \"_id\": \"_design/site\",\n  \"views\": {\n    \"by_name\": {\n      \"map\": \
                    \"function (doc) { emit(doc.name, null) }\"\n    }\n  }\n}";
        form::json("JSON", 12, text, html);
        form::end("Create", html);
        html.tag("</details>\n");
    }
}
