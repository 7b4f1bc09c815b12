//! The groups of an aggregation, in bounded memory. Beyond the bound, they are written to the disk (`group_states`) and
//! merged when they are read.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::kernel::query::aggregate::{Room, Rows, damaged_file};
use crate::kernel::query::field::Field;
use crate::kernel::query::group_row::{GroupRow, Shape};
use crate::kernel::query::numbers::Numbers;
use crate::kernel::query::spill::Spill;
use recension_values::collation::Collation;
use recension_values::error::{Error, Result};
use recension_values::pipeline::{Fold, GroupId};

/// About how many bytes a group takes besides its texts.
const GROUP_BYTES: usize = 128;

/// What stands for a value that is not there, if it counts.
const NULL: Field<'static> = Field::Text("null");

/// Groups whose rows are recognised by the bytes of their values, and the longest such bytes.
const KNOWN_MAX: usize = 4096;
const KNOWN_BYTES_MAX: usize = 256;

/// In the key of a group, what a value begins with; the value's key follows.
const ABSENT: u8 = 0;
const THERE: u8 = 1;
/// The same in the bytes of a row: a text, a number of rows.
const TEXT: u8 = 2;
const COUNT: u8 = 3;

/// Groups that are still being filled.
pub(crate) struct Groups<'p> {
    of: Arc<Shape>,
    /// In the order in which they came.
    held: Vec<Group>,
    keys: Keys,
    /// Some of their places by the bytes of their values as they came: equal texts need no key.
    known: HashMap<Vec<u8>, usize>,
    /// The values of the last row as bytes, and the place of its group: rows often come in the order of their groups.
    last: Option<(Vec<u8>, usize)>,
    /// Room for the bytes of the next row.
    bytes: Vec<u8>,
    held_bytes: usize,
    room: Room<'p>,
    /// Groups that did not fit into memory.
    spill: Option<Spill>,
}

/// The keys of groups with their places. Those without a value come first.
enum Keys {
    /// They came in order so far: the places are those in the list.
    InOrder(Vec<Vec<u8>>),
    Any(HashMap<Vec<u8>, usize>),
}

pub(super) struct Group {
    pub(super) values: Values,
    pub(super) states: Vec<State>,
}

/// The values that the rows of a group share.
pub(super) enum Values {
    /// The key of the group gives their texts.
    OfKey,
    Texts(Vec<Option<String>>),
}

pub(super) enum State {
    Count(u64),
    Numbers(Numbers),
    /// A value, with its key if it is compared.
    Value(Option<(Vec<u8>, String)>),
    Set(BTreeMap<Vec<u8>, String>),
    List(Vec<String>),
}

impl Keys {
    /// The place of a key; a new one has the place `next`.
    fn place(&mut self, key: &[u8], next: usize) -> usize {
        if let Keys::InOrder(keys) = self {
            match keys.last().map(|last| key.cmp(last)) {
                None | Some(std::cmp::Ordering::Greater) => {
                    keys.push(key.to_vec());
                    return next;
                }
                Some(std::cmp::Ordering::Equal) => return next - 1,
                Some(std::cmp::Ordering::Less) => {
                    let places = std::mem::take(keys).into_iter().zip(0..);
                    *self = Keys::Any(places.collect());
                }
            }
        }
        match self {
            Keys::InOrder(_) => next,
            Keys::Any(places) => match places.get(key) {
                Some(place) => *place,
                None => {
                    places.insert(key.to_vec(), next);
                    next
                }
            },
        }
    }

    /// The groups of these places with their keys, in the order of these.
    fn sorted(self, held: Vec<Group>) -> Vec<(Vec<u8>, Group)> {
        let places = match self {
            Keys::InOrder(keys) => return keys.into_iter().zip(held).collect(),
            Keys::Any(places) => places,
        };
        let mut keys = vec![Vec::new(); held.len()];
        for (key, place) in places {
            if let Some(at) = keys.get_mut(place) {
                *at = key;
            }
        }
        let mut groups: Vec<(Vec<u8>, Group)> = keys.into_iter().zip(held).collect();
        groups.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        groups
    }
}

impl<'p> Groups<'p> {
    pub(crate) fn new(id: &GroupId, folds: &[(String, Fold)], collation: Collation, room: Room<'p>) -> Self {
        Groups {
            of: Arc::new(Shape { id: id.clone(), folds: folds.to_vec(), collation }),
            held: Vec::new(),
            keys: Keys::InOrder(Vec::new()),
            known: HashMap::new(),
            last: None,
            bytes: Vec::new(),
            held_bytes: 0,
            room,
            spill: None,
        }
    }

    /// Adds a row: the values at the paths of the id, and those at the paths of the folds ([`Fold::Count`] has none).
    ///
    /// # Errors
    /// [`Error::AggregateTooLarge`].
    pub(crate) fn push<'v>(
        &mut self,
        by: impl Iterator<Item = Field<'v>> + Clone,
        folded: impl Iterator<Item = Field<'v>>,
    ) -> Result<()> {
        // A group's id is null without a value, and a member of it is then not there.
        let absent = if matches!(self.of.id, GroupId::Named(_)) { Field::Absent } else { NULL };
        let place = self.place(by.map(|value| value.or(absent)))?;
        let Some(group) = self.held.get_mut(place) else { return Ok(()) };
        for ((state, (_, fold)), value) in group.states.iter_mut().zip(&self.of.folds).zip(folded) {
            self.held_bytes += state.push(fold, value, self.of.collation)?;
        }
        if self.held_bytes > self.room.1 {
            return self.spill();
        }
        Ok(())
    }

    /// The place of the group of a row.
    fn place<'v>(&mut self, by: impl Iterator<Item = Field<'v>> + Clone) -> Result<usize> {
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.clear();
        // Keys are told from each other by their bytes; none is the beginning of another one.
        let mut by_keys = true;
        for value in by.clone() {
            match value {
                Field::Absent => bytes.push(ABSENT),
                Field::Key(key, _) => {
                    bytes.push(THERE);
                    bytes.extend_from_slice(key);
                }
                Field::Text(text) => {
                    by_keys = false;
                    bytes.push(TEXT);
                    bytes.extend((text.len() as u64).to_be_bytes());
                    bytes.extend_from_slice(text.as_bytes());
                }
                Field::Count(count) => {
                    by_keys = false;
                    bytes.push(COUNT);
                    bytes.extend(count.to_be_bytes());
                }
            }
        }
        let place = match &self.last {
            Some((last, place)) if *last == bytes => *place,
            _ if by_keys => self.place_of_key(&bytes, by)?,
            _ => match self.known.get(&bytes) {
                Some(place) => *place,
                None => self.place_by_texts(&bytes, by)?,
            },
        };
        let (last, last_place) = self.last.get_or_insert_default();
        (self.bytes, *last_place) = (std::mem::replace(last, bytes), place);
        Ok(place)
    }

    /// The place of the group of a row whose bytes are not known.
    fn place_by_texts<'v>(&mut self, bytes: &[u8], by: impl Iterator<Item = Field<'v>> + Clone) -> Result<usize> {
        let mut key = Vec::new();
        for value in by.clone() {
            match value.key(self.of.collation)? {
                None => key.push(ABSENT),
                Some(value) => {
                    key.push(THERE);
                    key.extend_from_slice(&value);
                }
            }
        }
        let place = self.place_of_key(&key, by)?;
        if self.known.len() < KNOWN_MAX && bytes.len() <= KNOWN_BYTES_MAX {
            self.held_bytes += bytes.len() + size_of::<(Vec<u8>, usize)>();
            self.known.insert(bytes.to_vec(), place);
        }
        Ok(place)
    }

    /// The place of the group with a key, which a row with these values may begin.
    fn place_of_key<'v>(&mut self, key: &[u8], by: impl Iterator<Item = Field<'v>> + Clone) -> Result<usize> {
        let place = self.keys.place(key, self.held.len());
        if place < self.held.len() {
            return Ok(place);
        }
        let told_by_key = |value: Field<'_>| matches!(value, Field::Absent | Field::Key(_, None));
        let values = if by.clone().all(told_by_key) {
            Values::OfKey
        } else {
            let text = |value: Field<'v>| Ok(value.text(self.of.collation)?.map(Cow::into_owned));
            Values::Texts(by.map(text).collect::<Result<_>>()?)
        };
        let states = self.of.folds.iter().map(|(_, fold)| State::of(fold)).collect();
        self.held.push(Group { values, states });
        self.held_bytes += GROUP_BYTES * (1 + self.of.folds.len()) + key.len() * 2;
        Ok(place)
    }

    /// All groups with their keys, in the order of these. There are none afterwards.
    fn take(&mut self) -> Vec<(Vec<u8>, Group)> {
        (self.last, self.held_bytes) = (None, 0);
        self.known.clear();
        std::mem::replace(&mut self.keys, Keys::InOrder(Vec::new())).sorted(std::mem::take(&mut self.held))
    }

    /// Writes all groups to the disk, to be merged later.
    fn spill(&mut self) -> Result<()> {
        let bytes_max = self.room.1;
        let too_large = || Error::AggregateTooLarge { max: bytes_max };
        let groups = self.take();
        let spill = self.spill.get_or_insert_with(|| Spill::new(self.room.0, usize::MAX, None));
        for (key, group) in groups {
            let group = group.encode(&key, &self.of)?;
            spill.push((key, group), too_large)?;
        }
        spill.flush(too_large)
    }

    /// The rows, in the order of their ids.
    pub(super) fn finish<'r>(mut self) -> Result<Rows<'r>> {
        let bytes_max = self.room.1;
        if self.spill.is_some() && !self.held.is_empty() {
            self.spill()?;
        }
        let of = self.of.clone();
        let Some(spill) = self.spill.take() else {
            let mut groups = self.take();
            if groups.is_empty() && of.id.paths().is_empty() {
                // Without any row there is one group, so that a count is 0.
                let states = of.folds.iter().map(|(_, fold)| State::of(fold)).collect();
                groups.push((Vec::new(), Group { values: Values::OfKey, states }));
            }
            let row = move |(key, group)| Ok(GroupRow::of(key, group, of.clone()).into());
            return Ok(Box::new(groups.into_iter().map(row)));
        };
        let mut pairs = spill.finish()?;
        let mut ahead = None;
        Ok(Box::new(std::iter::from_fn(move || {
            let first = ahead.take().or_else(|| pairs.next())?;
            let united = || {
                let (key, payload) = first?;
                let mut group = Group::decode(&payload, &of.folds).ok_or_else(damaged_file)?;
                let mut bytes = payload.len();
                while let Some(next) = pairs.next() {
                    let (next_key, payload) = next?;
                    if next_key != key {
                        ahead = Some(Ok((next_key, payload)));
                        break;
                    }
                    bytes += payload.len();
                    if bytes > bytes_max {
                        return Err(Error::AggregateTooLarge { max: bytes_max });
                    }
                    group.unite(Group::decode(&payload, &of.folds).ok_or_else(damaged_file)?, &of.folds);
                }
                Ok(GroupRow::of(key, group, of.clone()).into())
            };
            Some(united())
        })))
    }
}

impl State {
    pub(super) fn of(fold: &Fold) -> Self {
        match fold {
            Fold::Count => State::Count(0),
            Fold::Sum(_) | Fold::Average(_) => State::Numbers(Numbers::default()),
            Fold::Min(_) | Fold::Max(_) | Fold::First(_) | Fold::Last(_) => State::Value(None),
            Fold::Distinct(_) => State::Set(BTreeMap::new()),
            Fold::Collect(_) => State::List(Vec::new()),
        }
    }

    /// Adds a value; returns how many more bytes are held.
    fn push(&mut self, fold: &Fold, value: Field<'_>, collation: Collation) -> Result<usize> {
        match self {
            State::Count(count) => *count += 1,
            State::Numbers(numbers) => {
                if let Some(number) = value.number() {
                    numbers.push(number);
                }
            }
            State::Value(held) => return push_value(held, fold, value, collation),
            State::Set(values) => {
                let Some(key) = value.key(collation)? else { return Ok(0) };
                if values.contains_key(&*key) {
                    return Ok(0);
                }
                let Some(text) = value.text(collation)? else { return Ok(0) };
                let bytes = key.len() + text.len() + GROUP_BYTES;
                values.insert(key.into_owned(), text.into_owned());
                return Ok(bytes);
            }
            State::List(values) => {
                let Some(text) = value.text(collation)? else { return Ok(0) };
                let bytes = text.len() + size_of::<String>();
                values.push(text.into_owned());
                return Ok(bytes);
            }
        }
        Ok(0)
    }

    pub(super) fn finish(self, name: &str, fold: &Fold) -> Result<String> {
        Ok(match self {
            State::Count(count) => count.to_string(),
            State::Numbers(numbers) => {
                let out_of_range = || Error::NumberOutOfRange { number: format!("{name} of a group") };
                if matches!(fold, Fold::Average(_)) { numbers.mean() } else { numbers.sum() }
                    .ok_or_else(out_of_range)?
            }
            State::Value(value) => value.map_or("null".to_owned(), |(_, text)| text),
            State::Set(values) => format!("[{}]", values.into_values().collect::<Vec<_>>().join(",")),
            State::List(values) => format!("[{}]", values.join(",")),
        })
    }
}

/// Adds a value to the one that is held, if the fold takes it.
fn push_value(
    held: &mut Option<(Vec<u8>, String)>,
    fold: &Fold,
    value: Field<'_>,
    collation: Collation,
) -> Result<usize> {
    let compared = matches!(fold, Fold::Min(_) | Fold::Max(_));
    // The first and the last row count also if they have no value.
    let value = if compared { value } else { value.or(NULL) };
    let is_held = |(_, text): &(Vec<u8>, String)| value == Field::Text(text);
    if compared && (value.is_null() || held.as_ref().is_some_and(is_held)) {
        return Ok(0);
    }
    let key = if compared { value.key(collation)?.unwrap_or_default() } else { Cow::default() };
    let takes = match (fold, held.as_ref()) {
        (_, None) | (Fold::Last(_), _) => true,
        (Fold::Min(_), Some((known, _))) => *key < **known,
        (Fold::Max(_), Some((known, _))) => *key > **known,
        _ => false,
    };
    if !takes {
        return Ok(0);
    }
    let Some(text) = value.text(collation)? else { return Ok(0) };
    let before = held.as_ref().map_or(0, |(key, text)| key.len() + text.len());
    let after = key.len() + text.len();
    *held = Some((key.into_owned(), text.into_owned()));
    Ok(after.saturating_sub(before))
}
