//! The indexes of a database, how a query would be carried out, and what queries of late say about indexes that are
//! missing. Below them are its design documents (`designs.rs`).

use recension::{IndexInfo, IndexState, Plan, Query};

use super::form::{self, About};
use super::frame::{Frame, grouped, table, table_end};
use super::search::{self, DESIGNS, Field, Sample};
use super::{designs, index_form, index_names, moments, plan};
use crate::answer::Answer;
use crate::auth::{Access, Session};
use crate::error::Result;
use crate::html::links::Parameters;
use crate::html::value::whole;
use crate::html::writer::Html;
use crate::request::{Request, at_its_moment};
use crate::route::encode;
use crate::slow::SlowQuery;

/// Slow queries that are shown.
const SLOW_MAX: usize = 20;
/// Entries of an index that are counted.
const ENTRIES_MAX: usize = 100_000;

/// An index as it is listed.
struct Listed {
    info: IndexInfo,
    entries: usize,
    uses: u64,
}

/// `/_utils/{db}/indexes`
pub(super) async fn page(request: &Request, session: &Session, db: &str) -> Result<Answer> {
    let database = at_its_moment(request, session.database(db, Access::Member)?)?;
    let text = request.query.get("q").unwrap_or_default().to_owned();
    let (at, searched, name, counts) =
        (database.opened().clone(), text.clone(), db.to_owned(), request.app.slow.clone());
    let read = request.app.streams.read(move || {
        let plan = search::selector(&searched, &at).and_then(|selector| {
            let asked = selector.map(|selector| Query::new().leaving_out(DESIGNS).selecting(selector));
            Ok(asked.map(|query| at.explain(&query)).transpose()?)
        });
        let listed = |info: IndexInfo| {
            let entries = at.index_entries(&info.spec.name, ENTRIES_MAX)?.unwrap_or(0);
            let uses = counts.uses(&name, &info.spec.name);
            Ok(Listed { info, entries, uses })
        };
        let indexes = at.indexes().into_iter().map(listed).collect::<Result<Vec<_>>>()?;
        Ok((plan, indexes, Sample::of(&at)?, designs::of(&at)?))
    });
    let (plan, indexes, sample, designs) = read.await?;
    let (plan, mistake) = match plan {
        Ok(plan) => (plan, None),
        Err(mistake) => (None, Some(mistake)),
    };
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
    list(db, &indexes, admin, html);
    if admin {
        index_form::write(db, &sample, html);
    }
    html.tag("<h2>How would a query run?</h2>\n");
    let placeholder = "population > 1000000 and country = PT";
    Field { text: &text, placeholder, path: &path, carried: &parameters, offers: &sample.offers() }
        .write(mistake.as_ref(), html);
    if let Some(plan) = plan {
        explained_plan(db, &plan, admin, html);
    }
    if admin {
        slow(db, &request.app.slow.of(db), html);
    }
    designs::write(db, &designs, &parameters, admin, html);
    Ok(frame.end())
}

fn list(db: &str, indexes: &[Listed], admin: bool, html: &mut Html) {
    let columns = ["Name", "Kind", "Of", "#Entries", "#Queries that used it", "State", "Drop"];
    table("Indexes", if admin { &columns } else { &columns[..6] }, html);
    html.tag(
        "<tr><th scope=\"row\">ids</th><td>unique</td><td><code>_id</code></td><td></td><td></td><td>always there</td>",
    );
    html.tag(if admin { "<td></td></tr>\n" } else { "</tr>\n" });
    for Listed { info: IndexInfo { spec, state }, entries, uses } in indexes {
        html.tag("<tr><th scope=\"row\"><bdi>").text(index_names::shown(&spec.name)).tag("</bdi></th><td>");
        html.tag(match (spec.words, spec.unique) {
            (Some(_), _) => "words",
            (None, true) => "unique",
            (None, false) => "values",
        });
        html.tag(if spec.filter.is_empty() { "</td><td><code>" } else { ", partial</td><td><code>" })
            .text(spec.to_string());
        html.tag("</code></td><td class=\"number\">").tag(if *entries < ENTRIES_MAX { "" } else { "more than " });
        html.text(grouped(*entries as u64)).tag("</td><td class=\"number\">").text(grouped(*uses)).tag("</td><td>");
        html.tag(if *state == IndexState::Building { "is being built" } else { "ready" }).tag("</td>");
        if admin {
            html.tag("<td>");
            index_form::drop_button(db, &spec.name, html);
            html.tag("</td>");
        }
        html.tag("</tr>\n");
    }
    table_end(html);
    html.tag("<p class=\"hint\">Queries are counted since the server began.</p>\n");
}

fn explained_plan(db: &str, plan: &Plan, admin: bool, html: &mut Html) {
    plan::picture(plan, &[], html);
    if let (Some(paths), true) = (&plan.suggestion, admin) {
        make_index(db, paths, html);
    }
    html.tag("<details><summary>All of the plan</summary>");
    whole(&index_names::in_text(&plan.to_json()), html);
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
        html.tag("<td>").text(index_names::in_text(&query.plan)).tag("</td><td>");
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
