//! The ciphers of encrypted stores. In a build without the feature `encryption` their places are taken by types that no
//! value can have: such a build refuses keys and encrypted stores, and can seal nothing.

#[cfg(feature = "encryption")]
pub(crate) use ring::{aead, hkdf, hmac};

use recension_engine::{EngineError, Result};

/// Refuses encryption in a build without it.
pub(crate) fn built_in() -> Result<()> {
    if cfg!(feature = "encryption") {
        Ok(())
    } else {
        Err(EngineError::not_built_in("an encrypted store", "encryption"))
    }
}

/// The 32 bytes that Argon2id makes of a passphrase.
#[cfg(feature = "encryption")]
pub(crate) fn stretched(text: &[u8], salt: &[u8], [memory_kib, passes, lanes]: [u32; 3]) -> std::io::Result<[u8; 32]> {
    use argon2::{Algorithm, Argon2, Params, Version};
    let other = |error: argon2::Error| std::io::Error::other(error.to_string());
    let mut bytes = [0; 32];
    let params = Params::new(memory_kib, passes, lanes, Some(bytes.len())).map_err(other)?;
    let argon = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
    argon.hash_password_into(text, salt, &mut bytes).map_err(other)?;
    Ok(bytes)
}

#[cfg(not(feature = "encryption"))]
pub(crate) fn stretched(_: &[u8], _: &[u8], _: [u32; 3]) -> std::io::Result<[u8; 32]> {
    built_in().map_err(std::io::Error::other).map(|()| [0; 32])
}

#[cfg(not(feature = "encryption"))]
pub(crate) use self::absent::{aead, hkdf, hmac};

/// What of `ring` the engine calls, for a build without it.
#[cfg(not(feature = "encryption"))]
#[allow(clippy::needless_pass_by_value, clippy::unused_self)] // they are called as those of `ring`
mod absent {
    pub(crate) struct Unspecified;
    /// Nothing has this type.
    enum Never {}
    type Result<T> = std::result::Result<T, Unspecified>;

    pub(crate) mod aead {
        use super::{Never, Result, Unspecified};

        pub(crate) const NONCE_LEN: usize = 12;
        pub(crate) struct Algorithm;
        pub(crate) const AES_256_GCM: Algorithm = Algorithm;
        pub(crate) struct Nonce;
        impl Nonce {
            pub(crate) fn assume_unique_for_key(_: [u8; NONCE_LEN]) -> Self {
                Nonce
            }
        }
        pub(crate) struct Aad;
        impl Aad {
            pub(crate) fn from<T>(_: T) -> Self {
                Aad
            }
        }
        pub(crate) struct UnboundKey(Never);
        impl UnboundKey {
            pub(crate) fn new(_: &Algorithm, _: &[u8]) -> Result<Self> {
                Err(Unspecified)
            }
        }
        pub(crate) struct Tag(Never);
        impl AsRef<[u8]> for Tag {
            fn as_ref(&self) -> &[u8] {
                match self.0 {}
            }
        }
        pub(crate) struct LessSafeKey(Never);
        impl LessSafeKey {
            pub(crate) fn new(key: UnboundKey) -> Self {
                match key.0 {}
            }
            pub(crate) fn seal_in_place_separate_tag(&self, _: Nonce, _: Aad, _: &mut [u8]) -> Result<Tag> {
                match self.0 {}
            }
            pub(crate) fn seal_in_place_append_tag(&self, _: Nonce, _: Aad, _: &mut Vec<u8>) -> Result<()> {
                match self.0 {}
            }
            pub(crate) fn open_in_place<'t>(&self, _: Nonce, _: Aad, _: &'t mut [u8]) -> Result<&'t mut [u8]> {
                match self.0 {}
            }
        }
    }

    pub(crate) mod hkdf {
        use super::{Never, Result, Unspecified};

        pub(crate) struct Algorithm;
        pub(crate) const HKDF_SHA256: Algorithm = Algorithm;
        pub(crate) struct Salt;
        impl Salt {
            pub(crate) fn new(_: Algorithm, _: &[u8]) -> Self {
                Salt
            }
            pub(crate) fn extract(&self, _: &[u8]) -> Prk {
                Prk
            }
        }
        pub(crate) struct Prk;
        impl Prk {
            pub(crate) fn expand<T>(&self, _: &[&[u8]], _: T) -> Result<Okm> {
                Err(Unspecified)
            }
        }
        pub(crate) struct Okm(Never);
        impl From<Okm> for super::aead::UnboundKey {
            fn from(okm: Okm) -> Self {
                match okm.0 {}
            }
        }
        impl From<Okm> for super::hmac::Key {
            fn from(okm: Okm) -> Self {
                match okm.0 {}
            }
        }
    }

    pub(crate) mod hmac {
        use super::Never;

        pub(crate) struct Algorithm;
        pub(crate) const HMAC_SHA256: Algorithm = Algorithm;
        pub(crate) struct Key(Never);
        pub(crate) struct Tag(Never);
        impl AsRef<[u8]> for Tag {
            fn as_ref(&self) -> &[u8] {
                match self.0 {}
            }
        }
        pub(crate) fn sign(key: &Key, _: &[u8]) -> Tag {
            match key.0 {}
        }
    }
}
