//! Server admins: those that the configuration or the environment names, and those that are stored, hashed, in
//! `_node/_local/_config/admins`. The first start makes the first of the stored ones.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use ring::hmac;

use super::password::{Verifier, hex};
use super::random::{new_secret, new_uuid};
use recension_wire::error::{ApiError, Result};

/// The server's admins.
#[derive(Clone, Debug, Default)]
pub struct Admins(BTreeMap<String, Verifier>);

impl Admins {
    /// Those of the configuration, `name:password` each, over those that are stored.
    pub fn of(pairs: &[String], stored: Option<&BTreeMap<String, String>>, secret: &str) -> Result<Self> {
        let mut admins = BTreeMap::new();
        for (name, hash) in stored.into_iter().flatten() {
            let verifier =
                Verifier::of_config(hash).ok_or_else(|| ApiError::bad_request("an admin is kept as a hash"))?;
            admins.insert(name.clone(), verifier);
        }
        for (name, password) in pairs.iter().filter_map(|pair| pair.split_once(':')) {
            let verifier = Verifier::of_config(password).unwrap_or_else(|| {
                let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
                let salt = hex(hmac::sign(&key, format!("{name}:{password}").as_bytes()).as_ref());
                Verifier::Configured { salt, password: password.to_owned() }
            });
            admins.insert(name.to_owned(), verifier);
        }
        Ok(Admins(admins))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What an admin's password is checked against.
    pub fn get(&self, name: &str) -> Option<&Verifier> {
        self.0.get(name)
    }

    /// As they are shown to an admin.
    pub fn shown(&self) -> BTreeMap<String, String> {
        self.0.iter().map(|(name, verifier)| (name.clone(), verifier.to_config())).collect()
    }
}

/// An admin's password as it is stored: hashed, unless it is a hash already. Slow.
pub fn hashed(password: &str, iterations: NonZeroU32) -> String {
    if Verifier::of_config(password).is_some() {
        return password.to_owned();
    }
    Verifier::make(password, new_uuid(), iterations).to_config()
}

/// A new password with 128 random bits.
pub fn new_password() -> Result<String> {
    Ok(new_secret()?.chars().take(32).collect())
}
