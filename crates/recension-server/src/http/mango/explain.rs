//! `_explain`: the plan of a query, in CouchDB's words, and this store's costs of it (`plan`). Costs tell how many
//! documents there are, so that they are not for those who may not see all of them.

use recension::json::quote;

use super::fields;
use super::find::{Asked, word};
use super::options::Options;
use crate::answer::Answer;
use crate::databases::Database;
use crate::error::Result;
use crate::http::within::Limited;
use crate::request::{Request, only};

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
    let partition = partition.map(str::to_owned);
    let explained = move || {
        let name = db.name().to_owned();
        let asked = Asked::of(&db, options, now, partition.as_deref(), within.as_deref())?;
        let plan = within.is_none().then(|| asked.plan.to_json());
        Ok(Answer::ok(explanation(&name, &asked, partition.as_deref(), plan)))
    };
    request.app.blocking(explained).await
}

fn explanation(db: &str, asked: &Asked, partition: Option<&str>, plan: Option<String>) -> String {
    let plan = plan.map_or(String::new(), |plan| format!(",\"plan\":{plan}"));
    let Options { limit, skip, .. } = asked.options;
    let options = &asked.options;
    let of_ids = r#"{"ddoc":null,"name":"_all_docs","type":"special","def":{"fields":[{"_id":"asc"}]}}"#;
    let index = match (&asked.definition, &asked.plan.index) {
        (Some(definition), _) => definition.to_json(),
        // The index was made with the library or the command line.
        (None, Some(name)) => {
            let of_type = if asked.plan.words.is_some() { "text" } else { "json" };
            let name = quote(name);
            format!("{{\"ddoc\":null,\"name\":{name},\"type\":\"{of_type}\",\"partitioned\":false,\"def\":{{}}}}")
        }
        (None, None) => of_ids.to_owned(),
    };
    let use_index = match &options.use_index {
        None => "[]".to_owned(),
        Some((ddoc, None)) => format!("[{}]", quote(ddoc)),
        Some((ddoc, Some(name))) => format!("[{},{}]", quote(ddoc), quote(name)),
    };
    let sort: Vec<String> =
        options.sort.iter().map(|(field, way)| format!("{}:\"{}\"", quote(field), word(*way))).collect();
    let fields = fields::to_json(options.fields.as_deref());
    let bookmark = options.bookmark.as_ref().map_or("nil".to_owned(), ToString::to_string);
    let partition_told = partition.map_or("\"undefined\"".to_owned(), quote);
    format!(
        "{{\"dbname\":{},\"index\":{index},\"partitioned\":{partition_told},\"selector\":{selector},\"opts\":{{\"use_index\":\
         {use_index},\"bookmark\":{},\"limit\":{limit},\"skip\":{skip},\"sort\":{{{}}},\"fields\":{fields},\"partition\":{},\
         \"r\":{r},\"conflicts\":{},\"stale\":false,\"update\":{},\"stable\":{},\"execution_stats\":{},\"allow_fallback\":{}}},\
         \"limit\":{limit},\"skip\":{skip},\"fields\":{fields},\"index_candidates\":[],\"selector_hints\":[],\"covering\":\
         {}{plan}}}",
        quote(db),
        quote(&bookmark),
        sort.join(","),
        quote(partition.unwrap_or_default()),
        options.conflicts,
        options.update,
        options.stable,
        options.execution_stats,
        options.allow_fallback,
        asked.plan.covering,
        selector = options.selector.to_json(),
        r = options.r,
    )
}
