//! Design documents of a database: their views, with the ways to the rows of these, and what else they have.

use minijinja::{Value, context};
use recension::{CollectionAt, ListOptions};

use recension_app::functions::misspelt;
use recension_pages::links::in_console;
use recension_wire::error::Result;
use recension_wire::members::{member, members_of};

/// Design documents, and of each the functions that are shown.
const DESIGNS_MAX: usize = 100;
const VIEWS_MAX: usize = 50;

/// A design document: its id, its language, and its views.
pub(super) struct Design {
    id: String,
    language: String,
    views: Vec<String>,
    others: Vec<String>,
    /// What is said of members that do nothing.
    misspelt: Vec<String>,
}

impl Design {
    /// As templates have it.
    pub(super) fn values(&self, db: &str) -> Value {
        context! {
            id => self.id.as_str(), name => self.id.strip_prefix("_design/").unwrap_or_default(),
            page => in_console(db, &self.id), language => self.language.as_str(), views => &self.views,
            others => &self.others, misspelt => &self.misspelt,
        }
    }

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
        let misspelt = misspelt(&document.id, &document.body).into_iter().take(VIEWS_MAX);
        let misspelt = misspelt.map(|(name, meant)| format!("{name} does nothing; perhaps {meant} is meant")).collect();
        let language = language.unwrap_or_else(|| "javascript".to_owned());
        if language == "query" {
            continue;
        }
        all.push(Design { id: document.id.to_string(), language, views: names("views"), others, misspelt });
    }
    Ok(all)
}
