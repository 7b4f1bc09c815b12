//! The indexes of a database, how a query would be carried out, and what queries of late say about indexes that are
//! missing. Below them are its design documents (`designs.rs`).

use minijinja::{Value, context};
use recension::{IndexInfo, IndexState, Query};

use super::frame::Frame;
use super::index_form::LANGUAGES;
use super::search::{self, DESIGNS, Field, Sample};
use super::{designs, index_names, moments, plan};
use recension_app::auth::{Access, Session};
use recension_app::request::{Request, at_its_moment};
use recension_app::slow::SlowQuery;
use recension_pages::links::Parameters;
use recension_pages::writer::Html;
use recension_wire::answer::Answer;
use recension_wire::error::Result;
use recension_wire::route::encode;

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
    let placeholder = "population > 1000000 and country = PT";
    let field = Field { text: &text, placeholder, path: &path, carried: &parameters, offers: &sample.offers() };
    let plan = plan.map(|plan| {
        let mut picture = Html::default();
        plan::picture(&plan, &[], &mut picture);
        context! {
            picture => picture.into_markup(), paths => plan.suggestion.as_deref(),
            body => plan.suggestion.as_deref().map(definition), whole => index_names::in_text(&plan.to_json()),
        }
    });
    let slow = request.app.slow.of(db);
    let values = context! {
        db, admin, at => parameters.get("at"), indexes => indexes.iter().map(shown).collect::<Vec<_>>(),
        members => sample.names(), languages => LANGUAGES.split(' ').collect::<Vec<_>>(),
        field => field.values(mistake.as_ref()), plan,
        slow => slow.iter().take(SLOW_MAX).map(slow_query).collect::<Vec<_>>(),
        designs => designs.iter().map(|design| design.values(db)).collect::<Vec<_>>(),
    };
    let mut frame = Frame::begin(request, session, "Indexes", Some(db), "Indexes", true);
    if let Some(moments) = moments {
        moments.write(&path, &parameters, &mut frame.html);
    }
    Ok(frame.page("indexes", values))
}

fn shown(Listed { info: IndexInfo { spec, state }, entries, uses }: &Listed) -> Value {
    let kind = match (spec.words, spec.unique) {
        (Some(_), _) => "words",
        (None, true) => "unique",
        (None, false) => "values",
    };
    context! {
        kind, name => index_names::shown(&spec.name), of => spec.to_string(), partial => !spec.filter.is_empty(),
        entries => *entries as u64, more => *entries >= ENTRIES_MAX, uses => *uses,
        building => *state == IndexState::Building,
        drop => serde_json::json!({ "drop": spec.name.as_str() }).to_string(),
    }
}

/// The request for the index that would help.
fn definition(paths: &str) -> String {
    let fields: Vec<&str> = paths.split(',').map(str::trim).collect();
    serde_json::json!({ "index": { "fields": fields }, "type": "json" }).to_string()
}

fn slow_query(query: &SlowQuery) -> Value {
    context! {
        selector => query.selector.as_str(), millis => query.millis, examined => query.examined,
        answered => query.answered, plan => index_names::in_text(&query.plan), paths => query.suggestion.as_deref(),
        body => query.suggestion.as_deref().map(definition),
    }
}
