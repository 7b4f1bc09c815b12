//! The forms of the page of queries that need no JSON: conditions, columns and an order that are chosen, and views with
//! their keys. They are plain forms: what was chosen becomes a query of Mango's, or the address of a view's rows.

use minijinja::{Value, context};
use recension::CollectionAt;
use recension::json::quote;

use super::search::{self, Mistake, Sample};
use recension_app::request::{Request, absolute};
use recension_pages::links::Parameters;
use recension_wire::answer::Answer;
use recension_wire::route::encode;

const LIMIT: &str = "25";

/// What was chosen.
#[derive(Clone)]
pub(super) struct Chosen {
    conditions: String,
    fields: Vec<String>,
    sort: String,
    descending: bool,
    limit: String,
}

impl Chosen {
    pub(super) fn of(request: &Request) -> Self {
        let text = |name: &str| request.query.get(name).unwrap_or_default().trim().to_owned();
        let fields = request.query.pairs().filter(|(name, value)| *name == "fields" && !value.is_empty());
        Chosen {
            conditions: text("q"),
            fields: fields.map(|(_, name)| name.to_owned()).collect(),
            sort: text("sort"),
            descending: text("order") == "desc",
            limit: Some(text("limit")).filter(|limit| !limit.is_empty()).unwrap_or_else(|| LIMIT.to_owned()),
        }
    }

    /// The query of Mango's that it is.
    pub(super) fn as_mango(&self, at: &CollectionAt) -> Result<String, Mistake> {
        let selector = search::selector(&self.conditions, at)?.map_or("{}".to_owned(), |selector| selector.to_json());
        let mut members = vec![format!("\"selector\": {selector}")];
        // In Mango's names a dot is a step down.
        let named = |name: &String| quote(&name.replace('\\', "\\\\").replace('.', "\\."));
        if !self.fields.is_empty() {
            let fields: Vec<String> =
                std::iter::once("\"_id\"".to_owned()).chain(self.fields.iter().map(named)).collect();
            members.push(format!("\"fields\": [{}]", fields.join(", ")));
        }
        if !self.sort.is_empty() {
            let order = if self.descending { "desc" } else { "asc" };
            members.push(format!("\"sort\": [{{{}: \"{order}\"}}]", named(&self.sort)));
        }
        let limit = if self.limit.bytes().all(|digit| digit.is_ascii_digit()) { &self.limit } else { LIMIT };
        members.push(format!("\"limit\": {limit}"));
        Ok(format!("{{\n  {}\n}}", members.join(",\n  ")))
    }

    /// As templates have it, with what some documents offer.
    pub(super) fn values(&self, sample: &Sample) -> Value {
        let mut names = sample.names();
        names.extend(self.fields.iter().filter(|name| !names.contains(name)).cloned().collect::<Vec<_>>());
        context! {
            names, offers => sample.offers(), conditions => self.conditions.as_str(), fields => &self.fields,
            sort => self.sort.as_str(), descending => self.descending, limit => self.limit.as_str(),
        }
    }
}

/// What the form for a view asks for: the address of its rows. A key that is no JSON is a text.
pub(super) fn of_view(request: &Request, db: &str) -> Option<Answer> {
    let (design, view) = request.query.get("view")?.split_once('/')?;
    let mut parameters = Parameters::of(&request.query).only(&["at", "limit", "descending"]);
    for name in ["key", "start_key", "end_key"] {
        let text = request.query.get(name).unwrap_or_default().trim();
        if !text.is_empty() {
            let json = recension::json::minify(text.as_bytes()).unwrap_or_else(|_| quote(text));
            parameters = parameters.with(name, &json);
        }
    }
    parameters = match request.query.get("group").unwrap_or("rows") {
        "all" => parameters,
        "key" => parameters.with("group", "true"),
        "rows" => parameters.with("reduce", "false"),
        level => parameters.with("group_level", level),
    };
    let path = format!("/{}/_design/{}/_view/{}", encode(db), encode(design), encode(view));
    let to = parameters.with("format", "html").on(&path);
    Some(Answer::empty(http::StatusCode::SEE_OTHER).location(&absolute(request, &to)))
}
