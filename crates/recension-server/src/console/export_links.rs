//! Links from a page of the console to what it lists, in the forms that other programs read. They know addresses, and
//! nothing of what is behind them.

use crate::html::links::Parameters;
use crate::html::writer::Html;
use crate::route::encode;

/// Links to the forms of what parameters ask for.
pub(super) fn of_rows(db: &str, parameters: &Parameters, before: &str, html: &mut Html) {
    let path = format!("/_utils/{}/export", encode(db));
    html.tag("<p class=\"exports\">").text(before).tag(" ");
    for (form, name) in [("json", "JSON"), ("ndjson", "NDJSON"), ("csv", "CSV"), ("html", "HTML")] {
        html.link(&parameters.with("format", form).on(&path), name).tag(" ");
    }
    html.tag("</p>\n");
}

/// Links to what an endpoint of the server answers.
pub(super) fn of_endpoint(path: &str, html: &mut Html) {
    html.tag("<p class=\"exports\">The same as ");
    for (form, name) in [("json", "JSON"), ("html", "HTML")] {
        html.link(&Parameters::default().with("format", form).on(path), name).tag(" ");
    }
    html.tag("</p>\n");
}
