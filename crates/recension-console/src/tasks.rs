//! What the server is at: replications, indexes and views that are being made, each with how far it has come.

use minijinja::value::Serde;
use minijinja::{Value as Shown, context};
use recension::json::quote;
use recension::{At, IndexState};
use serde_json::Value;

use super::frame::Frame;
use super::index_names;
use super::search::{Field, OfRows};
use recension_app::auth::{Access, Session};
use recension_app::request::Request;
use recension_pages::links::Parameters;
use recension_wire::answer::Answer;
use recension_wire::error::Result;

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
    let (path, carried) = (request.head.uri.path(), &Parameters::default());
    let field = Field { text: &text, placeholder: "a database, or type = replication", path, carried, offers: &[] };
    let values = context! {
        field => field.values(mistake.as_ref()), tasks => tasks.iter().map(row).collect::<Vec<_>>(),
        building => Serde(building),
    };
    Ok(Frame::begin(request, session, "Tasks", None, "Tasks", false).page("tasks", values))
}

fn row(task: &Value) -> Shown {
    let text = |name: &str| task.get(name).and_then(Value::as_str);
    let number = |name: &str| task.get(name).and_then(Value::as_u64);
    // A replication does not know how much there is, but how much is left.
    let (done, all) = match (text("source"), text("target")) {
        (Some(_), Some(_)) => {
            let checked = number("revisions_checked");
            (checked, checked.zip(number("changes_pending")).map(|(done, left)| done + left))
        }
        _ => (number("changes_done"), number("total_changes")),
    };
    let since = number("started_on").map(|seconds| recension::engine::Timestamp(seconds * 1_000_000));
    context! {
        kind => text("type").unwrap_or("task"), source => text("source"), target => text("target"), done, all,
        database => text("database").unwrap_or_default(), design => text("design_document").unwrap_or_default(),
        since => since.map(recension::format_time).unwrap_or_default(),
    }
}
