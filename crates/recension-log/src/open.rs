//! Opening a log, and the store on it, by its address.

use std::path::PathBuf;
use std::sync::Arc;

use recension_engine::{EngineError, Result};
use sha2::{Digest as _, Sha256};

use crate::limits::CACHES_MAX;
use crate::{Cache, FolderLog, LogAddress, ReplicatedEngine, ReplicatedOptions, SharedLog, System};

/// The log at an address. Missing tables and the like are made on its system.
///
/// # Errors
/// [`EngineError::NotBuiltIn`] if this program was built without that system; errors of the system.
pub fn open_log(address: &LogAddress) -> Result<Arc<dyn SharedLog>> {
    match address.system {
        System::Folder => Ok(Arc::new(FolderLog::open(address.path.as_ref())?)),
        #[cfg(feature = "postgres")]
        System::Postgres => Ok(Arc::new(crate::PostgresLog::open(address)?)),
        #[cfg(feature = "mysql")]
        System::MySql => Ok(Arc::new(crate::MySqlLog::open(address)?)),
        #[cfg(feature = "mongodb")]
        System::MongoDb => Ok(Arc::new(crate::MongoLog::open(address)?)),
        #[cfg(feature = "etcd")]
        System::Etcd => Ok(Arc::new(crate::EtcdLog::open(address)?)),
        #[cfg(feature = "s3")]
        System::S3 => Ok(Arc::new(crate::S3Log::open(address)?)),
        #[allow(unreachable_patterns)] // with every feature there is none left
        missing => Err(EngineError::not_built_in("a store on a log there", missing.feature())),
    }
}

/// The statements that make a log's tables, for somebody who may make tables; `None` for a system without tables.
pub fn tables_of(address: &LogAddress) -> Option<String> {
    let tables: Option<&[(&str, &str)]> = match address.system {
        #[cfg(feature = "postgres")]
        System::Postgres => Some(&crate::postgres::TABLES),
        #[cfg(feature = "mysql")]
        System::MySql => Some(&crate::mysql::TABLES),
        _ => None,
    };
    let statements: Vec<_> = tables?.iter().map(|(_, sql)| sql.replace("; ", ";\n") + ";").collect();
    Some(statements.join("\n"))
}

/// Opens the store on the log at an address. Its cache is at `?cache=`, or in the user's folder of caches.
///
/// # Errors
/// As [`LogAddress::parse`], [`open_log`] and [`ReplicatedEngine::open`].
pub fn open(address: &str) -> Result<ReplicatedEngine> {
    let address = LogAddress::parse(address)?;
    let log = open_log(&address)?;
    let options = ReplicatedOptions { node: node_name(&address), ..ReplicatedOptions::default() };
    if let Some(cache) = address.parameter("cache") {
        let cache = if cache == "memory:" { Cache::Memory } else { Cache::directory(cache) };
        return ReplicatedEngine::open(log, &cache, options);
    }
    let folder = caches_folder(&address)?;
    // Every process has a cache of its own: the first free one.
    for number in 0..CACHES_MAX {
        match ReplicatedEngine::open(log.clone(), &Cache::directory(folder.join(number.to_string())), options.clone()) {
            Err(EngineError::Locked { .. }) => {}
            opened => return opened,
        }
    }
    Err(EngineError::Locked {
        store: folder.display().to_string(),
        holder: format!("{CACHES_MAX} other processes; name a cache of this one's own with ?cache="),
    })
}

/// The directories of the caches of a log on this machine: the one that the address names, or those that are there in
/// the user's folder of caches.
pub fn caches_of(address: &LogAddress) -> Result<Vec<PathBuf>> {
    match address.parameter("cache") {
        Some("memory:") => Ok(Vec::new()),
        Some(cache) => Ok(vec![PathBuf::from(cache)]),
        None => {
            let folder = caches_folder(address)?;
            let all = (0..CACHES_MAX).map(|number| folder.join(number.to_string()));
            Ok(all.filter(|cache| cache.exists()).collect())
        }
    }
}

fn caches_folder(address: &LogAddress) -> Result<PathBuf> {
    Ok(caches()?.join(hash(&address.place())))
}

fn hash(place: &str) -> String {
    let digest = Sha256::digest(place.as_bytes());
    crate::record::hex(&digest[..12])
}

/// The folder of caches, if none is named.
fn caches() -> Result<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let in_home = || set("HOME").map(|home| home.join(".cache"));
    let named = set("RECENSION_CACHE");
    named.or_else(|| set("XDG_CACHE_HOME").or_else(in_home).map(|folder| folder.join("recension"))).ok_or_else(|| {
        EngineError::BadAddress {
            address: "the shared log".to_owned(),
            why: "no folder for its cache is known: name one with ?cache= or RECENSION_CACHE".to_owned(),
        }
    })
}

/// The name of this node.
fn node_name(address: &LogAddress) -> String {
    let host = || std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default().trim().to_owned();
    address.parameter("node").map_or_else(|| format!("{}-{}", host(), std::process::id()), str::to_owned)
}
