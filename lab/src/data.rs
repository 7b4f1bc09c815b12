//! The rows that every subject gets: 16-byte keys in scattered order, 300-byte JSON values. A row depends only on its
//! number and its version. The model of a store is therefore two numbers, and every read can be compared with it.

use std::fmt::Write as _;

use xxhash_rust::xxh3::xxh3_64;

/// Bytes of a key.
pub const KEY_BYTES: usize = 16;
/// Bytes of a value.
pub const VALUE_BYTES: usize = 300;
/// Bytes of a row.
pub const ROW_BYTES: u64 = (KEY_BYTES + VALUE_BYTES) as u64;

/// Odd, so that multiplying by it loses nothing.
pub const SCATTER: u64 = 0x9e37_79b9_7f4a_7c15;
/// The inverse of `SCATTER` modulo 2^64.
pub const GATHER: u64 = 0xf1de_83e1_9937_733d;

/// A key.
pub type Key = [u8; KEY_BYTES];

/// The key of row `n`: neighbours in time are not neighbours in order.
pub fn key(n: u64) -> Key {
    let mut key = [b'k'; KEY_BYTES];
    key[8..].copy_from_slice(&n.wrapping_mul(SCATTER).to_be_bytes());
    key
}

/// The row of a key; `None` if the laboratory did not make the key.
pub fn row_of(key: &[u8]) -> Option<u64> {
    let scattered = key.strip_prefix(b"kkkkkkkk")?;
    Some(u64::from_be_bytes(scattered.try_into().ok()?).wrapping_mul(GATHER))
}

const GIVEN: [&str; 16] = [
    "Ada", "Grace", "Edsger", "Barbara", "Tony", "Radia", "Leslie", "Frances", "Donald", "Shafi", "Niklaus", "Karen",
    "Dennis", "Adele", "Robin", "Sophie",
];
const FAMILY: [&str; 16] = [
    "Almeida",
    "Berg",
    "Castellanos",
    "Duarte",
    "Eriksen",
    "Fontaine",
    "Garcia",
    "Hoffmann",
    "Ivanova",
    "Jansen",
    "Kowalski",
    "Lindqvist",
    "Moreau",
    "Novak",
    "Okafor",
    "Petrov",
];
const CITY: [&str; 8] = ["Porto", "Uppsala", "Ghent", "Brno", "Cork", "Turin", "Leipzig", "Tartu"];
const WORD: [&str; 32] = [
    "order",
    "late",
    "parcel",
    "blue",
    "return",
    "window",
    "second",
    "address",
    "please",
    "ring",
    "twice",
    "garden",
    "invoice",
    "paid",
    "cash",
    "letter",
    "morning",
    "urgent",
    "spare",
    "glass",
    "handle",
    "north",
    "gate",
    "signed",
    "neighbour",
    "left",
    "call",
    "before",
    "noon",
    "stairs",
    "fragile",
    "none",
];

/// The value of row `n` at `version`, written into `value`: a JSON object as applications keep them, of
/// exactly [`VALUE_BYTES`].
pub fn write_value(n: u64, version: u32, value: &mut String) {
    let mut random = Random::new(n ^ (u64::from(version) << 48) ^ 0x5eed);
    value.clear();
    let pick = random.number();
    let at = |shift: u32, len: usize| (pick >> shift) as usize % len;
    let (given, family, city) = (GIVEN[at(0, 16)], FAMILY[at(4, 16)], CITY[at(8, 8)]);
    // Writing to a String cannot fail.
    let _ = write!(
        value,
        "{{\"id\":\"customer-{n:09}\",\"version\":{version},\"name\":\"{given} {family}\",\
         \"email\":\"{given}.{family}{}@example.org\",\"city\":\"{city}\",\"balance\":{}.{:02},\
         \"active\":{},\"since\":\"20{:02}-{:02}-{:02}\",\"note\":\"",
        pick >> 12 & 0xfff,
        pick >> 24 & 0xffff,
        pick >> 40 & 0x3f,
        pick >> 46 & 1 == 1,
        pick >> 47 & 0xf,
        1 + (pick >> 51 & 7),
        10 + (pick >> 54 & 0xf),
    );
    while value.len() < VALUE_BYTES {
        let words = random.number();
        for part in 0..8 {
            value.push_str(WORD[(words >> (part * 8)) as usize % WORD.len()]);
            value.push(' ');
        }
    }
    value.truncate(VALUE_BYTES - 2);
    value.push_str("\"}");
}

/// The value of row `n` at `version`.
pub fn value(n: u64, version: u32) -> String {
    let mut value = String::with_capacity(VALUE_BYTES + 80);
    write_value(n, version, &mut value);
    value
}

/// A digest of the results in a timed loop. It proves that every byte was read, and is compared afterwards.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Digest(u64);

impl Digest {
    /// Adds a value, in order.
    pub fn add(&mut self, bytes: &[u8]) {
        self.0 = self.0.rotate_left(7) ^ xxh3_64(bytes);
    }

    /// Adds a row, in order.
    pub fn add_row(&mut self, key: &[u8], value: &[u8]) {
        self.add(key);
        self.add(value);
    }
}

/// `SplitMix64`: the same sequence in every run from one seed.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The sequence of a seed.
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// The next number below `bound`; 0 if `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.number()) * u128::from(bound)) >> 64) as u64
    }

    /// So many words.
    pub fn words(&mut self, count: usize) -> String {
        let words: Vec<&str> = (0..count).map(|_| WORD[self.below(WORD.len() as u64) as usize]).collect();
        words.join(" ")
    }

    /// Puts a slice into random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn a_key_leads_back_to_its_row() {
        for n in [0, 1, 2, 77, 1_000_000, u64::MAX] {
            assert_eq!(row_of(&key(n)), Some(n));
        }
        assert_eq!(row_of(b"kkkkkkkk1234567"), None);
        assert_eq!(row_of(b"jkkkkkkk12345678"), None);
    }

    #[test]
    fn values_are_json_of_the_promised_size_and_differ_by_row_and_version() {
        let mut seen = HashSet::new();
        for n in 0..500 {
            for version in 0..3 {
                let value = value(n, version);
                assert_eq!(value.len(), VALUE_BYTES);
                let json: serde_json::Value = serde_json::from_str(&value).unwrap();
                assert_eq!(json["version"], version);
                assert!(seen.insert(value));
            }
        }
    }

    #[test]
    fn a_digest_knows_order_and_every_byte() {
        let of = |values: &[&str]| {
            let mut digest = Digest::default();
            for value in values {
                digest.add(value.as_bytes());
            }
            digest
        };
        assert_eq!(of(&["a", "b"]), of(&["a", "b"]));
        assert_ne!(of(&["a", "b"]), of(&["b", "a"]));
        assert_ne!(of(&["a", "b"]), of(&["a", "c"]));
        assert_ne!(of(&["a", "a"]), of(&[]));
    }

    #[test]
    fn shuffling_keeps_every_item() {
        let mut items: Vec<u32> = (0..100).collect();
        Random::new(7).shuffle(&mut items);
        assert_ne!(items, (0..100).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..100).collect::<Vec<_>>());
    }
}
