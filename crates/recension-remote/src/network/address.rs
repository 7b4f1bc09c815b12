//! Reading an address: `recension://[NAME@]HOST:PORT[?ca=FILE&secret=FILE]`. Secrets are never in it: everybody on a
//! machine sees what processes were started with.

use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use recension_engine::{EngineError, Result};

use crate::limits::SECRET_BYTES_MAX;

/// The scheme of such addresses.
const SCHEME: &str = "recension://";

/// The environment's name for the token of who gives no name.
const TOKEN_VARIABLE: &str = "RECENSION_TOKEN";

/// The environment's name for the password of who gives a name.
const PASSWORD_VARIABLE: &str = "RECENSION_PASSWORD";

/// The port of those who name none.
const PORT: u16 = 5985;

/// The address of a store on a network.
#[derive(Clone, PartialEq, Eq)]
pub struct NetworkAddress {
    /// The machine's name or number.
    pub host: String,
    /// The port.
    pub port: u16,
    /// The name of a user of the server; `None`: a token is said.
    pub user: Option<String>,
    /// The user's password, or the token.
    pub secret: String,
    /// A file with the certificate that vouches for the server, in place of those that the system trusts.
    pub ca: Option<PathBuf>,
}

impl std::fmt::Debug for NetworkAddress {
    /// Without the secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{SCHEME}{}:{}", self.host, self.port)
    }
}

impl NetworkAddress {
    /// Whether a text is such an address.
    pub fn is_one(address: &str) -> bool {
        address.starts_with(SCHEME)
    }

    /// The store's place, which is the same for all who come to it.
    pub fn place(&self) -> String {
        format!("{SCHEME}{}:{}", self.host, self.port)
    }

    /// Understands `recension://[NAME@]HOST:PORT[?ca=FILE&secret=FILE]`. The password of the user NAME, or the token of
    /// who gives no name, is in the file `secret`, which others may not read, or in the environment:
    /// `RECENSION_PASSWORD`, `RECENSION_TOKEN`.
    ///
    /// # Errors
    /// [`EngineError::BadAddress`]; [`EngineError::Io`] for a file that cannot be read.
    pub fn parse(address: &str) -> Result<Self> {
        Self::parse_with(address, |name| std::env::var(name).ok())
    }

    fn parse_with(address: &str, environment: impl Fn(&str) -> Option<String>) -> Result<Self> {
        // What is before the host may be a secret that was put there in vain.
        let bad = |why: &str| {
            let shown =
                address.rsplit_once('@').map_or_else(|| address.to_owned(), |(_, at)| format!("{SCHEME}..@{at}"));
            EngineError::BadAddress { address: shown, why: why.to_owned() }
        };
        let rest = address.strip_prefix(SCHEME).ok_or_else(|| bad("it begins with recension://"))?;
        let (rest, query) = rest.split_once('?').map_or((rest, None), |(rest, query)| (rest, Some(query)));
        let (mut ca, mut file) = (None, None);
        for part in query.into_iter().flat_map(|query| query.split('&')) {
            match part.split_once('=') {
                Some(("ca", value)) if !value.is_empty() => ca = Some(PathBuf::from(value)),
                Some(("secret", value)) if !value.is_empty() => file = Some(PathBuf::from(value)),
                _ => return Err(bad("behind ? come ca=FILE and secret=FILE, with & between them, and nothing else")),
            }
        }
        let (user, place) = rest.rsplit_once('@').map_or((None, rest), |(user, place)| (Some(user), place));
        if user.is_some_and(|user| user.contains(':')) {
            return Err(bad(
                "everybody on the machine sees a password there: put it into RECENSION_PASSWORD, or into a file, \
                 and write recension://NAME@HOST:PORT?secret=FILE",
            ));
        }
        let place = place.strip_suffix('/').unwrap_or(place);
        let (host, port) = match place.rsplit_once(':') {
            Some((host, port)) if !host.ends_with(':') => {
                (host, port.parse().map_err(|_| bad("a port is a number up to 65535"))?)
            }
            _ => (place, PORT),
        };
        let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        if host.is_empty() {
            return Err(bad("a host is missing: recension://HOST:PORT"));
        }
        let user = user.filter(|user| !user.is_empty()).map(str::to_owned);
        let secret = match &file {
            Some(file) => Some(read_secret(file)?),
            None => environment(if user.is_some() { PASSWORD_VARIABLE } else { TOKEN_VARIABLE }),
        };
        let missing = if user.is_some() {
            "the user's password is missing: set RECENSION_PASSWORD, or name a file that has it with ?secret=FILE; \
             a token is not written before the host, but into RECENSION_TOKEN"
        } else {
            "a token is missing: set RECENSION_TOKEN, or name a file that has it with ?secret=FILE; for a user of the \
             server write recension://NAME@HOST:PORT and set RECENSION_PASSWORD"
        };
        let secret = secret.filter(|secret| !secret.is_empty()).ok_or_else(|| bad(missing))?;
        if secret.len() > SECRET_BYTES_MAX || user.as_ref().is_some_and(|user| user.len() > SECRET_BYTES_MAX / 2) {
            return Err(bad("a name has at most 1024 bytes, a password or a token 2048"));
        }
        Ok(NetworkAddress { host: host.to_owned(), port, user, secret, ca })
    }
}

/// The first line of a file that nobody else may read.
fn read_secret(file: &Path) -> Result<String> {
    let wrong = |error| EngineError::io(format!("reading the secret in {}", file.display()), error);
    let opened = std::fs::File::open(file).map_err(wrong)?;
    if opened.metadata().map_err(wrong)?.mode() & 0o077 != 0 {
        let why = format!("others may read it; chmod 600 {}", file.display());
        return Err(wrong(std::io::Error::new(std::io::ErrorKind::PermissionDenied, why)));
    }
    let mut text = String::new();
    opened.take(2 * SECRET_BYTES_MAX as u64).read_to_string(&mut text).map_err(wrong)?;
    Ok(text.lines().next().unwrap_or_default().to_owned())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn parse(text: &str) -> Result<NetworkAddress> {
        NetworkAddress::parse_with(text, |name| match name {
            TOKEN_VARIABLE => Some("of the environment".to_owned()),
            _ => None,
        })
    }

    #[test]
    fn addresses_are_understood_and_hold_no_secret() {
        let found = parse("recension://db.example:7000?ca=/etc/ca.pem").unwrap();
        assert_eq!(
            (found.host.as_str(), found.port, found.secret.as_str()),
            ("db.example", 7000, "of the environment")
        );
        assert_eq!((found.ca, found.user), (Some("/etc/ca.pem".into()), None));
        assert_eq!(parse("recension://[::1]:7/").unwrap().host, "::1");
        assert_eq!(parse("recension://h").unwrap().port, 5985);
        for bad in ["recension://s@h:1", "recension://s:t@h:1", "recension://", "recension://h:x", "recension://h?x=1"]
        {
            let error = parse(bad).unwrap_err().to_string();
            assert!(!error.contains("s@") && !error.contains("s:t"), "{error}");
        }
        assert!(parse("other://h").is_err());
    }

    #[test]
    fn a_secret_is_read_from_a_file_that_others_may_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("secret");
        std::fs::write(&file, "swordfish\n").unwrap();
        let address = format!("recension://ada@h:1?secret={}", file.display());
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert!(parse(&address).unwrap_err().to_string().contains("chmod 600"));
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
        let found = parse(&address).unwrap();
        assert_eq!((found.user.as_deref(), found.secret.as_str()), (Some("ada"), "swordfish"));
        assert!(!format!("{found:?}").contains("swordfish"));
    }
}
