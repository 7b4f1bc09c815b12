//! Openings: each time a process writes to a file it begins with a key of its own, made of the store's key, random
//! bytes, and what the file is. So no nonce is used twice, whatever a crash has torn, and no file takes another one's
//! place.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::cipher::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use crate::cipher::{hkdf, hmac};

use super::key::random;
use super::keys::{StoreKey, StoreKeys};
use crate::format::Fields;

/// Bytes of an opening.
pub(super) const OPENING_BYTES: usize = 64;
/// Bytes behind what is sealed.
pub(super) const TAG_BYTES: usize = 16;
pub(super) const MAGIC: &[u8; 4] = b"RcSO";
const MARKED_BYTES: usize = 48;

/// What a file is: a kind, and which of its kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Place {
    pub(super) kind: u8,
    pub(super) number: u64,
}

/// A key for what one process writes to one file.
pub(super) struct Opening {
    pub(super) bytes: [u8; OPENING_BYTES],
    /// Its number in the file, from 1.
    pub(super) number: u32,
    key: LessSafeKey,
    seals: AtomicU64,
}

impl Opening {
    /// A new one, with the newest key.
    pub(super) fn new(keys: &StoreKeys, place: Place, number: u32) -> io::Result<Self> {
        let (store, salt) = (keys.newest(), random::<32>()?);
        let (key, mark) = derive(store, salt, place, keys.id).ok_or_else(|| io::Error::other("no key was derived"))?;
        let mut bytes = MAGIC.to_vec();
        bytes.extend(store.id.to_le_bytes());
        bytes.extend(salt);
        bytes.extend(u64::from(number).to_le_bytes());
        bytes.extend(&hmac::sign(&mark, &bytes).as_ref()[..OPENING_BYTES - MARKED_BYTES]);
        let bytes = bytes.try_into().map_err(|_| io::Error::other("an opening of a wrong length"))?;
        Ok(Opening { bytes, number, key, seals: AtomicU64::new(0) })
    }

    /// One that was written; `None` if these bytes are none, of this place, with one of these keys.
    pub(super) fn read(bytes: &[u8], keys: &StoreKeys, place: Place) -> Option<Self> {
        let bytes: [u8; OPENING_BYTES] = *bytes.first_chunk()?;
        let mut fields = Fields(&bytes);
        if fields.bytes()? != *MAGIC {
            return None;
        }
        let (store, salt) = (keys.get(fields.u32()?)?, fields.bytes()?);
        let number = u32::try_from(fields.u64()?).ok().filter(|&number| number > 0)?;
        let (key, mark) = derive(store, salt, place, keys.id)?;
        let expected = hmac::sign(&mark, &bytes[..MARKED_BYTES]);
        // Nobody learns by how much a forged one fails: it is looked at once, when a file is opened.
        (expected.as_ref()[..OPENING_BYTES - MARKED_BYTES] == bytes[MARKED_BYTES..]).then_some(Opening {
            bytes,
            number,
            key,
            seals: AtomicU64::new(0),
        })
    }

    /// The id of the store's key in the bytes of an opening; `None` if they are none.
    pub(super) fn key_id(bytes: &[u8]) -> Option<u32> {
        Fields(bytes.strip_prefix(MAGIC)?).u32()
    }

    /// The number of the next seal.
    pub(super) fn next_seal(&self) -> u64 {
        self.seals.fetch_add(1, Ordering::Relaxed)
    }

    /// Seals `text` in place and answers the tag. `number` comes from [`Opening::next_seal`], and is used once.
    pub(super) fn seal(&self, number: u64, bound: &[u8], text: &mut [u8]) -> io::Result<[u8; TAG_BYTES]> {
        let sealed = self.key.seal_in_place_separate_tag(nonce(number), Aad::from(bound), text);
        let tag = sealed.ok().and_then(|tag| tag.as_ref().try_into().ok());
        tag.ok_or_else(|| io::Error::other("a piece was too long to be sealed"))
    }

    /// Opens in place what was sealed, the tag behind it; `None` if it is not what was sealed.
    pub(super) fn open<'t>(&self, number: u64, bound: &[u8], sealed: &'t mut [u8]) -> Option<&'t [u8]> {
        self.key.open_in_place(nonce(number), Aad::from(bound), sealed).ok().map(|text| &*text)
    }
}

fn nonce(number: u64) -> Nonce {
    let mut bytes = [0; 12];
    bytes[..8].copy_from_slice(&number.to_le_bytes());
    Nonce::assume_unique_for_key(bytes)
}

/// The key for seals, and the one that marks the opening.
fn derive(store: &StoreKey, salt: [u8; 32], place: Place, id: [u8; 16]) -> Option<(LessSafeKey, hmac::Key)> {
    let (kind, number) = ([place.kind], place.number.to_le_bytes());
    let secret = hkdf::Salt::new(hkdf::HKDF_SHA256, &salt).extract(&store.bytes);
    let seals = [&b"recension"[..], &kind, &number, &id];
    let marks = [&b"recension opening"[..], &kind, &number, &id];
    let key = UnboundKey::from(secret.expand(&seals, &AES_256_GCM).ok()?);
    let mark = hmac::Key::from(secret.expand(&marks, hmac::HMAC_SHA256).ok()?);
    Some((LessSafeKey::new(key), mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_opening_is_of_one_place_and_one_store_and_opens_only_what_it_was_bound_to() {
        let (keys, others) = (StoreKeys::new().unwrap(), StoreKeys::new().unwrap());
        let place = Place { kind: 1, number: 7 };
        let opening = Opening::new(&keys, place, 3).unwrap();
        let (number, mut text) = (opening.next_seal(), *b"words");
        let tag = opening.seal(number, b"here", &mut text).unwrap();
        let sealed = [&text[..], &tag].concat();
        assert!(!sealed.starts_with(b"words") && opening.next_seal() == number + 1);
        let again = Opening::read(&opening.bytes, &keys, place).unwrap();
        assert_eq!(again.number, 3);
        assert_eq!(again.open(number, b"here", &mut sealed.clone()), Some(&b"words"[..]));
        assert!(again.open(number, b"there", &mut sealed.clone()).is_none());
        assert!(again.open(number + 1, b"here", &mut sealed.clone()).is_none());
        assert!(Opening::read(&opening.bytes, &others, place).is_none());
        assert!(Opening::read(&opening.bytes, &keys, Place { kind: 2, number: 7 }).is_none());
        assert!(Opening::read(&opening.bytes, &keys, Place { kind: 1, number: 8 }).is_none());
        for at in 0..OPENING_BYTES {
            let mut flipped = opening.bytes;
            flipped[at] ^= 1;
            assert!(Opening::read(&flipped, &keys, place).is_none(), "byte {at}");
        }
    }
}
