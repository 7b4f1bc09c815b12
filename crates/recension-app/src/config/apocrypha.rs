//! The section of the listener of Apocrypha.

use std::net::SocketAddr;
use std::path::PathBuf;

#[cfg(feature = "apocrypha")]
use recension_apocrypha::{Dialect, Token};
use serde::{Deserialize, Serialize};

use super::ConfigError;

/// A listener of Apocrypha beside HTTP's, with the same certificate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ApocryphaSection {
    /// The address; without it there is no listener.
    pub listen: Option<SocketAddr>,
    /// A unix socket too.
    pub unix_socket: Option<PathBuf>,
    /// `haskell` or `python`; nothing is `haskell`.
    pub dialect: Option<String>,
    /// The token that connections have to say first. It is needed if `listen` is not loopback.
    #[serde(skip_serializing)]
    pub token: Option<String>,
}

#[cfg(feature = "apocrypha")]
impl ApocryphaSection {
    /// The dialect.
    ///
    /// # Errors
    /// If there is no dialect of the name.
    pub fn dialect(&self) -> Result<Dialect, ConfigError> {
        self.dialect.as_deref().map_or(Ok(Dialect::HASKELL), str::parse).map_err(|message| ConfigError { message })
    }

    /// The token.
    ///
    /// # Errors
    /// If the text cannot be a token.
    pub fn token(&self) -> Result<Option<Token>, ConfigError> {
        let made = |text: &String| {
            Token::new(text).ok_or_else(|| ConfigError {
                message: "a token of Apocrypha is one line of 1 to 1024 bytes".to_owned(),
            })
        };
        self.token.as_ref().map(made).transpose()
    }

    pub(super) fn check(&self) -> Result<(), ConfigError> {
        self.dialect()?;
        if self.token()?.is_none() && self.listen.is_some_and(|listen| !listen.ip().is_loopback()) {
            let message = "Apocrypha listens beyond loopback with a token only; set RECENSION_APOCRYPHA_TOKEN";
            return Err(ConfigError { message: message.to_owned() });
        }
        Ok(())
    }
}

#[cfg(not(feature = "apocrypha"))]
impl ApocryphaSection {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        if *self == Self::default() { Ok(()) } else { Err(super::not_built_in("a listener of Apocrypha", "apocrypha")) }
    }
}
