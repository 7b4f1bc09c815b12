//! The configuration: flags, then the environment, then a TOML file, then defaults; each wins over the ones after it.
//! `recension config` prints the result.

mod alike;
mod apocrypha;
pub mod file;
pub mod flags;
mod preset;
mod redis;
pub(crate) mod schedule;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use recension::engine::{Address, Engine};
use recension_engines::{KeySource, Sharing};
use recension_remote::network::Token as EngineToken;
use serde::{Deserialize, Serialize};

pub use self::apocrypha::ApocryphaSection;
pub use self::flags::ServeFlags;
pub use self::preset::Preset;
pub use self::redis::RedisSection;
use self::schedule::{Kept, Schedule};
pub use crate::request_log::RequestLog;
use recension_wire::limits;

/// What a server needs to know. Its TOML form has the same names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The store: a directory, `sqlite:FILE` or `memory:`.
    pub store: String,
    /// A file with the key of an encrypted store: 64 hexadecimal digits, or base64.
    pub key_file: Option<PathBuf>,
    /// A command that prints as much.
    pub key_command: Option<String>,
    /// A file with the passphrase of an encrypted store.
    pub passphrase_file: Option<PathBuf>,
    /// The file of the keys of an encrypted store's collections, if it is not in the store's folder.
    pub collection_keys: Option<PathBuf>,
    /// Where to listen; port 0 takes a free one.
    pub listen: SocketAddr,
    /// A unix socket to listen on too.
    pub unix_socket: Option<PathBuf>,
    /// A certificate chain and its key, as PEM files: then `listen` speaks TLS.
    pub tls_certificate: Option<PathBuf>,
    /// The key of the certificate.
    pub tls_key: Option<PathBuf>,
    /// Server admins, `name:password` each.
    #[serde(skip_serializing)]
    pub admins: Vec<String>,
    /// What is logged: `error`, `warn`, `info`, `debug`, or a filter of `tracing`.
    pub log: String,
    /// Logs as JSON, one object a line.
    pub log_json: bool,
    /// The form of the log of requests; without it there is none.
    pub log_requests: Option<RequestLog>,
    /// Longest document, in bytes.
    pub max_document_size: usize,
    /// Longest request body that is read into memory, in bytes.
    pub max_request_size: usize,
    /// Bytes of requests' bodies that may be in memory, of all requests together.
    pub max_body_memory: usize,
    /// Bytes of streamed answers that may be in memory, of all answers together: made, and not sent yet.
    pub max_list_memory: usize,
    /// Threads that make the pieces of streamed answers.
    pub list_threads: usize,
    /// Connections at a time.
    pub max_connections: usize,
    /// Seconds for a request's head to arrive.
    pub head_seconds: u64,
    /// Seconds without a byte of a body after which a request is given up.
    pub body_idle_seconds: u64,
    /// Seconds that requests have to finish when the server stops.
    pub shutdown_seconds: u64,
    /// Seconds in which a client has to take something of its answer.
    pub reader_seconds: u64,
    /// The program that is started to run functions of design documents, with its arguments. It calls
    /// `recension_script::run_worker`. Empty: no functions are run.
    #[serde(skip)]
    pub script_worker: Vec<String>,
    /// CORS.
    pub cors: Cors,
    /// Whether everybody is server admin as long as there are none. On loopback only.
    pub admin_party: bool,
    /// A listener of Apocrypha beside HTTP's.
    pub apocrypha: ApocryphaSection,
    /// A port at which other machines' programs open the store itself: `recension --store recension://HOST:PORT`.
    pub engine: EngineSection,
    /// Backups that the server makes by itself.
    pub backups: BackupsSection,
    /// A listener for clients of Redis beside HTTP's.
    pub redis: RedisSection,
    /// Settings by CouchDB's sections and names, as `_node/_local/_config` takes them: `[settings.chttpd]`. Those that
    /// are secrets are not printed.
    #[serde(serialize_with = "without_secrets")]
    pub settings: BTreeMap<String, BTreeMap<String, SettingText>>,
}

/// A setting's value: a text, which a file may give as a number or as `true` and `false` too.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "AnyScalar")]
pub struct SettingText(pub String);

#[derive(Deserialize)]
#[serde(untagged)]
enum AnyScalar {
    Bool(bool),
    Number(i64),
    Text(String),
}

impl From<AnyScalar> for SettingText {
    fn from(value: AnyScalar) -> Self {
        SettingText(match value {
            AnyScalar::Bool(value) => value.to_string(),
            AnyScalar::Number(value) => value.to_string(),
            AnyScalar::Text(value) => value,
        })
    }
}

fn without_secrets<S: serde::Serializer>(
    settings: &BTreeMap<String, BTreeMap<String, SettingText>>,
    to: S,
) -> Result<S::Ok, S::Error> {
    let mut shown = settings.clone();
    shown.retain(|section, _| section != "jwt_keys" && section != "admins");
    for values in shown.values_mut() {
        values.remove("secret");
    }
    shown.serialize(to)
}

/// A port for the store itself, with the same certificate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EngineSection {
    /// The address; without it there is no port. Beyond loopback it needs a certificate.
    pub listen: Option<SocketAddr>,
    /// What those may say who use it, in place of a server admin's name and password: they may read and write
    /// everything.
    #[serde(skip_serializing)]
    pub token: Option<String>,
}

impl EngineSection {
    /// Where to listen, and the token that is taken there.
    ///
    /// # Errors
    /// If the token can be none.
    pub fn place(&self) -> Result<Option<(SocketAddr, Option<EngineToken>)>, ConfigError> {
        let Some(listen) = self.listen else { return Ok(None) };
        let bad = || ConfigError {
            message: "the token of the engine's port has 16 to 2048 bytes: set RECENSION_ENGINE_TOKEN".to_owned(),
        };
        let token = self.token.as_deref().map(|token| EngineToken::new(token).ok_or_else(bad)).transpose()?;
        Ok(Some((listen, token)))
    }
}

/// Backups that the server makes by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BackupsSection {
    /// The folder that they are in; without it there are none.
    pub folder: Option<PathBuf>,
    /// When, and which are kept: `every hour, kept for a day`. It stands instead of the two that follow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule: Option<String>,
    /// Seconds from one to the next.
    pub every_seconds: u64,
    /// How many of the newest are kept.
    pub keep: usize,
}

impl BackupsSection {
    /// The schedule.
    pub fn schedule(&self) -> Result<Schedule, &'static str> {
        let Some(said) = &self.schedule else {
            if self.keep == 0 || self.every_seconds == 0 {
                return Err("backups: keep and every_seconds are numbers from 1 on");
            }
            let every = Duration::from_secs(self.every_seconds);
            return Ok(Schedule { every, kept: Kept::Newest(self.keep) });
        };
        let usual = BackupsSection::default();
        if (self.keep, self.every_seconds) != (usual.keep, usual.every_seconds) {
            return Err("backups: schedule stands instead of every_seconds and keep; leave these out");
        }
        said.parse()
    }
}

impl Default for BackupsSection {
    fn default() -> Self {
        BackupsSection { folder: None, schedule: None, every_seconds: 86_400, keep: 7 }
    }
}

/// The other sites whose pages may ask.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Cors {
    /// Whether there are any.
    pub enabled: bool,
    /// Their origins, or `*`.
    pub origins: Vec<String>,
    /// Whether they may send cookies and passwords.
    pub credentials: bool,
    /// Methods.
    pub methods: Vec<String>,
    /// Headers that requests may have.
    pub headers: Vec<String>,
    /// Seconds for which a browser remembers the answer.
    pub max_age: u64,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            store: "recension.store".to_owned(),
            key_file: None,
            key_command: None,
            passphrase_file: None,
            collection_keys: None,
            listen: SocketAddr::from(([127, 0, 0, 1], 5984)),
            unix_socket: None,
            tls_certificate: None,
            tls_key: None,
            admins: Vec::new(),
            log: "info".to_owned(),
            log_json: false,
            log_requests: None,
            max_document_size: limits::DOCUMENT_BYTES_MAX,
            max_request_size: limits::REQUEST_BYTES_MAX,
            max_body_memory: limits::BODY_MEMORY_BYTES,
            max_list_memory: limits::LIST_MEMORY_BYTES,
            list_threads: limits::LIST_THREADS,
            max_connections: limits::CONNECTIONS_MAX,
            head_seconds: limits::HEAD_SECONDS_MAX,
            body_idle_seconds: limits::BODY_IDLE_SECONDS_MAX,
            shutdown_seconds: limits::SHUTDOWN_SECONDS_MAX,
            reader_seconds: limits::READER_SECONDS_MAX,
            script_worker: Vec::new(),
            cors: Cors::default(),
            admin_party: false,
            apocrypha: ApocryphaSection::default(),
            engine: EngineSection::default(),
            backups: BackupsSection::default(),
            redis: RedisSection::default(),
            settings: BTreeMap::new(),
        }
    }
}

impl Default for Cors {
    fn default() -> Self {
        let list = |items: &[&str]| items.iter().map(|item| (*item).to_owned()).collect();
        Cors {
            enabled: false,
            origins: list(&["*"]),
            credentials: false,
            methods: list(&["GET", "HEAD", "POST", "PUT", "DELETE", "COPY", "PATCH", "OPTIONS"]),
            headers: list(&[
                "accept",
                "accept-language",
                "authorization",
                "cache-control",
                "content-encoding",
                "content-md5",
                "content-type",
                "destination",
                "if-match",
                "if-none-match",
                "last-event-id",
                "origin",
                "pragma",
                "range",
                "referer",
                "x-couch-full-commit",
                "x-couch-request-id",
                "x-csrf-token",
                "x-http-method-override",
                "x-requested-with",
            ]),
            max_age: 600,
        }
    }
}

/// A configuration that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ConfigError {
    /// What is wrong, and what to do.
    pub message: String,
}

/// A door that this program has not.
#[cfg(not(all(feature = "apocrypha", feature = "redis")))]
fn not_built_in(door: &str, feature: &str) -> ConfigError {
    let message = format!("{door} needs the cargo feature `{feature}`, which this program was built without");
    ConfigError { message }
}

impl Config {
    /// The configuration that flags, environment and file make together. `store` is the store of the command line.
    ///
    /// # Errors
    /// [`ConfigError`] for a file that cannot be read or has an unknown setting, and for settings that contradict each
    /// other.
    pub fn of(flags: &ServeFlags, store: Option<&str>) -> Result<Self, ConfigError> {
        let mut config = match &flags.config {
            Some(path) => file::read(path)?,
            None => Config::default(),
        };
        flags.apply(&mut config);
        if let Some(store) = store {
            store.clone_into(&mut config.store);
        }
        config.check()?;
        Ok(config)
    }

    /// Where the key of the store comes from.
    pub fn key_source(&self) -> KeySource {
        let Config { key_file, key_command, passphrase_file, collection_keys, .. } = self.clone();
        KeySource { file: key_file, command: key_command, passphrase_file, collection_keys }
    }

    /// The same, with the key, and with the file of collections' keys, from there if it names a place.
    #[must_use]
    pub fn with_key_source(mut self, source: &KeySource) -> Self {
        self.collection_keys = source.collection_keys.clone().or(self.collection_keys);
        if source.is_empty() {
            return self;
        }
        let KeySource { file: key_file, command: key_command, passphrase_file, .. } = source.clone();
        Config { key_file, key_command, passphrase_file, ..self }
    }

    /// Opens the store, and lets other processes reach it.
    pub fn open_store(&self) -> recension::Result<Arc<dyn Engine>> {
        Ok(recension_engines::open_as(&self.store, Sharing::Shared, &self.key_source().options()?)?)
    }

    /// As TOML, without passwords.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).unwrap_or_default()
    }

    fn check(&self) -> Result<(), ConfigError> {
        let bad = |message: &str| Err(ConfigError { message: message.to_owned() });
        // Only the store knows whether there is an admin: `serve.rs` looks.
        if self.admin_party && !self.listen.ip().is_loopback() {
            return bad(
                "admin_party makes everybody an admin, and is for loopback only; set RECENSION_ADMIN=name:password",
            );
        }
        if let Some((_, branch)) = Address::branch(&self.store).filter(|_| !Path::new(&self.store).exists()) {
            let message = format!(
                "a server is for the whole store: leave out #{branch}; the databases of a branch are at \
                 /{{db}}@{branch}"
            );
            return Err(ConfigError { message });
        }
        if self.settings.contains_key("admins") {
            return bad("admins are given as admins = [\"name:password\"], not as settings");
        }
        for (section, key) in self.settings.iter().flat_map(|(own, keys)| keys.keys().map(move |key| (own, key))) {
            crate::setting_names::check(section, key).map_err(|error| ConfigError { message: error.reason.into() })?;
        }
        if self
            .admins
            .iter()
            .any(|pair| pair.split_once(':').is_none_or(|(name, password)| name.is_empty() || password.is_empty()))
        {
            return bad("an admin is given as name:password");
        }
        if self.max_list_memory == 0 {
            return bad("max_list_memory is a number of bytes above 0; a piece of a list has 65536");
        }
        if self.max_body_memory < self.max_request_size {
            return bad(
                "max_body_memory has to be as large as max_request_size at least: it is for all bodies together",
            );
        }
        if self.max_connections == 0 {
            return bad("max_connections is a number from 1: with 0 nobody is answered");
        }
        if !(1..=limits::LIST_THREADS_MAX).contains(&self.list_threads) {
            return bad("list_threads is a number of threads from 1 to 256");
        }
        crate::logs::check(&self.log).map_err(|message| ConfigError { message })?;
        self.redis.check()?;
        self.apocrypha.check()?;
        let engine = self.engine.place()?;
        if self.tls_certificate.is_none() && engine.is_some_and(|(listen, _)| !listen.ip().is_loopback()) {
            return bad("the engine listens beyond loopback with TLS only; set tls_certificate and tls_key");
        }
        if let Err(why) = self.backups.schedule() {
            return bad(why);
        }
        if self.tls_certificate.is_some() != self.tls_key.is_some() {
            return bad("TLS needs both a certificate and its key: tls_certificate and tls_key");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_win_over_the_file_and_the_file_over_defaults() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("server.toml");
        std::fs::write(&path, "listen = \"127.0.0.1:1\"\nmax_connections = 7\n[cors]\nenabled = true\n").unwrap();
        let flags =
            ServeFlags { config: Some(path), listen: Some("127.0.0.1:2".parse().unwrap()), ..ServeFlags::default() };
        let config = Config::of(&flags, None).unwrap();
        assert_eq!((config.listen.port(), config.max_connections, config.cors.enabled), (2, 7, true));
        assert_eq!(config.max_document_size, limits::DOCUMENT_BYTES_MAX);
        assert_eq!(toml::from_str::<Config>(&config.to_toml()), Ok(config));
    }

    #[test]
    fn sites_that_are_named_are_trusted_with_credentials_and_all_the_world_is_not() {
        for (origins, credentials) in
            [(&["https://a.example"][..], true), (&["*"], false), (&["https://a", "*"], false)]
        {
            let cors_origins = origins.iter().map(|origin| (*origin).to_owned()).collect();
            let flags = ServeFlags { cors_origins, ..ServeFlags::default() };
            assert_eq!(Config::of(&flags, None).unwrap().cors.credentials, credentials, "{origins:?}");
        }
    }

    #[test]
    fn a_branch_is_not_served_and_is_no_folder() {
        let error = Config::of(&ServeFlags::default(), Some("notes.store#idea")).unwrap_err();
        assert!(error.message.contains("leave out #idea"), "{}", error.message);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let flags = |listen: &str, admin: Option<&str>| ServeFlags {
            listen: Some(listen.parse().unwrap()),
            admin: admin.map(str::to_owned),
            ..ServeFlags::default()
        };
        let party = |listen: &str| ServeFlags { admin_party: true, ..flags(listen, None) };
        assert!(Config::of(&party("0.0.0.0:1"), None).is_err());
        assert!(Config::of(&party("127.0.0.1:1"), None).is_ok());
        assert!(Config::of(&flags("0.0.0.0:1", Some("a:b")), None).is_ok());
        assert!(Config::of(&flags("127.0.0.1:1", Some("a")), None).is_err());
        let engine = |listen: &str, token: Option<&str>| ServeFlags {
            engine: Some(listen.parse().unwrap()),
            engine_token: token.map(str::to_owned),
            ..flags("127.0.0.1:1", None)
        };
        assert!(Config::of(&engine("127.0.0.1:2", None), None).is_ok());
        assert!(Config::of(&engine("127.0.0.1:2", Some("short")), None).is_err());
        assert!(Config::of(&engine("127.0.0.1:2", Some("a token of 24 characters")), None).is_ok());
        assert!(Config::of(&engine("0.0.0.0:2", Some("a token of 24 characters")), None).is_err());
        assert!(Config::of(&ServeFlags { tls_key: Some("x".into()), ..ServeFlags::default() }, None).is_err());
    }
}
