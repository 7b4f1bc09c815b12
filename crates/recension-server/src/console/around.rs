//! What stands around the table of documents: what makes new ones, what is shown of them, what is done with the chosen
//! ones, and the pages.

use recension::json::quote;

use super::documents::{Asked, PAGES_MAX};
use super::frame::grouped;
use super::search::{self, Sample};
use crate::html::links::Parameters;
use crate::html::writer::Html;
use crate::route::encode;

/// The form that the boxes of rows belong to.
pub(super) const CHOSEN: &str = "chosen";

/// The ways to new documents: one that is written, and those of a file.
pub(super) fn tools(db: &str, path: &str, html: &mut Html) {
    let new = format!("{path}/new");
    html.tag("<p class=\"tools\"><a class=\"button\" href=\"").to(&new).tag("\">New document</a> ");
    html.tag("<a class=\"button\" href=\"").to(&format!("{new}?from=file")).tag("\">Import a file</a> ");
    // A file that is dropped on the list is imported without going there.
    html.tag("<output data-import=\"").to(&format!("/{}/_bulk_docs", encode(db))).tag("\"></output></p>\n");
}

/// What is shown of the documents: facets of members with few values, and the columns, chosen from all.
pub(super) fn choose(asked: &Asked, sample: &Sample, parameters: &Parameters, path: &str, html: &mut Html) {
    html.tag("<div class=\"choose\">");
    let facets = sample.facets();
    if !facets.is_empty() {
        html.tag("<p>Facets:");
        for member in &facets {
            let shown = asked.facet.as_deref() == Some(member);
            let to = parameters.without(&["after", "page"]).with("facet", if shown { "" } else { member }).on(path);
            html.tag(if shown { " <a aria-current=\"true\" href=\"" } else { " <a href=\"" }).to(&to).tag("\"><bdi>");
            html.text(member).tag("</bdi></a>");
        }
        html.tag("</p>");
    }
    let mut names = sample.names();
    let chosen = asked.fields.clone().unwrap_or_default();
    names.extend(chosen.iter().filter(|name| !sample.names().contains(name)).cloned());
    if !names.is_empty() {
        html.tag("<details class=\"inline\"><summary>Columns</summary><form method=\"get\" action=\"")
            .to(path)
            .tag("\">");
        search::hidden(&parameters.without(&["fields"]), html);
        for name in &names {
            html.tag("<label class=\"flag\"><input type=\"checkbox\" name=\"fields\" value=\"").text(name);
            html.tag(if chosen.contains(name) { "\" checked> <bdi>" } else { "\"> <bdi>" })
                .text(name)
                .tag("</bdi></label> ");
        }
        html.tag("<button>Show these</button> ");
        if !chosen.is_empty() {
            html.link(&parameters.without(&["fields"]).on(path), "All columns");
        }
        html.tag("</form></details>");
    }
    html.tag("</div>\n");
}

/// What is done with the rows that are chosen. The export needs no script.
pub(super) fn chosen(db: &str, revs: &[(String, String)], parameters: &Parameters, now: bool, html: &mut Html) {
    let revs: Vec<String> = revs.iter().map(|(id, rev)| format!("{}:\"{rev}\"", quote(id))).collect();
    html.tag("<form class=\"chosen\" id=\"").tag(CHOSEN).tag("\" method=\"get\" action=\"");
    html.to(&format!("/_utils/{}/export", encode(db))).tag("\" data-chosen=\"");
    html.to(&format!("/{}/_bulk_docs", encode(db))).tag("\" data-revs=\"").text(format!("{{{}}}", revs.join(",")));
    html.tag("\">");
    search::hidden(&parameters.only(&["at", "sort"]), html);
    html.tag("<span>Chosen rows:</span> ");
    for (format, name) in [("csv", "CSV"), ("json", "JSON"), ("ndjson", "NDJSON")] {
        html.tag("<button name=\"format\" value=\"").tag(format).tag("\">").tag(name).tag("</button> ");
    }
    if now {
        html.tag("<button type=\"button\" class=\"danger\" data-delete hidden>Delete</button>");
    }
    html.tag("</form>\n");
}

/// The ways to the other pages: the one before, the one after, and some by their numbers. `count`: all rows, if known.
pub(super) fn pages(
    asked: &Asked,
    count: Option<u64>,
    next: Option<&str>,
    parameters: &Parameters,
    path: &str,
    html: &mut Html,
) {
    let last = count.and_then(|count| usize::try_from(count).ok()).map(|count| count.div_ceil(asked.rows).max(1));
    if next.is_none() && asked.page == 1 && asked.after.is_none() {
        return;
    }
    let parameters = parameters.without(&["after", "page"]);
    let to =
        |page: usize| if page == 1 { parameters.on(path) } else { parameters.with("page", &page.to_string()).on(path) };
    html.tag("<nav class=\"pages\" aria-label=\"More documents\">");
    if asked.page > 1 {
        html.tag("<a rel=\"prev\" href=\"").to(&to(asked.page - 1)).tag("\">Previous</a> ");
    }
    let near = asked.page.saturating_sub(2).max(1)..=asked.page.saturating_add(2).min(last.unwrap_or(asked.page));
    let mut shown: Vec<usize> = std::iter::once(1).chain(near).chain(last).filter(|page| *page <= PAGES_MAX).collect();
    shown.dedup();
    let mut before = 0;
    for page in shown {
        html.tag(if page > before + 1 { "… " } else { "" });
        before = page;
        if page == asked.page {
            html.tag("<span aria-current=\"page\"><span class=\"unseen\">Page </span>")
                .text(grouped(page as u64))
                .tag("</span> ");
        } else {
            html.link(&to(page), grouped(page as u64)).tag(" ");
        }
    }
    if let Some(next) = next {
        let behind = parameters.with("after", next).with("page", &asked.page.saturating_add(1).to_string());
        html.tag("<a rel=\"next\" href=\"").to(&behind.on(path)).tag("\">Next</a>");
    }
    html.tag("</nav>\n");
}
