//! The groups of an aggregation, in bounded memory. Beyond the bound, they are written to the disk (`group_states`) and
//! merged when they are read.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use crate::kernel::query::aggregate::{Room, Rows, damaged_file};
use crate::kernel::query::field::Field;
use crate::kernel::query::numbers::Numbers;
use crate::kernel::query::spill::Spill;
use recension_values::collation::Collation;
use recension_values::error::{Error, Result};
use recension_values::json::quote;
use recension_values::pipeline::{Fold, GroupId};

/// About how many bytes a group takes besides its texts.
const GROUP_BYTES: usize = 128;

/// What stands for a value that is not there, if it counts.
const NULL: Field<'static> = Field::Text("null");

/// Groups whose rows are recognised by the bytes of their values, and the longest such bytes.
const KNOWN_MAX: usize = 4096;
const KNOWN_BYTES_MAX: usize = 256;

/// Groups that are still being filled.
pub(crate) struct Groups<'p> {
    id: &'p GroupId,
    folds: &'p [(String, Fold)],
    collation: Collation,
    /// In the order in which they came.
    held: Vec<Group>,
    /// Their places by the keys of their values; those without a value come first.
    by_key: BTreeMap<Vec<u8>, usize>,
    /// Some of their places by the bytes of their values as they came: equal bytes need no key.
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

pub(super) struct Group {
    pub(super) values: Vec<Option<String>>,
    pub(super) states: Vec<State>,
}

pub(super) enum State {
    Count(u64),
    Numbers(Numbers),
    /// A value, with its key if it is compared.
    Value(Option<(Vec<u8>, String)>),
    Set(BTreeMap<Vec<u8>, String>),
    List(Vec<String>),
}

impl<'p> Groups<'p> {
    pub(crate) fn new(id: &'p GroupId, folds: &'p [(String, Fold)], collation: Collation, room: Room<'p>) -> Self {
        Groups {
            id,
            folds,
            collation,
            held: Vec::new(),
            by_key: BTreeMap::new(),
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
        let absent = if matches!(self.id, GroupId::Named(_)) { Field::Absent } else { NULL };
        let place = self.place(by.map(|value| value.or(absent)))?;
        let Some(group) = self.held.get_mut(place) else { return Ok(()) };
        for ((state, (_, fold)), value) in group.states.iter_mut().zip(self.folds).zip(folded) {
            self.held_bytes += state.push(fold, value, self.collation)?;
        }
        if self.held_bytes > self.room.1 {
            return self.spill();
        }
        Ok(())
    }

    /// The place of the group of a row.
    fn place<'v>(&mut self, by: impl Iterator<Item = Field<'v>> + Clone) -> Result<usize> {
        self.bytes.clear();
        for value in by.clone() {
            match value {
                Field::Absent => self.bytes.push(0),
                Field::Text(text) => {
                    self.bytes.push(1);
                    self.bytes.extend((text.len() as u64).to_be_bytes());
                    self.bytes.extend_from_slice(text.as_bytes());
                }
                // No key is the beginning of another one.
                Field::Key(key) => {
                    self.bytes.push(2);
                    self.bytes.extend_from_slice(key);
                }
            }
        }
        if let Some((bytes, place)) = &self.last
            && *bytes == self.bytes
        {
            return Ok(*place);
        }
        let place = match self.known.get(&self.bytes) {
            Some(place) => *place,
            None => self.place_by_key(by)?,
        };
        let (bytes, last) = self.last.get_or_insert_default();
        std::mem::swap(bytes, &mut self.bytes);
        *last = place;
        Ok(place)
    }

    /// The same by the key of the values, for a row whose bytes are not known.
    fn place_by_key<'v>(&mut self, by: impl Iterator<Item = Field<'v>> + Clone) -> Result<usize> {
        let mut key = Vec::new();
        for value in by.clone() {
            match value {
                Field::Absent => key.push(0),
                Field::Text(text) => {
                    key.push(1);
                    self.collation.encode_value(text, &mut key)?;
                }
                Field::Key(value) => {
                    key.push(1);
                    key.extend_from_slice(value);
                }
            }
        }
        let place = match self.by_key.get(&key) {
            Some(place) => *place,
            None => {
                let place = self.held.len();
                let text = |value: Field<'v>| Ok(value.text(self.collation)?.map(Cow::into_owned));
                let values = by.map(text).collect::<Result<_>>()?;
                let states = self.folds.iter().map(|(_, fold)| State::of(fold)).collect();
                self.held.push(Group { values, states });
                self.held_bytes += GROUP_BYTES * (1 + self.folds.len()) + key.len() * 2;
                self.by_key.insert(key, place);
                place
            }
        };
        if self.known.len() < KNOWN_MAX && self.bytes.len() <= KNOWN_BYTES_MAX {
            self.held_bytes += self.bytes.len() + size_of::<(Vec<u8>, usize)>();
            self.known.insert(self.bytes.clone(), place);
        }
        Ok(place)
    }

    /// All groups with their keys, in the order of these. There are none afterwards.
    fn take(&mut self) -> impl Iterator<Item = (Vec<u8>, Group)> + use<> {
        (self.last, self.held_bytes) = (None, 0);
        self.known.clear();
        let mut groups: Vec<Option<Group>> = std::mem::take(&mut self.held).into_iter().map(Some).collect();
        let by_key = std::mem::take(&mut self.by_key).into_iter();
        by_key.filter_map(move |(key, place)| Some((key, groups.get_mut(place)?.take()?)))
    }

    /// Writes all groups to the disk, to be merged later.
    fn spill(&mut self) -> Result<()> {
        let bytes_max = self.room.1;
        let too_large = || Error::AggregateTooLarge { max: bytes_max };
        let groups = self.take();
        let spill = self.spill.get_or_insert_with(|| Spill::new(self.room.0, usize::MAX, None));
        for (key, group) in groups {
            spill.push((key, group.encode()), too_large)?;
        }
        spill.flush(too_large)
    }

    /// The rows, in the order of their ids.
    pub(crate) fn finish<'r>(mut self) -> Result<Rows<'r>> {
        let bytes_max = self.room.1;
        if self.spill.is_some() && !self.by_key.is_empty() {
            self.spill()?;
        }
        let (id, folds) = (self.id.clone(), self.folds.to_vec());
        let Some(spill) = self.spill.take() else {
            let mut groups: Vec<Group> = self.take().map(|(_, group)| group).collect();
            if groups.is_empty() && id.paths().is_empty() {
                // Without any row there is one group, so that a count is 0.
                let states = folds.iter().map(|(_, fold)| State::of(fold)).collect();
                groups.push(Group { values: Vec::new(), states });
            }
            return Ok(Box::new(groups.into_iter().map(move |group| group.row(&id, &folds))));
        };
        let mut pairs = spill.finish()?;
        let mut ahead = None;
        Ok(Box::new(std::iter::from_fn(move || {
            let first = ahead.take().or_else(|| pairs.next())?;
            let united = || {
                let (key, payload) = first?;
                let mut group = Group::decode(&payload, &folds).ok_or_else(damaged_file)?;
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
                    group.unite(Group::decode(&payload, &folds).ok_or_else(damaged_file)?, &folds);
                }
                group.row(&id, &folds)
            };
            Some(united())
        })))
    }
}

impl Group {
    fn row(self, id: &GroupId, folds: &[(String, Fold)]) -> Result<String> {
        let mut members = Vec::new();
        let texts = self.values.iter().map(|value| value.as_deref().unwrap_or("null"));
        match id {
            GroupId::Flat(paths) => {
                members
                    .extend(paths.iter().zip(texts).map(|(path, text)| format!("{}:{text}", quote(&path.to_string()))));
            }
            GroupId::One(_) => members.extend(texts.map(|text| format!("\"_id\":{text}"))),
            GroupId::Named(named) => {
                let there =
                    named.iter().zip(&self.values).filter_map(|((name, _), value)| Some((name, value.as_ref()?)));
                let inner: Vec<String> = there.map(|(name, text)| format!("{}:{text}", quote(name))).collect();
                members.push(format!("\"_id\":{{{}}}", inner.join(",")));
            }
            GroupId::Nothing => members.push("\"_id\":null".to_owned()),
        }
        for (state, (name, fold)) in self.states.into_iter().zip(folds) {
            members.push(format!("{}:{}", quote(name), state.finish(name, fold)?));
        }
        Ok(format!("{{{}}}", members.join(",")))
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

    fn finish(self, name: &str, fold: &Fold) -> Result<String> {
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
