//! `_explain`: the plan of a query, in CouchDB's words, and this store's costs of it (`plan`). Costs tell how many
//! documents there are, and other indexes what somebody else asks for: neither is for those who may not see all
//! documents.

use recension::engine::Direction;
use recension::json::quote;
use serde_json::{Value, json};

use super::candidates::{BY_IDS, Question};
use super::fields;
use super::find::{PreparedFind, word};
use super::options::Options;
use super::ranges::Seen;
use crate::within::Limited;
use recension_app::auth::databases::Database;
use recension_app::request::{Request, only};
use recension_wire::answer::Answer;
use recension_wire::error::Result;

/// `/{db}/_explain`, or of a partition.
pub(super) async fn endpoint(
    mut request: Request,
    db: Database,
    partition: Option<&str>,
    within: Limited,
) -> Result<Answer> {
    only(&request, "POST")?;
    request.require_json()?;
    let body = request.bytes().await?;
    let options = Options::read(&body)?;
    let now = request.query.get("at").is_none();
    let partition = options.partition_of(&db, partition)?;
    let partitioned = db.is_partitioned()?;
    let _kept = Box::pin(request.app.streams.keep_selector(options.selector.weight())).await?;
    let explained = move || {
        let name = db.name().to_owned();
        let asked = PreparedFind::of(&db, options, now, partition.as_deref(), within.as_deref())?;
        Ok(Answer::ok(explanation((&name, partitioned), &asked, partition.as_deref(), within.is_none())))
    };
    request.app.blocking(explained).await
}

/// The index of an answer, as CouchDB describes it.
fn index_of(asked: &PreparedFind, partitioned: bool) -> String {
    if asked.unusable.is_some() {
        return "null".to_owned();
    }
    match (&asked.definition, &asked.plan.index) {
        (Some(definition), _) => definition.to_json(partitioned),
        // The index was made with the library or the command line.
        (None, Some(name)) => {
            let of_type = if asked.plan.words.is_some() { "text" } else { "json" };
            let name = quote(name);
            format!("{{\"ddoc\":null,\"name\":{name},\"type\":\"{of_type}\",\"partitioned\":false,\"def\":{{}}}}")
        }
        (None, None) => BY_IDS.to_owned(),
    }
}

/// The options, as CouchDB lists them.
fn options_of(options: &Options, partition: Option<&str>) -> String {
    let plain = |ddoc: &str| quote(ddoc.strip_prefix("_design/").unwrap_or(ddoc));
    let use_index = match &options.use_index {
        None => "[]".to_owned(),
        Some((ddoc, None)) => format!("[{}]", plain(ddoc)),
        Some((ddoc, Some(name))) => format!("[{},{}]", plain(ddoc), quote(name)),
    };
    let sort: Vec<String> =
        options.sort.iter().map(|(field, way)| format!("{}:\"{}\"", quote(field), word(*way))).collect();
    let bookmark = options.bookmark.as_ref().map_or("nil".to_owned(), ToString::to_string);
    format!(
        "{{\"use_index\":{use_index},\"bookmark\":{},\"limit\":{},\"skip\":{},\"sort\":{{{}}},\"fields\":{},\
         \"partition\":{},\"r\":{},\"conflicts\":{},\"stale\":false,\"update\":{},\"stable\":{},\"execution_stats\":\
         {},\"allow_fallback\":{}}}",
        quote(&bookmark),
        options.limit,
        options.skip,
        sort.join(","),
        fields::to_json(options.fields.as_deref()),
        quote(partition.unwrap_or_default()),
        options.r,
        options.conflicts,
        options.update,
        options.stable,
        options.execution_stats,
        options.allow_fallback,
    )
}

/// The arguments with which CouchDB would read the view or the list of all documents. `selector`: what its planner sees.
fn arguments(asked: &PreparedFind, seen: &Seen, partition: Option<&str>) -> Value {
    let (start, end) = match &asked.definition {
        Some(definition) => {
            let fields: Vec<&str> = definition.fields.iter().map(|(field, _)| field.as_str()).collect();
            seen.bounds(&fields)
        }
        None => seen.bounds_of_ids(),
    };
    let backward = asked.options.sort.first().is_some_and(|(_, way)| *way == Direction::Backward);
    let (start, end) = if backward { (end, start) } else { (start, end) };
    let conflicts = if asked.options.conflicts { json!(true) } else { json!("undefined") };
    json!({
        "include_docs": !covers(asked),
        "view_type": "map",
        "reduce": false,
        "partition": partition,
        "start_key": start,
        "end_key": end,
        "direction": if backward { "rev" } else { "fwd" },
        "stable": asked.options.stable,
        "update": asked.options.update,
        "conflicts": conflicts,
    })
}

/// Whether CouchDB would answer from the index alone: not from a partial one. `plan.covering` says it of this store.
fn covers(asked: &PreparedFind) -> bool {
    asked.plan.covering && asked.definition.as_ref().is_none_or(|index| index.partial.is_none())
}

/// `sees_all`: whether costs and the other indexes are told too.
fn explanation(
    (db, partitioned): (&str, bool),
    asked: &PreparedFind,
    partition: Option<&str>,
    sees_all: bool,
) -> String {
    let options = &asked.options;
    let inner = if sees_all { considered(asked, (partitioned, partition)) } else { String::new() };
    format!(
        "{{\"dbname\":{},\"index\":{},\"partitioned\":{partitioned},\"selector\":{},\"opts\":{},\"limit\":{},\
         \"skip\":{},\"fields\":{},\"covering\":{}{inner}}}",
        quote(db),
        index_of(asked, partitioned),
        options.selector.to_json(),
        options_of(options, partition),
        options.limit,
        options.skip,
        fields::to_json(options.fields.as_deref()),
        covers(asked),
    )
}

/// The members that tell of other indexes, of what an index is read with, and of costs.
fn considered(asked: &PreparedFind, (partitioned, partition): (bool, Option<&str>)) -> String {
    let seen = Seen::of(&serde_json::from_str(&asked.options.selector.to_json()).unwrap_or_default());
    let question = Question {
        options: &asked.options,
        seen: &seen,
        winner: asked.definition.as_ref().filter(|_| asked.unusable.is_none()),
        by_ids: asked.definition.is_none() && asked.unusable.is_none(),
        partitions: (partitioned, partition.is_some()),
    };
    format!(
        ",\"index_candidates\":{},\"selector_hints\":{},\"mrargs\":{},\"plan\":{}",
        question.candidates(&asked.definitions),
        seen.hints(),
        arguments(asked, &seen, partition),
        asked.plan.to_json(),
    )
}
