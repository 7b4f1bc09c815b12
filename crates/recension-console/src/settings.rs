//! The settings of the server, by CouchDB's names: those that have an effect and whatever else was put there. For
//! server admins.

use std::collections::BTreeMap;

use minijinja::{Value, context};

use super::frame::Frame;
use recension_app::auth::Session;
use recension_app::request::Request;
use recension_app::setting_names::{KNOWN, OF_START, is_known};
use recension_endpoints::node_config::is_secret;
use recension_wire::answer::Answer;
use recension_wire::error::Result;

/// `/_utils/-/settings`
pub(super) fn page(request: &Request, session: &Session) -> Result<Answer> {
    session.server_admin()?;
    let live = request.app.settings.live();
    // Those that nobody has set are shown, too: a name is chosen, and never typed.
    let mut sections = live.sections.clone();
    for (section, key) in KNOWN {
        sections.entry(section.to_owned()).or_default().entry(key.to_owned()).or_default();
    }
    let setting = |section: &str, key: &str, value: &str| {
        context! {
            key, value, known => is_known(section, key), of_start => OF_START.contains(&(section, key)),
            changed => request.app.settings.is_changed(section, key),
        }
    };
    let shown = |(section, values): (&String, &BTreeMap<String, String>)| {
        let shown = values.iter().filter(|(key, _)| !is_secret(section, key));
        let settings: Vec<Value> = shown.map(|(key, value)| setting(section, key, value)).collect();
        (section != "admins" && !settings.is_empty()).then(|| context! { name => section, settings })
    };
    let values = context! { sections => sections.iter().filter_map(shown).collect::<Vec<_>>() };
    Ok(Frame::begin(request, session, "Settings", None, "Settings", false).page("settings", values))
}
