//! Values of rows, sealed by a key of their tree. docs/encryption.md has the bytes. Pure but for chance, which comes in
//! as an argument.

use std::borrow::Cow;

use crate::cipher::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};

use crate::disk::sealed::KEY_BYTES;
use recension_engine::{OWN_SEQ_BYTES, TreeId};

const FORMAT: u8 = 1;
const PADDED: u8 = 16;
const OWN_SEQ: u8 = 32;
const TAG_BYTES: usize = 16;

/// Random bytes that a value needs.
pub(super) const CHANCE_BYTES: usize = NONCE_LEN;

/// A key that seals values.
pub(super) struct ValueKey(LessSafeKey);

/// The row that a value is bound to: its tree, its key, and where that has the seq of its own commit.
#[derive(Clone, Copy)]
pub(super) struct Bound<'k> {
    pub(super) tree: TreeId,
    pub(super) key: &'k [u8],
    pub(super) own_seq: Option<u16>,
}

impl Bound<'_> {
    /// The associated data; `None` if there is no room for a seq.
    fn data(self, format: u8) -> Option<Vec<u8>> {
        let mut data = Vec::with_capacity(5 + self.key.len());
        data.push(format);
        data.extend(self.tree.0.to_be_bytes());
        match self.own_seq.map(usize::from) {
            None => data.extend(self.key),
            Some(place) => {
                data.extend(self.key.get(..place)?);
                data.extend(self.key.get(place + OWN_SEQ_BYTES..)?);
            }
        }
        Some(data)
    }
}

/// Whether a stored value is as it was written: empty, or counters.
fn is_plain(stored: &[u8]) -> bool {
    stored.len().is_multiple_of(8)
}

impl ValueKey {
    pub(super) fn new(bytes: &[u8; KEY_BYTES]) -> Option<Self> {
        UnboundKey::new(&AES_256_GCM, bytes).ok().map(|key| ValueKey(LessSafeKey::new(key)))
    }

    /// Seals a value of a row.
    pub(super) fn seal(&self, row: Bound<'_>, value: &[u8], chance: [u8; CHANCE_BYTES]) -> Option<Vec<u8>> {
        if value.is_empty() {
            return Some(Vec::new());
        }
        let place = row.own_seq.map(u16::to_le_bytes);
        let bare = 1 + place.map_or(0, |place| place.len()) + NONCE_LEN + value.len() + TAG_BYTES;
        let padding = usize::from(bare.is_multiple_of(8));
        let format = FORMAT | if padding == 1 { PADDED } else { 0 } | if place.is_some() { OWN_SEQ } else { 0 };
        let mut sealed = Vec::with_capacity(bare + padding);
        sealed.push(format);
        sealed.resize(1 + padding, 0);
        sealed.extend(place.into_iter().flatten());
        sealed.extend(chance);
        let text = sealed.len();
        sealed.extend(value);
        let bound = Aad::from(row.data(format)?);
        let nonce = Nonce::assume_unique_for_key(chance);
        let tag = self.0.seal_in_place_separate_tag(nonce, bound, &mut sealed[text..]).ok()?;
        sealed.extend(tag.as_ref());
        Some(sealed)
    }

    /// Opens the stored value of a row; `None` if it is not what was written there.
    pub(super) fn open<'v>(&self, tree: TreeId, key: &[u8], stored: Cow<'v, [u8]>) -> Option<Cow<'v, [u8]>> {
        if is_plain(&stored) {
            return Some(stored);
        }
        let (&format, rest) = stored.split_first()?;
        if format & !(PADDED | OWN_SEQ) != FORMAT {
            return None;
        }
        let rest = if format & PADDED == 0 { rest } else { rest.strip_prefix(&[0])? };
        let (own_seq, rest) = if format & OWN_SEQ == 0 {
            (None, rest)
        } else {
            let (place, rest) = rest.split_first_chunk()?;
            (Some(u16::from_le_bytes(*place)), rest)
        };
        let (nonce, text) = rest.split_first_chunk()?;
        let bound = Aad::from(Bound { tree, key, own_seq }.data(format)?);
        let nonce = Nonce::assume_unique_for_key(*nonce);
        let mut text = text.to_vec();
        let len = self.0.open_in_place(nonce, bound, &mut text).ok()?.len();
        text.truncate(len);
        Some(Cow::Owned(text))
    }
}

/// Whether a stored value needs its key to be read.
pub(super) fn is_sealed(stored: &[u8]) -> bool {
    !is_plain(stored)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TREE: TreeId = TreeId(0x8001_0002);

    fn row(key: &[u8], own_seq: Option<u16>) -> Bound<'_> {
        Bound { tree: TREE, key, own_seq }
    }

    #[test]
    fn values_of_any_length_read_back_and_are_told_from_counters() {
        let key = ValueKey::new(&[1; KEY_BYTES]).unwrap();
        for len in 0..70 {
            let value = vec![7; len];
            for own_seq in [None, Some(2)] {
                let sealed = key.seal(row(b"ab01234567c", own_seq), &value, [len as u8; 12]).unwrap();
                assert_eq!(is_sealed(&sealed), len > 0, "{len}");
                // The seq of the commit may be any.
                let read_at: &[u8] = if own_seq.is_some() { b"abSEQSEQSEc" } else { b"ab01234567c" };
                let opened = key.open(TREE, read_at, Cow::Borrowed(&sealed)).unwrap();
                assert_eq!(*opened, *value, "{len}");
            }
        }
        for counters in [&b""[..], &[0; 8], &[0xff; 16], &[1; 24]] {
            assert_eq!(*key.open(TREE, b"k", Cow::Borrowed(counters)).unwrap(), *counters);
        }
    }

    #[test]
    fn a_value_that_was_flipped_cut_or_moved_does_not_open() {
        let key = ValueKey::new(&[1; KEY_BYTES]).unwrap();
        for own_seq in [None, Some(1)] {
            let sealed = key.seal(row(b"k0123456789", own_seq), b"a value", [5; 12]).unwrap();
            let open = |key: &ValueKey, tree, at: &[u8], bytes: &[u8]| {
                key.open(tree, at, Cow::Owned(bytes.to_vec())).map(Cow::into_owned)
            };
            assert_eq!(open(&key, TREE, b"k0123456789", &sealed).as_deref(), Some(&b"a value"[..]));
            for at in 0..sealed.len() {
                let mut flipped = sealed.clone();
                flipped[at] ^= 1;
                assert_eq!(open(&key, TREE, b"k0123456789", &flipped), None, "byte {at}");
                let cut = open(&key, TREE, b"k0123456789", &sealed[..at]);
                assert!(cut.is_none_or(|cut| at.is_multiple_of(8) && cut == sealed[..at]), "cut at {at}");
            }
            for (tree, at) in [(TREE, &b"K0123456789"[..]), (TREE, b"k"), (TreeId(0x8001_0003), b"k0123456789")] {
                assert_eq!(open(&key, tree, at, &sealed), None, "{at:?}");
            }
            assert_eq!(open(&ValueKey::new(&[2; KEY_BYTES]).unwrap(), TREE, b"k0123456789", &sealed), None);
        }
    }
}
