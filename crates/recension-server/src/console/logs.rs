//! What the server logged last, to be looked through; for server admins.

use super::form;
use super::frame::{Frame, empty};
use crate::answer::Answer;
use crate::auth::Session;
use crate::error::Result;
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
    html.tag("<form class=\"filter\" method=\"get\">");
    let shown = request.query.get("q").unwrap_or_default();
    form::field("Lines with", "type=\"search\" name=\"q\" data-filter placeholder=\"warn\"", shown, html);
    html.tag("<button class=\"primary\">Show</button></form>\n<div id=\"lines\" data-again=\"3000\">");
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
    html.tag(
        "</div>\n<p class=\"hint\">The newest lines since the server began. What is logged is said by <code>--log",
    );
    html.tag("</code>, or by the configuration, which SIGHUP reads again.</p>\n");
    Ok(frame.end())
}
