//! Markup that is written as templates: those of `markup/` (around a page, and macros that all share) and of the
//! console's pages. They are of this source, so that no document can write a tag: every value is escaped.

use std::sync::LazyLock;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Kwargs;
use minijinja::{AutoEscape, Environment, Error, Output, State, UndefinedBehavior, Value, context};
use recension::engine::Timestamp;
use recension::format_time;

use super::links::Parameters;
use super::writer::Html;
use super::{assets, people, template, value};
use recension_wire::route::encode;

/// Macros, which stand before each template.
const PARTS: &str = include_str!("markup/parts.html");

macro_rules! templates {
    ($($folder:literal: $($name:literal),*;)*) => {
        [$($(($name, include_str!(concat!($folder, "/", $name, ".html")))),*),*]
    };
}

/// Name and source.
const ALL: &[(&str, &str)] = &templates! {
    "markup": "head", "end";
    "pages": "account", "backups", "beside", "branch-diff", "branches", "changes", "compare", "conflicts", "databases",
        "document", "documents", "failed", "flow", "indexes", "laboratory", "logs", "merge", "metrics", "new", "plan",
        "query", "query-compare", "replications", "security", "settings", "slider", "tasks", "users";
};

static TEMPLATES: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut all = Environment::new();
    // Its marks are the usual ones, which are not refused.
    all.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build().unwrap_or_default());
    all.set_undefined_behavior(UndefinedBehavior::Strict);
    all.set_auto_escape_callback(|_| AutoEscape::Html);
    all.set_formatter(
        |out: &mut Output<'_>, state: &mut State<'_, '_>, value: &Value| {
            if value.is_none() { Ok(()) } else { template::formatted(out, state, value) }
        },
    );
    all.add_filter("encode", |text: &str| encode(text));
    all.add_filter("grouped", people::grouped);
    all.add_filter("bytes", people::bytes);
    all.add_filter("time", |micros: u64| format_time(Timestamp(micros)));
    all.add_filter("ago", |micros: u64| people::ago(Timestamp(micros), people::now()));
    all.add_filter("asset", |name: &str| assets::path(name));
    all.add_filter("on", on);
    all.add_filter("members", |json: &str| {
        let mut html = Html::default();
        value::whole(json, &mut html);
        html.into_markup()
    });
    all.add_filter("cell", |json: &str| {
        let mut html = Html::default();
        value::cell(json, &mut html);
        html.into_markup()
    });
    for (name, source) in ALL {
        if let Err(error) = all.add_template_owned(*name, format!("{PARTS}{source}")) {
            tracing::error!("the template {name} cannot be read: {error}");
        }
    }
    all
});

/// A path with parameters: `path|on(carried, name=value)`. An empty one is none.
#[allow(clippy::needless_pass_by_value)] // as filters are called
fn on(path: &str, carried: Option<Value>, more: Kwargs) -> Result<String, Error> {
    let mut parameters = Parameters::default();
    for pair in carried.iter().flat_map(Value::try_iter).flatten() {
        parameters = parameters.with(&text_at(&pair, 0)?, &text_at(&pair, 1)?);
    }
    for name in more.args() {
        let value: Value = more.get(name)?;
        parameters = parameters.with(name, &if value.is_none() { String::new() } else { value.to_string() });
    }
    Ok(parameters.on(path))
}

fn text_at(pair: &Value, place: usize) -> Result<String, Error> {
    Ok(pair.get_item_by_index(place)?.to_string())
}

impl From<&Parameters> for Value {
    fn from(parameters: &Parameters) -> Self {
        let pairs = parameters.pairs().map(|(name, value)| Value::from((name, value)));
        Value::from(pairs.collect::<Vec<_>>())
    }
}

impl Html {
    /// What was written, for a place in a template.
    pub fn into_markup(mut self) -> Value {
        Value::from_safe_string(String::from_utf8_lossy(&self.take()).into_owned())
    }

    /// Writes a template with its values. One that fails says so in its place: that is a mistake of this program.
    pub fn fill(&mut self, name: &'static str, values: Value) -> &mut Self {
        let values = context! { base => self.base(), ..values };
        match TEMPLATES.get_template(name).and_then(|template| template.render(values)) {
            Ok(text) => self.rendered(&text),
            Err(error) => {
                tracing::error!("the template {name} failed: {error:?}");
                self.tag("<p class=\"error\" role=\"alert\">This part of the page could not be made: ");
                self.text(error.to_string()).tag("</p>\n")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_template_reads_and_texts_stay_text() {
        for (name, _) in ALL {
            TEMPLATES.get_template(name).unwrap();
        }
        let mut html = Html::below("/a&b");
        html.fill("failed", context! { reason => (), next => "/db?x=\"<i>" });
        let html = String::from_utf8(html.take()).unwrap();
        assert!(html.contains("action=\"/a&amp;b/_session?next=%2Fdb%3Fx%3D%22%3Ci%3E&amp;fail=%2F_utils"), "{html}");
    }

    #[test]
    fn what_a_template_misses_is_said_in_its_place() {
        let mut html = Html::default();
        html.fill("failed", context! {});
        let html = String::from_utf8(html.take()).unwrap();
        assert!(html.contains("role=\"alert\"") && html.contains("could not be made"), "{html}");
    }
}
