//! Whether a request wants a page, and of what. A browser's navigation does, and who says `format=html`; all others get
//! JSON, even if they would take HTML, too: Java's own client does, and crawlers.

use std::sync::Arc;

use http::header::{ACCEPT, CACHE_CONTROL, IF_NONE_MATCH, USER_AGENT};
use http::request::Parts;
use http::{HeaderValue, Method, Uri};
use parking_lot::Mutex;

use super::form::WantedForm;
use super::kept::{Kept, Page as KeptPage};
use super::links::{Parameters, fnv};
use super::template::{Template, TemplatePage};
use recension_wire::format::Format;
use recension_wire::head::{base, header};
use recension_wire::query::Query;
use recension_wire::route::{Target, encode};

/// What tells the tags of pages from those of the same answers as JSON. The number changes when pages do.
const TAG_SUFFIX: &str = "-html1\"";

/// What is asked for with POST, and has a page.
const POSTED: [&str; 8] =
    ["_find", "_explain", "_aggregate", "_all_docs", "_design_docs", "_changes", "_dbs_info", "_session"];

/// What is to be a page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Kind {
    /// `/`, or an endpoint of the server.
    Server {
        name: String,
    },
    Database {
        db: String,
    },
    /// A list of a database, or what else begins with `_`.
    Special {
        db: String,
        name: String,
    },
    Document {
        db: String,
        id: String,
    },
    /// What belongs to a document: its past, the rows of a view.
    OfDocument {
        db: String,
        id: String,
        name: String,
    },
}

/// A page that is asked for.
#[derive(Debug)]
pub struct PageRequest {
    pub path: String,
    /// What stands before the paths of this server.
    pub base: String,
    pub kind: Kind,
    pub parameters: Parameters,
    /// A language as `lang` has it.
    pub lang: String,
    pub title: Option<String>,
    /// The columns of a table.
    pub fields: Option<Vec<String>>,
    pub limit: Option<u64>,
    pub skip: u64,
    /// The template of the database that makes it.
    pub(super) template: Option<TemplateRequest>,
    /// What tells its tags from those of the same answer as JSON.
    pub(super) suffix: String,
    /// Where the page is kept, if it may be, and its address there.
    pub(super) keeps: Option<(Arc<Kept>, String)>,
    /// The page as it was kept.
    pub(super) kept: Option<Arc<KeptPage>>,
}

/// A template, with which an endpoint may write its list at once.
#[derive(Debug)]
pub(super) struct TemplateRequest {
    /// A content type.
    pub(super) kind: String,
    pub(super) page: Arc<Mutex<Option<TemplatePage>>>,
}

impl Clone for PageRequest {
    /// The same without its template, of which there is one.
    fn clone(&self) -> Self {
        let PageRequest { path, base, kind, parameters, lang, title, fields, limit, skip, suffix, .. } = self;
        PageRequest {
            path: path.clone(),
            base: base.clone(),
            kind: kind.clone(),
            parameters: parameters.clone(),
            lang: lang.clone(),
            title: title.clone(),
            fields: fields.clone(),
            limit: *limit,
            skip: *skip,
            template: None,
            suffix: suffix.clone(),
            keeps: None,
            kept: None,
        }
    }
}

impl PageRequest {
    /// The page that a request asks for; `None` where it asks for something else. The request is from then on one for
    /// the JSON that the page is made of.
    pub fn of(head: &mut Parts) -> Option<Self> {
        let in_query =
            head.uri.query().is_some_and(|query| query.contains("format=html") || query.contains("template="));
        let accept = head.headers.get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
        if !in_query && !is_navigation(head, accept) {
            return None;
        }
        let query = Query::parse(head.uri.query().unwrap_or_default()).ok()?;
        let wanted = match query.get("format") {
            Some(format) => format == "html",
            None if query.get("template").is_some() => true,
            None => Format::negotiated(accept, &[Format::Lines, Format::Csv, Format::Html]) == Format::Html,
        };
        let kind = Kind::of(&Target::parse(head.uri.path()).ok()?)?;
        let reads =
            matches!(head.method, Method::GET | Method::HEAD) || (head.method == Method::POST && kind.is_posted());
        if !wanted || !reads || !matches!(query.get("feed"), None | Some("normal")) {
            return None;
        }
        let base = base(head).to_owned();
        // Below another path its links are others.
        let suffix = if base.is_empty() { TAG_SUFFIX.to_owned() } else { format!("-{}{TAG_SUFFIX}", fnv(&base)) };
        if query.get("template").is_none() {
            untagged(head, &suffix);
        }
        let fields: Option<Vec<String>> =
            query.get("fields").map(|fields| fields.split(',').map(str::to_owned).collect());
        if fields.is_some() && query.get("include_docs").is_none() {
            with_docs(head);
        }
        let lang = query.get("lang").filter(|lang| is_language(lang)).unwrap_or("en").to_owned();
        Some(PageRequest {
            path: head.uri.path().to_owned(),
            base,
            kind,
            parameters: Parameters::of(&query),
            lang,
            title: query.get("title").filter(|title| !title.is_empty()).map(str::to_owned),
            fields,
            limit: query.number("limit").ok()?,
            skip: query.number("skip").ok()?.unwrap_or(0),
            template: None,
            suffix,
            keeps: None,
            kept: None,
        })
    }

    /// Has a template make it, as its reader may read it. Its tags are of its revision too, so that nothing is made for
    /// who has the page.
    pub fn by_template(&mut self, template: Arc<Template>, head: &mut Parts, pages: &Arc<Kept>) {
        self.suffix = format!("-{}{}", template.rev, self.suffix);
        let kind = template.kind.clone();
        let page = Arc::new(Mutex::new(Some(TemplatePage::of(template, self))));
        head.extensions.insert(WantedForm(page.clone()));
        self.template = Some(TemplateRequest { kind, page });
        untagged(head, &self.suffix);
        self.recall(head, pages);
    }

    /// Looks for the page as it was made before, and asks for it as who has it: what is not modified is it.
    fn recall(&mut self, head: &mut Parts, pages: &Arc<Kept>) {
        let stored = header(head, CACHE_CONTROL).is_none_or(|control| !control.contains("no-store"));
        if head.method != Method::GET || !stored {
            return;
        }
        let address = head.uri.to_string();
        if let Some(page) = pages.of(&address).filter(|page| page.suffix == self.suffix) {
            let own = header(head, IF_NONE_MATCH).unwrap_or_default();
            if !own.contains(&page.tag) {
                let both = if own.is_empty() { page.tag.clone() } else { format!("{own}, {}", page.tag) };
                if let Ok(both) = HeaderValue::from_str(&both) {
                    self.kept = Some(page);
                    head.headers.insert(IF_NONE_MATCH, both);
                }
            }
        }
        self.keeps = Some((Arc::clone(pages), address));
    }

    /// The tag of a page, from that of its JSON.
    pub fn tag(&self, tag: &str) -> String {
        format!("{}{}", tag.strip_suffix('"').unwrap_or(tag), self.suffix)
    }

    /// The address of the same in another form.
    pub(crate) fn as_form(&self, format: &str) -> String {
        self.parameters.without(&["title", "lang"]).with("format", format).on(&self.path)
    }
}

impl Kind {
    fn of(target: &Target<'_>) -> Option<Self> {
        Some(match target {
            Target::Root => Kind::Server { name: String::new() },
            // What programs read. Of the console's own pages this has what was refused before they were made.
            Target::Server { name, .. } if matches!(&**name, "_openapi.json" | "_metrics") => return None,
            Target::Server { name, rest } if name == "_utils" => match rest.as_slice() {
                // What is exported as a page reads as the list that it is.
                [db, last] if last == "export" => Kind::Special { db: db.to_string(), name: "_find".to_owned() },
                _ => Kind::Server { name: name.to_string() },
            },
            Target::Server { name, .. } => Kind::Server { name: name.to_string() },
            Target::Database { db } => Kind::Database { db: db.to_string() },
            Target::Special { db, name, .. } => Kind::Special { db: db.to_string(), name: name.to_string() },
            Target::Document { db, id } => Kind::Document { db: db.to_string(), id: id.to_string() },
            // Attachments are what they are.
            Target::OfDocument { name, .. } if !name.starts_with('_') => return None,
            Target::OfDocument { db, id, name } => {
                Kind::OfDocument { db: db.to_string(), id: id.to_string(), name: name.to_string() }
            }
            Target::Redirect { .. } => return None,
        })
    }

    fn is_posted(&self) -> bool {
        match self {
            Kind::Special { name, .. } | Kind::Server { name } => POSTED.contains(&name.as_str()),
            Kind::OfDocument { name, .. } => name.starts_with("_view/") || name.starts_with("_search"),
            Kind::Database { .. } | Kind::Document { .. } => false,
        }
    }

    /// The database that it is of.
    pub fn database(&self) -> Option<&str> {
        match self {
            Kind::Server { .. } => None,
            Kind::Database { db }
            | Kind::Special { db, .. }
            | Kind::Document { db, .. }
            | Kind::OfDocument { db, .. } => Some(db),
        }
    }

    /// What it is called.
    pub fn name(&self) -> String {
        match self {
            Kind::Server { name } if name.is_empty() => "Recension".to_owned(),
            Kind::Server { name }
            | Kind::Special { name, .. }
            | Kind::Database { db: name }
            | Kind::Document { id: name, .. } => name.clone(),
            Kind::OfDocument { id, name, .. } => format!("{id}: {name}"),
        }
    }
}

/// Browsers of text, as they name themselves. They say nothing else that programs do not say too.
const OF_TEXT: [&str; 4] = ["w3m/", "Lynx/", "Links ", "ELinks/"];

/// Whether a browser asks for what it shows. Today's say so (`Sec-Fetch-*`), all of them name XHTML, and programs do
/// neither.
fn is_navigation(head: &Parts, accept: &str) -> bool {
    let says = |name: &str, value: &[u8]| head.headers.get(name).is_some_and(|own| own.as_bytes() == value);
    let named = |own: &HeaderValue| OF_TEXT.iter().any(|name| own.as_bytes().starts_with(name.as_bytes()));
    let is_browser = says("sec-fetch-mode", b"navigate")
        || says("sec-fetch-dest", b"document")
        || accept.contains("application/xhtml+xml")
        || head.headers.get(USER_AGENT).is_some_and(named);
    is_browser && accept.contains("text/html")
}

/// The tags of pages that the client has become those of their JSON, which endpoints know. Others are none of a
/// page's.
fn untagged(head: &mut Parts, suffix: &str) {
    let Some(tags) = head.headers.get(IF_NONE_MATCH).and_then(|tags| tags.to_str().ok()) else { return };
    let own = tags.split(',').filter_map(|tag| Some(format!("{}\"", tag.trim().strip_suffix(suffix)?)));
    let own = own.collect::<Vec<_>>().join(", ");
    match HeaderValue::from_str(&own) {
        Ok(value) if !own.is_empty() => head.headers.insert(IF_NONE_MATCH, value),
        _ => head.headers.remove(IF_NONE_MATCH),
    };
}

/// Columns of documents need the documents.
fn with_docs(head: &mut Parts) {
    let query = head.uri.query().unwrap_or_default();
    let with = format!("{}?{query}&{}=true", head.uri.path(), encode("include_docs"));
    let mut parts = head.uri.clone().into_parts();
    if let Ok(target) = with.parse() {
        parts.path_and_query = Some(target);
        if let Ok(uri) = Uri::from_parts(parts) {
            head.uri = uri;
        }
    }
}

fn is_language(lang: &str) -> bool {
    (1..=35).contains(&lang.len()) && lang.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(method: &str, target: &str, accept: &str) -> Option<PageRequest> {
        let request = http::Request::builder().method(method).uri(target).header(ACCEPT, accept).body(()).unwrap();
        PageRequest::of(&mut request.into_parts().0)
    }

    const BROWSER: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

    #[test]
    fn browsers_get_pages_and_programs_do_not() {
        for (method, target, accept, is_page) in [
            ("GET", "/db/doc", BROWSER, true),
            ("HEAD", "/db/_all_docs", BROWSER, true),
            ("GET", "/", BROWSER, true),
            ("GET", "/db/doc", "*/*", false),
            ("GET", "/db/doc", "text/html", false),
            ("GET", "/", "text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2", false),
            ("GET", "/db/doc", "application/json, text/html;q=0.5", false),
            ("GET", "/db/doc?format=json", BROWSER, false),
            ("GET", "/db/doc?format=html", "*/*", true),
            ("GET", "/db/doc?x=format%3Dhtml", "*/*", false),
            ("PUT", "/db/doc", BROWSER, false),
            ("POST", "/db/_find", BROWSER, true),
            ("POST", "/db/_bulk_docs", BROWSER, false),
            ("POST", "/_session", BROWSER, true),
            ("POST", "/db", BROWSER, false),
            ("GET", "/db/_changes?feed=continuous", BROWSER, false),
            ("GET", "/db/_changes", BROWSER, true),
            ("GET", "/db/doc/file.json", BROWSER, false),
            ("GET", "/db/doc/_history", BROWSER, true),
            ("GET", "/_openapi.json", BROWSER, false),
        ] {
            assert_eq!(asked(method, target, accept).is_some(), is_page, "{method} {target} {accept}");
        }
    }

    #[test]
    fn a_browser_says_that_it_navigates() {
        for (name, value, is_page) in [
            ("sec-fetch-mode", "navigate", true),
            ("sec-fetch-dest", "document", true),
            ("sec-fetch-mode", "cors", false),
        ] {
            let request = http::Request::get("/db").header(ACCEPT, "text/html, */*").header(name, value).body(());
            assert_eq!(PageRequest::of(&mut request.unwrap().into_parts().0).is_some(), is_page, "{name}: {value}");
        }
    }

    #[test]
    fn a_pages_request_is_that_of_its_json() {
        let request = http::Request::get("/db/_all_docs?fields=a,b.c&format=html&lang=de-AT&title=%3Cb%3E")
            .header(IF_NONE_MATCH, "W/\"7-html1\", \"8\"")
            .body(())
            .unwrap();
        let (mut head, ()) = request.into_parts();
        let asked = PageRequest::of(&mut head).unwrap();
        assert_eq!(head.headers[IF_NONE_MATCH], "W/\"7\"");
        assert!(head.uri.query().unwrap().ends_with("&include_docs=true"), "{}", head.uri);
        assert_eq!((asked.lang.as_str(), asked.title.as_deref()), ("de-AT", Some("<b>")));
        assert_eq!(asked.fields, Some(vec!["a".to_owned(), "b.c".to_owned()]));
        assert_eq!(asked.tag("W/\"7\""), "W/\"7-html1\"");
        assert_eq!(asked.as_form("csv"), "/db/_all_docs?fields=a%2Cb.c&format=csv");
        assert_eq!(asked_lang("a\"b"), "en");
    }

    fn asked_lang(lang: &str) -> String {
        asked("GET", &format!("/db?lang={}", encode(lang)), BROWSER).unwrap().lang
    }
}
