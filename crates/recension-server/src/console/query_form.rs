//! The forms of the page of queries that need no JSON: conditions, columns and an order that are chosen, and views with
//! their keys. They are plain forms: what was chosen becomes a query of Mango's, or the address of a view's rows.

use recension::CollectionAt;
use recension::json::quote;

use super::designs;
use super::frame::empty;
use super::search::{self, Mistake, Sample};
use crate::answer::Answer;
use crate::html::links::Parameters;
use crate::html::writer::Html;
use crate::request::{Request, absolute};
use crate::route::encode;

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

    /// The form with it.
    pub(super) fn write(&self, sample: &Sample, path: &str, at: &Parameters, html: &mut Html) {
        html.tag("<form class=\"query choose\" method=\"get\" action=\"").to(path).tag("\">");
        search::hidden(&at.with("kind", "fields"), html);
        let offers = sample.offers();
        html.tag("<label class=\"long\">Conditions <input type=\"search\" name=\"q\" data-filter list=\"offers\" ");
        html.tag("placeholder=\"population &gt; 1000000 and country = PT\" spellcheck=\"false\" autocomplete=\"off\" ");
        html.tag("value=\"").text(&self.conditions).tag("\"></label><datalist id=\"offers\">");
        for offer in &offers {
            html.tag("<option value=\"").text(offer).tag("\">");
        }
        html.tag("</datalist>\n");
        let mut names = sample.names();
        names.extend(self.fields.iter().filter(|name| !names.contains(name)).cloned().collect::<Vec<_>>());
        if !names.is_empty() {
            html.tag("<fieldset><legend>Members of the answer</legend>");
            for name in &names {
                html.tag("<label class=\"flag\"><input type=\"checkbox\" name=\"fields\" value=\"").text(name);
                html.tag(if self.fields.contains(name) { "\" checked> <bdi>" } else { "\"> <bdi>" });
                html.text(name).tag("</bdi></label> ");
            }
            html.tag("<span class=\"hint\">none chosen: all</span></fieldset>\n");
        }
        html.tag("<label>In the order of <select name=\"sort\"><option value=\"\">the id</option>");
        for name in &names {
            html.tag(if *name == self.sort { "<option selected value=\"" } else { "<option value=\"" }).text(name);
            html.tag("\">").text(name).tag("</option>");
        }
        html.tag("</select></label> <label>from <select name=\"order\"><option value=\"asc\">the least</option>");
        html.tag(if self.descending { "<option selected value=\"desc\">" } else { "<option value=\"desc\">" });
        html.tag(
            "the greatest</option></select></label> <label>at most <input type=\"number\" name=\"limit\" min=\"1\" ",
        );
        html.tag("max=\"200\" required value=\"").text(&self.limit).tag("\"></label> ");
        html.tag("<button class=\"primary\">Run</button></form>\n");
    }
}

/// The form for a view's rows: its keys, how they are grouped, and whether they are reduced.
pub(super) fn views(db: &str, all: &[designs::Design], path: &str, at: &Parameters, html: &mut Html) {
    let names: Vec<String> = all.iter().flat_map(designs::Design::views).collect();
    if names.is_empty() {
        return empty(
            "There are no views here: a design document has them, which is made on the page of indexes.",
            html,
        );
    }
    html.tag("<form class=\"query choose\" method=\"get\" action=\"").to(path).tag("\">");
    search::hidden(&at.with("kind", "views"), html);
    html.tag("<label>View <select name=\"view\">");
    for name in &names {
        html.tag("<option>").text(name).tag("</option>");
    }
    html.tag("</select></label>\n");
    for (name, label) in [("key", "Key"), ("start_key", "From key"), ("end_key", "To key")] {
        html.tag("<label>").tag(label).tag(" <input name=\"").tag(name).tag("\" spellcheck=\"false\" ");
        html.tag("placeholder=\"PT or [&#34;PT&#34;, 2]\"></label> ");
    }
    html.tag("<label>Reduced <select name=\"group\"><option value=\"rows\">not: every row</option>");
    html.tag("<option value=\"all\">to one value</option><option value=\"key\">to a value for each key</option>");
    for level in ["1", "2", "3"] {
        html.tag("<option value=\"").tag(level).tag("\">by the first ").tag(level).tag(" of the key</option>");
    }
    html.tag("</select></label> <label class=\"flag\"><input type=\"checkbox\" name=\"descending\" value=\"true\"> ");
    html.tag("greatest first</label> <label>at most <input type=\"number\" name=\"limit\" min=\"1\" value=\"100\" ");
    html.tag("required></label> <button class=\"primary\">Run</button></form>\n<p class=\"hint\">The rows of <bdi>");
    html.text(db).tag("</bdi> come as a page; it has the ways to them as JSON and CSV.</p>\n");
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
