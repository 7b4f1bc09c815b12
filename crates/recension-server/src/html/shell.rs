//! What stands around every page: its head, where it is, and its end; and the headers that it is sent with.

use http::HeaderName;
use http::header::{CONTENT_SECURITY_POLICY, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS};

use super::links::Parameters;
use super::writer::Html;
use super::{assets, icons};
use crate::answer::Answer;
use crate::route::encode;

/// Of pages.
pub(crate) const CONTENT_TYPE: &str = "text/html; charset=utf-8";

/// Nothing runs but the console's own modules, nothing is loaded from elsewhere, and no other site may show it in a
/// frame. Pictures are attachments.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const CROSS_ORIGIN: HeaderName = HeaderName::from_static("cross-origin-opener-policy");

/// Pages of the server: what they are called, and where. They are for its admins.
const SERVER_PAGES: [(&str, &str); 9] = [
    ("Branches", "/_utils/-/branches"),
    ("Users", "/_utils/-/users"),
    ("Replications", "/_utils/-/replications"),
    ("Tasks", "/_utils/-/tasks"),
    ("Metrics", "/_utils/-/metrics"),
    ("Logs", "/_utils/-/logs"),
    ("Settings", "/_utils/-/settings"),
    ("Backups", "/_utils/-/backups"),
    ("Laboratory", "/_utils/-/laboratory"),
];

/// The headers of every page.
pub(crate) fn guarded(answer: Answer) -> Answer {
    answer
        .with(CONTENT_SECURITY_POLICY, POLICY)
        .with(X_CONTENT_TYPE_OPTIONS, "nosniff")
        .with(REFERRER_POLICY, "same-origin")
        .with(CROSS_ORIGIN, "same-origin")
}

/// The headers of a page that a database's template makes: it is nobody's origin, so that what its author writes
/// cannot act as its reader.
pub(crate) fn sandboxed(answer: Answer) -> Answer {
    answer
        .with(CONTENT_SECURITY_POLICY, "sandbox allow-scripts allow-forms allow-popups; frame-ancestors 'none'")
        .with(X_CONTENT_TYPE_OPTIONS, "nosniff")
        .with(REFERRER_POLICY, "same-origin")
}

/// What the head of a page says.
#[derive(Debug)]
pub(crate) struct Head<'h> {
    pub(crate) lang: &'h str,
    pub(crate) title: &'h str,
    pub(crate) db: Option<&'h str>,
    /// What the page is of within the database.
    pub(crate) within: Option<&'h str>,
    /// Where its form for the moment leads, and what else it sends.
    pub(crate) moment: Option<(&'h str, &'h Parameters)>,
    /// Whether the console's modules are loaded.
    pub(crate) scripted: bool,
    /// Who reads it, where it says so.
    pub(crate) who: Option<&'h str>,
    /// Whether they have an account.
    pub(crate) account: bool,
    /// The page among those of the server, if its reader has a right to them.
    pub(crate) gear: Option<&'h str>,
}

impl Head<'_> {
    /// Writes it, up to the page's heading, with what stands beside the page.
    pub(crate) fn begin(&self, html: &mut Html, beside: impl FnOnce(&mut Html)) {
        html.tag("<!DOCTYPE html>\n<html lang=\"").text(self.lang).tag("\"><head><meta charset=\"utf-8\">\n");
        html.tag("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
        html.tag("<meta name=\"color-scheme\" content=\"light dark\">\n<title>").text(self.title);
        html.tag("</title>\n<link rel=\"stylesheet\" href=\"").to(&assets::path("style.css"));
        html.tag("\">\n<link rel=\"icon\" href=\"").to(&assets::path("icon.svg")).tag("\" type=\"image/svg+xml\">\n");
        if self.scripted {
            html.tag("<script type=\"module\" src=\"").to(&assets::path("console.js")).tag("\"></script>\n");
        }
        html.tag("</head><body>\n<a class=\"skip\" href=\"#main\">Skip to the content</a>\n");
        html.tag("<header><nav aria-label=\"Where this is\"><a class=\"home\" href=\"").to("/_utils/");
        html.tag("\">");
        icons::mark(html);
        html.tag("Recension</a>");
        if let Some(db) = self.db {
            html.tag(" <span aria-hidden=\"true\">/</span> ");
            let at = self.moment.map(|(_, parameters)| parameters.only(&["at"])).unwrap_or_default();
            let to = if self.scripted { format!("/_utils/{}", encode(db)) } else { format!("/{}", encode(db)) };
            html.link(&at.on(&to), db);
        }
        if let Some(within) = self.within {
            html.tag(" <span aria-hidden=\"true\">/</span> <bdi>").text(within).tag("</bdi>");
        }
        html.tag("</nav>");
        if let Some((path, parameters)) = self.moment {
            moment(path, parameters, html);
        }
        if self.scripted {
            self.reader(html);
        }
        html.tag("</header>\n<div class=\"page\">");
        beside(html);
        html.tag("<main id=\"main\">\n<h1><bdi>").text(self.title).tag("</bdi></h1>\n");
    }
}

impl Head<'_> {
    /// Who reads the page, and the pages of the server, if they are for them.
    fn reader(&self, html: &mut Html) {
        html.tag("\n<span class=\"who\"><a class=\"to-side\" href=\"#side\">Databases</a>");
        if let Some(current) = self.gear {
            html.tag("<details class=\"gear\"><summary>");
            icons::of("Server", html);
            html.tag("Server</summary><ul>");
            for (name, to) in SERVER_PAGES {
                html.tag("<li><a href=\"").to(to);
                html.tag(if name == current { "\" aria-current=\"page\">" } else { "\">" });
                icons::of(name, html);
                html.tag(name).tag("</a></li>");
            }
            html.tag("</ul></details>");
        }
        match self.who {
            Some(who) => {
                html.tag(if self.account { "<a href=\"" } else { "<a class=\"plain\" href=\"" });
                html.to(if self.account { "/_utils/-/account" } else { "/_utils/" }).tag("\"><bdi>").text(who);
                html.tag("</bdi></a> <button type=\"button\" data-log-out hidden>Log out</button>");
            }
            None => {
                html.link("/_utils/-/log-in", "Log in");
            }
        }
        html.tag("</span>");
    }
}

/// The form that asks for the same page as of another moment.
fn moment(path: &str, parameters: &Parameters, html: &mut Html) {
    let at = parameters.pairs().find(|(name, _)| *name == "at").map(|(_, value)| value).unwrap_or_default();
    html.tag("\n<form class=\"moment\" method=\"get\" action=\"").to(path).tag("\">");
    // What a page begins at is of its moment.
    for (name, value) in parameters.without(&["at", "startkey", "start_key", "bookmark", "skip"]).pairs() {
        html.tag("<input type=\"hidden\" name=\"").text(name).tag("\" value=\"").text(value).tag("\">");
    }
    html.tag("<label>As of <input name=\"at\" size=\"18\" placeholder=\"now\" autocomplete=\"off\" value=\"");
    html.text(at).tag("\" title=\"A commit (1234), a time (2026-01-31T12:00:00Z) or an age (2h)\"></label>");
    html.tag(" <button>Go</button>");
    if !at.is_empty() {
        html.tag(" ");
        html.link(&parameters.without(&["at"]).on(path), "now");
    }
    html.tag("</form>");
    if !at.is_empty() {
        html.tag("<p class=\"past\" role=\"status\">This is the past: as of <bdi>").text(at).tag("</bdi>.</p>");
    }
}

/// Writes the end of a page.
pub(crate) fn end(html: &mut Html) {
    html.tag("</main></div>\n<footer>").link("/_utils/", "Recension").tag(" ");
    html.tag(env!("CARGO_PKG_VERSION")).tag("</footer>\n</body></html>\n");
}
