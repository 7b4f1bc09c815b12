//! Hashes. One whose name is `collection:id` is a document if there is such a collection; every other one is kept under
//! its key, with a row for each field.

use std::ops::Bound;

use recension::engine::Direction;

use super::hash_documents::DocumentHash;
use super::numbers::float_sum;
use super::ranges::{cursor, reply_of, reply_of_some, scanned, step};
use super::sets::{picked, picks};
use crate::data::{Args, Data, Held, Outcome, Refusal, Scan, arity, hash_name, integer, is, refuse, scan_options};
use crate::data::{syntax, wrong_type};
use crate::group::{ALL, Group, Kind};
use crate::reply::Reply;

enum Hash<'d> {
    Document(DocumentHash),
    Rows(Group<'d>),
}

type Field = (Vec<u8>, Vec<u8>);

impl<'d> Hash<'d> {
    fn open(data: &'d Data<'d>, key: &[u8]) -> Result<Option<Self>, Refusal> {
        match data.held(key)? {
            None => Ok(None),
            Some(Held::Group(Kind::Hash, _)) => Ok(Group::open(data, key, Kind::Hash)?.map(Hash::Rows)),
            Some(Held::Document(document)) => Ok(Some(Hash::Document(DocumentHash::read(&document)?))),
            Some(_) => Err(wrong_type()),
        }
    }

    fn open_or_new(data: &'d Data<'d>, key: &[u8]) -> Result<Self, Refusal> {
        if let Some(hash) = Hash::open(data, key)? {
            return Ok(hash);
        }
        match hash_name(data.database, key) {
            Some((collection, _)) if data.tx.collection(collection)?.reader()?.exists() => {
                Ok(Hash::Document(DocumentHash::new()))
            }
            _ => Ok(Hash::Rows(Group::new(data, Kind::Hash)?)),
        }
    }

    fn get(&self, field: &[u8]) -> Result<Option<Vec<u8>>, Refusal> {
        match self {
            Hash::Document(document) => Ok(document.get(field)),
            Hash::Rows(rows) => rows.get(field),
        }
    }

    fn len(&self) -> usize {
        match self {
            Hash::Document(document) => document.len(),
            Hash::Rows(rows) => rows.len(),
        }
    }

    /// Sets a field; returns whether it is new.
    fn set(&mut self, field: &[u8], value: &[u8]) -> Result<bool, Refusal> {
        match self {
            Hash::Document(document) => document.set(field, value),
            Hash::Rows(rows) => {
                let is_new = rows.get(field)?.is_none();
                rows.put(field, value.to_vec())?;
                rows.count += u64::from(is_new);
                Ok(is_new)
            }
        }
    }

    fn set_number(&mut self, field: &[u8], number: &str) -> Result<bool, Refusal> {
        match self {
            Hash::Document(document) => document.set_number(field, number),
            Hash::Rows(_) => self.set(field, number.as_bytes()),
        }
    }

    /// Deletes a field; returns whether it was there.
    fn delete(&mut self, field: &[u8]) -> Result<bool, Refusal> {
        match self {
            Hash::Document(document) => Ok(document.delete(field)),
            Hash::Rows(rows) => {
                let was_there = rows.get(field)?.is_some();
                if was_there {
                    rows.delete(field);
                    rows.count -= 1;
                }
                Ok(was_there)
            }
        }
    }

    fn fields<'h>(&'h self) -> Box<dyn Iterator<Item = Result<Field, Refusal>> + 'h> {
        match self {
            Hash::Document(document) => Box::new(document.fields().map(Ok)),
            Hash::Rows(rows) => Box::new(rows.rows(ALL, Direction::Forward)),
        }
    }

    fn save(self, data: &Data<'_>, key: &[u8]) -> Result<(), Refusal> {
        match self {
            Hash::Document(document) => document.save(data, key),
            Hash::Rows(rows) => rows.save(key),
        }
    }
}

fn field(hash: Option<&Hash<'_>>, field: &[u8]) -> Result<Option<Vec<u8>>, Refusal> {
    hash.map_or(Ok(None), |hash| hash.get(field))
}

pub(super) fn hget(data: &Data<'_>, args: Args<'_>) -> Outcome {
    Ok(Reply::or_null(field(Hash::open(data, args[1])?.as_ref(), args[2])?))
}

pub(super) fn hmget(data: &Data<'_>, args: Args<'_>) -> Outcome {
    let hash = Hash::open(data, args[1])?;
    reply_of_some(data, args[2..].iter().map(|name| field(hash.as_ref(), name)))
}

pub(super) fn hexists(data: &Data<'_>, args: Args<'_>) -> Outcome {
    Ok(Reply::flag(field(Hash::open(data, args[1])?.as_ref(), args[2])?.is_some()))
}

pub(super) fn hstrlen(data: &Data<'_>, args: Args<'_>) -> Outcome {
    Ok(Reply::count(field(Hash::open(data, args[1])?.as_ref(), args[2])?.map_or(0, |value| value.len())))
}

pub(super) fn hlen(data: &Data<'_>, args: Args<'_>) -> Outcome {
    Ok(Reply::count(Hash::open(data, args[1])?.map_or(0, |hash| hash.len())))
}

fn each(data: &Data<'_>, key: &[u8], part: fn(Field) -> Vec<u8>) -> Outcome {
    match Hash::open(data, key)? {
        Some(hash) => reply_of(data, hash.fields().map(|field| field.map(part))),
        None => Ok(Reply::Array(Vec::new())),
    }
}

pub(super) fn hkeys(data: &Data<'_>, args: Args<'_>) -> Outcome {
    each(data, args[1], |(name, _)| name)
}

pub(super) fn hvals(data: &Data<'_>, args: Args<'_>) -> Outcome {
    each(data, args[1], |(_, value)| value)
}

/// Fields as names and values, which are bounded.
fn pairs(
    data: &Data<'_>,
    fields: impl Iterator<Item = Result<Field, Refusal>>,
) -> Result<Vec<(Reply, Reply)>, Refusal> {
    let pair = |field: Result<Field, Refusal>| {
        let (name, value) = field?;
        data.gather(name.len())?;
        data.gather(value.len())?;
        Ok((Reply::Bulk(name), Reply::Bulk(value)))
    };
    fields.map(pair).collect()
}

pub(super) fn hgetall(data: &Data<'_>, args: Args<'_>) -> Outcome {
    let hash = Hash::open(data, args[1])?;
    Ok(Reply::Map(hash.map_or_else(|| Ok(Vec::new()), |hash| pairs(data, hash.fields()))?))
}

pub(super) fn hrandfield(data: &Data<'_>, args: Args<'_>) -> Outcome {
    let (picks, with_values) = match &args[2..] {
        [] => (None, false),
        [count] => (Some(picks(integer(count)?)?), false),
        [count, word] if is(word, "WITHVALUES") => (Some(picks(integer(count)?)?), true),
        _ => return Err(syntax()),
    };
    let nothing = if picks.is_some() { Reply::Array(Vec::new()) } else { Reply::Null };
    let Some(hash) = Hash::open(data, args[1])? else { return Ok(nothing) };
    let keep = |(name, value): &Field| {
        data.gather(name.len())?;
        data.gather(if with_values { value.len() } else { 0 })
    };
    let mut found = picked(hash.fields(), hash.len(), picks.unwrap_or((1, false)), keep)?;
    if picks.is_none() {
        return Ok(Reply::or_null(found.pop().map(|(name, _)| name)));
    }
    if with_values {
        let pair = |(name, value)| (Reply::Bulk(name), Reply::Bulk(value));
        return Ok(Reply::Pairs(found.into_iter().map(pair).collect()));
    }
    Ok(Reply::Array(found.into_iter().map(|(name, _)| Reply::Bulk(name)).collect()))
}

/// A document is small: one answer has all of it.
pub(super) fn hscan(data: &Data<'_>, args: Args<'_>) -> Outcome {
    let options = scan_options(&args[3..], Scan::Fields)?;
    let after = cursor(data, args[2])?;
    let (next, rows) = match Hash::open(data, args[1])? {
        None => (0, Vec::new()),
        Some(Hash::Document(document)) => (0, document.fields().collect()),
        Some(Hash::Rows(rows)) => step(data, &rows, after.as_deref(), options.count, Bound::Unbounded)?,
    };
    let mut found = Vec::new();
    for (name, value) in rows {
        if options.pattern.as_ref().is_none_or(|glob| glob.matches(&name)) {
            found.push(Reply::Bulk(name));
            if !options.no_values {
                found.push(Reply::Bulk(value));
            }
        }
    }
    Ok(scanned(next, found))
}

fn set_all(data: &Data<'_>, args: Args<'_>) -> Result<usize, Refusal> {
    let pairs = &args[2..];
    if !pairs.len().is_multiple_of(2) {
        return Err(arity(args[0]));
    }
    let mut hash = Hash::open_or_new(data, args[1])?;
    let mut new = 0;
    for pair in pairs.chunks(2) {
        new += usize::from(hash.set(pair[0], pair[1])?);
    }
    hash.save(data, args[1])?;
    Ok(new)
}

pub(super) fn hset(data: &Data<'_>, args: Args<'_>) -> Outcome {
    Ok(Reply::count(set_all(data, args)?))
}

pub(super) fn hmset(data: &Data<'_>, args: Args<'_>) -> Outcome {
    set_all(data, args)?;
    Ok(Reply::Ok)
}

pub(super) fn hsetnx(data: &Data<'_>, args: Args<'_>) -> Outcome {
    let mut hash = Hash::open_or_new(data, args[1])?;
    if hash.get(args[2])?.is_some() {
        return Ok(Reply::Integer(0));
    }
    hash.set(args[2], args[3])?;
    hash.save(data, args[1])?;
    Ok(Reply::Integer(1))
}

pub(super) fn hdel(data: &Data<'_>, args: Args<'_>) -> Outcome {
    let Some(mut hash) = Hash::open(data, args[1])? else { return Ok(Reply::Integer(0)) };
    let mut deleted = 0;
    for name in &args[2..] {
        deleted += usize::from(hash.delete(name)?);
    }
    if deleted > 0 {
        hash.save(data, args[1])?;
    }
    Ok(Reply::count(deleted))
}

pub(super) fn hincrby(data: &Data<'_>, args: Args<'_>) -> Outcome {
    let by = integer(args[3])?;
    let mut hash = Hash::open_or_new(data, args[1])?;
    let number = match hash.get(args[2])? {
        None => 0,
        Some(value) => integer(&value).map_err(|_| refuse("hash value is not an integer"))?,
    };
    let sum = number.checked_add(by).ok_or_else(|| refuse("increment or decrement would overflow"))?;
    hash.set_number(args[2], &sum.to_string())?;
    hash.save(data, args[1])?;
    Ok(Reply::Integer(sum))
}

pub(super) fn hincrbyfloat(data: &Data<'_>, args: Args<'_>) -> Outcome {
    let mut hash = Hash::open_or_new(data, args[1])?;
    let number = hash.get(args[2])?.unwrap_or_else(|| b"0".to_vec());
    let sum = float_sum(&number, args[3], "hash value is not a float", "value is NaN or Infinity")?;
    hash.set_number(args[2], &sum)?;
    hash.save(data, args[1])?;
    Ok(Reply::text(sum))
}
