//! A document as a form: a field for each of its members, by the type of its value. A text is edited as it reads, and
//! anything that is no text, number or truth as JSON. Only what was touched is sent, put into the text that was read.

use recension::Document;

use super::document::pretty;
use super::form::{self, About};
use crate::html::value::is_number;
use crate::html::writer::Html;
use crate::members::members_of;

/// Members that have a field in the form.
const FIELDS_MAX: usize = 200;
/// The longest text that is edited in one line.
const LINE_BYTES_MAX: usize = 80;

/// A form with a field for each member, by its type. What has no field stays as it is.
pub(super) fn write(shown: &Document<'_>, to: &str, about: [About<'_>; 3], html: &mut Html) {
    let Ok(members) = members_of(shown.body.as_bytes()) else { return };
    let whole = shown.to_json();
    html.tag("<details class=\"edit\"><summary>Edit as a form</summary>");
    let [then, said, conflict] = about;
    form::begin("PUT", to, &[then, said, conflict, About::Touched, About::Base(&whole)], html);
    for (name, value) in members.iter().take(FIELDS_MAX) {
        let place = name.replace('~', "~0").replace('/', "~1");
        html.tag("<p class=\"member\"><label><bdi>").text(name).tag("</bdi> ");
        field(&place, value.get(), html);
        html.tag("</label></p>\n");
    }
    if members.len() > FIELDS_MAX {
        html.tag("<p class=\"hint\">The other ").show(members.len() - FIELDS_MAX);
        html.tag(" members stay as they are; they can be edited as JSON.</p>");
    }
    form::end("Save", html);
    html.tag("</details>\n");
}

/// The field of a value, whose place in the document is `place`.
fn field(place: &str, value: &str, html: &mut Html) {
    match (serde_json::from_str::<String>(value), value) {
        (Ok(text), _) if text.len() <= LINE_BYTES_MAX && !text.contains(char::is_control) => {
            html.tag("<input data-at=\"").text(place).tag("\" value=\"").text(text).tag("\">");
        }
        // What a browser would write otherwise stays JSON.
        (Ok(text), _) if !text.contains(|c: char| c.is_control() && c != '\n' && c != '\t') => {
            html.tag("<textarea rows=\"4\" data-at=\"").text(place).tag("\">\n").text(text).tag("</textarea>");
        }
        (_, "true" | "false") => {
            html.tag("<select data-kind=\"json\" data-at=\"").text(place).tag("\"><option");
            html.tag(if value == "true" { " selected>true" } else { ">true" }).tag("</option><option");
            html.tag(if value == "false" { " selected>false" } else { ">false" }).tag("</option></select>");
        }
        (_, number) if is_number(number) => {
            html.tag("<input inputmode=\"decimal\" required data-kind=\"json\" data-at=\"").text(place);
            html.tag("\" value=\"").text(number).tag("\">");
        }
        (_, other) => {
            let rows = pretty(other).lines().count().clamp(1, 8);
            html.tag("<textarea rows=\"")
                .show(rows)
                .tag("\" required spellcheck=\"false\" data-kind=\"json\" data-at=\"");
            html.text(place).tag("\">\n").text(pretty(other)).tag("</textarea>");
        }
    }
}
