//! The section of the listener for clients of Redis.

use std::net::SocketAddr;

use recension::engine::Durability;
use serde::{Deserialize, Serialize};

use super::ConfigError;

/// A listener for clients of Redis beside HTTP's, with the same certificate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RedisSection {
    /// The address; without it there is no listener.
    pub listen: Option<SocketAddr>,
    /// The branch of the store that these clients use; without it the main line.
    pub branch: Option<String>,
    /// How durable a write is when it is answered: `disk`, `process` or `memory`; by default as the store has it.
    pub durability: Option<String>,
    /// The password that connections have to say first. It is needed if `listen` is not loopback.
    #[serde(skip_serializing)]
    pub password: Option<String>,
}

impl RedisSection {
    /// The durability.
    ///
    /// # Errors
    /// If there is no durability of the name.
    pub fn durability(&self) -> Result<Option<Durability>, ConfigError> {
        match self.durability.as_deref() {
            None => Ok(None),
            Some("disk") => Ok(Some(Durability::Disk)),
            Some("process") => Ok(Some(Durability::Process)),
            Some("memory") => Ok(Some(Durability::Memory)),
            Some(_) => Err(ConfigError { message: "redis.durability is disk, process or memory".to_owned() }),
        }
    }

    pub(super) fn check(&self) -> Result<(), ConfigError> {
        #[cfg(not(feature = "redis"))]
        if *self != Self::default() {
            return Err(super::not_built_in("a listener for clients of Redis", "redis"));
        }
        self.durability()?;
        let bad = |message: &str| Err(ConfigError { message: message.to_owned() });
        if self.password.as_ref().is_some_and(|password| password.is_empty() || password.len() > 1024) {
            return bad("a password for Redis's clients has 1 to 1024 bytes");
        }
        if self.password.is_none() && self.listen.is_some_and(|listen| !listen.ip().is_loopback()) {
            return bad(
                "Redis's clients are let in beyond loopback with a password only; set RECENSION_REDIS_PASSWORD",
            );
        }
        if self.branch.is_some() && self.listen.is_none() {
            return bad("redis.branch is the branch of Redis's clients; there are none without redis.listen (--redis)");
        }
        Ok(())
    }
}
