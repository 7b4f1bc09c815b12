//! Who is let in by the doors beside HTTP: the store's own port, and that for clients of Redis. Names, passwords and
//! API tokens are those of HTTP, and so is the count of attempts.

#[cfg(feature = "redis")]
use std::future::Future;
use std::net::IpAddr;
#[cfg(feature = "redis")]
use std::pin::Pin;
use std::sync::Arc;
#[cfg(feature = "redis")]
use std::time::Instant;

#[cfg(feature = "redis")]
use recension_redis::{Attempt, Authenticate};
use recension_remote::network::{Gate, Said, Still, Token};
#[cfg(feature = "redis")]
use ring::digest::{SHA256, digest};
use tokio::runtime::Handle;

use super::evidence::Evidence;
use super::realm::Realm;
#[cfg(feature = "redis")]
use super::session::Session;
#[cfg(feature = "redis")]
use super::standing::Standing;
use super::{log_in, tokens};
use recension_wire::error::ApiError;

fn is_server_admin(realm: &Realm, evidence: &Evidence) -> bool {
    matches!(evidence.ask(realm), Ok(Some(known)) if known.identity.is_server_admin())
}

/// The port of the store itself: for who knows its token, and for server admins.
pub struct EngineGate {
    realm: Arc<Realm>,
    token: Option<Token>,
    runtime: Handle,
}

impl EngineGate {
    /// To be called on the runtime that checks passwords.
    pub fn new(realm: &Arc<Realm>, token: Option<Token>) -> Self {
        EngineGate { realm: Arc::clone(realm), token, runtime: Handle::current() }
    }

    fn of(&self, evidence: Evidence) -> Result<Still, String> {
        if !is_server_admin(&self.realm, &evidence) {
            return Err("the store itself is for the server's admins: they may read and write everything".to_owned());
        }
        let realm = Arc::clone(&self.realm);
        Ok(Box::new(move || is_server_admin(&realm, &evidence)))
    }
}

impl Gate for EngineGate {
    fn admit(&self, from: IpAddr, said: Said<'_>) -> Result<Still, String> {
        let refused = |error: ApiError| error.reason.into_owned();
        match said {
            Said::Token(text) if self.token.as_ref().is_some_and(|token| token.is(text)) => Ok(Box::new(|| true)),
            Said::Token(text) => match tokens::shown(text).map(Evidence::ApiToken) {
                Some(evidence) if evidence.ask(&self.realm).is_ok() => self.of(evidence),
                _ => {
                    log_in::note_failure(&self.realm, Some(from), None, &ApiError::bad_token());
                    Err("the server does not take that token: give that of its configuration ([engine]), or an API \
                         token with the rights `server`"
                        .to_owned())
                }
            },
            Said::Password { name, password } => {
                let checked = self.runtime.block_on(log_in::check(&self.realm, Some(from), name, password));
                self.of(Evidence::Password(Arc::new(checked.map_err(refused)?)))
            }
        }
    }
}

#[cfg(feature = "redis")]
/// The door for clients of Redis: for who knows its password, or has an API token of a server admin.
pub struct RedisLogIns {
    realm: Arc<Realm>,
    right: Vec<u8>,
}

#[cfg(feature = "redis")]
/// How long a comparison of hashes takes says nothing of what they are of.
fn hash(text: &[u8]) -> Vec<u8> {
    digest(&SHA256, text).as_ref().to_vec()
}

#[cfg(feature = "redis")]
impl RedisLogIns {
    pub fn new(realm: &Arc<Realm>, password: &str) -> Self {
        RedisLogIns { realm: Arc::clone(realm), right: hash(password.as_bytes()) }
    }

    fn is_right(&self, name: &str, password: &[u8]) -> bool {
        if name != "default" {
            return false;
        }
        let is_token = |text: &str| {
            tokens::shown(text).is_some_and(|shown| is_server_admin(&self.realm, &Evidence::ApiToken(shown)))
        };
        hash(password) == self.right || std::str::from_utf8(password).is_ok_and(is_token)
    }
}

#[cfg(feature = "redis")]
impl Authenticate for RedisLogIns {
    fn attempt(&self, from: Option<IpAddr>, name: &str, password: &[u8], waited: bool) -> Attempt {
        // Not the name of a user of HTTP: who guesses here hinders nobody there.
        let counted = format!("redis:{name}");
        let throttle = &self.realm.credentials.throttle;
        if !waited {
            match throttle.admit(from, &counted, Instant::now()) {
                Some(wait) if wait.is_zero() => {}
                Some(wait) => return Attempt::Later(wait),
                None => {
                    log_in::note_failure(&self.realm, from, Some(name), &ApiError::too_many_attempts());
                    return Attempt::TooMany;
                }
            }
        }
        if self.is_right(name, password) {
            throttle.succeeded(from, &counted);
            Attempt::Right
        } else {
            log_in::note_failure(&self.realm, from, Some(name), &ApiError::bad_password());
            Attempt::Wrong
        }
    }

    fn standing(&self, _: &str, password: &[u8]) -> Option<Box<dyn recension_redis::Standing>> {
        if hash(password) == self.right {
            return None;
        }
        let evidence = std::str::from_utf8(password).ok().and_then(tokens::shown).map(Evidence::ApiToken)?;
        // Who is not an admin any more, a moment after the attempt, has no session.
        let known = evidence.ask(&self.realm).ok().flatten();
        let session = known.map(|known| Session::of(&self.realm, evidence, known, false));
        Some(Box::new(OfToken(session.map(|session| Standing::of_server_admin(&session)))))
    }
}

#[cfg(feature = "redis")]
/// The rights of somebody who logged in with an API token.
struct OfToken(Option<Standing>);

#[cfg(feature = "redis")]
impl recension_redis::Standing for OfToken {
    fn holds(&mut self) -> bool {
        self.0.as_mut().is_some_and(|standing| standing.holds().unwrap_or(false))
    }

    fn changed(&mut self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async {
            let Some(standing) = &mut self.0 else { return };
            let due = standing.due();
            tokio::select! {
                () = standing.changed() => {}
                () = tokio::time::sleep_until(due) => {}
            }
        })
    }
}
