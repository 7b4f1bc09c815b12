//! Servers under load over the network. A dialect makes the requests in a server's own form, and checks the answers. It
//! is pure: bytes of requests out, answers in.

mod bare;
pub(crate) mod couch;
mod redis;

use std::net::SocketAddr;
use std::path::Path;

pub use couch::{Couch, documents};

use super::{Given, Kind, OURS, Tier, our_version, versions};
use crate::error::{LabError, Result};
use crate::load::{Answer, Wire};
use crate::servers::{self, Place, Process};

/// The requests of a server. Documents are known by their numbers. Their bodies are [`crate::data::value`].
pub trait Dialect: Send {
    /// The wire protocol.
    fn wire(&self) -> Wire {
        Wire::Http
    }

    /// Stores document `n`, which is new.
    fn put(&self, database: &str, n: u64) -> Vec<u8>;

    /// Reads document `n`.
    fn get(&self, database: &str, n: u64) -> Vec<u8>;

    /// Checks the answer to a put of document `n`. Returns its revision, if there are any.
    fn check_put(&self, n: u64, answer: &Answer) -> Result<String>;

    /// Whether document `n` was answered rightly.
    fn check_get(&self, n: u64, revision: &str, answer: &Answer) -> Result<()>;

    /// Whether what is put is kept, so that it can be got again.
    fn keeps(&self) -> bool {
        true
    }

    /// `CouchDB`'s own endpoints, if it has them.
    fn couch(&self) -> Option<&Couch> {
        None
    }
}

/// The id of a document.
pub fn id(n: u64) -> String {
    format!("d{n:06}")
}

/// A server that can be asked.
pub struct Server {
    /// Its process, if we may stop it.
    pub process: Option<Process>,
    /// Its address.
    pub address: SocketAddr,
    /// Its dialect.
    pub dialect: Box<dyn Dialect>,
    /// Its URL for others, with name and password.
    pub url: String,
    /// Its settings, for the report.
    pub settings: String,
}

type Start = fn(&Place<'_>, &Given) -> Result<Server>;

/// The subjects of the suite `http`, and how each is started.
fn subjects() -> Vec<(Kind, Start)> {
    let kind = Kind::new;
    vec![
        (
            Kind { missing: servers::recension::missing, ..kind(OURS, "recension serve", our_version) },
            |place, given| {
                let (process, address) = servers::recension::start(place, given)?;
                let (name, password) = servers::recension::ADMIN;
                Ok(couch(
                    Some(process),
                    address,
                    Some((name, password)),
                    "defaults, requests as admin with Basic authentication",
                ))
            },
        ),
        (
            Kind {
                tier: Tier::T1,
                tier_note: Some("weaker: PouchDB writes to LevelDB without a sync; no authentication"),
                missing: servers::express_pouchdb::missing,
                ..kind(
                    "express-pouchdb",
                    "PouchDB over LevelDB in Node, behind Express",
                    servers::express_pouchdb::version,
                )
            },
            |place, _| {
                let (process, address) = servers::express_pouchdb::start(place)?;
                Ok(couch(Some(process), address, None, "defaults: LevelDB in the process, no authentication"))
            },
        ),
        (couchdb("couchdb"), |_, given| couch::given(given.couchdb_url.as_deref().unwrap_or_default())),
        (
            Kind {
                missing: servers::redis::missing,
                ..kind(
                    "redis",
                    "Redis GET and SET of the same bodies, its log synced at every write",
                    servers::redis::version,
                )
            },
            |place, _| {
                let (process, address) = servers::redis::start(place)?;
                let settings = servers::redis::SETTINGS.to_owned();
                Ok(Server {
                    process: Some(process),
                    address,
                    dialect: Box::new(redis::Redis),
                    url: String::new(),
                    settings,
                })
            },
        ),
        (
            Kind {
                tier: Tier::T0,
                tier_note: Some("keeps nothing: one constant answer as long as a document's"),
                floor: true,
                ..kind("hyper", "bare hyper, the floor of HTTP here", || versions::of_crate("hyper"))
            },
            |place, _| {
                let (process, address) = servers::hyper_floor::start(place)?;
                let settings = "hyper 1, HTTP/1.1, tokio's threads as many as cores".to_owned();
                Ok(Server {
                    process: Some(process),
                    address,
                    dialect: Box::new(bare::Bare::new()),
                    url: String::new(),
                    settings,
                })
            },
        ),
    ]
}

/// `CouchDB`, if a server was given.
pub(super) fn couchdb(name: &'static str) -> Kind {
    Kind {
        missing: |given| {
            let how = "no server was given: --couchdb-url http://NAME:PASSWORD@HOST:5984, or \
                       RECENSION_LAB_COUCHDB_URL (Debian and the registries have no CouchDB)";
            given.couchdb_url.is_none().then(|| how.to_owned())
        },
        tier_note: Some("a server of the user's: its settings and its disk are not the laboratory's"),
        ..Kind::new(name, "CouchDB, as it was given", || "as given".to_owned())
    }
}

fn couch(process: Option<Process>, address: SocketAddr, admin: Option<(&str, &str)>, settings: &str) -> Server {
    let login = admin.map(|(name, password)| format!("{name}:{password}@")).unwrap_or_default();
    Server {
        process,
        address,
        dialect: Box::new(Couch::new(address, admin)),
        url: format!("http://{login}{address}"),
        settings: settings.to_owned(),
    }
}

/// The kinds of subjects.
pub fn kinds() -> Vec<Kind> {
    subjects().into_iter().map(|(kind, _)| kind).collect()
}

/// Starts one.
pub fn start(name: &str, dir: &Path, traced: Option<&Path>, given: &Given) -> Result<Server> {
    let (_, start) = super::named(subjects(), name, |(kind, _)| kind.name)?;
    start(&Place { dir, traced }, given)
}

/// A wrong answer.
fn wrong(what: impl Into<String>, expected: impl Into<String>, found: &Answer) -> LabError {
    let body = found.body.get(..found.body.len().min(300)).unwrap_or_default();
    let found = format!("{} {}", found.status, String::from_utf8_lossy(body));
    LabError::Wrong { what: what.into(), expected: expected.into(), found }
}
