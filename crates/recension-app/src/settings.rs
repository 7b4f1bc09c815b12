//! Settings that can be changed while the server runs, by CouchDB's names: `_node/_local/_config`. A changed setting is
//! kept in the store and wins over the configuration file; a deleted one falls back to the file. Only settings that
//! [`Live`] reads have an effect (`setting_names.rs`).

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use http::{HeaderName, Method};
use parking_lot::Mutex;

use crate::config::{Config, Cors};
use crate::cors;
use crate::identity::admins::Admins;
use crate::identity::jwt::Keys;
use crate::logs;
use crate::request_log::RequestLog;
use crate::setting_names::{AUTH, COOKIE};
use crate::uuids::Algorithm;
use recension_wire::error::{ApiError, Result};
use recension_wire::limits::{
    FUNCTION_MILLIS, FUNCTION_MILLIS_MAX, PASSWORD_ITERATIONS, PASSWORD_ITERATIONS_MAX, REQUEST_BYTES_CEILING,
    SESSION_SECONDS, SESSION_SECONDS_MAX, SETTING_BYTES_MAX, SETTINGS_BYTES_MAX,
};

/// Values by section and key.
pub type Sections = BTreeMap<String, BTreeMap<String, String>>;

/// The note of the server's own that holds the changed settings.
pub const NOTE: &str = "settings";

/// The note that holds the key of the cookies.
pub(crate) const SECRET_NOTE: &str = "secret";

/// The values of the settings.
#[derive(Debug)]
#[allow(clippy::struct_excessive_bools)] // each is a setting of its own
pub struct Live {
    /// All of them, as they are shown.
    pub sections: Sections,
    pub admins: Admins,
    pub cors: Arc<Cors>,
    pub jwt: Keys,
    pub max_document_size: usize,
    pub max_request_size: usize,
    /// Whether everybody needs a name.
    pub(crate) require_valid_user: bool,
    /// Whether `/_up` is excepted from that.
    pub(crate) except_for_up: bool,
    /// Whether `_security` of `_users` may be changed.
    pub users_security_editable: bool,
    pub(crate) session_seconds: u64,
    /// Whether cookies outlive the browser's window.
    pub(crate) persistent_cookies: bool,
    pub(crate) same_site: Option<&'static str>,
    /// The key that signs cookies.
    pub secret: String,
    pub password_iterations: NonZeroU32,
    /// How long a request to a function of a design document may run.
    pub function_deadline: Duration,
    /// The filter of what is logged.
    pub log: String,
    /// The form of the log of requests; `None`: there is none.
    pub log_requests: Option<RequestLog>,
    /// How `/_uuids` makes ids.
    pub uuids: Algorithm,
}

impl Live {
    /// Reads all of it. Pure.
    ///
    /// # Errors
    /// 400 for a value that its setting cannot have.
    fn of(config: &Config, stored: &Sections, secret: &str) -> Result<Self> {
        let mut sections = defaults(config);
        let mut set = config_sections(config);
        for (section, values) in stored {
            set.entry(section.clone()).or_default().extend(values.clone());
        }
        for (section, values) in &set {
            sections.entry(section.clone()).or_default().extend(values.clone());
        }
        let admins = Admins::of(&config.admins, stored.get("admins"), secret)?;
        sections.remove("admins");
        if !admins.is_empty() {
            sections.insert("admins".to_owned(), admins.shown());
        }
        let read = Reader { set: &set, sections: &sections };
        let secret = match read.text(&COOKIE, "secret") {
            // Anybody could sign a cookie.
            Some("") => return Err(wrong(&COOKIE, "secret", "a text that is not empty")),
            put => put.unwrap_or(secret).to_owned(),
        };
        Ok(Live {
            cors: Arc::new(read.cors(&config.cors)?),
            jwt: Keys::of(sections.get("jwt_keys"), sections.get("jwt_auth"))?,
            max_document_size: read.number(&["couchdb"], "max_document_size", REQUEST_BYTES_CEILING)?,
            max_request_size: read.number(&["chttpd"], "max_http_request_size", REQUEST_BYTES_CEILING)?,
            require_valid_user: read.flag(&AUTH, "require_valid_user", false)?,
            except_for_up: read.flag(&AUTH, "require_valid_user_except_for_up", false)?,
            users_security_editable: read.flag(&["couchdb"], "users_db_security_editable", false)?,
            session_seconds: read.number(&COOKIE, "timeout", SESSION_SECONDS_MAX)?,
            persistent_cookies: read.flag(&COOKIE, "allow_persistent_cookies", true)?,
            same_site: read.same_site()?,
            password_iterations: read.number(&COOKIE, "iterations", PASSWORD_ITERATIONS_MAX)?,
            function_deadline: Duration::from_millis(read.number(
                &["couchdb"],
                "os_process_timeout",
                FUNCTION_MILLIS_MAX,
            )?),
            log: read.log()?,
            log_requests: config.log_requests,
            uuids: read.uuids()?,
            secret,
            admins,
            sections,
        })
    }
}

/// The setting of what is logged.
pub(crate) const LOG: (&str, &str) = ("log", "level");

/// The values of settings that nobody has set.
fn defaults(config: &Config) -> Sections {
    let cors = &config.cors;
    let mut sections = Sections::new();
    let mut set = |section: &str, key: &str, value: String| {
        sections.entry(section.to_owned()).or_default().insert(key.to_owned(), value);
    };
    set("chttpd", "port", config.listen.port().to_string());
    set("chttpd", "bind_address", config.listen.ip().to_string());
    set("chttpd", "max_http_request_size", config.max_request_size.to_string());
    set("chttpd", "enable_cors", cors.enabled.to_string());
    set("couchdb", "max_document_size", config.max_document_size.to_string());
    set("couchdb", "os_process_timeout", FUNCTION_MILLIS.to_string());
    set("chttpd_auth", "timeout", SESSION_SECONDS.to_string());
    set("chttpd_auth", "iterations", PASSWORD_ITERATIONS.to_string());
    set(LOG.0, LOG.1, config.log.clone());
    set("cors", "origins", cors.origins.join(", "));
    set("cors", "methods", cors.methods.join(", "));
    set("cors", "headers", cors.headers.join(", "));
    set("cors", "credentials", cors.credentials.to_string());
    set("cors", "max_age", cors.max_age.to_string());
    sections
}

/// The values of the configuration.
fn config_sections(config: &Config) -> Sections {
    let own = config.settings.iter();
    own.map(|(section, values)| {
        let values = values.iter().map(|(key, value)| (key.clone(), value.0.clone()));
        (section.clone(), values.collect())
    })
    .collect()
}

/// Reads values. If several sections have one, the first section counts in which somebody has set it, under an older
/// name too: a default counts last.
struct Reader<'s> {
    set: &'s Sections,
    /// With the defaults.
    sections: &'s Sections,
}

impl<'s> Reader<'s> {
    fn text(&self, sections: &[&str], key: &str) -> Option<&'s str> {
        let of = |all: &'s Sections| sections.iter().find_map(|section| all.get(*section)?.get(key));
        of(self.set).or_else(|| of(self.sections)).map(|value| value.trim())
    }

    fn flag(&self, sections: &[&str], key: &str, default: bool) -> Result<bool> {
        match self.text(sections, key) {
            None | Some("") => Ok(default),
            Some("true") => Ok(true),
            Some("false") => Ok(false),
            Some(_) => Err(wrong(sections, key, "true or false")),
        }
    }

    /// A number from 1. All of them have a default.
    fn number<N: std::str::FromStr + PartialOrd>(
        &self,
        sections: &[&str],
        key: &str,
        max: impl TryInto<N>,
    ) -> Result<N> {
        let number = self.text(sections, key).and_then(|text| text.parse::<N>().ok());
        let positive =
            self.text(sections, key).is_some_and(|text| text.bytes().any(|digit| matches!(digit, b'1'..=b'9')));
        match (number, max.try_into()) {
            (Some(number), Ok(max)) if positive && number <= max => Ok(number),
            _ => Err(wrong(sections, key, "a number from 1, and within the server's bounds")),
        }
    }

    fn same_site(&self) -> Result<Option<&'static str>> {
        match self.text(&COOKIE, "same_site").unwrap_or("lax").to_ascii_lowercase().as_str() {
            "lax" => Ok(Some("Lax")),
            "strict" => Ok(Some("Strict")),
            "none" => Ok(Some("None")),
            "" => Ok(None),
            _ => Err(wrong(&COOKIE, "same_site", "lax, strict or none")),
        }
    }

    fn uuids(&self) -> Result<Algorithm> {
        let section = ["uuids"];
        match self.text(&section, "algorithm").unwrap_or("random") {
            "random" => Ok(Algorithm::Random),
            "sequential" => Ok(Algorithm::Sequential),
            "utc_random" => Ok(Algorithm::UtcRandom),
            "utc_id" => Ok(Algorithm::UtcId(self.text(&section, "utc_id_suffix").unwrap_or_default().to_owned())),
            _ => Err(wrong(&section, "algorithm", "random, sequential, utc_random or utc_id")),
        }
    }

    fn log(&self) -> Result<String> {
        let filter = logs::filter_of(self.text(&[LOG.0], LOG.1).unwrap_or_default());
        logs::check(filter).map_err(|reason| ApiError::bad_request(format!("{}/{}: {reason}", LOG.0, LOG.1)))?;
        Ok(filter.to_owned())
    }

    fn cors(&self, configured: &Cors) -> Result<Cors> {
        let list = |key: &str, allowed: fn(&str) -> bool, expected: &str| -> Result<Vec<String>> {
            let items = self.text(&["cors"], key).unwrap_or_default().split(',').map(str::trim);
            let items: Vec<String> = items.filter(|item| !item.is_empty()).map(str::to_owned).collect();
            match items.iter().find(|item| !allowed(item)) {
                Some(wrong) => Err(ApiError::bad_request(format!("cors/{key} has {wrong:?}: {expected}"))),
                None => Ok(items),
            }
        };
        let enabled = self.flag(&["chttpd"], "enable_cors", configured.enabled)?;
        Ok(Cors {
            enabled: self.flag(&["httpd"], "enable_cors", enabled)? || enabled,
            origins: list("origins", cors::may_be_an_origin, cors::ORIGINS)?,
            methods: list("methods", |method| Method::from_bytes(method.as_bytes()).is_ok(), "no name of a method")?,
            headers: list("headers", |name| HeaderName::from_bytes(name.as_bytes()).is_ok(), "no name of a header")?,
            credentials: self.flag(&["cors"], "credentials", configured.credentials)?,
            max_age: self.number(&["cors"], "max_age", u64::MAX)?,
        })
    }
}

/// Settings of which servers kept any text before they read it.
const ONCE_UNREAD: [(&str, &str); 8] = [
    LOG,
    ("cors", "origins"),
    ("cors", "methods"),
    ("cors", "headers"),
    ("chttpd_auth", "secret"),
    ("couch_httpd_auth", "secret"),
    ("couch_httpd_auth", "timeout"),
    ("couch_httpd_auth", "iterations"),
];

/// Takes away stored values of these that cannot be understood: a server must start.
fn forget_unreadable(stored: &mut Sections) {
    for (section, key) in ONCE_UNREAD {
        let Some(value) = stored.get(section).and_then(|values| values.get(key)).cloned() else { continue };
        let alone = Sections::from([(section.to_owned(), BTreeMap::from([(key.to_owned(), value)]))]);
        if let Err(error) = Live::of(&Config::default(), &alone, "") {
            tracing::warn!(reason = %error.reason, "the stored setting {section}/{key} does not read and is left out");
            stored.entry(section.to_owned()).or_default().remove(key);
        }
    }
    stored.retain(|_, values| !values.is_empty());
}

fn wrong(sections: &[&str], key: &str, expected: &str) -> ApiError {
    let section = sections.first().copied().unwrap_or_default();
    ApiError::bad_request(format!("{section}/{key} is {expected}"))
}

/// The settings, and which of them were changed.
pub struct Settings {
    live: ArcSwap<Live>,
    held: Mutex<Held>,
    made_secret: String,
}

/// The settings that the store keeps.
fn read(text: Option<&str>) -> Result<Sections> {
    let stored = text.map_or_else(|| Ok(Sections::new()), serde_json::from_str);
    let mut stored = stored.map_err(|_| ApiError::bad_request("the stored settings do not read"))?;
    forget_unreadable(&mut stored);
    Ok(stored)
}

/// The sources of the settings.
struct Held {
    config: Config,
    stored: Sections,
    /// The text that the store had last.
    text: Option<String>,
    /// [`Config::alike`] of the configuration.
    alike: Arc<str>,
}

impl std::fmt::Debug for Settings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Settings")
    }
}

impl Settings {
    /// The settings of a store, above those of the configuration. `text` and `made_secret` are the store's notes of
    /// them.
    ///
    /// # Errors
    /// 400 for a value that its setting cannot have.
    pub fn of(config: &Config, text: Option<String>, made_secret: String) -> Result<Self> {
        let stored = read(text.as_deref())?;
        let live = Live::of(config, &stored, &made_secret)?;
        // The program has begun to log as the configuration says.
        if live.log != logs::filter_of(&config.log) {
            logs::set(&live.log);
        }
        Ok(Settings {
            live: ArcSwap::from_pointee(live),
            held: Mutex::new(Held { config: config.clone(), stored, text, alike: config.alike().into() }),
            made_secret,
        })
    }

    /// The present values.
    pub fn live(&self) -> Arc<Live> {
        self.live.load_full()
    }

    /// From now on these are the values.
    fn hold(&self, live: Live) {
        let live = Arc::new(live);
        let before = self.live.swap(Arc::clone(&live));
        if before.log != live.log {
            logs::set(&live.log);
        }
    }

    /// Whether a value was changed, and can be taken back.
    pub fn is_changed(&self, section: &str, key: &str) -> bool {
        self.held.lock().stored.get(section).is_some_and(|values| values.contains_key(key))
    }

    /// Changes a value, or takes it back to what the configuration says; effective when it returns, and durable by
    /// then, which is what `keep` does with the store's note. Returns what it was. It waits for the disk.
    ///
    /// # Errors
    /// 400 for a value that its setting cannot have, and if there are too many settings; 404 if there is nothing to
    /// delete.
    pub fn set(
        &self,
        keep: impl FnOnce(&str) -> Result<()>,
        (section, key): (&str, &str),
        value: Option<&str>,
    ) -> Result<String> {
        let mut held = self.held.lock();
        let before = self.live().sections.get(section).and_then(|values| values.get(key)).cloned();
        let mut stored = held.stored.clone();
        match value {
            Some(value) if value.len() <= SETTING_BYTES_MAX => {
                stored.entry(section.to_owned()).or_default().insert(key.to_owned(), value.to_owned());
            }
            Some(_) => return Err(ApiError::bad_request(format!("a setting has at most {SETTING_BYTES_MAX} bytes"))),
            None => {
                let taken = stored.get_mut(section).and_then(|values| values.remove(key));
                if taken.is_none() {
                    return Err(match before {
                        Some(_) => ApiError::bad_request("the server's configuration says so; change it there"),
                        None => ApiError::unknown_config_value(),
                    });
                }
                stored.retain(|_, values| !values.is_empty());
            }
        }
        let live = Live::of(&held.config, &stored, &self.made_secret)?;
        if section == "admins" {
            held.config.keeps_an_admin(&live)?;
        }
        let text = serde_json::to_string(&stored).map_err(|_| ApiError::bad_json())?;
        if text.len() > SETTINGS_BYTES_MAX {
            return Err(ApiError::bad_request(format!("settings have at most {SETTINGS_BYTES_MAX} bytes together")));
        }
        keep(&text)?;
        self.hold(live);
        (held.stored, held.text) = (stored, Some(text));
        Ok(before.unwrap_or_default())
    }
}

impl Settings {
    /// Applies another configuration, below the changed settings. Addresses and `admin_party` stay as they were.
    ///
    /// # Errors
    /// 400 for a value that its setting cannot have; 403 if no server admin would be left. After an error nothing has
    /// changed.
    pub fn reload(&self, config: &Config) -> Result<()> {
        let mut held = self.held.lock();
        // Whether there is TLS is asked of the configuration at the start.
        let Config { listen, tls_certificate, admin_party, .. } = held.config.clone();
        let config = Config { listen, tls_certificate, admin_party, ..config.clone() };
        let live = Live::of(&config, &held.stored, &self.made_secret)?;
        config.keeps_an_admin(&live)?;
        self.hold(live);
        held.alike = config.alike().into();
        held.config = config;
        Ok(())
    }

    /// Which configurations would answer like this one: [`Config::alike`].
    pub fn alike(&self) -> Arc<str> {
        Arc::clone(&self.held.lock().alike)
    }

    /// Takes in what another process of the store has changed: `note` reads what it keeps. Returns whether something
    /// was.
    ///
    /// # Errors
    /// 400 if the stored settings do not read; those of `note`. After an error nothing has changed.
    pub fn follow(&self, note: impl FnOnce() -> Result<Option<String>>) -> Result<bool> {
        let mut held = self.held.lock();
        let text = note()?;
        if text == held.text {
            return Ok(false);
        }
        let stored = read(text.as_deref())?;
        self.hold(Live::of(&held.config, &stored, &self.made_secret)?);
        (held.stored, held.text) = (stored, text);
        Ok(true)
    }
}

impl Config {
    /// Refuses settings by which nobody could administer the server any more.
    fn keeps_an_admin(&self, live: &Live) -> Result<()> {
        if live.admins.is_empty() && !self.admin_party {
            return Err(ApiError::forbidden("This is the last server admin. Make another one first."));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A known setting is one that [`Live`] refuses nonsense for, or that is any text.
    #[test]
    fn settings_that_have_an_effect_are_known() {
        use crate::setting_names::{KNOWN, is_known};
        let texts = ["secret", "required_claims", "required_typ", "roles_claim_name", "utc_id_suffix"];
        for (section, key) in KNOWN.into_iter().filter(|(_, key)| !texts.contains(key) && *key != "roles_claim_path") {
            let wrong = Live::of(&Config::default(), &stored(&[(section, key, "no such value")]), "");
            assert!(wrong.is_err(), "{section}/{key} has no effect");
        }
        assert!(is_known("couch_httpd_auth", "timeout") && is_known("chttpd_auth", "require_valid_user"));
        assert!(!is_known("chttpd", "port") && !is_known("couchdb", "delayed_commits") && !is_known("cors", "timeout"));
    }

    fn stored(triples: &[(&str, &str, &str)]) -> Sections {
        let mut sections = Sections::new();
        for (section, key, value) in triples {
            sections.entry((*section).to_owned()).or_default().insert((*key).to_owned(), (*value).to_owned());
        }
        sections
    }

    #[test]
    fn a_list_of_other_sites_that_no_page_is_of_is_refused() {
        let put = |key: &str, value: &str| Live::of(&Config::default(), &stored(&[("cors", key, value)]), "");
        for (key, value) in [
            ("origins", "*"),
            ("origins", "app://obsidian.md,capacitor://localhost,http://localhost, https://a.example:8080"),
            ("origins", "null, file://, http://[::1]:5984"),
            ("origins", ""),
            ("methods", "GET, PUT"),
            ("headers", "accept, x-own"),
        ] {
            assert!(put(key, value).is_ok(), "{key}: {value}");
        }
        for (key, value, named) in [
            ("origins", "http://a.example http://b.example", "\"http://a.example http://b.example\""),
            ("origins", "http://a.example, b.example", "\"b.example\""),
            ("origins", "http://a.example/", "\"http://a.example/\""),
            ("origins", "https://*.example", "\"https://*.example\""),
            ("origins", "http://a@b.example", "\"http://a@b.example\""),
            ("origins", "://a.example", "\"://a.example\""),
            ("methods", "GET POST", "\"GET POST\""),
            ("headers", "accept\nx-own", "\"accept\\nx-own\""),
        ] {
            let error = put(key, value).map(|_| ()).expect_err(value);
            assert!(error.reason.contains(named) && error.reason.contains(&format!("cors/{key}")), "{}", error.reason);
        }
        let mut kept = stored(&[("cors", "origins", "x y"), ("cors", "headers", "accept")]);
        forget_unreadable(&mut kept);
        assert_eq!(kept, stored(&[("cors", "headers", "accept")]), "a server with it must start");
    }

    #[test]
    fn what_was_put_wins_over_the_file_which_wins_over_defaults() {
        let mut config = Config::default();
        let live = Live::of(&config, &Sections::new(), "made").unwrap();
        assert_eq!((live.require_valid_user, live.session_seconds, live.secret.as_str()), (false, 600, "made"));
        config.settings = toml::from_str("[chttpd]\nrequire_valid_user = true\n[chttpd_auth]\ntimeout = 60\n").unwrap();
        let live = Live::of(
            &config,
            &stored(&[("chttpd_auth", "timeout", "7"), ("cors", "origins", "http://a, http://b")]),
            "",
        )
        .unwrap();
        assert_eq!((live.require_valid_user, live.session_seconds), (true, 7));
        assert_eq!(live.cors.origins, ["http://a", "http://b"]);
    }

    #[test]
    fn what_is_set_under_an_older_name_wins_over_a_default() {
        let older = |key, value| Live::of(&Config::default(), &stored(&[("couch_httpd_auth", key, value)]), "");
        assert_eq!(older("timeout", "60").unwrap().session_seconds, 60);
        assert_eq!(older("iterations", "1000").unwrap().password_iterations.get(), 1000);
        assert!(older("timeout", "soon").is_err());
        let settings = toml::from_str("[couch_httpd_auth]\ntimeout = 60\n").unwrap();
        let config = Config { settings, ..Config::default() };
        assert_eq!(Live::of(&config, &Sections::new(), "").unwrap().session_seconds, 60);
        let newer = stored(&[("chttpd_auth", "timeout", "7")]);
        assert_eq!(Live::of(&config, &newer, "").unwrap().session_seconds, 7);
    }

    #[test]
    fn what_a_setting_cannot_be_is_refused() {
        for (section, key, value) in [
            ("couchdb", "max_document_size", "many"),
            ("couchdb", "max_document_size", "0"),
            ("couchdb", "max_document_size", "99999999999999999999"),
            ("chttpd", "require_valid_user", "yes"),
            ("chttpd_auth", "same_site", "x"),
            ("chttpd_auth", "iterations", "4000000000"),
            ("chttpd_auth", "secret", " "),
            ("couch_httpd_auth", "secret", ""),
            ("jwt_keys", "hmac:a", "%"),
            ("jwt_keys", "rsa:a", "x"),
            ("jwt_keys", "dsa:a", "x"),
            ("log", "level", "loud"),
        ] {
            let live = Live::of(&Config::default(), &stored(&[(section, key, value)]), "");
            assert_eq!(live.err().map(|error| error.status.as_u16()), Some(400), "{section}/{key} = {value}");
        }
        assert!(Live::of(&Config::default(), &stored(&[("any", "thing", "x")]), "").is_ok());
    }

    #[test]
    fn what_was_kept_before_it_was_read_is_forgotten() {
        let mut older = stored(&[("couch_httpd_auth", "timeout", "soon"), ("chttpd_auth", "secret", "")]);
        forget_unreadable(&mut older);
        assert!(older.is_empty());
        let mut both = stored(&[("log", "level", "loud"), ("log", "file", "x")]);
        forget_unreadable(&mut both);
        assert_eq!(both, stored(&[("log", "file", "x")]));
        let mut level = stored(&[("log", "level", "warning")]);
        forget_unreadable(&mut level);
        assert_eq!(Live::of(&Config::default(), &level, "").unwrap().log, "warn");
    }
}
