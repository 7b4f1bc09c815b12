//! `KEYS`: the store's own keys, each sealed with the user's key. The one file that is not sealed; docs/encryption.md
//! has its bytes. A checksum tells a damaged file from a wrong key.

use crate::cipher::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use std::io;

use super::key::{KEY_BYTES, Key, Stretching, random};
use crate::format::Fields;

const MAGIC: &[u8; 8] = b"RECOKEYS";
const VERSION: u32 = 1;
/// The version of a file with [`WRAPPING`], which older software would take for the newest key.
const VERSION_WRAPPING: u32 = 2;
/// The id of the key that seals the file of collections' keys. It is not replaced.
const WRAPPING: u32 = 1 << 31;
/// Most store keys.
const KEYS_MAX: usize = 1000;
const NONCE_BYTES: usize = 12;
const SEALED_BYTES: usize = KEY_BYTES + 16;
const ENTRY_BYTES: usize = 4 + NONCE_BYTES + SEALED_BYTES;
/// Bytes that the seal of each key is bound to.
const BOUND_BYTES: usize = 57;
const HEAD_BYTES: usize = BOUND_BYTES + 4;
/// The longest file.
pub(super) const KEYS_BYTES_MAX: u64 = (HEAD_BYTES + KEYS_MAX * ENTRY_BYTES + 4) as u64;

/// A key of the store, by which files are sealed.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct StoreKey {
    pub(super) id: u32,
    pub(super) bytes: [u8; KEY_BYTES],
}

/// The keys of a store.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct StoreKeys {
    /// Of chance; a backup has that of its store.
    pub(super) id: [u8; 16],
    /// Oldest first; the last one seals what is written from now on. Never empty.
    pub(super) keys: Vec<StoreKey>,
    /// The key that seals the file of collections' keys, once there is one.
    wrapping: Option<[u8; KEY_BYTES]>,
}

/// Why a `KEYS` does not open.
#[derive(Debug)]
pub(crate) enum NoKeys {
    /// The file is damaged: where, and what is wrong.
    Damaged(u64, String),
    /// A newer version has written it.
    Newer(u32),
    /// The key is another one, in words.
    Wrong(&'static str),
    /// The system refused.
    Io(io::Error),
}

impl From<io::Error> for NoKeys {
    fn from(error: io::Error) -> Self {
        NoKeys::Io(error)
    }
}

impl StoreKeys {
    /// The keys of a new store.
    pub(crate) fn new() -> io::Result<Self> {
        Ok(StoreKeys { id: random()?, keys: vec![StoreKey { id: 1, bytes: random()? }], wrapping: None })
    }

    /// The key that seals the file of collections' keys, if there is one.
    pub(crate) fn wrapping(&self) -> Option<[u8; KEY_BYTES]> {
        self.wrapping
    }

    /// The same keys, and one that seals the file of collections' keys: `known`, or a random one.
    /// Returns that key too.
    pub(crate) fn with_wrapping(&self, known: Option<[u8; KEY_BYTES]>) -> io::Result<(Self, [u8; KEY_BYTES])> {
        let wrapping = known.map_or_else(random, Ok)?;
        Ok((StoreKeys { wrapping: Some(wrapping), ..self.clone() }, wrapping))
    }

    /// The key that seals what is written.
    pub(super) fn newest(&self) -> &StoreKey {
        // There is one; docs/encryption.md: 1 to 1,000.
        &self.keys[self.keys.len() - 1]
    }

    pub(super) fn get(&self, id: u32) -> Option<&StoreKey> {
        self.keys.iter().find(|key| key.id == id)
    }

    /// What tells the keys of a store, and of its backups, from those of others.
    pub(crate) fn id(&self) -> [u8; 16] {
        self.id
    }

    /// The ids, oldest first.
    pub(crate) fn ids(&self) -> Vec<u32> {
        self.keys.iter().map(|key| key.id).collect()
    }

    /// Leaves out keys that are not `wanted`, but never the newest.
    pub(crate) fn retain(&mut self, wanted: impl Fn(u32) -> bool) {
        let newest = self.newest().id;
        self.keys.retain(|key| key.id == newest || wanted(key.id));
    }

    /// Adds keys that another file of this store's keys has.
    pub(crate) fn add_known(&mut self, known: &StoreKeys) {
        let new = known.keys.iter().filter(|key| self.get(key.id).is_none()).cloned();
        let new: Vec<_> = new.collect();
        self.keys.extend(new);
        self.keys.sort_unstable_by_key(|key| key.id);
        self.wrapping = self.wrapping.or(known.wrapping);
    }

    /// Adds a random key, which is the newest from now on.
    pub(crate) fn add(&mut self) -> io::Result<()> {
        // One more has room for collections' keys.
        if self.keys.len() >= KEYS_MAX - 1 {
            return Err(io::Error::other("there are 1,000 keys: rewrite what the old ones have sealed first"));
        }
        let id = self.newest().id + 1;
        self.keys.push(StoreKey { id, bytes: random()? });
        Ok(())
    }

    /// The file, sealed with `master`.
    pub(crate) fn encode(&self, master: &Key) -> io::Result<Vec<u8>> {
        let stretching = if master.is_passphrase() { Some(Stretching::new()?) } else { None };
        let mut bytes = MAGIC.to_vec();
        bytes.extend(if self.wrapping.is_some() { VERSION_WRAPPING } else { VERSION }.to_le_bytes());
        bytes.extend(self.id);
        bytes.push(u8::from(stretching.is_some()));
        let words = stretching.map_or([0; 3], |how| [how.memory_kib, how.passes, how.lanes]);
        bytes.extend(words.into_iter().flat_map(u32::to_le_bytes));
        bytes.extend(stretching.map_or([0; 16], |how| how.salt));
        let key = master_key(master, stretching.as_ref())?.ok_or_else(|| io::Error::other("a key of another kind"))?;
        let wrapping = self.wrapping.map(|bytes| StoreKey { id: WRAPPING, bytes });
        bytes.extend((self.keys.len() as u32 + u32::from(wrapping.is_some())).to_le_bytes());
        for StoreKey { id, bytes: secret } in self.keys.iter().chain(&wrapping) {
            let (nonce, mut sealed) = (random()?, secret.to_vec());
            let bound = [&bytes[..BOUND_BYTES], &id.to_le_bytes()].concat();
            let nonce_once = Nonce::assume_unique_for_key(nonce);
            key.seal_in_place_append_tag(nonce_once, Aad::from(bound), &mut sealed)
                .map_err(|_| io::Error::other("a key could not be sealed"))?;
            bytes.extend(id.to_le_bytes());
            bytes.extend(nonce);
            bytes.extend(sealed);
        }
        bytes.extend(crc32c::crc32c(&bytes).to_le_bytes());
        Ok(bytes)
    }

    /// Opens a file with `master`.
    pub(crate) fn decode(bytes: &[u8], master: &Key) -> Result<Self, NoKeys> {
        let (id, stretching, entries) = parts(bytes)?;
        let Some(key) = master_key(master, stretching.as_ref())? else {
            return Err(NoKeys::Wrong(match stretching {
                Some(_) => "it was encrypted with a passphrase: give that, with --passphrase-file",
                None => "it was encrypted with a key, not with a passphrase: give that key, with --key-file",
            }));
        };
        let mut keys: Vec<StoreKey> = Vec::new();
        for entry in entries.chunks_exact(ENTRY_BYTES) {
            let mut fields = Fields(entry);
            let cut_off = || NoKeys::Damaged(HEAD_BYTES as u64, "a key is cut off".to_owned());
            let (id, nonce) = (fields.u32().ok_or_else(cut_off)?, fields.bytes().ok_or_else(cut_off)?);
            let bound = [&bytes[..BOUND_BYTES], &id.to_le_bytes()].concat();
            let mut sealed = fields.0.to_vec();
            let opened = key.open_in_place(Nonce::assume_unique_for_key(nonce), Aad::from(bound), &mut sealed);
            let secret = opened.ok().and_then(|secret| <[u8; KEY_BYTES]>::try_from(&*secret).ok());
            let wrong = "the key is not the one it was encrypted with; nothing was changed";
            let secret = secret.ok_or(NoKeys::Wrong(wrong))?;
            if keys.last().is_some_and(|before| before.id >= id) {
                return Err(NoKeys::Damaged(HEAD_BYTES as u64, "the keys are not in order".to_owned()));
            }
            keys.push(StoreKey { id, bytes: secret });
        }
        let wrapping = keys.pop_if(|key| key.id == WRAPPING).map(|key| key.bytes);
        if keys.is_empty() {
            return Err(NoKeys::Damaged(BOUND_BYTES as u64, "there is no key of the store".to_owned()));
        }
        Ok(StoreKeys { id, keys, wrapping })
    }
}

/// The id in a file, if that is whole.
pub(crate) fn id_of(bytes: &[u8]) -> Result<[u8; 16], NoKeys> {
    parts(bytes).map(|(id, ..)| id)
}

type Parts<'b> = ([u8; 16], Option<Stretching>, &'b [u8]);

/// Checks everything but the seals.
fn parts(bytes: &[u8]) -> Result<Parts<'_>, NoKeys> {
    let damaged = |at: usize, what: &str| NoKeys::Damaged(at as u64, what.to_owned());
    let Some((body, stored)) = bytes.split_last_chunk::<4>() else {
        return Err(damaged(bytes.len(), "the file is cut off; restore KEYS from a backup"));
    };
    if crc32c::crc32c(body) != u32::from_le_bytes(*stored) {
        return Err(damaged(body.len(), "the checksum does not match; restore KEYS from a backup"));
    }
    let cut_off = || damaged(body.len(), "the file is cut off; restore KEYS from a backup");
    let mut fields = Fields(body);
    if fields.bytes() != Some(*MAGIC) {
        return Err(damaged(0, "this is no file of keys"));
    }
    match fields.u32().ok_or_else(cut_off)? {
        VERSION | VERSION_WRAPPING => {}
        0 => return Err(damaged(8, "format version 0")),
        newer => return Err(NoKeys::Newer(newer)),
    }
    let id = fields.bytes().ok_or_else(cut_off)?;
    let [kind] = fields.bytes().ok_or_else(cut_off)?;
    let mut word = || fields.u32().ok_or_else(cut_off);
    let (memory_kib, passes, lanes) = (word()?, word()?, word()?);
    let salt = fields.bytes().ok_or_else(cut_off)?;
    let count = fields.u32().ok_or_else(cut_off)? as usize;
    if !(1..=KEYS_MAX).contains(&count) || fields.0.len() != count * ENTRY_BYTES {
        return Err(damaged(BOUND_BYTES, "the number of keys does not fit"));
    }
    let stretching = match kind {
        0 => None,
        1 => Some(Stretching { memory_kib, passes, lanes, salt }).filter(Stretching::is_bounded),
        _ => return Err(damaged(28, "a key of no known kind")),
    };
    if kind == 1 && stretching.is_none() {
        return Err(damaged(29, "Argon2id is asked for more than it may use"));
    }
    Ok((id, stretching, fields.0))
}

fn master_key(master: &Key, stretching: Option<&Stretching>) -> io::Result<Option<LessSafeKey>> {
    let Some(bytes) = master.bytes(stretching)? else { return Ok(None) };
    let key = UnboundKey::new(&AES_256_GCM, &bytes).map_err(|_| io::Error::other("a key of no use"))?;
    Ok(Some(LessSafeKey::new(key)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_read_back_with_their_key_and_every_flipped_bit_is_damage() {
        let (master, other) = (Key::generate().unwrap(), Key::generate().unwrap());
        let mut keys = StoreKeys::new().unwrap();
        keys.add().unwrap();
        let bytes = keys.encode(&master).unwrap();
        assert_eq!(bytes.len(), HEAD_BYTES + 2 * ENTRY_BYTES + 4);
        assert!(StoreKeys::decode(&bytes, &master).is_ok_and(|found| found == keys));
        assert!(matches!(StoreKeys::decode(&bytes, &other), Err(NoKeys::Wrong(_))));
        let passphrase = Key::passphrase("words").unwrap();
        assert!(matches!(StoreKeys::decode(&bytes, &passphrase), Err(NoKeys::Wrong(_))));
        for at in 0..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[at] ^= 4;
            assert!(matches!(StoreKeys::decode(&flipped, &master), Err(NoKeys::Damaged(..))), "byte {at}");
            assert!(matches!(StoreKeys::decode(&bytes[..at], &master), Err(NoKeys::Damaged(..))), "cut at {at}");
        }
        // With the key that seals those of collections, nothing else changes.
        let (with_one, _) = keys.with_wrapping(None).unwrap();
        let found = StoreKeys::decode(&with_one.encode(&master).unwrap(), &master).unwrap();
        assert!(found == with_one && found != keys && found.newest() == keys.newest() && found.ids() == keys.ids());
        assert_eq!(found.with_wrapping(Some([7; KEY_BYTES])).unwrap().0.wrapping(), Some([7; KEY_BYTES]));
        // A key that has been taken from another file, with the right checksum, does not open.
        let mut keys_of_another = StoreKeys::new().unwrap();
        keys_of_another.add().unwrap();
        let another = keys_of_another.encode(&master).unwrap();
        let mut mixed = bytes[..HEAD_BYTES].to_vec();
        mixed.extend_from_slice(&another[HEAD_BYTES..another.len() - 4]);
        mixed.extend(crc32c::crc32c(&mixed).to_le_bytes());
        assert!(matches!(StoreKeys::decode(&mixed, &master), Err(NoKeys::Wrong(_))));
    }

    #[test]
    fn a_passphrase_opens_what_it_has_sealed() {
        let (right, wrong) = (Key::passphrase("the words").unwrap(), Key::passphrase("other words").unwrap());
        let keys = StoreKeys::new().unwrap();
        let bytes = keys.encode(&right).unwrap();
        assert!(StoreKeys::decode(&bytes, &right).is_ok_and(|found| found == keys));
        assert!(matches!(StoreKeys::decode(&bytes, &wrong), Err(NoKeys::Wrong(_))));
        assert!(matches!(StoreKeys::decode(&bytes, &Key::generate().unwrap()), Err(NoKeys::Wrong(_))));
        // A file that asks for a gigabyte and more is damage, not a wish.
        let mut greedy = bytes[..bytes.len() - 4].to_vec();
        greedy[29..33].copy_from_slice(&u32::MAX.to_le_bytes());
        greedy.extend(crc32c::crc32c(&greedy).to_le_bytes());
        assert!(matches!(StoreKeys::decode(&greedy, &right), Err(NoKeys::Damaged(29, _))));
    }
}
