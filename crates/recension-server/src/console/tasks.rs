//! What the server is at: replications, indexes and views that are being made, each with how far it has come.

use recension::json::quote;
use recension::{At, IndexState};
use serde_json::Value;

use super::frame::{Frame, empty, grouped, table, table_end};
use super::search::{Field, OfRows};
use super::{export_links, index_names};
use crate::answer::Answer;
use crate::auth::{Access, Session};
use crate::error::Result;
use crate::html::links::Parameters;
use crate::html::writer::Html;
use crate::request::Request;
use crate::route::encode;

/// Databases whose indexes are looked at.
const DATABASES_MAX: usize = 1000;

/// `/_utils/-/tasks`
pub(super) async fn page(request: &Request, session: &Session) -> Result<Answer> {
    let proof = session.server_admin()?;
    let jobs = request.app.replications.all();
    let mut tasks: Vec<Value> = jobs.iter().map(|job| job.task()).collect();
    tasks.extend(request.app.scripts.tasks().iter().filter_map(|task| serde_json::from_str(task).ok()));
    let text = request.query.get("q").unwrap_or_default().to_owned();
    let (of_search, mistake) = OfRows::read(&text);
    tasks.retain(|task| of_search.finds(&task.to_string()));
    let (app, own) = (request.app.clone(), session.clone());
    let building = request.app.blocking(move || {
        let mut building = Vec::new();
        for name in app.databases.names(proof)?.into_iter().take(DATABASES_MAX) {
            let Ok(database) = own.database(&name, Access::Admin) else { continue };
            let indexes = database.collection().at(At::Now)?.indexes();
            let own = indexes.into_iter().filter(|index| index.state == IndexState::Building);
            let own = own.map(|index| (name.clone(), index_names::shown(&index.spec.name).to_owned()));
            let row = |(name, index): &(String, String)| {
                format!("{{\"type\":\"index\",\"database\":{},\"index\":{}}}", quote(name), quote(index))
            };
            building.extend(own.filter(|own| of_search.finds(&row(own))));
        }
        Ok(building)
    });
    let building = building.await?;
    let mut frame = Frame::begin(request, session, "Tasks", None, "Tasks", false);
    let html = &mut frame.html;
    let (path, none) = (request.head.uri.path(), Parameters::default());
    let placeholder = "a database, or type = replication";
    Field { text: &text, placeholder, path, carried: &none, offers: &[] }.write(mistake.as_ref(), html);
    html.tag("<div id=\"tasks\" data-again=\"2000\">");
    if tasks.is_empty() && building.is_empty() {
        empty("Nothing is under way.", html);
    } else {
        table("Tasks", &["What", "Of", "Progress", "#Done", "#Of", "Since"], html);
        for task in &tasks {
            row(task, html);
        }
        for (database, index) in &building {
            html.tag("<tr><th scope=\"row\">index</th><td>");
            html.link(&format!("/_utils/{}/indexes", encode(database)), format!("{database}: {index}"));
            html.tag("</td><td><progress aria-label=\"Progress\"></progress></td><td></td><td></td><td></td></tr>\n");
        }
        table_end(html);
    }
    html.tag("</div>\n");
    export_links::of_endpoint("/_active_tasks", html);
    Ok(frame.end())
}

fn row(task: &Value, html: &mut Html) {
    let text = |name: &str| task.get(name).and_then(Value::as_str);
    let number = |name: &str| task.get(name).and_then(Value::as_u64);
    html.tag("<tr><th scope=\"row\">").text(text("type").unwrap_or("task")).tag("</th><td>");
    // A replication does not know how much there is, but how much is left.
    let (done, all) = match (text("source"), text("target")) {
        (Some(source), Some(target)) => {
            html.tag("<span><bdi>").text(source).tag("</bdi> to <bdi>").text(target).tag("</bdi></span>");
            let checked = number("revisions_checked");
            (checked, checked.zip(number("changes_pending")).map(|(done, left)| done + left))
        }
        _ => {
            let database = text("database").unwrap_or_default();
            html.link(&format!("/_utils/{}", encode(database)), database.as_bytes()).tag(" ");
            html.tag("<bdi>").text(text("design_document").unwrap_or_default()).tag("</bdi>");
            (number("changes_done"), number("total_changes"))
        }
    };
    html.tag("</td><td><progress aria-label=\"Progress\"");
    if let (Some(done), Some(all)) = (done, all.filter(|all| *all > 0)) {
        html.tag(" max=\"").show(all).tag("\" value=\"").show(done.min(all)).tag("\"");
    }
    html.tag("></progress></td>");
    for count in [done, all] {
        html.tag("<td class=\"number\">").text(count.map(grouped).unwrap_or_default()).tag("</td>");
    }
    let since = number("started_on").map(|seconds| recension::engine::Timestamp(seconds * 1_000_000));
    html.tag("<td>").text(since.map(recension::format_time).unwrap_or_default()).tag("</td></tr>\n");
}
