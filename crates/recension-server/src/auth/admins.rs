//! Server admins: names and passwords that the configuration or the environment gives. To come: hashes of passwords,
//! the password that the first start makes, `_node/_local/_config/admins`.

use std::collections::BTreeMap;

/// The server's admins.
#[derive(Clone, Debug, Default)]
pub(crate) struct Admins(BTreeMap<String, String>);

impl Admins {
    /// From `name:password`; none: everybody is admin, and only loopback may be listened to.
    pub(crate) fn of(pairs: &[String]) -> Self {
        let split = |pair: &String| pair.split_once(':').map(|(name, password)| (name.to_owned(), password.to_owned()));
        Admins(pairs.iter().filter_map(split).collect())
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the password is the admin's. It compares in a time that tells nothing of where they differ.
    pub(crate) fn verify(&self, name: &str, password: &str) -> bool {
        let known = self.0.get(name).map_or("", String::as_str);
        let differs = known.len() ^ password.len();
        let bytes = known.bytes().zip(password.bytes()).fold(0, |differs, (a, b)| differs | (a ^ b));
        self.0.contains_key(name) && differs == 0 && bytes == 0
    }
}
