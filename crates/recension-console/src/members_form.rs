//! A document as a form: a field for each of its members, by the type of its value. A text is edited as it reads, and
//! anything that is no text, number or truth as JSON. Only what was touched is sent, put into the text that was read.

use minijinja::{Value, context};

use super::pretty::pretty;
use recension_pages::value::is_number;
use recension_wire::members::Members;

/// Members that have a field in the form.
pub(super) const FIELDS_MAX: usize = 200;
/// The longest text that is edited in one line.
const LINE_BYTES_MAX: usize = 80;

/// The field of each member. What has none stays as it is.
pub(super) fn fields(members: &Members<'_>) -> Vec<Value> {
    members.iter().take(FIELDS_MAX).map(|(name, value)| field(name, value.get())).collect()
}

fn field(name: &str, value: &str) -> Value {
    let text = serde_json::from_str::<String>(value).ok();
    let plain =
        |more: &[char]| text.clone().filter(|text| !text.contains(|c: char| c.is_control() && !more.contains(&c)));
    let line = plain(&[]).filter(|text| text.len() <= LINE_BYTES_MAX);
    let (kind, value) = match (line, plain(&['\n', '\t']), value) {
        (Some(line), ..) => ("line", line),
        // What a browser would write otherwise stays JSON.
        (None, Some(text), _) => ("text", text),
        (.., "true" | "false") => ("truth", value.to_owned()),
        (.., number) if is_number(number) => ("number", number.to_owned()),
        (.., other) => ("json", pretty(other)),
    };
    let place = name.replace('~', "~0").replace('/', "~1");
    context! { name, place, kind, rows => value.lines().count().clamp(1, 8), value }
}
