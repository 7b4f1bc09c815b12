//! The key that a user keeps: 32 bytes, or a passphrase. It opens the store's own keys and is written nowhere; neither
//! `Debug` nor any error shows it.

use std::fmt;
use std::io;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// Bytes of a key.
pub(crate) const KEY_BYTES: usize = 32;
/// Longest passphrase, in bytes.
const PASSPHRASE_BYTES_MAX: usize = 1024;

/// The key of an encrypted store.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(Kept);

#[derive(Clone, PartialEq, Eq)]
enum Kept {
    Bytes([u8; KEY_BYTES]),
    Passphrase(String),
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(not shown)")
    }
}

/// How a passphrase becomes 32 bytes: Argon2id.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Stretching {
    pub(super) memory_kib: u32,
    pub(super) passes: u32,
    pub(super) lanes: u32,
    pub(super) salt: [u8; 16],
}

impl Stretching {
    /// What new stores have: 64 MiB, three passes (RFC 9106, the second recommendation, with one lane).
    pub(super) fn new() -> io::Result<Self> {
        Ok(Stretching { memory_kib: 64 << 10, passes: 3, lanes: 1, salt: random()? })
    }

    /// Whether nobody asks for more memory or time than a person waits for.
    pub(super) fn is_bounded(&self) -> bool {
        self.memory_kib <= 1 << 20 && (1..=64).contains(&self.passes) && (1..=16).contains(&self.lanes)
    }
}

impl Key {
    /// A key of 32 bytes, as 64 hexadecimal digits or as base64; white space around it does not count.
    ///
    /// # Errors
    /// What is wrong with it, without a word of it.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        let text = text.trim();
        let bytes = if text.len() == 2 * KEY_BYTES { from_hex(text) } else { STANDARD.decode(text).ok() };
        let bytes = bytes.and_then(|bytes| <[u8; KEY_BYTES]>::try_from(bytes).ok());
        let wrong = "a key is 32 bytes: 64 hexadecimal digits, or base64; `recension key new` makes one";
        bytes.map(|bytes| Key(Kept::Bytes(bytes))).ok_or(wrong)
    }

    /// A passphrase; a line's end behind it does not count.
    ///
    /// # Errors
    /// What is wrong with it, without a word of it.
    pub fn passphrase(text: &str) -> Result<Self, &'static str> {
        let text = text.trim_end_matches(['\r', '\n']);
        match text.len() {
            0 => Err("the passphrase is empty"),
            1..=PASSPHRASE_BYTES_MAX => Ok(Key(Kept::Passphrase(text.to_owned()))),
            _ => Err("a passphrase has at most 1,024 bytes"),
        }
    }

    /// A new random key.
    ///
    /// # Errors
    /// Those of the system's random numbers.
    pub fn generate() -> io::Result<Self> {
        Ok(Key(Kept::Bytes(random()?)))
    }

    /// The 64 hexadecimal digits to keep, if it is no passphrase.
    pub fn to_hex(&self) -> Option<String> {
        match &self.0 {
            Kept::Bytes(bytes) => {
                let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
                Some(digits.filter_map(|digit| char::from_digit(u32::from(digit), 16)).collect())
            }
            Kept::Passphrase(_) => None,
        }
    }

    pub(super) fn is_passphrase(&self) -> bool {
        matches!(self.0, Kept::Passphrase(_))
    }

    /// The 32 bytes that open the store's keys: `None` if the store wants the other kind.
    pub(super) fn bytes(&self, stretching: Option<&Stretching>) -> io::Result<Option<[u8; KEY_BYTES]>> {
        match (&self.0, stretching) {
            (Kept::Bytes(bytes), None) => Ok(Some(*bytes)),
            (Kept::Passphrase(text), Some(Stretching { memory_kib, passes, lanes, salt })) => {
                crate::cipher::stretched(text.as_bytes(), salt, [*memory_kib, *passes, *lanes]).map(Some)
            }
            _ => Ok(None),
        }
    }
}

fn other(error: impl fmt::Display) -> io::Error {
    io::Error::other(error.to_string())
}

/// Random bytes.
pub(crate) fn random<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| other(format!("asking for random bytes: {error}")))?;
    Ok(bytes)
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    text.as_bytes().chunks(2).map(|pair| Some(digit(pair[0])? << 4 | digit(*pair.get(1)?)?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_as_digits_or_base64_and_shown_to_nobody() {
        let key = Key::parse(&"ab".repeat(32)).unwrap();
        assert_eq!(Key::parse(&format!("  {}\n", STANDARD.encode([0xab; 32]))).unwrap(), key);
        assert_eq!(Key::parse(&key.to_hex().unwrap()).unwrap(), key);
        assert!(!format!("{key:?}").contains("ab"));
        for wrong in ["", "abc", &"ab".repeat(31), &"ab".repeat(33), &"xy".repeat(32), &STANDARD.encode([7; 31])] {
            let why = Key::parse(wrong).unwrap_err();
            assert!(wrong.is_empty() || !why.contains(wrong), "{why}");
        }
        assert!(Key::passphrase("\n").is_err() && Key::passphrase(&"a".repeat(1025)).is_err());
        assert_eq!(Key::passphrase("a b \r\n"), Key::passphrase("a b "));
    }

    #[cfg(feature = "encryption")]
    #[test]
    fn a_passphrase_makes_the_same_bytes_with_the_same_salt_only() {
        let salted = |salt| Stretching { memory_kib: 64, passes: 1, lanes: 1, salt: [salt; 16] };
        let bytes = |words, salt| Key::passphrase(words).unwrap().bytes(Some(&salted(salt))).unwrap().unwrap();
        assert_eq!(bytes("words", 1), bytes("words", 1));
        assert_ne!(bytes("words", 1), bytes("words", 2));
        assert_ne!(bytes("words", 1), bytes("other words", 1));
        assert!(Key::passphrase("words").unwrap().bytes(None).unwrap().is_none());
    }
}
