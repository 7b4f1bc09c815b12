//! Revisions that are made up for a user's replicas. Their names show that this server made them, so that they need not
//! be stored. Pure.

use std::fmt::Write as _;

use recension::RevId;
use sha2::{Digest, Sha256};

/// Bytes of each half of a name.
const HALF: usize = 8;

/// Makes names, and recognises its own.
#[derive(Clone)]
pub(super) struct Names {
    secret: Vec<u8>,
}

impl Names {
    pub(super) fn of(secret: &str) -> Self {
        Names { secret: secret.as_bytes().to_vec() }
    }

    /// The revision with a number in the chain of a real one. Odd numbers are deletions, even ones bring it back.
    pub(super) fn made_up(&self, id: &str, real: &RevId, number: u32) -> RevId {
        if number == 0 {
            return *real;
        }
        let generation = real.generation().saturating_add(number);
        let number = number.to_be_bytes();
        let of = real.generation().to_be_bytes();
        let nonce = self.hash(&[b"nonce", id.as_bytes(), &of, real.suffix_bytes(), &number]);
        let mut hash = [0; HALF * 2];
        let (first, second) = hash.split_at_mut(HALF);
        first.copy_from_slice(&nonce);
        second.copy_from_slice(&self.tag(id, generation, &nonce));
        RevId::new(generation, hash)
    }

    /// Whether a revision of a document was made up here.
    pub(super) fn is_made_up(&self, id: &str, rev: &RevId) -> bool {
        let Some(hash) = rev.hash() else { return false };
        let (nonce, tag) = hash.split_at(HALF);
        self.tag(id, rev.generation(), nonce) == *tag
    }

    /// The seal of a text that only this server can have written.
    pub(super) fn seal(&self, parts: &[&[u8]]) -> String {
        let parts: Vec<&[u8]> = std::iter::once(&b"seal"[..]).chain(parts.iter().copied()).collect();
        self.hash(&parts).iter().fold(String::with_capacity(HALF * 2), |mut text, byte| {
            // Writing to a String cannot fail.
            let _ = write!(text, "{byte:02x}");
            text
        })
    }

    fn tag(&self, id: &str, generation: u32, nonce: &[u8]) -> [u8; HALF] {
        self.hash(&[b"tag", id.as_bytes(), &generation.to_be_bytes(), nonce])
    }

    fn hash(&self, parts: &[&[u8]]) -> [u8; HALF] {
        let mut hash = Sha256::new();
        for part in std::iter::once(&self.secret.as_slice()).chain(parts) {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        let mut half = [0; HALF];
        half.iter_mut().zip(hash.finalize()).for_each(|(own, byte)| *own = byte);
        half
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn made_up_names_are_known_and_no_others() {
        let names = Names::of("secret");
        let real: RevId = "3-00112233445566778899aabbccddeeff".parse().unwrap();
        assert_eq!(names.made_up("a", &real, 0), real);
        assert!(!names.is_made_up("a", &real));
        for number in 1..5 {
            let rev = names.made_up("a", &real, number);
            assert_eq!(rev.generation(), 3 + number);
            assert!(names.is_made_up("a", &rev));
            assert!(!names.is_made_up("b", &rev));
            assert!(!Names::of("other").is_made_up("a", &rev));
            let later = RevId::new(rev.generation() + 1, rev.hash().unwrap());
            assert!(!names.is_made_up("a", &later));
        }
    }

    #[test]
    fn seals_are_of_one_text_and_one_secret() {
        let names = Names::of("secret");
        let seal = names.seal(&[b"ada", b"12"]);
        assert_eq!(seal.len(), 16);
        assert_eq!(names.seal(&[b"ada", b"12"]), seal);
        for other in [names.seal(&[b"ada1", b"2"]), names.seal(&[b"bob", b"12"]), Names::of("x").seal(&[b"ada", b"12"])]
        {
            assert_ne!(other, seal);
        }
    }
}
