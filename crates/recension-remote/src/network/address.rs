//! Reading an address: `recension://TOKEN@HOST:PORT?ca=FILE`.

use std::path::PathBuf;

use recension_engine::{EngineError, Result};

/// The scheme of such addresses.
const SCHEME: &str = "recension://";

/// The environment variable for a token that is not in the address.
const TOKEN_VARIABLE: &str = "RECENSION_TOKEN";

/// The default port.
const PORT: u16 = 5985;

/// The address of a store on a network.
#[derive(Clone, PartialEq, Eq)]
pub struct NetworkAddress {
    /// The machine's name or number.
    pub host: String,
    /// The port.
    pub port: u16,
    /// The token, which has to be sent first.
    pub token: String,
    /// A file with the certificate that vouches for the server, in place of those that the system trusts.
    pub ca: Option<PathBuf>,
}

impl std::fmt::Debug for NetworkAddress {
    /// Without the token.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{SCHEME}{}:{}", self.host, self.port)
    }
}

impl NetworkAddress {
    /// Whether a text is such an address.
    pub fn is_one(address: &str) -> bool {
        address.starts_with(SCHEME)
    }

    /// Parses `recension://TOKEN@HOST:PORT?ca=FILE`. The token may be in the environment (`RECENSION_TOKEN`) instead.
    ///
    /// # Errors
    /// [`EngineError::BadAddress`].
    pub fn parse(address: &str) -> Result<Self> {
        let from_environment = std::env::var(TOKEN_VARIABLE).ok();
        Self::parse_with(address, from_environment)
    }

    fn parse_with(address: &str, token: Option<String>) -> Result<Self> {
        // The part before the host is a secret.
        let bad = |why: &str| {
            let shown =
                address.rsplit_once('@').map_or_else(|| address.to_owned(), |(_, at)| format!("{SCHEME}..@{at}"));
            EngineError::BadAddress { address: shown, why: why.to_owned() }
        };
        let rest = address.strip_prefix(SCHEME).ok_or_else(|| bad("it begins with recension://"))?;
        let (rest, query) = rest.split_once('?').map_or((rest, None), |(rest, query)| (rest, Some(query)));
        let ca = match query.map(|query| query.split_once('=')) {
            None => None,
            Some(Some(("ca", file))) if !file.is_empty() => Some(PathBuf::from(file)),
            Some(_) => return Err(bad("behind ? comes ca=FILE and nothing else")),
        };
        let (own, place) = rest.rsplit_once('@').map_or((None, rest), |(token, place)| (Some(token), place));
        let place = place.strip_suffix('/').unwrap_or(place);
        let (host, port) = match place.rsplit_once(':') {
            Some((host, port)) if !host.ends_with(':') => {
                (host, port.parse().map_err(|_| bad("a port is a number up to 65535"))?)
            }
            _ => (place, PORT),
        };
        let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        if host.is_empty() {
            return Err(bad("a host is missing: recension://TOKEN@HOST:PORT"));
        }
        let token = own.map(str::to_owned).or(token).filter(|token| !token.is_empty());
        let token = token.ok_or_else(|| bad("a token is missing: recension://TOKEN@HOST:PORT, or RECENSION_TOKEN"))?;
        Ok(NetworkAddress { host: host.to_owned(), port, token, ca })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_understood_and_show_no_token() {
        let parse = |text: &str| NetworkAddress::parse_with(text, None);
        let found = parse("recension://secret@db.example:7000?ca=/etc/ca.pem").unwrap();
        assert_eq!((found.host.as_str(), found.port, found.token.as_str()), ("db.example", 7000, "secret"));
        assert_eq!(found.ca, Some("/etc/ca.pem".into()));
        assert_eq!(parse("recension://s@[::1]:7/").unwrap().host, "::1");
        assert_eq!(parse("recension://s@h").unwrap().port, 5985);
        let by_environment = NetworkAddress::parse_with("recension://h:1", Some("t".to_owned())).unwrap();
        assert_eq!(by_environment.token, "t");
        assert!(!format!("{found:?}").contains("secret"));
        for bad in ["recension://h:1", "recension://s@", "recension://s@h:x", "recension://s@h?x=1", "other://s@h"] {
            let error = parse(bad).unwrap_err().to_string();
            assert!(!error.contains("s@"), "{error}");
        }
    }
}
