//! The databases: how many documents each has, how much they take, and the way to them.

use std::time::Duration;

use minijinja::context;
use recension::engine::Timestamp;
use recension::json::quote;
use recension::{At, Counts};

use super::frame::Frame;
use super::search::{Field, OfRows};
use recension_app::auth::{Access, Session};
use recension_app::request::{Request, absolute};
use recension_pages::links::Parameters;
use recension_wire::answer::Answer;
use recension_wire::error::Result;
use recension_wire::route::encode;

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
    let past = request.query.get("at").is_some();
    let placeholder = "a part of a name, or documents > 1000";
    let field = Field { text: &text, placeholder, path: "/_utils/", carried: &parameters, offers: &[] };
    let next = rows.last().filter(|_| more).map(|(last, ..)| parameters.with("after", last).on("/_utils/"));
    let row = |(name, counts, growth, changed): &(String, Counts, i128, Option<Timestamp>)| {
        context! {
            name => name.as_str(), documents => counts.documents, growth => *growth, deleted => counts.deleted,
            size => counts.body_bytes, changed => changed.map(|time| time.0),
        }
    };
    let values = context! {
        field => field.values(mistake.as_ref()), rows => rows.iter().map(row).collect::<Vec<_>>(), disk, next, admin,
        at => parameters.get("at"), makes => admin && !past, logs_in => session.identity().name.is_none() && !admin,
    };
    Ok(Frame::begin(request, session, "Databases", None, "Databases", true).page("databases", values))
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
