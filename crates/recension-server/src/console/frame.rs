//! What stands around the pages of the console: where one is, who one is, the ways to the other pages, and the
//! moment.

use http::StatusCode;
use http::header::CACHE_CONTROL;

use super::side::Side;
use crate::answer::Answer;
use crate::auth::Session;
use crate::head::base;
use crate::html::links::Parameters;
use crate::html::shell::{self, Head};
use crate::html::writer::Html;
use crate::request::Request;
use crate::route::encode;

/// A page under way.
pub(super) struct Frame {
    pub(super) html: Html,
}

/// Pages of a database: what they are called, and where they are.
const OF_DATABASE: [(&str, &str); 6] = [
    ("Documents", ""),
    ("Query", "/query"),
    ("Changes", "/changes"),
    ("Compare moments", "/compare"),
    ("Indexes", "/indexes"),
    ("Security", "/security"),
];

impl Frame {
    /// Begins a page. `tab` is the name of the page among those of its database or of the server.
    pub(super) fn begin(
        request: &Request,
        session: &Session,
        title: &str,
        db: Option<&str>,
        tab: &str,
        has_moments: bool,
    ) -> Self {
        let mut html = Html::below(base(&request.head));
        let parameters = Parameters::of(&request.query);
        let moment = has_moments.then_some((request.head.uri.path(), &parameters));
        let within = db.filter(|db| *db != title).map(|_| title);
        let who = session.identity().name.as_deref();
        let account = who.is_some();
        let who = who.or(session.identity().is_server_admin().then_some("everybody is admin"));
        let gear = session.server_admin().is_ok().then_some(tab);
        let at = parameters.only(&["at"]);
        Head { lang: "en", title, db, within, moment, scripted: true, who, account, gear }.begin(&mut html, |html| {
            if let Some(side) = request.head.extensions.get::<Side>() {
                side.write(db, &at, html);
            }
        });
        if let Some(db) = db {
            html.tag("<nav class=\"tabs\" aria-label=\"Pages\">");
            for (name, below) in OF_DATABASE {
                let carried = if below == "/security" { Parameters::default() } else { at.clone() };
                tab_link(&carried.on(&format!("/_utils/{}{below}", encode(db))), name, tab, &mut html);
            }
            html.tag("</nav>");
        }
        html.tag("\n<div id=\"notices\" aria-live=\"polite\"></div>\n");
        Frame { html }
    }

    /// The whole page.
    pub(super) fn end(mut self) -> Answer {
        shell::end(&mut self.html);
        let answer = Answer::of(StatusCode::OK, shell::CONTENT_TYPE, self.html.take());
        shell::guarded(answer).with(CACHE_CONTROL, "no-store")
    }
}

fn tab_link(to: &str, name: &'static str, tab: &str, html: &mut Html) {
    html.tag("<a href=\"").to(to).tag(if name == tab { "\" aria-current=\"page\">" } else { "\">" });
    html.tag(name).tag("</a> ");
}

/// Says what can be done in an empty place.
pub(super) fn empty(text: &str, html: &mut Html) {
    html.tag("<p class=\"empty\">").text(text).tag("</p>\n");
}

/// Begins a table: its name, and its columns; those that begin with `#` are of numbers.
pub(super) fn table(name: &'static str, columns: &[&'static str], html: &mut Html) {
    html.tag("<div class=\"wide\" role=\"region\" aria-label=\"").tag(name).tag("\" tabindex=\"0\"><table><thead><tr>");
    for column in columns {
        match column.strip_prefix('#') {
            Some(column) => html.tag("<th scope=\"col\" class=\"number\">").tag(column),
            None => html.tag("<th scope=\"col\">").tag(column),
        };
        html.tag("</th>");
    }
    html.tag("</tr></thead><tbody>\n");
}

/// Ends it.
pub(super) fn table_end(html: &mut Html) {
    html.tag("</tbody></table></div>\n");
}

/// A number as people read it.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Bytes as people read them.
pub(super) fn bytes(number: u64) -> String {
    let units = ["B", "kB", "MB", "GB", "TB"];
    let mut unit = 0;
    let mut tenths = u128::from(number) * 10;
    while tenths >= 10_000 && unit + 1 < units.len() {
        tenths /= 1000;
        unit += 1;
    }
    if unit == 0 { format!("{number} B") } else { format!("{}.{} {}", tenths / 10, tenths % 10, units[unit]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_for_people() {
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!((grouped(0).as_str(), grouped(999).as_str()), ("0", "999"));
        for (number, expected) in
            [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (1_550_000, "1.5 MB"), (u64::MAX, "18446744.0 TB")]
        {
            assert_eq!(bytes(number).split('.').next(), expected.split('.').next(), "{number}");
        }
    }
}
