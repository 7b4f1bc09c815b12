//! Templates of a database: an answer through what a design document's member `templates` says, row by row.
//! A render has
//! its fuel, which bounds its time and what it makes; values are escaped unless the template's type is no markup.

use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Output, State, Value, context};
use serde_json::Map;

use super::asked::{Asked, Kind};
use super::body::Paged;
use super::escape;
use super::plain::Plain;
use super::split::Sink;
use crate::databases::Database;
use crate::error::{ApiError, Result};
use crate::http::body::{Members, member, members_of};

/// Fuel of one render: about an instruction each, and 64 bytes of what is made.
const FUEL: u64 = 50_000;
/// The longest text of a part.
const PART_BYTES_MAX: usize = 64 * 1024;
/// Members around the rows that are kept for the parts, in bytes.
const MEMBERS_BYTES_MAX: usize = 4 << 20;

/// A template.
#[derive(Debug)]
pub(crate) struct Template {
    environment: Environment<'static>,
    /// The row, where it is text and places only.
    plain: Option<Plain>,
    /// A content type.
    pub(crate) kind: String,
    /// The revision of its design document.
    pub(crate) rev: String,
}

impl Template {
    /// The template `DESIGN/NAME` of a database, as of the moment that it is opened at.
    pub(crate) fn of(db: &Database, name: &str) -> Result<Self> {
        let (design, name) = name.split_once('/').ok_or_else(|| bad("a template is named as design document/name"))?;
        let id = format!("_design/{design}");
        let document = db.opened().get(&id)?.ok_or_else(ApiError::missing)?;
        let none = || bad(&format!("_design/{design} has no template {name}"));
        let members = members_of(document.body.as_bytes())?;
        let templates = member(&members, "templates").ok_or_else(none)?;
        let templates = members_of(templates.get().as_bytes())?;
        let own = members_of(member(&templates, name).ok_or_else(none)?.get().as_bytes())?;
        Self::read(&own, document.rev.to_string())
    }

    /// The template that these members are.
    fn read(own: &Members<'_>, rev: String) -> Result<Self> {
        let text = |part: &str| -> Result<Option<String>> {
            let text = member(own, part).map(|text| serde_json::from_str::<String>(text.get()));
            let text = text.transpose().map_err(|_| bad(&format!("the template's member {part} is no text")))?;
            match text {
                Some(text) if text.len() > PART_BYTES_MAX => Err(bad(&format!("the template's {part} is too long"))),
                text => Ok(text),
            }
        };
        let kind = text("type")?.unwrap_or_else(|| super::shell::CONTENT_TYPE.to_owned());
        let markup = ["html", "xml"].iter().any(|word| kind.to_ascii_lowercase().contains(word));
        let mut environment = Environment::new();
        environment.set_fuel(Some(FUEL));
        environment.set_auto_escape_callback(move |_| if markup { AutoEscape::Html } else { AutoEscape::None });
        environment.set_formatter(formatted);
        let mut plain = None;
        for part in ["head", "row", "foot"] {
            let source = text(part)?.unwrap_or_default();
            if part == "row" && markup {
                plain = Plain::of(&source);
            }
            environment.add_template_owned(part, source).map_err(|error| failed(part, &error))?;
        }
        Ok(Template { environment, plain, kind, rev })
    }

    fn render(&self, part: &str, values: Value) -> std::result::Result<String, ApiError> {
        let template = self.environment.get_template(part).map_err(|error| failed(part, &error))?;
        template.render(values).map_err(|error| failed(part, &error))
    }
}

/// Text within markup is escaped as everywhere in pages; all else is as the machine has it.
fn formatted(
    out: &mut Output<'_>,
    state: &mut State<'_, '_>,
    value: &Value,
) -> std::result::Result<(), minijinja::Error> {
    let text = value.as_str().filter(|_| *state.auto_escape() == AutoEscape::Html && !value.is_safe());
    let Some(text) = text else { return minijinja::escape_formatter(out, state, value) };
    let mut escaped = Vec::new();
    escape::push(text.as_bytes(), &mut escaped);
    // It was text, and is.
    out.write_str(&String::from_utf8_lossy(&escaped)).map_err(minijinja::Error::from)
}

fn bad(what: &str) -> ApiError {
    ApiError::new(http::StatusCode::BAD_REQUEST, "bad_template", what.to_owned())
}

fn failed(part: &str, error: &minijinja::Error) -> ApiError {
    let line = error.line().map_or_else(String::new, |line| format!(", line {line}"));
    let reason = format!("The template's {part}{line}: {error}");
    ApiError::new(http::StatusCode::INTERNAL_SERVER_ERROR, "template_failed", reason)
}

/// A page that a template makes.
#[derive(Debug)]
pub(crate) struct TemplatePage {
    template: Template,
    rows: bool,
    out: Vec<u8>,
    failed: Option<ApiError>,
    /// What every part sees.
    around: Value,
    members: Map<String, serde_json::Value>,
    members_bytes: usize,
    index: u64,
    begun: bool,
}

impl TemplatePage {
    /// A page of an answer that has rows, or is one document.
    pub(crate) fn of(template: Template, asked: &Asked) -> Self {
        let id = match &asked.kind {
            Kind::Document { id, .. } | Kind::OfDocument { id, .. } => Some(id),
            _ => None,
        };
        let query: std::collections::BTreeMap<&str, &str> = asked.parameters.pairs().collect();
        let around = context! {
            db => asked.kind.database(), id => id.map(String::as_str), path => asked.path.as_str(),
            lang => asked.lang.as_str(), title => asked.title.as_deref(), query => Value::from(Serde(query)),
        };
        TemplatePage {
            template,
            rows: asked.has_rows(),
            out: Vec::new(),
            failed: None,
            around,
            members: Map::new(),
            members_bytes: 0,
            index: 0,
            begun: false,
        }
    }

    fn render(&mut self, part: &str, values: Value) {
        if self.failed.is_none() {
            let around = self.around.clone();
            match self.template.render(part, context! { ..values, ..around }) {
                Ok(text) => self.out.extend_from_slice(text.as_bytes()),
                Err(error) => self.failed = Some(error),
            }
        }
    }

    fn begin(&mut self) {
        if !std::mem::replace(&mut self.begun, true) {
            let members = Value::from(Serde(&self.members));
            self.render("head", context! { answer => members });
        }
    }
}

impl Sink for TemplatePage {
    fn member(&mut self, name: &str, value: &[u8]) {
        self.members_bytes += name.len() + value.len();
        if self.members_bytes > MEMBERS_BYTES_MAX {
            self.failed = Some(bad("the answer is too long for a template"));
            return;
        }
        let value = serde_json::from_slice(value).unwrap_or_default();
        self.members.insert(name.to_owned(), value);
    }

    fn list_begins(&mut self, _name: &str) {
        self.begin();
    }

    fn row(&mut self, value: &[u8]) {
        if self.failed.is_some() {
            return;
        }
        if let Some(plain) = &self.template.plain
            && plain.write(value, self.index, &mut self.out).is_ok()
        {
            self.index += 1;
            return;
        }
        let row: serde_json::Value = serde_json::from_slice(value).unwrap_or_default();
        let doc = row.get("doc").unwrap_or(&row);
        let id = row.get("id").or_else(|| row.get("_id"));
        let (doc, id, row) = (Value::from(Serde(doc)), Value::from(Serde(id)), Value::from(Serde(&row)));
        let values = context! { doc => doc, id => id, row => row, index => self.index };
        self.index += 1;
        self.render("row", values);
    }

    fn list_ends(&mut self) {}

    fn long_begins(&mut self, _name: Option<&str>, _first: &[u8]) {
        self.failed.get_or_insert_with(|| bad("a member or a row is too long for a template"));
    }

    fn long(&mut self, _bytes: &[u8]) {}

    fn long_ends(&mut self) {}
}

impl Paged for TemplatePage {
    fn end(&mut self) {
        self.begin();
        let members = Value::from(Serde(&self.members));
        if !self.rows {
            self.render("row", context! { doc => members.clone(), row => members.clone(), index => 0 });
        }
        self.render("foot", context! { answer => members, rows => self.index });
    }

    fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.out)
    }

    fn failed(&self) -> Option<&ApiError> {
        self.failed.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    /// A template's rows: as they are written, and as its machine alone writes them.
    fn rows(source: &str, rows: &[serde_json::Value]) -> (String, String) {
        let template = |machine: bool| {
            let own = json!({"row": source}).to_string();
            let mut template = Template::read(&members_of(own.as_bytes()).unwrap(), "1-a".to_owned()).unwrap();
            if machine {
                template.plain = None;
            } else {
                assert!(template.plain.is_some(), "{source}");
            }
            let request = http::Request::get("/db/_all_docs?template=a/b").body(()).unwrap();
            let asked = Asked::of(&mut request.into_parts().0).unwrap();
            let mut page = TemplatePage::of(template, &asked);
            for row in rows {
                page.row(row.to_string().as_bytes());
            }
            assert_eq!(page.failed, None);
            String::from_utf8(page.take()).unwrap()
        };
        (template(false), template(true))
    }

    #[test]
    fn a_row_of_places_is_what_the_templates_machine_makes() {
        let odd =
            json!({"id": "x", "doc": {"_id": "x", "a": "<i>'\u{1}\u{e9}\n\"\\/", "b": [1, {"c": "}"}], "n": 1.5}});
        let all = [
            json!({"id": "<1>", "key": "k", "value": {}, "doc": {"_id": "<1>", "a": "x&y", "b": 7, "n": -12}}),
            odd,
            json!({"_id": "y", "a": true, "b": null, "other": "}{", "n": 12_345_678_901_234_567_890_u64}),
            json!({"id": "z", "key": "z", "doc": null}),
        ];
        let source =
            "<tr>{{id}} {{ index }}<td>{{ doc.a }}</td>{{ doc.b }}{{doc.n}}{{ doc.none }} {{ row.key }}</tr>\n";
        for row in &all[..3] {
            let (own, machine) = rows(source, std::slice::from_ref(row));
            assert_eq!(own, machine, "{row}");
        }
        let (own, _) = rows(source, &all[..1]);
        assert_eq!(own, "<tr>&lt;1&gt; 0<td>x&amp;y</td>7-12 k</tr>");
        for (source, is_plain) in [
            ("", true),
            ("{{ doc._id }}}}", true),
            ("{{- doc.a }}", false),
            ("{{ doc.a|upper }}", false),
            ("{{ doc.a.b }}", false),
            ("{{ doc }}", false),
            ("{{ db }}", false),
            ("{% if doc.a %}x{% endif %}", false),
            ("{# {{ id }} #}", false),
        ] {
            assert_eq!(Plain::of(source).is_some(), is_plain, "{source}");
        }
    }

    proptest! {
        #[test]
        fn any_texts_and_numbers_are_shown_alike(
            a in "\\PC{0,40}",
            b in any::<i64>(),
            c in "[<>&\"'/\\\\\u{0}-\u{1f}]{0,9}",
        ) {
            let row = json!({"id": c, "doc": {"a": a, "n": b, "c": c, "f": f64::from(b as i32)}});
            let source = "{{ id }}|{{ doc.a }}|{{ doc.n }}|{{ doc.c }}|{{ row.id }}";
            let (own, machine) = rows(source, std::slice::from_ref(&row));
            prop_assert_eq!(own, machine);
        }
    }
}
