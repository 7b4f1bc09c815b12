//! The attachments of a document: pictures are shown, all can be fetched; now they are added, replaced and removed.

use recension::{AttachmentInfo, Document};

use super::form::{self, About};
use super::frame::bytes;
use crate::html::links::{Parameters, document, in_console};
use crate::html::writer::Html;
use crate::route::encode;

/// What browsers show as a picture without a script in it.
const PICTURES: [&str; 5] = ["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"];

/// Writes them.
pub(super) fn section(db: &str, id: &str, shown: &Document<'_>, past: Option<&str>, html: &mut Html) {
    if shown.attachments.is_empty() && past.is_some() {
        return;
    }
    html.tag("<section aria-label=\"Attachments\"><h2>Attachments</h2>\n");
    let rev = shown.rev.to_string();
    if !shown.attachments.is_empty() {
        html.tag("<ul class=\"attachments\">\n");
        shown.attachments.iter().for_each(|info| one(db, id, info, (&rev, past), html));
        html.tag("</ul>\n");
    }
    if past.is_none() {
        html.tag("<details class=\"new\"><summary>Add a file</summary>");
        let to = format!("{}/{{file}}?rev={}", document(db, id), encode(&rev));
        form::begin("PUT", &to, &[About::Then(&in_console(db, id)), About::Said("The file was added.")], html);
        html.tag("<label>File <input type=\"file\" required></label>");
        html.tag(" <span class=\"hint\">One of the same name is replaced; it stays in the past.</span>");
        form::end("Add it", html);
        html.tag("</details>\n");
    }
    html.tag("</section>\n");
}

fn one(db: &str, id: &str, info: &AttachmentInfo, (rev, past): (&str, Option<&str>), html: &mut Html) {
    let name: Vec<String> = info.name.split('/').map(encode).collect();
    let carried = past.map_or(Parameters::default(), |at| Parameters::default().with("at", at));
    let path = format!("{}/{}", document(db, id), name.join("/"));
    let to = carried.on(&path);
    html.tag("<li>").link(&to, info.name.as_bytes()).tag(" <bdi>").text(info.content_type.as_bytes());
    html.tag("</bdi> ").text(bytes(info.length())).tag(" ");
    if past.is_none() {
        let sure = format!("Remove {}? It stays in the past.", info.name);
        let about = [About::Sure(&sure), About::Then(&in_console(db, id)), About::Said("The file was removed.")];
        let gone = Parameters::default().with("rev", rev).on(&path);
        form::button("DELETE", &gone, &about, ("", "Remove"), html);
    }
    if PICTURES.contains(&info.content_type.as_str()) {
        html.tag("<br><img loading=\"lazy\" alt=\"").text(info.name.as_bytes()).tag("\" src=\"").to(&to).tag("\">");
    }
    html.tag("</li>\n");
}
