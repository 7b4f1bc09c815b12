//! Design documents of a database: their views, with the ways to the rows of these, and what else they have.

use recension::{CollectionAt, ListOptions};

use super::form::{self, About};
use super::frame::{empty, table, table_end};
use crate::error::Result;
use crate::html::links::{Parameters, in_console};
use crate::html::writer::Html;
use crate::members::{member, members_of};
use crate::route::encode;

/// Design documents, and of each the functions that are shown.
const DESIGNS_MAX: usize = 100;
const VIEWS_MAX: usize = 50;

/// A design document: its id, its language, and its views.
pub(super) struct Design {
    id: String,
    language: String,
    views: Vec<String>,
    others: Vec<String>,
}

impl Design {
    /// The names of its views that have rows here: `site/by_name`.
    pub(super) fn views(&self) -> Vec<String> {
        let own = self.id.strip_prefix("_design/").unwrap_or_default();
        let views = self.views.iter().filter(|_| self.language == "javascript");
        views.map(|view| format!("{own}/{view}")).collect()
    }
}

/// Those of a database. Design documents that define indexes and nothing else are listed as indexes.
pub(super) fn of(at: &CollectionAt) -> Result<Vec<Design>> {
    let mut all = Vec::new();
    let options = ListOptions { limit: Some(DESIGNS_MAX), ..ListOptions::prefix("_design/") };
    for document in at.list(&options)? {
        let document = document?;
        let members = members_of(document.body.as_bytes()).unwrap_or_default();
        let names = |name: &str| -> Vec<String> {
            let value = member(&members, name).and_then(|value| members_of(value.get().as_bytes()).ok());
            value.unwrap_or_default().into_iter().take(VIEWS_MAX).map(|(name, _)| name).collect()
        };
        let language = member(&members, "language").and_then(|value| serde_json::from_str(value.get()).ok());
        let shown = |(name, _): &(String, _)| !matches!(name.as_str(), "views" | "language");
        let others = members.iter().filter(|own| shown(own)).map(|(name, _)| name.clone()).take(VIEWS_MAX).collect();
        let language = language.unwrap_or_else(|| "javascript".to_owned());
        if language == "query" {
            continue;
        }
        all.push(Design { id: document.id.to_string(), language, views: names("views"), others });
    }
    Ok(all)
}

/// Writes them, with a form for another.
pub(super) fn write(db: &str, designs: &[Design], parameters: &Parameters, admin: bool, html: &mut Html) {
    html.tag("<h2>Design documents</h2>\n");
    if designs.is_empty() {
        empty("There are none: no views, no functions, no templates.", html);
    } else {
        table("Design documents", &["Document", "Language", "Views", "What else"], html);
        let carried = parameters.only(&["at"]);
        for design in designs {
            html.tag("<tr><th scope=\"row\">").link(&carried.on(&in_console(db, &design.id)), design.id.as_bytes());
            html.tag("</th><td>").text(&design.language).tag("</td><td>");
            let own = design.id.strip_prefix("_design/").unwrap_or_default();
            // Functions in another language have no rows here.
            for view in design.views.iter().filter(|_| design.language != "javascript") {
                html.tag("<div><bdi>").text(view).tag("</bdi></div>");
            }
            for view in design.views.iter().filter(|_| design.language == "javascript") {
                let of = carried.with("reduce", "false");
                let to = format!("/{}/_design/{}/_view/{}", encode(db), encode(own), encode(view));
                let page = of.with("limit", "100").with("format", "html").on(&to);
                html.tag("<div>").link(&page, view.as_bytes()).tag(", all rows as ");
                html.link(&of.with("format", "csv").on(&to), "CSV").tag(" ");
                html.link(&of.with("format", "ndjson").on(&to), "NDJSON").tag("</div>");
            }
            html.tag("</td><td>").text(design.others.join(", ")).tag("</td></tr>\n");
        }
        table_end(html);
    }
    if admin {
        html.tag("<details class=\"new\"><summary>New design document</summary>");
        let then = format!("/_utils/{}/doc/{{id}}", encode(db));
        form::begin("POST", &format!("/{}", encode(db)), &[About::Then(&then), About::Said("It was made.")], html);
        let text = "{\n  \"_id\": \"_design/site\",\n  \"views\": {\n    \"by_name\": {\n      \"map\": \
                    \"function (doc) { emit(doc.name, null) }\"\n    }\n  }\n}";
        form::json("JSON", 12, text, html);
        form::end("Create", html);
        html.tag("</details>\n");
    }
}
