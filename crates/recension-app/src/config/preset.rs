//! Presets: what the users of a program are told to set up, as one flag. Pure.

use clap::ValueEnum;

use super::{Config, SettingText};

/// A program whose users are told what to set up.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Preset {
    /// Self-hosted `LiveSync` of Obsidian: everybody needs a name, the app's pages may ask, and documents may be long
    ObsidianLivesync,
}

/// The origins of Obsidian's app on desktops and phones.
const OBSIDIAN: [&str; 3] = ["app://obsidian.md", "capacitor://localhost", "http://localhost"];

impl Preset {
    /// Puts it over a configuration; flags win over it.
    pub(super) fn apply(self, config: &mut Config) {
        let Preset::ObsidianLivesync = self;
        config.cors.enabled = true;
        config.cors.origins = OBSIDIAN.map(str::to_owned).to_vec();
        config.cors.credentials = true;
        // What its set-up script sets, and its plugin checks.
        for (section, key, value) in [
            ("chttpd", "require_valid_user", "true"),
            ("chttpd_auth", "require_valid_user", "true"),
            ("chttpd", "max_http_request_size", "4294967296"),
            ("couchdb", "max_document_size", "50000000"),
        ] {
            let value = SettingText(value.to_owned());
            config.settings.entry(section.to_owned()).or_default().insert(key.to_owned(), value);
        }
    }
}
