//! The core workloads A to F of the Yahoo! Cloud Serving Benchmark, as Cooper et al. published them (Benchmarking Cloud
//! Serving Systems with YCSB, 2010): records of ten fields of 100 bytes, who is asked how often, and what every
//! answer has to be. Pure.
//!
//! Client `c` changes field `c` of any record, so that every field has one writer, and what is acknowledged is known
//! exactly: a field of one's own is as it was written last, and another's is never older than what was seen of it.

use std::collections::{BTreeMap, HashMap};

use crate::data::{Random, SCATTER};
use crate::error::{LabError, Result};
use crate::measure::stats::as_f64;

/// Fields of a record, which are clients at most.
pub const FIELDS: usize = 10;
/// Bytes of a field.
const FIELD_BYTES: usize = 100;
/// Digits of a field's version, at its beginning.
const DIGITS: usize = 10;
/// The constant of the Zipfian distribution, as of the paper's own client.
const ZIPFIAN: f64 = 0.99;
/// Records of a range at most.
const RANGE_MAX: u64 = 100;

/// What a client does next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// Reads all fields of a record.
    Read,
    /// Replaces one field.
    Update,
    /// Stores a new record.
    Insert,
    /// Reads up to 100 records in the order of their ids.
    Scan,
    /// Reads a record, then replaces one field.
    ReadModifyWrite,
}

/// A workload: actions in percent.
pub struct Workload {
    /// Its letter.
    pub name: &'static str,
    mix: &'static [(Action, u64)],
    /// Whether the newest records are wanted most, and not the same few all the time.
    latest: bool,
}

/// The six, in the order in which they are run: those that add records come last.
pub const WORKLOADS: [Workload; 6] = [
    Workload { name: "a", mix: &[(Action::Read, 50), (Action::Update, 50)], latest: false },
    Workload { name: "b", mix: &[(Action::Read, 95), (Action::Update, 5)], latest: false },
    Workload { name: "c", mix: &[(Action::Read, 100)], latest: false },
    Workload { name: "f", mix: &[(Action::Read, 50), (Action::ReadModifyWrite, 50)], latest: false },
    Workload { name: "d", mix: &[(Action::Read, 95), (Action::Insert, 5)], latest: true },
    Workload { name: "e", mix: &[(Action::Scan, 95), (Action::Insert, 5)], latest: false },
];

impl Workload {
    fn draw(&self, random: &mut Random) -> Action {
        let mut left = random.below(100);
        for (action, percent) in self.mix {
            match left.checked_sub(*percent) {
                Some(rest) => left = rest,
                None => return *action,
            }
        }
        Action::Read
    }
}

/// The id of a record: neighbours in time are not neighbours in order.
pub fn id(n: u64) -> String {
    format!("user{:020}", n.wrapping_mul(SCATTER))
}

/// The name of a field.
pub fn field_name(field: usize) -> String {
    format!("field{field}")
}

/// A field at a version: the version in ten digits, and letters.
pub fn field(n: u64, field: usize, version: u32) -> String {
    let mut random = Random::new(n.wrapping_mul(SCATTER) ^ (field as u64) << 56 ^ u64::from(version) << 24);
    let mut text = format!("{version:0DIGITS$}");
    while text.len() < FIELD_BYTES {
        let mut letters = random.number();
        for _ in 0..(FIELD_BYTES - text.len()).min(10) {
            text.push(char::from(b'a' + (letters % 26) as u8));
            letters /= 26;
        }
    }
    text
}

/// A record at its first version, as JSON.
pub fn record(n: u64) -> String {
    let fields = (0..FIELDS).map(|at| format!("\"{}\":\"{}\"", field_name(at), field(n, at, 0)));
    format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
}

/// A record as it was answered.
#[derive(Debug)]
pub enum Record {
    /// JSON; members whose names begin with `_` are the server's.
    Json(String),
    /// Names and values in turns.
    Fields(Vec<Vec<u8>>),
}

/// Ranks of records, few of which are frequent.
pub struct Zipfian {
    /// What part of all draws is of this rank or a smaller one.
    up_to: Vec<f64>,
}

impl Zipfian {
    /// Over this many ranks.
    pub fn new(ranks: u64) -> Self {
        let mut sum = 0.0;
        let mut up_to: Vec<f64> = (1..=ranks)
            .map(|rank| {
                sum += as_f64(rank as usize).powf(-ZIPFIAN);
                sum
            })
            .collect();
        for part in &mut up_to {
            *part /= sum;
        }
        Zipfian { up_to }
    }

    fn draw(&self, random: &mut Random) -> u64 {
        let at = as_f64((random.number() >> 11) as usize) / as_f64(1 << 53);
        self.up_to.partition_point(|part| *part <= at) as u64
    }
}

/// What one client knows of the records.
pub struct Known {
    /// Its number, which is that of its field.
    client: u64,
    clients: u64,
    /// Records that were loaded, and their numbers in the order of their ids.
    loaded: Vec<(String, u64)>,
    /// Versions of the fields of records, where they are not the first.
    versions: HashMap<u64, [u32; FIELDS]>,
    /// The records that it has stored itself.
    stored: BTreeMap<String, u64>,
    zipfian: Zipfian,
}

/// What is to be done with one record.
pub struct Next {
    /// What.
    pub action: Action,
    /// With which; of a range the first.
    pub n: u64,
    /// Records of a range.
    pub count: usize,
    /// The field's new value.
    pub value: String,
}

fn wrong(what: String, expected: impl Into<String>, found: impl Into<String>) -> LabError {
    LabError::Wrong { what, expected: expected.into(), found: found.into().chars().take(300).collect() }
}

impl Known {
    /// Of a client, when this many records are loaded.
    pub fn new(client: u64, clients: u64, records: u64) -> Self {
        let mut loaded: Vec<(String, u64)> = (0..records).map(|n| (id(n), n)).collect();
        loaded.sort_unstable();
        let (versions, stored) = (HashMap::new(), BTreeMap::new());
        Known { client, clients, loaded, versions, stored, zipfian: Zipfian::new(records) }
    }

    /// The name of this client's field.
    pub fn own_field(&self) -> String {
        field_name(self.client as usize)
    }

    /// What it does next.
    pub fn next(&self, workload: &Workload, random: &mut Random) -> Next {
        let action = workload.draw(random);
        let (rank, records) = (self.zipfian.draw(random), self.loaded.len() as u64);
        let n = match action {
            Action::Insert => self.nth_stored(self.stored.len() as u64),
            // The newest of its own first, then the newest of those that were loaded.
            _ if workload.latest => match (self.stored.len() as u64).checked_sub(rank + 1) {
                Some(own) => self.nth_stored(own),
                None => records - 1 - (rank - self.stored.len() as u64).min(records - 1),
            },
            // The frequent ones lie anywhere.
            _ => Random::new(rank).below(records),
        };
        let count = 1 + random.below(RANGE_MAX) as usize;
        let version = self.version(n, self.client as usize) + 1;
        let value = match action {
            Action::Update | Action::ReadModifyWrite => field(n, self.client as usize, version),
            _ => String::new(),
        };
        Next { action, n, count, value }
    }

    fn nth_stored(&self, nth: u64) -> u64 {
        self.loaded.len() as u64 + nth * self.clients + self.client
    }

    fn version(&self, n: u64, field: usize) -> u32 {
        self.versions.get(&n).and_then(|all| all.get(field)).copied().unwrap_or_default()
    }

    /// Its own field was replaced, which was acknowledged.
    pub fn updated(&mut self, n: u64) {
        if let Some(version) = self.versions.entry(n).or_default().get_mut(self.client as usize) {
            *version += 1;
        }
    }

    /// A record was stored, which was acknowledged.
    pub fn inserted(&mut self, n: u64) {
        self.stored.insert(id(n), n);
    }

    /// The records that this client has changed or stored.
    pub fn own(&self) -> impl Iterator<Item = u64> {
        let changed = self.versions.keys().filter(|n| self.version(**n, self.client as usize) > 0);
        changed.chain(self.stored.values()).copied()
    }

    /// Records that this client has stored.
    pub fn stored(&self) -> u64 {
        self.stored.len() as u64
    }

    /// Compares a record with what is known of it, and remembers what is new.
    pub fn check(&mut self, n: u64, record: Option<&Record>) -> Result<()> {
        let none = || wrong(format!("the record {}", id(n)), "a record", "none");
        let found = values(record.ok_or_else(none)?);
        for at in 0..FIELDS {
            let Some(value) = found.get(&field_name(at)) else {
                return Err(wrong(format!("the record {}", id(n)), field_name(at), format!("{found:?}")));
            };
            let version = value.get(..DIGITS).and_then(|digits| digits.parse().ok()).unwrap_or(u32::MAX);
            let known = self.version(n, at);
            let right = if at as u64 == self.client { version == known } else { version >= known };
            if !right || *value != field(n, at, version) {
                return Err(wrong(format!("{} of {}", field_name(at), id(n)), field(n, at, known), value.clone()));
            }
            if version > known
                && let Some(seen) = self.versions.entry(n).or_default().get_mut(at)
            {
                *seen = version;
            }
        }
        Ok(())
    }

    /// Compares a range: in order, every record that was loaded or that this client has stored, each as it is known.
    pub fn check_range(&mut self, first: &str, count: usize, found: &[(String, Record)]) -> Result<()> {
        let what = || format!("{count} records from {first} on");
        if found.windows(2).any(|two| matches!(two, [(one, _), (other, _)] if one >= other)) {
            return Err(wrong(what(), "ascending ids", ids(found)));
        }
        let at = self.loaded.partition_point(|(id, _)| id.as_str() < first);
        let mut expected = self.loaded.get(at..).unwrap_or_default().iter();
        let mut numbers = Vec::new();
        for (id, _) in found {
            let loaded = expected.as_slice().first().filter(|(next, _)| next == id);
            let n = loaded.map(|(_, n)| *n).or_else(|| self.number_of(id));
            numbers.push(n.ok_or_else(|| wrong(what(), expected.as_slice().first().map_or("", |(id, _)| id), id))?);
            loaded.is_some().then(|| expected.next());
        }
        let (last, whole) = (found.last().map_or(first, |(id, _)| id), found.len() == count);
        let skipped = expected.next().is_some_and(|(next, _)| !whole || next.as_str() < last);
        let upper = if whole { std::ops::Bound::Included(last) } else { std::ops::Bound::Unbounded };
        let own = self.stored.range::<str, _>((std::ops::Bound::Included(first), upper));
        let missing = own.filter(|(id, _)| !found.iter().any(|(found, _)| found == *id)).count();
        if found.len() > count || skipped || missing > 0 {
            return Err(wrong(what(), "every record that is there", ids(found)));
        }
        numbers.into_iter().zip(found).try_for_each(|(n, (_, record))| self.check(n, Some(record)))
    }

    /// The number of a record that a client has stored meanwhile.
    fn number_of(&self, id_found: &str) -> Option<u64> {
        let scattered: u64 = id_found.strip_prefix("user")?.parse().ok()?;
        let n = scattered.wrapping_mul(crate::data::GATHER);
        (n >= self.loaded.len() as u64 && n < 1 << 40 && id(n) == id_found).then_some(n)
    }
}

fn ids(found: &[(String, Record)]) -> String {
    let ids: Vec<&str> = found.iter().map(|(id, _)| id.as_str()).collect();
    format!("{} records: {}", ids.len(), ids.join(", "))
}

fn values(record: &Record) -> HashMap<String, String> {
    match record {
        Record::Json(text) => {
            let all: HashMap<String, serde_json::Value> = serde_json::from_str(text).unwrap_or_default();
            all.into_iter().filter_map(|(name, value)| Some((name, value.as_str()?.to_owned()))).collect()
        }
        Record::Fields(all) => {
            let text = |bytes: &Vec<u8>| String::from_utf8_lossy(bytes).into_owned();
            all.chunks(2).filter_map(|two| Some((text(two.first()?), text(two.get(1)?)))).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_come_as_often_as_published_and_few_records_are_frequent() {
        let known = Known::new(3, 8, 1000);
        let mut random = Random::new(1);
        for (workload, reads) in WORKLOADS.iter().zip([50, 95, 100, 50, 95, 0]) {
            let drawn: Vec<Next> = (0..10_000).map(|_| known.next(workload, &mut random)).collect();
            let found = drawn.iter().filter(|next| next.action == Action::Read).count();
            assert!(found.abs_diff(reads * 100) < 250, "{}: {found}", workload.name);
            assert!(drawn.iter().all(|next| next.n < 1000 || next.action == Action::Insert));
            assert!(drawn.iter().all(|next| (1..=100).contains(&next.count)));
        }
        let zipfian = Zipfian::new(1000);
        let drawn: Vec<u64> = (0..100_000).map(|_| zipfian.draw(&mut random)).collect();
        let of = |rank| drawn.iter().filter(|found| **found == rank).count();
        // 1 / (1 + 1/2^0.99 + ... + 1/1000^0.99) is 0.1296.
        assert!(of(0).abs_diff(12_960) < 600 && of(1).abs_diff(6_525) < 500, "{} {}", of(0), of(1));
    }

    #[test]
    fn a_record_has_ten_fields_of_100_bytes_that_tell_their_version() {
        let found = values(&Record::Json(record(7)));
        assert!(found.len() == FIELDS && found.values().all(|value| value.len() == FIELD_BYTES), "{found:?}");
        assert_ne!(field(7, 1, 1), field(7, 1, 2));
        assert!(field(7, 1, 12).starts_with("0000000012"));
    }

    /// A record with one field at another version.
    fn changed(n: u64, at: usize, version: u32) -> Record {
        Record::Json(record(n).replace(&field(n, at, 0), &field(n, at, version)))
    }

    #[test]
    fn lost_and_older_values_are_found() {
        let mut known = Known::new(1, 8, 10);
        known.check(4, Some(&changed(4, 1, 0))).unwrap();
        assert!(known.check(4, None).is_err());
        assert!(known.check(4, Some(&changed(4, 1, 1))).is_err(), "nobody has written that");
        known.updated(4);
        assert!(known.check(4, Some(&changed(4, 1, 0))).is_err(), "an acknowledged update is lost");
        known.check(4, Some(&changed(4, 1, 1))).unwrap();
        // Another client's field may be newer, and is not older again.
        let both = |version| {
            let own = record(4).replace(&field(4, 1, 0), &field(4, 1, 1));
            Record::Json(own.replace(&field(4, 2, 0), &field(4, 2, version)))
        };
        known.check(4, Some(&both(5))).unwrap();
        assert!(known.check(4, Some(&both(4))).is_err(), "it has gone back");
        assert!(known.check(5, Some(&Record::Json(record(4)))).is_err(), "another record");
        assert!(known.check(5, Some(&Record::Json("{}".to_owned()))).is_err());
        assert_eq!(known.own().collect::<Vec<_>>(), [4]);
    }

    #[test]
    fn ranges_that_leave_something_out_are_found() {
        let mut known = Known::new(0, 2, 20);
        let mut all: Vec<(String, u64)> = (0..24).map(|n| (id(n), n)).collect();
        all.sort();
        let range = |from: usize, count: usize, without: &[u64]| -> Vec<(String, Record)> {
            let rows = all.iter().skip(from).filter(|(_, n)| !without.contains(n)).take(count);
            rows.map(|(id, n)| (id.clone(), Record::Json(record(*n)))).collect()
        };
        known.inserted(20);
        let first = all[0].0.clone();
        known.check_range(&first, 24, &range(0, 24, &[])).unwrap();
        // Another's records may be there or not, its own and the loaded ones have to.
        known.check_range(&first, 24, &range(0, 24, &[21, 23])).unwrap();
        for without in [3, 20] {
            assert!(known.check_range(&first, 24, &range(0, 24, &[without])).is_err(), "{without}");
        }
        assert!(known.check_range(&first, 5, &range(0, 3, &[])).is_err(), "too few");
        assert!(known.check_range(&first, 5, &range(0, 6, &[])).is_err(), "too many");
        let mut twice = range(0, 4, &[]);
        twice.push((twice[0].0.clone(), Record::Json(record(0))));
        assert!(known.check_range(&first, 5, &twice).is_err(), "out of order");
    }
}
