//! The address of a log, as a person types it: the system on which a store lives, and its name there. It is parsed here
//! and nowhere else. Pure; nothing is opened, and no password is in it.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::path::PathBuf;

use recension_engine::EngineError;

use crate::{LogError, Result};

/// The kinds of system.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum System {
    /// A folder: `file:///path`.
    Folder,
    /// `PostgreSQL`: `postgres://user@host/database?log=NAME`.
    Postgres,
    /// `MySQL` and `MariaDB`: `mysql://user@host/database?log=NAME`.
    MySql,
    /// `MongoDB` and compatible systems: `mongodb://user@host/database?log=NAME`.
    MongoDb,
    /// etcd: `etcd://host,host/NAME`.
    Etcd,
    /// S3 and compatible object stores: `s3://bucket/NAME?endpoint=URL`.
    S3,
}

impl System {
    /// The cargo feature that has it.
    pub(crate) fn feature(self) -> &'static str {
        match self {
            System::Folder => "log",
            System::Postgres => "postgres",
            System::MySql => "mysql",
            System::MongoDb => "mongodb",
            System::Etcd => "etcd",
            System::S3 => "s3",
        }
    }
}

/// The schemes of addresses, and what each means.
const SCHEMES: [(&str, System); 8] = [
    ("file", System::Folder),
    ("postgres", System::Postgres),
    ("postgresql", System::Postgres),
    ("mysql", System::MySql),
    ("mariadb", System::MySql),
    ("mongodb", System::MongoDb),
    ("etcd", System::Etcd),
    ("s3", System::S3),
];

/// The parameters that an address may have after its question mark.
const PARAMETERS: [&str; 9] = ["log", "cache", "node", "tls", "ca", "password-file", "endpoint", "region", "project"];

/// Whether TLS is spoken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TlsMode {
    /// Not at all.
    Off,
    /// Always. The server's certificate must be vouched for by one in the file, or by one of the system's.
    Required(Option<PathBuf>),
}

/// A log's address, parsed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LogAddress {
    /// The system.
    pub system: System,
    /// The user.
    pub user: Option<String>,
    /// Hosts and ports; a host may be an IPv6 address.
    pub hosts: Vec<(String, Option<u16>)>,
    /// The part behind the hosts, without its slash: a database, a name, a path.
    pub path: String,
    parameters: BTreeMap<String, String>,
}

impl LogAddress {
    /// Whether an address is one of a log: it begins with a log's scheme and `://`.
    pub fn is_one(address: &str) -> bool {
        address.split_once("://").is_some_and(|(scheme, _)| SCHEMES.iter().any(|(known, _)| *known == scheme))
    }

    /// Parses an address.
    ///
    /// ```
    /// use recension_log::LogAddress;
    /// let address = LogAddress::parse("postgres://ada@db1,db2:5433/app?log=orders").unwrap();
    /// assert_eq!(address.log_name(), "orders");
    /// assert_eq!(address.hosts, [("db1".to_owned(), None), ("db2".to_owned(), Some(5433))]);
    /// // Passwords do not belong on a command line, and are not repeated.
    /// let refused = LogAddress::parse("postgres://ada:secret@db1/app?log=orders").unwrap_err().to_string();
    /// assert!(!refused.contains("secret"));
    /// ```
    ///
    /// # Errors
    /// [`EngineError::BadAddress`]; it says which forms are understood and repeats no password.
    pub fn parse(address: &str) -> std::result::Result<Self, EngineError> {
        let bad = |why: &str| EngineError::BadAddress { address: without_password(address), why: why.to_owned() };
        let (scheme, rest) = address.split_once("://").ok_or_else(|| bad("it has no scheme"))?;
        let known = SCHEMES.iter().find(|(known, _)| *known == scheme);
        let system = known.ok_or_else(|| bad("this kind of system is not known"))?.1;
        if address.contains(['\0', ' ', '#']) {
            return Err(bad("it contains a space, a # or a zero byte; write %20, %23"));
        }
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (user, hosts) = match authority.rsplit_once('@') {
            Some((user, hosts)) => (Some(user), hosts),
            None => (None, authority),
        };
        if user.is_some_and(|user| user.contains(':')) {
            return Err(bad(
                "passwords do not belong in an address, where others can see them: set RECENSION_LOG_PASSWORD, or \
                    name a \
                 file with ?password-file=",
            ));
        }
        let mut parameters = BTreeMap::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            if !PARAMETERS.contains(&name) {
                return Err(bad(&format!("?{name}= is not known; known are {}", PARAMETERS.join(", "))));
            }
            let value = decoded(value).ok_or_else(|| bad("a % is not followed by two hexadecimal digits"))?;
            parameters.insert(name.to_owned(), value);
        }
        let text = |text: &str| decoded(text).ok_or_else(|| bad("a % is not followed by two hexadecimal digits"));
        let user = user.map(text).transpose()?;
        let (hosts, path) = match system {
            System::Folder if hosts.is_empty() && !path.is_empty() => (Vec::new(), format!("/{}", text(path)?)),
            System::Folder => return Err(bad("a folder is written file:///path/of/it")),
            _ => (hosts_of(hosts).ok_or_else(|| bad("its hosts are written host:port,host:port"))?, text(path)?),
        };
        let address = LogAddress { system, user, hosts, path, parameters };
        if system != System::Folder && address.hosts.is_empty() {
            return Err(bad("no host, or bucket, is named"));
        }
        if !is_name(address.log_name()) {
            return Err(bad(
                "the log needs a name of at most 64 of a-z, 0-9, - and _: ?log=NAME with databases, /NAME with etcd \
                    and S3",
            ));
        }
        if matches!(system, System::Postgres | System::MySql | System::MongoDb) && address.path.is_empty() {
            return Err(bad("no database is named"));
        }
        if address.parameter("endpoint").is_some_and(|endpoint| endpoint.contains('@')) {
            return Err(bad("?endpoint= names no user: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"));
        }
        match address.parameter("tls") {
            None | Some("on" | "off") => Ok(address),
            Some(_) => Err(bad("?tls= is on or off")),
        }
    }

    /// A parameter after the question mark.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.get(name).map(String::as_str)
    }

    /// The name of the log.
    pub fn log_name(&self) -> &str {
        match self.system {
            System::Folder => self.parameter("log").unwrap_or("log"),
            System::Etcd | System::S3 if self.parameter("log").is_none() => &self.path,
            _ => self.parameter("log").unwrap_or_default(),
        }
    }

    /// Whether TLS is spoken: yes, if a certificate is named or `tls=on` is set.
    pub fn tls(&self) -> TlsMode {
        match (self.parameter("tls"), self.parameter("ca")) {
            (Some("on"), ca) | (None, ca @ Some(_)) => TlsMode::Required(ca.map(PathBuf::from)),
            _ => TlsMode::Off,
        }
    }

    /// The password: from the file that the address names, or from the environment variable `RECENSION_LOG_PASSWORD`.
    pub fn password(&self) -> Result<Option<String>> {
        let Some(file) = self.parameter("password-file") else {
            return Ok(std::env::var("RECENSION_LOG_PASSWORD").ok().filter(|password| !password.is_empty()));
        };
        let text = std::fs::read_to_string(file).map_err(|error| LogError::Refused {
            system: "shared log",
            why: format!("reading the password file {file}: {error}"),
        })?;
        Ok(Some(text.trim_end_matches(['\r', '\n']).to_owned()))
    }

    /// The address for others: without the parameters of this node only.
    pub fn told(&self) -> String {
        let user = self.user.as_ref().map(|user| format!("{}@", encoded(user))).unwrap_or_default();
        let place = self.place();
        let (scheme, rest) = place.split_once("://").unwrap_or_default();
        let mut told = format!("{scheme}://{user}{rest}");
        for name in ["tls", "ca", "endpoint", "region"] {
            if let Some(value) = self.parameter(name) {
                told.push(if told.contains('?') { '&' } else { '?' });
                let _ = write!(told, "{name}={}", encoded(value));
            }
        }
        told
    }

    /// The place, for people, and to distinguish logs: without the parameters of this node only.
    pub fn place(&self) -> String {
        let scheme = SCHEMES.iter().find(|(_, system)| *system == self.system).map_or("", |(scheme, _)| scheme);
        let hosts = self.hosts.iter().map(|(host, port)| {
            let host = if host.contains(':') { format!("[{host}]") } else { host.clone() };
            port.map_or(host.clone(), |port| format!("{host}:{port}"))
        });
        let hosts: Vec<_> = hosts.collect();
        let path = encoded(self.path.trim_start_matches('/'));
        let name = if self.parameter("log").is_some() { format!("?log={}", self.log_name()) } else { String::new() };
        format!("{scheme}://{}/{path}{name}", hosts.join(","))
    }
}

/// The parsed address without its parameters.
impl fmt::Display for LogAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.place().fmt(f)
    }
}

fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte))
}

fn hosts_of(text: &str) -> Option<Vec<(String, Option<u16>)>> {
    text.split(',')
        .filter(|host| !host.is_empty())
        .map(|host| match host.rsplit_once(':') {
            Some((name, port)) if !name.is_empty() && !port.ends_with(']') => {
                Some((name.trim_matches(['[', ']']).to_owned(), Some(port.parse().ok()?)))
            }
            Some((_, port)) if !port.ends_with(']') => None,
            _ => Some((host.trim_matches(['[', ']']).to_owned(), None)),
        })
        .collect()
}

/// A text, encoded for an address.
fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~/:".contains(&byte);
    text.bytes().fold(String::new(), |mut out, byte| {
        if plain(byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
        out
    })
}

fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, behind)) = rest.split_first() {
        rest = behind;
        if first == b'%' {
            let (digits, behind) = rest.split_first_chunk::<2>()?;
            bytes.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
            rest = behind;
        } else {
            bytes.push(first);
        }
    }
    String::from_utf8(bytes).ok()
}

/// An address that may be printed, whatever was typed.
pub fn without_password(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once("://") else { return address.to_owned() };
    // A password may contain a slash or a question mark: everything up to the last @ is hidden.
    let rest = match rest.rfind('@').map(|at| (at, rest.find(':'))) {
        Some((at, Some(colon))) if colon < at => format!("{}:***{}", &rest[..colon], &rest[at..]),
        _ => rest.to_owned(),
    };
    let Some((place, query)) = rest.split_once('?') else { return format!("{scheme}://{rest}") };
    // Somebody may have put a password into an unknown parameter.
    let shown = query.split('&').map(|pair| match pair.split_once('=') {
        Some((name, _)) if !PARAMETERS.contains(&name) => format!("{name}=***"),
        _ => pair.to_owned(),
    });
    format!("{scheme}://{place}?{}", shown.collect::<Vec<_>>().join("&"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_understood() {
        for (text, system, hosts, name) in [
            ("postgres://u@h/db?log=x", System::Postgres, 1, "x"),
            ("postgresql://h:5/db?log=x&tls=on", System::Postgres, 1, "x"),
            ("mysql://h/db?log=x-y_1", System::MySql, 1, "x-y_1"),
            ("mongodb://a,b,c/db?log=x", System::MongoDb, 3, "x"),
            ("etcd://127.0.0.1:2379,[::1]:2379/menu", System::Etcd, 2, "menu"),
            ("s3://bucket/menu?endpoint=http://127.0.0.1:5000", System::S3, 1, "menu"),
            ("file:///tmp/a%20b", System::Folder, 0, "log"),
        ] {
            let address = LogAddress::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!((address.system, address.hosts.len(), address.log_name()), (system, hosts, name), "{text}");
            assert!(LogAddress::is_one(text));
        }
        assert_eq!(LogAddress::parse("file:///tmp/a%20b").unwrap().path, "/tmp/a b");
    }

    #[test]
    fn an_address_is_told_without_what_is_of_one_node() {
        for (text, told) in [
            (
                "postgres://u@[::1]:5/db?log=x&cache=/c&node=n&password-file=/p&ca=/a%20b&tls=on",
                "postgres://u@[::1]:5/db?log=x&tls=on&ca=/a%20b",
            ),
            ("file:///tmp/a%20b?cache=memory:", "file:///tmp/a%20b"),
            ("s3://key@b/menu?endpoint=http://h:1", "s3://key@b/menu?endpoint=http://h:1"),
        ] {
            let address = LogAddress::parse(text).unwrap();
            assert_eq!(address.told(), told);
            assert_eq!(LogAddress::parse(told).unwrap().place(), address.place());
        }
    }

    #[test]
    fn what_is_not_understood_is_refused_and_no_password_repeated() {
        for text in [
            "postgres://u:secret@h/db?log=x",
            "postgres://u:sec/ret@h/db?log=x",
            "oracle://u:secret@h/db?log=x",
            "mysql://u:secret@h/db?nonsense=1",
            "mysql://u@h/db?log=x&password=secret",
            "s3://b/x?secret_access_key=sec/ret",
            "s3://b/x?endpoint=https://key:secret@h",
            "postgres://h/db",
            "postgres:///db?log=x",
            "postgres://h?log=x",
            "postgres://h/db?log=X",
            "postgres://h:port/db?log=x",
            "postgres://h/db?log=x&tls=maybe",
            "etcd://h/",
            "file://relative?log=x",
            "s3://b/%zz",
        ] {
            let refused = LogAddress::parse(text).unwrap_err().to_string().replace("secret_access_key", "");
            assert!(!refused.contains("secret") && !refused.contains("sec/ret"), "{text}: {refused}");
        }
    }
}
