//! The settings of the server, by CouchDB's names: those that have an effect and whatever else was put there. For
//! server admins.

use super::export_links;
use super::form::{self, About};
use super::frame::{Frame, table, table_end};
use crate::answer::Answer;
use crate::auth::Session;
use crate::error::Result;
use crate::html::writer::Html;
use crate::http::node_config::is_secret;
use crate::request::Request;
use crate::route::encode;

const CONFIG: &str = "/_node/_local/_config";

/// `/_utils/-/settings`
pub(super) fn page(request: &Request, session: &Session) -> Result<Answer> {
    session.server_admin()?;
    let live = request.app.settings.live();
    let mut frame = Frame::begin(request, session, "Settings", None, "Settings", false);
    let html = &mut frame.html;
    html.tag("<p>What is changed here holds at once, is kept in the store, and wins over the configuration's file. ");
    html.tag("<strong>As configured</strong> takes it back.</p>\n");
    for (section, values) in &live.sections {
        if section == "admins" {
            continue;
        }
        let shown: Vec<_> = values.iter().filter(|(key, _)| !is_secret(section, key)).collect();
        if shown.is_empty() {
            continue;
        }
        html.tag("<h2><code>").text(section).tag("</code></h2>\n");
        table("Settings", &["Setting", "Value"], html);
        for (key, value) in shown {
            setting((section, key, value), request.app.settings.is_changed(section, key), html);
        }
        table_end(html);
    }
    html.tag("<details class=\"new\"><summary>Another setting</summary>");
    let about = [About::Text, About::Said("The setting holds now.")];
    form::begin("PUT", &format!("{CONFIG}/{{section}}/{{key}}"), &about, html);
    html.tag("<div class=\"fields\">");
    form::field("Section", "name=\"section\" required autocomplete=\"off\" placeholder=\"cors\"", "", html);
    form::field("Name", "name=\"key\" required autocomplete=\"off\" placeholder=\"origins\"", "", html);
    form::field("Value", "name=\"body\" autocomplete=\"off\"", "", html);
    html.tag("</div>");
    form::end("Set it", html);
    html.tag("</details>\n<p>").link("/_utils/-/users", "Server admins are among the users.").tag("</p>\n");
    export_links::of_endpoint("/_node/_local/_config", html);
    Ok(frame.end())
}

fn setting((section, key, value): (&str, &str, &str), is_changed: bool, html: &mut Html) {
    let to = format!("{CONFIG}/{}/{}", encode(section), encode(key));
    html.tag("<tr><th scope=\"row\"><code>").text(key).tag("</code></th><td class=\"setting\">");
    form::begin("PUT", &to, &[About::Text, About::Said("The setting holds now.")], html);
    html.tag("<input name=\"body\" autocomplete=\"off\" aria-label=\"").text(key).tag("\" value=\"").text(value);
    html.tag("\"> <button>Set</button></form> ");
    if is_changed {
        form::button("DELETE", &to, &[About::Said("It is as configured again.")], ("", "As configured"), html);
    }
    html.tag("</td></tr>\n");
}
