//! The databases: how many documents each has, how much they take, and the way to them.

use std::time::Duration;

use minijinja::context;
use recension::engine::Timestamp;
use recension::json::quote;
use recension::{At, Counts};

use super::form::{self, About};
use super::frame::{Frame, bytes, empty, grouped, table, table_end};
use super::search::{Field, OfRows};
use super::{log_in, when};
use crate::answer::Answer;
use crate::auth::{Access, Session};
use crate::error::Result;
use crate::html::links::Parameters;
use crate::html::writer::Html;
use crate::request::{Request, absolute};
use crate::route::encode;

/// Databases on a page.
const PAGE: usize = 100;

/// `/_utils/`
pub(super) async fn page(request: &Request, session: &Session) -> Result<Answer> {
    if let Some(db) = request.query.get("db").filter(|db| !db.is_empty()) {
        let to = format!("/_utils/{}", encode(db));
        return Ok(Answer::empty(http::StatusCode::SEE_OTHER).location(&absolute(request, &to)));
    }
    let admin = session.server_admin().is_ok();
    let parameters = Parameters::of(&request.query);
    let text = request.query.get("q").unwrap_or_default().trim().to_owned();
    let (of_search, mistake) = OfRows::read(&text);
    let after = request.query.get("after").unwrap_or_default().to_owned();
    let (app, own) = (request.app.clone(), session.clone());
    let branch = request.query.get("branch").filter(|branch| !branch.is_empty()).map(str::to_owned);
    let moment = request.query.get("at").map(str::parse::<At>).transpose()?;
    let found = request
        .app
        .blocking(move || {
            let mut names = own.readable()?;
            // Of system databases there are none on branches.
            names.retain(|name| *name > after && (branch.is_none() || !name.starts_with('_')));
            if let OfRows::Words(words) = &of_search {
                names.retain(|name| name.contains(words));
            }
            let counted = |name: String| {
                let name = branch.as_ref().map_or(name.clone(), |branch| format!("{name}@{branch}"));
                let database = own.database(&name, Access::Member)?;
                let database = moment.map_or(Ok(database.clone()), |moment| database.seen_at(moment))?;
                let counts = database.opened().counts()?;
                // Of what was not there a day ago, or is forgotten, there is none. A past page has no such column.
                let day = At::Ago(Duration::from_hours(24));
                let before = database.collection().at(day).and_then(|at| at.counts()).unwrap_or_default();
                let growth = i128::from(counts.documents) - i128::from(before.documents);
                let changed = database.collection().at(At::Seq(counts.changed)).and_then(|then| then.time());
                Ok((name, counts, growth, changed.ok()))
            };
            // One that was dropped meanwhile is left out, and one that was not there yet.
            let all = names.into_iter().map(counted).filter_map(Result::ok);
            let mut rows: Vec<_> = all.filter(|row| of_search.finds(&as_json(row))).take(PAGE + 1).collect();
            let more = rows.len() > PAGE;
            rows.truncate(PAGE);
            Ok((rows, more, app.databases.stats()?.disk_bytes))
        })
        .await?;
    let (rows, more, disk) = found;
    let mut frame = Frame::begin(request, session, "Databases", None, "Databases", true);
    let past = request.query.get("at").is_some();
    let carried = parameters.only(&["at"]);
    let html = &mut frame.html;
    let placeholder = "a part of a name, or documents > 1000";
    let field = Field { text: &text, placeholder, path: "/_utils/", carried: &parameters, offers: &[] };
    if session.identity().name.is_none() && !admin {
        html.tag("<p>Log in to see the databases that are yours.</p>\n");
        log_in::form(Some("/_utils/"), html);
    }
    html.tag("<div class=\"bar\">");
    field.write(mistake.as_ref(), html);
    if admin && !past {
        new_database(html);
    }
    html.tag("</div>\n");
    if rows.is_empty() && !text.is_empty() {
        empty("No database is of that.", html);
    } else if rows.is_empty() {
        first_steps(admin, html);
    } else {
        table("Databases", &["Name", "#Documents", "#In a day", "#Deleted", "#Size", "Last change"], html);
        for (name, counts, growth, changed) in &rows {
            html.tag("<tr><th scope=\"row\">").link(&carried.on(&format!("/_utils/{}", encode(name))), name.as_bytes());
            html.tag("</th><td class=\"number\">").text(grouped(counts.documents));
            html.tag("</td><td class=\"number\">");
            if *growth != 0 && !past {
                html.tag(if *growth < 0 { "−" } else { "+" });
                html.text(grouped(u64::try_from(growth.unsigned_abs()).unwrap_or(u64::MAX)));
            }
            html.tag("</td><td class=\"number\">").text(grouped(counts.deleted));
            html.tag("</td><td class=\"number\">").text(bytes(counts.body_bytes));
            html.tag("</td><td>");
            if let Some(changed) = changed {
                when::write(*changed, html);
            }
            html.tag("</td></tr>\n");
        }
        table_end(html);
        if admin {
            on_disk(disk, html);
        }
    }
    if let (true, Some((last, ..))) = (more, rows.last()) {
        html.tag("<nav class=\"pages\" aria-label=\"More\"><a rel=\"next\" href=\"");
        html.to(&parameters.with("after", last).on("/_utils/")).tag("\">Next page</a></nav>\n");
    }
    if admin {
        html.fill("same-as", context! { path => "/_dbs_info" });
    }
    Ok(frame.end())
}

/// What the store takes, and how it takes less.
fn on_disk(disk: u64, html: &mut Html) {
    html.tag(
        "<p>Sizes are those of the documents as they are now. With the past of all databases, the files of the \
                  store take ",
    )
    .text(bytes(disk));
    html.tag(
        " on the disk. <code>PUT /{db}/_retention</code> with <code>\"head\"</code>, \
                  <code>\"versions=3\"</code> or <code>\"days=30\"</code> keeps less of it, and \
                  <code>POST /{db}/_compact</code> gives the disk back.</p>\n",
    );
}

/// What can be done where there is no database.
fn first_steps(admin: bool, html: &mut Html) {
    if !admin {
        return empty("There is no database here that you may read.", html);
    }
    html.tag(
        "<div class=\"empty\"><p>There are no databases here yet. Name one above; documents are written, and files ",
    );
    html.tag(
        "imported, on its page. Or from a terminal:</p><pre><code>curl -u NAME -X PUT http://this-server/orders\n",
    );
    html.tag("recension import STORE orders orders.csv</code></pre></div>\n");
}

/// A row as conditions see it.
fn as_json((name, counts, growth, _): &(String, Counts, i128, Option<Timestamp>)) -> String {
    let Counts { documents, deleted, body_bytes, changed, .. } = counts;
    format!(
        "{{\"name\":{},\"documents\":{documents},\"growth\":{growth},\"deleted\":{deleted},\
         \"size\":{body_bytes},\"changed\":{changed}}}",
        quote(name)
    )
}

fn new_database(html: &mut Html) {
    html.tag("<div class=\"create\">");
    form::begin("PUT", "/{id}", &[About::Then("/_utils/{id}"), About::Said("The database was made.")], html);
    let markup = "name=\"id\" required pattern=\"[a-z][a-z0-9_$\\(\\)+\\-\\/]*\" autocomplete=\"off\" \
                  title=\"Lowercase letters, digits and _$()+-/, from a letter on\"";
    form::field("New database", markup, "", html);
    html.tag("<button class=\"primary\">Create</button></form></div>");
}
