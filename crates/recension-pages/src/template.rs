//! Templates of a database: an answer through what a design document's member `templates` says, row by row.
//! A render has
//! its fuel, which bounds its time and what it makes; values are escaped unless the template's type is no markup.

use std::sync::Arc;

use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Output, State, Value, context};
use parking_lot::Mutex;
use recension::CollectionAt;
use recension::engine::Seq;
use serde_json::Map;

use super::body::Paged;
use super::escape;
use super::form::{Form, ListRow, Offered};
use super::page_request::{Kind, PageRequest};
use super::plain::Plain;
use super::split::{Sink, Splitter};
use recension_wire::error::{ApiError, Result};
use recension_wire::members::{Members, member, members_of};

/// Fuel of one render: about an instruction each, and 64 bytes of what is made.
const FUEL: u64 = 50_000;
/// The longest text of a part.
const PART_BYTES_MAX: usize = 64 * 1024;
/// Members around the rows that are kept for the parts, in bytes.
const MEMBERS_BYTES_MAX: usize = 4 << 20;

/// How often documents may have their members in another order than the template, before they are no more read as if
/// they had them in its order.
const DISORDER_MAX: usize = 8;
/// Templates that are kept as they were read, and the longest source of one.
const KEPT_MAX: usize = 32;
const KEPT_BYTES_MAX: usize = 32 * 1024;

/// A template.
#[derive(Debug)]
pub struct Template {
    environment: Environment<'static>,
    /// The row, where it is text and places only.
    plain: Option<Plain>,
    /// A content type.
    pub kind: String,
    /// The revision of its design document.
    pub rev: String,
    /// Bytes of its source.
    bytes: usize,
}

/// Which template: its collection's number, the commit that wrote its design document, and its name.
type Which = (u32, Seq, String);

/// Templates as they were read, the last used first. A page asks for the document all the same, so that rights and
/// moments are looked at.
#[derive(Debug, Default)]
pub struct Templates(Mutex<Vec<(Which, Arc<Template>)>>);

impl Templates {
    fn of(&self, which: &Which) -> Option<Arc<Template>> {
        let mut all = self.0.lock();
        let at = all.iter().position(|(own, _)| own == which)?;
        all[..=at].rotate_right(1);
        all.first().map(|(_, template)| Arc::clone(template))
    }

    fn keep(&self, which: Which, template: &Arc<Template>) {
        let mut all = self.0.lock();
        all.retain(|(own, _)| *own != which);
        all.truncate(KEPT_MAX - 1);
        all.insert(0, (which, Arc::clone(template)));
    }
}

impl Template {
    /// The template `DESIGN/NAME` of a database, as of the moment that it is opened at.
    pub fn of(db: &CollectionAt, name: &str, kept: &Templates) -> Result<Arc<Self>> {
        let full = name;
        let (design, name) = name.split_once('/').ok_or_else(|| bad("a template is named as design document/name"))?;
        let id = format!("_design/{design}");
        let document = db.get(&id)?.ok_or_else(ApiError::missing)?;
        let place = db.number().map(|number| (number, document.seq, full.to_owned()));
        if let Some(own) = place.as_ref().and_then(|place| kept.of(place)) {
            return Ok(own);
        }
        let none = || bad(&format!("_design/{design} has no template {name}"));
        let members = members_of(document.body.as_bytes())?;
        let templates = member(&members, "templates").ok_or_else(none)?;
        let templates = members_of(templates.get().as_bytes())?;
        let own = members_of(member(&templates, name).ok_or_else(none)?.get().as_bytes())?;
        let own = Arc::new(Self::read(&own, document.rev.to_string())?);
        if let Some(place) = place.filter(|_| own.bytes <= KEPT_BYTES_MAX) {
            kept.keep(place, &own);
        }
        Ok(own)
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
        let (mut plain, mut bytes) = (None, 0);
        for part in ["head", "row", "foot"] {
            let source = text(part)?.unwrap_or_default();
            bytes += source.len();
            if part == "row" && markup {
                plain = Plain::of(&source);
            }
            environment.add_template_owned(part, source).map_err(|error| failed(part, &error))?;
        }
        Ok(Template { environment, plain, kind, rev, bytes })
    }

    fn render(&self, part: &str, values: Value) -> std::result::Result<String, ApiError> {
        let template = self.environment.get_template(part).map_err(|error| failed(part, &error))?;
        template.render(values).map_err(|error| failed(part, &error))
    }
}

/// Text within markup is escaped as everywhere in pages; all else is as the machine has it.
pub(super) fn formatted(
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
    template: Arc<Template>,
    /// How often documents had their members in another order than the template.
    disorder: usize,
    rows: bool,
    out: Vec<u8>,
    /// The row under way, if it is written from its JSON.
    json: Vec<u8>,
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
    pub(crate) fn of(template: Arc<Template>, asked: &PageRequest) -> Self {
        let id = match &asked.kind {
            Kind::Document { id, .. } | Kind::OfDocument { id, .. } => Value::from(id.as_str()),
            _ => Value::UNDEFINED,
        };
        let query: std::collections::BTreeMap<&str, &str> = asked.parameters.pairs().collect();
        let around = context! {
            db => asked.kind.database(), id => id, path => asked.path.as_str(),
            lang => asked.lang.as_str(), title => asked.title.as_deref(), query => Value::from(Serde(query)),
        };
        TemplatePage {
            template,
            disorder: 0,
            rows: asked.has_rows(),
            out: Vec::new(),
            json: Vec::new(),
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
        // A row of a key without a document has none.
        let id = id.map_or(Value::UNDEFINED, |id| Value::from(Serde(id)));
        let (doc, row) = (Value::from(Serde(doc)), Value::from(Serde(&row)));
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

impl TemplatePage {
    /// Passes on what was made, or why nothing could be.
    fn told(&mut self, out: &mut Vec<u8>) -> Result<()> {
        out.append(&mut self.out);
        self.failed.clone().map_or(Ok(()), Err)
    }
}

impl Form for TemplatePage {
    fn begin(&mut self, head: &str, out: &mut Vec<u8>) -> Result<()> {
        Splitter::new(true).push(head.as_bytes(), self);
        self.told(out)
    }

    fn row(&mut self, row: &dyn ListRow, out: &mut Vec<u8>) -> Result<()> {
        if let (Some(plain), Some(document)) = (&self.template.plain, row.stored())
            && self.disorder <= DISORDER_MAX
        {
            if plain.write_stored(document, self.index, out).is_ok() {
                self.index += 1;
                return Ok(());
            }
            self.disorder += 1;
        }
        let mut json = std::mem::take(&mut self.json);
        json.clear();
        row.write_json(&mut json)?;
        Sink::row(self, &json);
        self.json = json;
        self.told(out)
    }

    fn end(&mut self, out: &mut Vec<u8>) -> Result<()> {
        Paged::end(self);
        self.told(out)
    }
}

impl Offered for Mutex<Option<TemplatePage>> {
    fn take(&self) -> Option<Box<dyn Form>> {
        self.lock().take().map(|page| Box::new(page) as Box<dyn Form>)
    }
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
    use recension::Document;
    use serde_json::json;

    use super::*;

    fn page(template: Arc<Template>) -> TemplatePage {
        let request = http::Request::get("/db/_all_docs?template=a/b").body(()).unwrap();
        TemplatePage::of(template, &PageRequest::of(&mut request.into_parts().0).unwrap())
    }

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
            let mut page = page(Arc::new(template));
            for row in rows {
                Sink::row(&mut page, row.to_string().as_bytes());
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
            json!({"_id": "y", "a": true, "b": null, "other": "}{", "n": false}),
            json!({"id": "z", "key": "z", "doc": null}),
        ];
        let source =
            "<tr>{{id}} {{ index }}<td>{{ doc.a }}</td>{{ doc.b }}{{doc.n}}{{ doc.none }} {{ row.key }}</tr>\n";
        for row in &all[..4] {
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

    /// A document as it is stored, and its row in a list as JSON.
    fn stored(id: &str, members: &[(String, serde_json::Value)]) -> (Document<'static>, String) {
        let members: Vec<String> = members.iter().map(|(name, value)| format!("{}:{value}", json!(name))).collect();
        let (members, rev) = (members.join(","), format!("1-{}", "0a".repeat(16)));
        let id_json = json!(id);
        let comma = if members.is_empty() { "" } else { "," };
        let doc = format!("{{\"_id\":{id_json},\"_rev\":\"{rev}\"{comma}{members}}}");
        let row = format!("{{\"id\":{id_json},\"key\":{id_json},\"value\":{{\"rev\":\"{rev}\"}},\"doc\":{doc}}}");
        let document = Document {
            id: id.to_owned().into(),
            rev: rev.parse().unwrap(),
            seq: recension::engine::Seq(1),
            deleted: false,
            body: format!("{{{members}}}").into(),
            attachments: Vec::new(),
        };
        (document, row)
    }

    /// How a stored document's row is written from what is stored, if it is; and from its JSON.
    fn both(source: &str, id: &str, members: &[(String, serde_json::Value)]) -> (Option<String>, String) {
        let own = json!({"row": source}).to_string();
        let template = Template::read(&members_of(own.as_bytes()).unwrap(), "1-a".to_owned()).unwrap();
        let mut page = page(Arc::new(template));
        let (document, row) = stored(id, members);
        let mut out = b"before".to_vec();
        let written = page.template.plain.as_ref().unwrap().write_stored(&document, 0, &mut out);
        let text = String::from_utf8(out).unwrap();
        let own = text.strip_prefix("before").unwrap().to_owned();
        assert!(written.is_ok() || own.is_empty(), "what was written is taken back: {own}");
        Sink::row(&mut page, row.as_bytes());
        (written.ok().map(|()| own), String::from_utf8(page.take()).unwrap())
    }

    #[test]
    fn a_row_without_a_document_has_no_id() {
        let row = json!({"key": "x", "error": "not_found"});
        let (own, machine) = rows("[{{ id }}|{{ row.key }}|{{ doc.error }}]", &[row]);
        assert_eq!((own.as_str(), own == machine), ("[|x|not_found]", true));
    }

    #[test]
    fn members_in_the_order_of_their_places_are_written_from_what_is_stored() {
        let of = |members: &[(&str, serde_json::Value)]| -> Vec<(String, serde_json::Value)> {
            members.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
        };
        let source = "<p>{{ id }}{{ doc._rev }}</p>{{ doc.a }} and {{ doc.long_name_of_a_member }}, {{index}}";
        let (a, long) = (("a", json!("x<y")), ("long_name_of_a_member", json!(1_234_567_890_i64)));
        let other = ("other", json!({"a": ["}", "\"", 1]}));
        for (members, is_written) in [
            (of(&[a.clone(), long.clone()]), true),
            (of(&[other.clone(), a.clone(), other.clone(), long.clone(), other.clone()]), true),
            (of(&[("a", json!(1)), ("long_name_of_a_member", json!(12_345_678))]), true),
            (of(&[("a", json!(-1)), ("long_name_of_a_member", json!(true))]), true),
            (of(&[long.clone(), a.clone()]), false),
            (of(std::slice::from_ref(&a)), false),
            (of(&[a.clone(), long.clone(), a.clone()]), false),
            (of(&[("a", json!(1.5)), long.clone()]), false),
            (of(&[]), false),
        ] {
            let (own, expected) = both(source, "<id>", &members);
            assert_eq!(own.is_some(), is_written, "{members:?}");
            assert!(own.is_none_or(|own| own == expected), "{members:?}");
        }
        for source in ["{{ row.value }}", "{{ doc._attachments }}", "{{ doc._deleted }}"] {
            assert_eq!(both(source, "x", &of(std::slice::from_ref(&a))).0, None, "{source}");
        }
    }

    #[test]
    fn templates_are_kept_as_they_were_read_and_the_last_used_stay() {
        let template = |rev: &str| {
            let own = json!({"row": rev}).to_string();
            Arc::new(Template::read(&members_of(own.as_bytes()).unwrap(), rev.to_owned()).unwrap())
        };
        let which = |number: u64| (7, Seq(number), "a/b".to_owned());
        let kept = Templates::default();
        for number in 0..KEPT_MAX as u64 {
            kept.keep(which(number), &template(&number.to_string()));
        }
        let rev = |number| kept.of(&which(number)).map(|template| template.rev.clone());
        assert_eq!(rev(0).as_deref(), Some("0"));
        kept.keep(which(99), &template("99"));
        assert_eq!((rev(0).as_deref(), rev(1), rev(99).as_deref()), (Some("0"), None, Some("99")));
        assert_eq!(kept.of(&(8, Seq(0), "a/b".to_owned())).map(|template| template.rev.clone()), None);
    }

    fn any_value() -> impl Strategy<Value = serde_json::Value> {
        let text = "[<>&\"'/\\\\\u{0}-\u{1f}a-zäß😀]{0,40}".prop_map(serde_json::Value::from);
        let leaf = prop_oneof![
            text,
            any::<i64>().prop_map(Into::into),
            (0..99_999_999_i64).prop_map(Into::into),
            any::<i32>().prop_map(|number| f64::from(number).into()),
            any::<bool>().prop_map(Into::into),
            Just(serde_json::Value::Null)
        ];
        let list = |leaf: BoxedStrategy<_>| prop::collection::vec(leaf, 0..3).prop_map(serde_json::Value::from);
        let leaf = leaf.boxed();
        prop_oneof![9 => leaf.clone(), 1 => list(leaf)]
    }

    proptest! {
        /// What is written from what is stored is what the JSON of the row becomes.
        #[test]
        fn stored_documents_are_shown_as_their_json_is(
            id in "[<>&\"'/\\\\a-z😀]{1,9}",
            members in prop::collection::vec(("[abcd]|[a-z_]{8,20}|[\"\\\\]", any_value()), 0..6),
            places in prop::collection::vec("id|index|row\\.id|row\\.key|doc\\.(a|b|c|d|_id|_rev)", 0..6),
            between in "[<>a-z ]{0,20}",
        ) {
            prop_assume!(!between.contains('{'));
            let parts: Vec<String> = places.iter().map(|place| format!("{between}{{{{ {place} }}}}")).collect();
            let source = parts.concat();
            let (own, expected) = both(&source, &id, &members);
            prop_assert!(own.is_none_or(|own| own == expected));
        }

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
