//! What stands around every page: its head, where it is, and its end; and the headers that it is sent with.

use http::HeaderName;
use http::header::{CONTENT_SECURITY_POLICY, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS};
use minijinja::{Value, context};

use super::links::Parameters;
use super::writer::Html;
use recension_wire::answer::Answer;
use recension_wire::route::encode;

/// Of pages.
pub const CONTENT_TYPE: &str = "text/html; charset=utf-8";

/// Nothing runs but the console's own modules, nothing is loaded from elsewhere, and no other site may show it in a
/// frame. Pictures are attachments.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const CROSS_ORIGIN: HeaderName = HeaderName::from_static("cross-origin-opener-policy");

/// The headers of every page.
pub fn guarded(answer: Answer) -> Answer {
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
pub struct Head<'h> {
    pub lang: &'h str,
    pub title: &'h str,
    pub db: Option<&'h str>,
    /// What the page is of within the database.
    pub within: Option<&'h str>,
    /// Where its form for the moment leads, and what else it sends.
    pub moment: Option<(&'h str, &'h Parameters)>,
    /// Of a page of the console: the rest of what `head.html` says.
    pub console: Option<Value>,
}

impl Head<'_> {
    /// Writes it, up to the page's heading, with what stands beside the page.
    pub fn begin(self, html: &mut Html) {
        let Head { lang, title, db, within, moment, console } = self;
        let at = moment.map(|(_, parameters)| parameters.get("at")).unwrap_or_default();
        let to_db = db.map(|db| format!("/{}{}", if console.is_some() { "_utils/" } else { "" }, encode(db)));
        let to_db = to_db.map(|path| Parameters::default().with("at", at).on(&path));
        // What a page begins at is of its moment.
        let begins = ["at", "startkey", "start_key", "bookmark", "skip"];
        let moment = moment.map(|(path, parameters)| {
            let (carried, now) = (parameters.without(&begins), parameters.without(&["at"]).on(path));
            context! { path, at, now, carried => &carried }
        });
        html.fill("head", context! { lang, title, db, to_db, within, moment, console });
    }
}

/// Writes the end of a page.
pub fn end(html: &mut Html) {
    html.fill("end", context! { version => env!("CARGO_PKG_VERSION") }).tag("\n");
}
