//! The page that an answer becomes: what stands before its rows, the rows, and where the next ones are.

use http::StatusCode;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, ETAG, SET_COOKIE};
use minijinja::context;
use recension::json::quote;

use super::body::{PageBody, Paged};
use super::kept::Place;
use super::links::{Parameters, document, in_console};
use super::list::Table;
use super::page_request::{Kind, PageRequest};
use super::shell::{self, Head};
use super::split::Sink;
use super::value;
use super::writer::Html;
use recension_wire::answer::{Answer, AnswerBody};
use recension_wire::head::FORWARDED_PREFIX;
use recension_wire::members::members_of;
use recension_wire::route::encode;

impl PageRequest {
    /// The page of an answer. What is no JSON stays as it is.
    pub fn turned(mut self, answer: Answer) -> Answer {
        let made_of = answer.headers.get(ETAG).and_then(|tag| tag.to_str().ok()).map(str::to_owned);
        if answer.status == StatusCode::NOT_MODIFIED
            && let Some(kept) = self.kept.take()
            && made_of.as_deref() == Some(kept.tag.as_str())
        {
            let mut answer =
                Answer { status: StatusCode::OK, body: AnswerBody::Whole(Some(kept.body.clone())), ..answer };
            // With what the answer has of its own: a session that goes on.
            answer.headers.extend(kept.headers.clone());
            return answer;
        }
        let template = self.template.take().map(|asked| (asked.kind, asked.page.lock().take()));
        if let Some((kind, None)) = &template
            && answer.status == StatusCode::OK
        {
            // The endpoint has written the page.
            return self.templated(answer, kind, made_of);
        }
        let json = answer.headers.get(CONTENT_TYPE).is_some_and(|kind| kind == "application/json");
        if !json && answer.status != StatusCode::NOT_MODIFIED {
            return answer;
        }
        if !json {
            return shell::guarded(self.tagged(answer, made_of.as_deref())).varying("Accept").varying(FORWARDED_PREFIX);
        }
        let mut answer = answer;
        answer.headers.remove(CONTENT_LENGTH);
        let body = std::mem::replace(&mut answer.body, AnswerBody::Whole(None));
        let rows = answer.status.is_success() && self.has_rows();
        let template = template.filter(|_| answer.status.is_success());
        let (kind, page): (_, Box<dyn Paged>) = match template {
            Some((kind, Some(page))) => (Some(kind), Box::new(page)),
            _ => (None, Box::new(Page::of(self.clone(), answer.status))),
        };
        match PageBody::of(page, rows, body) {
            Ok(body) => answer.body = body,
            // Its page is one that does not fail.
            Err(error) => return self.turned(error.into()),
        }
        match kind {
            Some(kind) => self.templated(answer, &kind, made_of),
            None => {
                let answer = self.tagged(answer, made_of.as_deref()).with(CONTENT_TYPE, shell::CONTENT_TYPE);
                shell::guarded(answer).varying("Accept").varying(FORWARDED_PREFIX)
            }
        }
    }

    /// With the tag of the page that an answer of this tag becomes.
    fn tagged(&self, answer: Answer, made_of: Option<&str>) -> Answer {
        match made_of {
            Some(tag) => answer.with(ETAG, self.tag(tag)),
            None => answer,
        }
    }

    /// A page that a template made.
    fn templated(self, answer: Answer, kind: &str, made_of: Option<String>) -> Answer {
        let answer = self.tagged(answer, made_of.as_deref()).with(CONTENT_TYPE, kind);
        self.keeping(shell::sandboxed(answer).varying("Accept"), made_of)
    }

    /// A page that a template makes, kept when it is whole.
    fn keeping(mut self, mut answer: Answer, made_of: Option<String>) -> Answer {
        let (Some((kept, address)), Some(tag)) = (self.keeps.take(), made_of) else { return answer };
        let mut headers = answer.headers.clone();
        // That is one reader's.
        headers.remove(SET_COOKIE);
        let suffix = std::mem::take(&mut self.suffix);
        let body = std::mem::replace(&mut answer.body, AnswerBody::Whole(None));
        answer.body = Place { kept, address, tag, suffix, headers }.keeping(body);
        answer
    }

    /// Whether the answer is one document, or rows.
    pub(crate) fn has_rows(&self) -> bool {
        match &self.kind {
            Kind::Document { .. } => self.parameters.pairs().any(|(name, _)| name == "open_revs"),
            Kind::Special { .. } | Kind::OfDocument { .. } | Kind::Server { .. } => true,
            Kind::Database { .. } => false,
        }
    }
}

/// A page under way.
#[derive(Debug)]
pub(crate) struct Page {
    asked: PageRequest,
    status: StatusCode,
    html: Html,
    table: Table,
    begun: bool,
    /// A list of members is open.
    members: bool,
    /// What the next page begins behind.
    last_seq: Option<String>,
}

impl Page {
    fn of(asked: PageRequest, status: StatusCode) -> Self {
        let carried = asked.parameters.only(&["at", "format", "lang"]);
        let table = Table::new(asked.kind.clone(), carried, asked.fields.clone());
        let html = Html::below(&asked.base);
        Page { asked, status, html, table, begun: false, members: false, last_seq: None }
    }

    /// Writes what stands before the answer.
    fn begin(&mut self) {
        if std::mem::replace(&mut self.begun, true) {
            return;
        }
        let (asked, html) = (&self.asked, &mut self.html);
        let name = match &asked.kind {
            Kind::Server { name } if !name.is_empty() => asked.path.trim_start_matches('/').to_owned(),
            kind => kind.name(),
        };
        let failed = (!self.status.is_success()).then(|| self.status.to_string());
        let title = failed.as_deref().or(asked.title.as_deref()).unwrap_or(&name);
        let within = match &asked.kind {
            Kind::Server { .. } | Kind::Database { .. } => None,
            _ => Some(name.as_str()),
        };
        let db = asked.kind.database();
        // Moments are of databases; a list that was posted for is not had with a link.
        let has_past = !matches!(&asked.kind, Kind::Special { name, .. } if name == "_changes");
        let moment = (db.is_some() && has_past).then_some((asked.path.as_str(), &asked.parameters));
        Head { lang: &asked.lang, title, db, within, moment, console: None }.begin(html);
        if self.status == StatusCode::UNAUTHORIZED {
            // Whoever was wrong about their password is asked again, and goes on where they wanted to.
            let next = asked.parameters.pairs().find(|(name, _)| *name == "next").map(|(_, next)| next.to_owned());
            let here = || asked.parameters.on(&asked.path);
            let next = next.filter(|_| asked.path == "/_session").unwrap_or_else(here);
            html.fill("failed", context! { reason => (), next });
        }
        views(asked, html);
    }

    /// The address of the page behind this one.
    fn next(&self) -> Option<String> {
        let PageRequest { kind, parameters, path, limit, skip, .. } = &self.asked;
        let next = match kind {
            Kind::Special { name, .. } if matches!(name.as_str(), "_all_docs" | "_design_docs" | "_partition") => {
                let behind = parameters.without(&["startkey", "start_key", "skip"]);
                behind.with("startkey", &quote(self.table.last.as_ref()?)).with("skip", "1")
            }
            Kind::Special { name, .. } if name == "_changes" => parameters.with("since", self.last_seq.as_ref()?),
            Kind::OfDocument { name, .. } if name.starts_with("_view/") => {
                parameters.with("skip", &skip.saturating_add((*limit)?).to_string())
            }
            _ => return None,
        };
        Some(next.on(path))
    }

    fn open_members(&mut self) {
        self.begin();
        if !std::mem::replace(&mut self.members, true) {
            self.html.tag("<dl class=\"members\">\n");
        }
    }

    fn close_members(&mut self) {
        if std::mem::take(&mut self.members) {
            self.html.tag("</dl>\n");
        }
    }
}

/// Links to what else there is of the same.
fn views(asked: &PageRequest, html: &mut Html) {
    html.tag("<nav class=\"views\" aria-label=\"Views\">");
    let at = asked.parameters.only(&["at"]);
    let mut link = |to: &str, text: &str| {
        html.link(to, text).tag(" ");
    };
    match &asked.kind {
        Kind::Server { .. } => link("/_utils/", "Console"),
        Kind::Database { db } => {
            let of = |name: &str, pairs: &[(&str, &str)]| {
                let parameters = pairs.iter().fold(at.clone(), |all, (name, value)| all.with(name, value));
                parameters.on(&format!("/{}/{name}", encode(db)))
            };
            link(&of("_all_docs", &[("limit", "100"), ("include_docs", "true")]), "Documents");
            // A feed has no past of its own.
            let newest = Parameters::default().with("limit", "100").with("descending", "true");
            link(&newest.on(&format!("/{}/_changes", encode(db))), "Changes");
            link(&of("_index", &[]), "Indexes");
            link(&of("_design_docs", &[("limit", "100")]), "Design documents");
            link(&at.on(&format!("/_utils/{}", encode(db))), "Console");
        }
        Kind::Document { db, id } => {
            link(&format!("{}/_history", document(db, id)), "History");
            link(&at.on(&in_console(db, id)), "Console");
        }
        Kind::OfDocument { db, id, name } if name == "_history" => {
            link(&document(db, id), "Document");
            link(&in_console(db, id), "Console");
        }
        Kind::Special { .. } | Kind::OfDocument { .. } => {}
    }
    link(&asked.as_form("json"), "JSON");
    let tables = match &asked.kind {
        Kind::Special { name, .. } => matches!(name.as_str(), "_all_docs" | "_design_docs"),
        Kind::OfDocument { name, .. } => name == "_history" || name.starts_with("_view/"),
        _ => false,
    };
    if tables {
        link(&asked.as_form("csv"), "CSV");
        link(&asked.as_form("ndjson"), "NDJSON");
    }
    html.tag("</nav>\n");
}

impl Paged for Page {
    fn end(&mut self) {
        self.begin();
        self.close_members();
        let asked = &self.asked;
        let full = asked.limit.is_some_and(|limit| limit > 0 && self.table.rows >= limit);
        if let Some(next) = self.next().filter(|_| full) {
            self.html.tag("<nav class=\"pages\" aria-label=\"Pages\"><a rel=\"next\" href=\"").to(&next);
            self.html.tag("\">Next page</a></nav>\n");
        }
        if self.table.rows > 0 {
            self.html.tag("<p>").show(self.table.rows).tag(" rows on this page.</p>\n");
        }
        shell::end(&mut self.html);
    }

    fn take(&mut self) -> Vec<u8> {
        self.html.take()
    }
}

impl Sink for Page {
    fn member(&mut self, name: &str, value: &[u8]) {
        self.open_members();
        let text = String::from_utf8_lossy(value);
        if name == "last_seq" {
            self.last_seq = serde_json::from_str(&text).ok();
        }
        self.html.tag("<dt><bdi>").text(name).tag("</bdi></dt><dd>");
        match (&self.asked.kind, name) {
            (Kind::Document { db, id }, "_attachments") => attachments(db, id, &self.asked, &text, &mut self.html),
            (Kind::Document { db, id }, "_conflicts" | "_deleted_conflicts") => {
                let revs: Vec<String> = serde_json::from_str(&text).unwrap_or_default();
                for rev in revs {
                    self.html.link(&Parameters::default().with("rev", &rev).on(&document(db, id)), &rev).tag(" ");
                }
            }
            _ => value::whole(&text, &mut self.html),
        }
        self.html.tag("</dd>\n");
    }

    fn list_begins(&mut self, _name: &str) {
        self.begin();
        self.close_members();
    }

    fn row(&mut self, value: &[u8]) {
        self.table.row(value, &mut self.html);
    }

    fn list_ends(&mut self) {
        self.table.end(&mut self.html);
    }

    fn long_begins(&mut self, name: Option<&str>, first: &[u8]) {
        match name {
            Some(name) => {
                self.open_members();
                self.html.tag("<dt><bdi>").text(name).tag("</bdi></dt><dd><pre tabindex=\"0\"><code>");
            }
            None => self.table.long_begins(&mut self.html),
        }
        self.html.text(first);
    }

    fn long(&mut self, bytes: &[u8]) {
        self.html.text(bytes);
    }

    fn long_ends(&mut self) {
        if self.members {
            self.html.tag("</code></pre></dd>\n");
        } else {
            Table::long_ends(&mut self.html);
        }
    }
}

/// Attachments as links.
fn attachments(db: &str, id: &str, asked: &PageRequest, stubs: &str, html: &mut Html) {
    html.tag("<ul>");
    for (name, stub) in members_of(stubs.as_bytes()).unwrap_or_default() {
        let path: Vec<String> = name.split('/').map(encode).collect();
        let carried = asked.parameters.only(&["at", "rev"]);
        html.tag("<li>").link(&carried.on(&format!("{}/{}", document(db, id), path.join("/"))), name.as_bytes());
        let stub: serde_json::Value = serde_json::from_str(stub.get()).unwrap_or_default();
        html.tag(" <bdi>").text(stub["content_type"].as_str().unwrap_or_default()).tag("</bdi> ");
        html.text(stub["length"].to_string()).tag(" bytes</li>\n");
    }
    html.tag("</ul>");
}
