//! What the server logged last, to be looked through; for server admins.

use super::form::{self, About};
use super::frame::{Frame, empty};
use super::search::Field;
use crate::answer::Answer;
use crate::auth::Session;
use crate::error::Result;
use crate::html::links::Parameters;
use crate::html::writer::Html;
use crate::request::Request;

/// Words by which a line's level is known.
const LEVELS: [(&str, &str); 4] =
    [("ERROR", "<li class=\"gone\">"), ("WARN", "<li class=\"warned\">"), ("INFO", "<li>"), ("", "<li>")];

/// `/_utils/-/logs`
pub(super) fn page(request: &Request, session: &Session) -> Result<Answer> {
    session.server_admin()?;
    let wanted = request.query.get("q").unwrap_or_default().to_lowercase();
    let lines = crate::logs::recent();
    let found: Vec<_> = lines.iter().rev().filter(|line| line.to_lowercase().contains(&wanted)).collect();
    let mut frame = Frame::begin(request, session, "Logs", None, "Logs", false);
    let html = &mut frame.html;
    let shown = request.query.get("q").unwrap_or_default();
    let (path, none) = (request.head.uri.path(), Parameters::default());
    Field { text: shown, placeholder: "a part of a line: warn", path, carried: &none, offers: &[] }.write(None, html);
    html.tag("<div id=\"lines\" data-again=\"3000\">");
    if found.is_empty() {
        empty(if lines.is_empty() { "Nothing was logged yet." } else { "No line has that." }, html);
    } else {
        html.tag("<ol class=\"log\" reversed tabindex=\"0\" aria-label=\"Lines, the newest first\">\n");
        for line in found {
            let tag = LEVELS.iter().find(|(level, _)| line.contains(level)).map_or("<li>", |(_, tag)| tag);
            html.tag(tag).text(line).tag("</li>\n");
        }
        html.tag("</ol>");
    }
    html.tag("</div>\n<p class=\"hint\">The newest lines since the server began.</p>\n");
    level(request, html);
    Ok(frame.end())
}

const LEVEL: &str = "/_node/_local/_config/log/level";

/// The level that is on, and a form for another.
fn level(request: &Request, html: &mut Html) {
    let settings = &request.app.settings;
    html.tag("<h2>What is logged</h2>\n<p>The level is <code id=\"level\">")
        .text(&settings.live().log)
        .tag("</code>. ");
    if !crate::logs::can_be_set() {
        html.tag("The program that this server is a part of has a logger of its own, and decides.</p>\n");
        return;
    }
    html.tag("A level set here holds at once, is kept in the store, and wins over <code>--log</code>. Targets can ");
    html.tag("have levels of their own: <code>warn,recension_server=debug</code>.</p>\n<div class=\"setting\">");
    form::begin("PUT", LEVEL, &[About::Text, About::Said("That is logged from now on.")], html);
    html.tag("<label>Level <input name=\"body\" list=\"levels\" required autocomplete=\"off\" value=\"");
    html.text(&settings.live().log).tag("\"></label> <button>Set</button></form> ");
    if settings.is_changed("log", "level") {
        form::button("DELETE", LEVEL, &[About::Said("It is as configured again.")], ("", "As configured"), html);
    }
    html.tag("<datalist id=\"levels\">");
    for level in crate::logs::LEVELS {
        html.tag("<option value=\"").text(level).tag("\">");
    }
    html.tag("</datalist></div>\n");
}
