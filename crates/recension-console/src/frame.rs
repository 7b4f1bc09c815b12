//! What stands around the pages of the console: where one is, who one is, the ways to the other pages, and the
//! moment.

use http::StatusCode;
use http::header::CACHE_CONTROL;
use minijinja::{Value, context};

use super::side::Side;
use recension_app::auth::Session;
use recension_app::request::Request;
use recension_pages::links::Parameters;
pub(super) use recension_pages::people::{bytes, grouped};
use recension_pages::shell::{self, Head};
use recension_pages::writer::Html;
use recension_wire::answer::Answer;
use recension_wire::head::base;

/// A page under way.
pub(super) struct Frame {
    pub(super) html: Html,
}

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
        let identity = session.identity();
        let console = context! {
            tab, of_server => session.server_admin().is_ok(), at => parameters.get("at"),
            account => identity.name.as_deref(), everybody => identity.is_server_admin(),
            side => request.head.extensions.get::<Side>().map(Side::values),
        };
        Head { lang: "en", title, db, within, moment, console: Some(console) }.begin(&mut html);
        Frame { html }
    }

    /// A piece of the page, for a place in its template.
    pub(super) fn piece(&self) -> Html {
        self.html.piece()
    }

    /// The whole page, of a template.
    pub(super) fn page(mut self, template: &'static str, values: Value) -> Answer {
        self.html.fill(template, values);
        self.end()
    }

    /// The whole page.
    pub(super) fn end(mut self) -> Answer {
        shell::end(&mut self.html);
        let answer = Answer::of(StatusCode::OK, shell::CONTENT_TYPE, self.html.take());
        shell::guarded(answer).with(CACHE_CONTROL, "no-store")
    }
}
