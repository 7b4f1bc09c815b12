//! `COLLECTION-KEYS`: the keys of blocks of trees, sealed with a key that `KEYS` has. docs/encryption.md has its bytes.
//! A checksum tells a damaged file from one of another store. Pure.

use std::io;

use crate::cipher::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};

use crate::disk::sealed::{KEY_BYTES, NoKeys, random};
use crate::format::Fields;
use recension_engine::{KeyNumber, Timestamp};

const MAGIC: &[u8; 8] = b"RECOCKEY";
const VERSION: u32 = 1;
/// Bytes that the seal is bound to.
const BOUND_BYTES: usize = 12;
const HEAD_BYTES: usize = BOUND_BYTES + 12 + 4;
const TAG_BYTES: usize = 16;
/// Least and most bytes of the sealed entries.
const SEALED_BYTES_MIN: usize = 4 + TAG_BYTES;
const SEALED_BYTES_MAX: usize = 16 << 20;
/// The longest file.
pub(super) const FILE_BYTES_MAX: u64 = (HEAD_BYTES + SEALED_BYTES_MAX + 4) as u64;

/// A key that there is or was.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) number: KeyNumber,
    pub(super) name: String,
    pub(super) made: Timestamp,
    pub(super) secret: Secret,
}

/// The key itself.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Secret {
    Here([u8; KEY_BYTES]),
    Elsewhere,
    Destroyed(Timestamp),
}

fn wrapping_key(wrapping: &[u8; KEY_BYTES]) -> io::Result<LessSafeKey> {
    let key = UnboundKey::new(&AES_256_GCM, wrapping).map_err(|_| io::Error::other("a key of no use"))?;
    Ok(LessSafeKey::new(key))
}

/// The file.
pub(super) fn encode(entries: &[Entry], wrapping: &[u8; KEY_BYTES]) -> io::Result<Vec<u8>> {
    let mut text = (entries.len() as u32).to_le_bytes().to_vec();
    for Entry { number, name, made, secret } in entries {
        let (state, destroyed) = match secret {
            Secret::Here(_) => (0, 0),
            Secret::Elsewhere => (1, 0),
            Secret::Destroyed(at) => (2, at.0),
        };
        text.extend(number.get().to_le_bytes());
        text.push(state);
        text.extend(made.0.to_le_bytes());
        text.extend(destroyed.to_le_bytes());
        text.push(u8::try_from(name.len()).map_err(|_| io::Error::other("a name has at most 255 bytes"))?);
        text.extend(name.as_bytes());
        if let Secret::Here(bytes) = secret {
            text.extend(bytes);
        }
    }
    let nonce = random()?;
    let mut bytes = MAGIC.to_vec();
    bytes.extend(VERSION.to_le_bytes());
    let bound = Aad::from(bytes.clone());
    wrapping_key(wrapping)?
        .seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), bound, &mut text)
        .map_err(|_| io::Error::other("the keys could not be sealed"))?;
    if text.len() > SEALED_BYTES_MAX {
        return Err(io::Error::other("the keys of collections would take more than 16 MiB"));
    }
    bytes.extend(nonce);
    bytes.extend((text.len() as u32).to_le_bytes());
    bytes.extend(text);
    bytes.extend(crc32c::crc32c(&bytes).to_le_bytes());
    Ok(bytes)
}

/// Opens a file with the key that `KEYS` has for it; `None`: it has none.
pub(super) fn decode(bytes: &[u8], wrapping: Option<&[u8; KEY_BYTES]>) -> Result<Vec<Entry>, NoKeys> {
    let damaged = |at: usize, what: &str| NoKeys::Damaged(at as u64, what.to_owned());
    let cut_off = || damaged(bytes.len(), "the file is cut off; put your copy of it in its place");
    let (body, stored) = bytes.split_last_chunk::<4>().ok_or_else(cut_off)?;
    if crc32c::crc32c(body) != u32::from_le_bytes(*stored) {
        return Err(damaged(body.len(), "the checksum does not match; put your copy of the file in its place"));
    }
    let mut fields = Fields(body);
    if fields.bytes() != Some(*MAGIC) {
        return Err(damaged(0, "this is no file of collections' keys"));
    }
    match fields.u32().ok_or_else(cut_off)? {
        VERSION => {}
        0 => return Err(damaged(8, "format version 0")),
        newer => return Err(NoKeys::Newer(newer)),
    }
    let nonce = fields.bytes().ok_or_else(cut_off)?;
    let len = fields.u32().ok_or_else(cut_off)? as usize;
    if !(SEALED_BYTES_MIN..=SEALED_BYTES_MAX).contains(&len) || fields.0.len() != len {
        return Err(damaged(BOUND_BYTES + 12, "the length of the keys does not fit"));
    }
    let wrong = NoKeys::Wrong("the file of collections' keys is that of another store; nothing was changed");
    let Some(wrapping) = wrapping else { return Err(wrong) };
    let mut text = fields.0.to_vec();
    let bound = Aad::from(body[..BOUND_BYTES].to_vec());
    let Ok(text) = wrapping_key(wrapping)?.open_in_place(Nonce::assume_unique_for_key(nonce), bound, &mut text) else {
        return Err(wrong);
    };
    entries(text).ok_or_else(|| damaged(HEAD_BYTES, "the keys do not read"))
}

fn entries(text: &[u8]) -> Option<Vec<Entry>> {
    let mut fields = Fields(text);
    let count = fields.u32()? as usize;
    let mut all: Vec<Entry> = Vec::with_capacity(count.min(usize::from(KeyNumber::MAX.get())));
    for _ in 0..count {
        let number = KeyNumber::new(fields.u16()?)?;
        let [state] = fields.bytes()?;
        let (made, destroyed) = (Timestamp(fields.u64()?), Timestamp(fields.u64()?));
        let [len] = fields.bytes()?;
        let name = std::str::from_utf8(fields.slice(usize::from(len))?).ok()?.to_owned();
        let secret = match state {
            0 => Secret::Here(fields.bytes()?),
            1 => Secret::Elsewhere,
            2 => Secret::Destroyed(destroyed),
            _ => return None,
        };
        if all.last().is_some_and(|before| before.number >= number) {
            return None;
        }
        all.push(Entry { number, name, made, secret });
    }
    fields.0.is_empty().then_some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some() -> Vec<Entry> {
        let secrets = [Secret::Here([9; KEY_BYTES]), Secret::Elsewhere, Secret::Destroyed(Timestamp(77))];
        let entry = |(number, secret)| Entry {
            number: KeyNumber::new(number).unwrap(),
            name: format!("people-{number}"),
            made: Timestamp(5),
            secret,
        };
        [1, 2, 32_766].into_iter().zip(secrets).map(entry).collect()
    }

    #[test]
    fn collections_keys_read_back_and_every_flip_and_cut_is_damage() {
        let wrapping = [3; KEY_BYTES];
        for entries in [some(), Vec::new()] {
            let bytes = encode(&entries, &wrapping).unwrap();
            assert!(decode(&bytes, Some(&wrapping)).is_ok_and(|found| found == entries));
            for other in [None, Some(&[4; KEY_BYTES])] {
                assert!(matches!(decode(&bytes, other), Err(NoKeys::Wrong(_))));
            }
            for at in 0..bytes.len() {
                let mut flipped = bytes.clone();
                flipped[at] ^= 16;
                assert!(matches!(decode(&flipped, Some(&wrapping)), Err(NoKeys::Damaged(..))), "byte {at}");
                assert!(matches!(decode(&bytes[..at], Some(&wrapping)), Err(NoKeys::Damaged(..))), "cut at {at}");
            }
        }
        assert!(!encode(&some(), &wrapping).unwrap().windows(6).any(|word| word == b"people"));
    }

    #[test]
    fn a_file_whose_checksum_is_right_and_whose_words_are_not_is_refused() {
        let (wrapping, bytes) = ([3; KEY_BYTES], encode(&some(), &[3; KEY_BYTES]).unwrap());
        let with = |at: usize, value: u8| {
            let mut forged = bytes[..bytes.len() - 4].to_vec();
            forged[at] = value;
            forged.extend(crc32c::crc32c(&forged).to_le_bytes());
            decode(&forged, Some(&wrapping)).err().unwrap()
        };
        assert!(matches!(with(0, b'X'), NoKeys::Damaged(0, _)));
        assert!(matches!(with(8, 0), NoKeys::Damaged(8, _)));
        assert!(matches!(with(8, 2), NoKeys::Newer(2)));
        assert!(matches!(with(27, 0xff), NoKeys::Damaged(24, _)));
        // The nonce makes it another byte each time.
        assert!(matches!(with(HEAD_BYTES + 1, !bytes[HEAD_BYTES + 1]), NoKeys::Wrong(_)));
        for text in [&[1, 0, 0, 0][..], &[0; 5], &[1; 30], &u32::MAX.to_le_bytes()] {
            assert!(entries(text).is_none(), "{text:?}");
        }
    }
}
