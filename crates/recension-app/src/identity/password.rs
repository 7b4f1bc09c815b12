//! Passwords as CouchDB keeps them: PBKDF2 (with SHA-256 and 600,000 rounds for new ones), the older salted SHA-1, and
//! the plain ones of the configuration. Pure, and slow on purpose: `credentials.rs` says on which threads it runs.
//! Comparisons take a time that tells nothing.

use std::num::NonZeroU32;

use ring::{digest, hmac, pbkdf2};
use serde_json::{Map, Value};

use recension_wire::limits::{PASSWORD_BYTES_MAX, PASSWORD_ITERATIONS_MAX};

/// Shortest derived key that is believed, in bytes.
const DERIVED_BYTES_MIN: usize = 16;

/// The hash that PBKDF2 uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prf {
    Sha1,
    Sha256,
    Sha384,
    Sha512,
}

impl Prf {
    fn of(name: &str) -> Option<Self> {
        Some(match name {
            "sha" => Prf::Sha1,
            "sha256" => Prf::Sha256,
            "sha384" => Prf::Sha384,
            "sha512" => Prf::Sha512,
            _ => return None,
        })
    }

    fn name(self) -> &'static str {
        match self {
            Prf::Sha1 => "sha",
            Prf::Sha256 => "sha256",
            Prf::Sha384 => "sha384",
            Prf::Sha512 => "sha512",
        }
    }

    fn algorithm(self) -> pbkdf2::Algorithm {
        match self {
            Prf::Sha1 => pbkdf2::PBKDF2_HMAC_SHA1,
            Prf::Sha256 => pbkdf2::PBKDF2_HMAC_SHA256,
            Prf::Sha384 => pbkdf2::PBKDF2_HMAC_SHA384,
            Prf::Sha512 => pbkdf2::PBKDF2_HMAC_SHA512,
        }
    }
}

/// What a password is checked against.
#[derive(Clone, PartialEq, Eq)]
pub enum Verifier {
    /// PBKDF2.
    Pbkdf2 { prf: Prf, iterations: NonZeroU32, salt: String, key: Vec<u8> },
    /// SHA-1 of password and salt: CouchDB's scheme `simple`, of before 1.3.
    Simple { salt: String, sha: Vec<u8> },
    /// As the configuration gives it. The salt is for cookies: each password has its own.
    Configured { salt: String, password: String },
}

impl std::fmt::Debug for Verifier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Verifier")
    }
}

impl Verifier {
    /// Hashes a password. Slow.
    pub fn make(password: &str, salt: String, iterations: NonZeroU32) -> Self {
        let mut key = vec![0; digest::SHA256_OUTPUT_LEN];
        pbkdf2::derive(Prf::Sha256.algorithm(), iterations, salt.as_bytes(), password.as_bytes(), &mut key);
        Verifier::Pbkdf2 { prf: Prf::Sha256, iterations, salt, key }
    }

    /// A verifier that no password fits, and that takes as long as others to find that out.
    pub fn nobody(iterations: NonZeroU32) -> Self {
        Verifier::Pbkdf2 { prf: Prf::Sha256, iterations, salt: "nobody".to_owned(), key: vec![0; DERIVED_BYTES_MIN] }
    }

    /// The verifier of a user document; `None` if the document has none that is understood.
    pub fn of_document(document: &Map<String, Value>) -> Option<Self> {
        let text = |name: &str| document.get(name).and_then(Value::as_str);
        let salt = text("salt").unwrap_or_default().to_owned();
        match text("password_scheme").unwrap_or("simple") {
            "pbkdf2" => {
                let iterations = document.get("iterations").and_then(Value::as_u64)?;
                pbkdf2_of(text("pbkdf2_prf").unwrap_or("sha"), text("derived_key")?, salt, iterations)
            }
            "simple" => Some(Verifier::Simple { salt, sha: unhex(text("password_sha")?)? }),
            _ => None,
        }
    }

    /// The verifier of an admin, as a configuration holds it: `-pbkdf2:sha256-KEY,SALT,ITERATIONS`,
    /// `-pbkdf2-KEY,SALT,ITERATIONS` or `-hashed-SHA,SALT`. `None` if the text is a password rather than a hash.
    pub(crate) fn of_config(text: &str) -> Option<Self> {
        if let Some(rest) = text.strip_prefix("-hashed-") {
            let (sha, salt) = rest.split_once(',')?;
            return Some(Verifier::Simple { salt: salt.to_owned(), sha: unhex(sha)? });
        }
        let rest = text.strip_prefix("-pbkdf2")?;
        let (prf, rest) = match rest.strip_prefix(':') {
            Some(rest) => rest.split_once('-')?,
            None => ("sha", rest.strip_prefix('-')?),
        };
        let mut parts = rest.split(',');
        let (key, salt, iterations) = (parts.next()?, parts.next()?, parts.next()?);
        pbkdf2_of(prf, key, salt.to_owned(), iterations.trim().parse().ok()?)
    }

    /// As a configuration holds it.
    pub(crate) fn to_config(&self) -> String {
        match self {
            Verifier::Pbkdf2 { prf, iterations, salt, key } => {
                format!("-pbkdf2:{}-{},{salt},{iterations}", prf.name(), hex(key))
            }
            Verifier::Simple { salt, sha } => format!("-hashed-{},{salt}", hex(sha)),
            // A password of the configuration is not shown.
            Verifier::Configured { .. } => "-configured-".to_owned(),
        }
    }

    /// Puts it into a user document, in place of the password and of any former verifier.
    pub(crate) fn put_into(&self, document: &mut Map<String, Value>) {
        for name in ["password", "password_sha", "password_scheme", "pbkdf2_prf", "salt", "iterations", "derived_key"] {
            document.shift_remove(name);
        }
        if let Verifier::Pbkdf2 { prf, iterations, salt, key } = self {
            document.insert("password_scheme".to_owned(), "pbkdf2".into());
            document.insert("pbkdf2_prf".to_owned(), prf.name().into());
            document.insert("salt".to_owned(), salt.as_str().into());
            document.insert("iterations".to_owned(), iterations.get().into());
            document.insert("derived_key".to_owned(), hex(key).into());
        }
    }

    /// Whether the password fits. Slow.
    pub(crate) fn verify(&self, password: &str) -> bool {
        if password.len() > PASSWORD_BYTES_MAX {
            return false;
        }
        match self {
            Verifier::Pbkdf2 { prf, iterations, salt, key } => {
                pbkdf2::verify(prf.algorithm(), *iterations, salt.as_bytes(), password.as_bytes(), key).is_ok()
            }
            Verifier::Simple { salt, sha } => {
                let mut context = digest::Context::new(&digest::SHA1_FOR_LEGACY_USE_ONLY);
                context.update(password.as_bytes());
                context.update(salt.as_bytes());
                same(context.finish().as_ref(), sha)
            }
            Verifier::Configured { password: own, .. } => same(own.as_bytes(), password.as_bytes()),
        }
    }

    /// The user's cookies are bound to it: it changes with the password.
    pub fn salt(&self) -> &str {
        match self {
            Verifier::Pbkdf2 { salt, .. } | Verifier::Simple { salt, .. } | Verifier::Configured { salt, .. } => salt,
        }
    }

    /// Bytes that differ from those of every other verifier.
    pub fn bytes(&self) -> Vec<u8> {
        match self {
            Verifier::Configured { password, salt } => format!("{salt},{password}").into_bytes(),
            hashed => hashed.to_config().into_bytes(),
        }
    }
}

fn pbkdf2_of(prf: &str, key: &str, salt: String, iterations: u64) -> Option<Verifier> {
    let iterations = u32::try_from(iterations).ok().filter(|count| *count <= PASSWORD_ITERATIONS_MAX)?;
    let key = unhex(key).filter(|key| key.len() >= DERIVED_BYTES_MIN)?;
    Some(Verifier::Pbkdf2 { prf: Prf::of(prf)?, iterations: NonZeroU32::new(iterations)?, salt, key })
}

/// Whether two texts are equal, in a time that does not tell where they differ.
pub fn same(a: &[u8], b: &[u8]) -> bool {
    // The key hides nothing: the two are hashed to equal lengths, and ring compares in constant time.
    let key = hmac::Key::new(hmac::HMAC_SHA256, b"same");
    hmac::verify(&key, a, hmac::sign(&key, b).as_ref()).is_ok()
}

/// Bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from_digit(u32::from(half), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// Hexadecimal digits as bytes.
pub(crate) fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text
        .chars()
        .map(|digit| digit.to_digit(16).and_then(|digit| u8::try_from(digit).ok()))
        .collect::<Option<_>>()?;
    let (pairs, []) = digits.as_chunks::<2>() else { return None };
    Some(pairs.iter().map(|[high, low]| high << 4 | low).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn document(text: &str) -> Map<String, Value> {
        serde_json::from_str(text).unwrap()
    }

    /// Hashes made with Python's hashlib.
    #[test]
    fn hashes_of_every_scheme_fit_their_password_and_no_other() {
        for (scheme, text) in [
            (
                "pbkdf2 with sha1",
                r#"{"password_scheme":"pbkdf2","iterations":10,"salt":"s1","derived_key":"d8c6bccaeb07330b0378e713640479accc724227"}"#,
            ),
            (
                "pbkdf2 with sha256",
                r#"{"password_scheme":"pbkdf2","pbkdf2_prf":"sha256","iterations":1000,"salt":"s1","derived_key":"625d21dd08e950126c0c759420ca3c490798a12e7864ba4aa3dd203dfb60c28f"}"#,
            ),
            (
                "simple",
                r#"{"password_scheme":"simple","salt":"s1","password_sha":"ff0e87ffd4dc31dcc0e4a88c69e9cbe593ee1c33"}"#,
            ),
            ("none said", r#"{"salt":"s1","password_sha":"ff0e87ffd4dc31dcc0e4a88c69e9cbe593ee1c33"}"#),
        ] {
            let verifier = Verifier::of_document(&document(text)).unwrap_or_else(|| panic!("{scheme}"));
            assert!(verifier.verify("secret"), "{scheme}");
            assert!(!verifier.verify("Secret") && !verifier.verify(""), "{scheme}");
            assert_eq!(Verifier::of_config(&verifier.to_config()), Some(verifier), "{scheme}");
        }
    }

    #[test]
    fn what_is_no_hash_is_not_taken_for_one() {
        for text in [
            r"{}",
            r#"{"password_scheme":"pbkdf2","iterations":10,"salt":"s","derived_key":""}"#,
            r#"{"password_scheme":"pbkdf2","iterations":0,"salt":"s","derived_key":"00000000000000000000000000000000"}"#,
            r#"{"password_scheme":"pbkdf2","iterations":4000000000,"salt":"s","derived_key":"00000000000000000000000000000000"}"#,
            r#"{"password_scheme":"bcrypt","salt":"s","derived_key":"00"}"#,
            r#"{"password_scheme":"simple","salt":"s","password_sha":"0"}"#,
        ] {
            assert_eq!(Verifier::of_document(&document(text)), None, "{text}");
        }
        for text in ["secret", "-pbkdf2", "-pbkdf2-zz,s,1", "-hashed-"] {
            assert_eq!(Verifier::of_config(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_made_hash_fits_its_password_only(password in ".{0,40}", other in ".{0,40}", salt in "[0-9a-f]{0,32}") {
            let verifier = Verifier::make(&password, salt, NonZeroU32::MIN);
            let mut stored = document(r#"{"password":"x","salt":"old"}"#);
            verifier.put_into(&mut stored);
            prop_assert!(!stored.contains_key("password"));
            let stored = Verifier::of_document(&stored).unwrap();
            prop_assert!(stored.verify(&password));
            prop_assert_eq!(stored.verify(&other), password == other);
        }
    }
}
