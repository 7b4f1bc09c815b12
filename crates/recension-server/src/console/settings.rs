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
use crate::setting_names::{KNOWN, OF_START, is_known};

const CONFIG: &str = "/_node/_local/_config";

/// `/_utils/-/settings`
pub(super) fn page(request: &Request, session: &Session) -> Result<Answer> {
    session.server_admin()?;
    let live = request.app.settings.live();
    let mut frame = Frame::begin(request, session, "Settings", None, "Settings", false);
    let html = &mut frame.html;
    html.tag("<p>What is changed here holds at once, is kept in the store, and wins over the configuration's file. ");
    html.tag("<strong>As configured</strong> takes it back.</p>\n");
    // Those that nobody has set are shown, too: a name is chosen, and never typed.
    let mut sections = live.sections.clone();
    for (section, key) in KNOWN {
        sections.entry(section.to_owned()).or_default().entry(key.to_owned()).or_default();
    }
    for (section, values) in &sections {
        let shown: Vec<_> = values.iter().filter(|(key, _)| !is_secret(section, key)).collect();
        if section == "admins" || shown.is_empty() {
            continue;
        }
        html.tag("<h2><code>").text(section).tag("</code></h2>\n");
        table("Settings", &["Setting", "Value", "Takes effect"], html);
        for (key, value) in shown {
            setting((section, key, value), request.app.settings.is_changed(section, key), html);
        }
        table_end(html);
    }
    html.tag("<p>").link("/_utils/-/users", "Server admins are among the users.").tag("</p>\n");
    export_links::of_endpoint("/_node/_local/_config", html);
    Ok(frame.end())
}

fn setting((section, key, value): (&str, &str, &str), is_changed: bool, html: &mut Html) {
    let to = format!("{CONFIG}/{}/{}", encode(section), encode(key));
    html.tag("<tr><th scope=\"row\"><code>").text(key).tag("</code></th><td class=\"setting\">");
    let (is_of_start, is_known) = (OF_START.contains(&(section, key)), is_known(section, key));
    if is_known {
        form::begin("PUT", &to, &[About::Text, About::Said("The setting holds now.")], html);
        html.tag("<input name=\"body\" autocomplete=\"off\" aria-label=\"")
            .text(key)
            .tag("\" placeholder=\"not set\" value=\"")
            .text(value);
        html.tag("\"> <button>Set</button></form> ");
    } else {
        html.tag("<code>").text(value).tag("</code> ");
    }
    if is_changed {
        form::button("DELETE", &to, &[About::Said("It is as configured again.")], ("", "As configured"), html);
    }
    html.tag(match (is_known, is_of_start) {
        (true, _) => "</td><td>at once</td></tr>\n",
        (_, true) => "</td><td>after a restart: change it in the configuration</td></tr>\n",
        _ => "</td><td><strong>never</strong>: a setting of CouchDB, which means nothing here</td></tr>\n",
    });
}
