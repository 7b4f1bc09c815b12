//! Hashes, which are JSON documents: fields are the members of the first level. A member that is no string is answered
//! as its JSON text. HSET writes strings; increments write numbers.

use std::fmt;

use recension::Error;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::data::{Args, Data, Outcome, Refusal, float, hash_name, integer, refuse, scan_options, wrong_type};
use crate::reply::Reply;

/// The members of a document: names, and values as JSON texts.
struct Hash(Vec<(String, String)>);

impl<'de> Deserialize<'de> for Hash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Vec<(String, String)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some((name, value)) = map.next_entry::<String, Box<RawValue>>()? {
                    members.push((name, value.get().to_owned()));
                }
                Ok(members)
            }
        }
        deserializer.deserialize_map(Members).map(Hash)
    }
}

impl Hash {
    fn get(&self, field: &str) -> Option<&str> {
        self.0.iter().rev().find(|(name, _)| name == field).map(|(_, value)| value.as_str())
    }

    /// Sets a member; answers whether it is new.
    fn set(&mut self, field: &str, value: String) -> bool {
        match self.0.iter_mut().rev().find(|(name, _)| name == field) {
            Some((_, old)) => {
                *old = value;
                false
            }
            None => {
                self.0.push((field.to_owned(), value));
                true
            }
        }
    }

    fn to_json(&self) -> String {
        let mut text = String::from("{");
        for (name, value) in &self.0 {
            if text.len() > 1 {
                text.push(',');
            }
            text.push_str(&recension::json::quote(name));
            text.push(':');
            text.push_str(value);
        }
        text.push('}');
        text
    }
}

/// A member's value as bytes: a string's own, or the JSON text.
fn told(value: &str) -> Vec<u8> {
    match serde_json::from_str::<String>(value) {
        Ok(text) => text.into_bytes(),
        Err(_) => value.as_bytes().to_vec(),
    }
}

fn text(bytes: &[u8]) -> Result<&str, Refusal> {
    std::str::from_utf8(bytes).map_err(|_| refuse("hashes are JSON documents: fields and values are UTF-8"))
}

fn quoted(bytes: &[u8]) -> Result<String, Refusal> {
    Ok(recension::json::quote(text(bytes)?))
}

/// The document of a hash, if there can be one.
fn name<'a>(data: &Data<'_>, key: &'a [u8]) -> Result<(&'a str, &'a str), Refusal> {
    if data.keys.entry(key)?.is_some() {
        return Err(wrong_type());
    }
    hash_name(data.database, key).ok_or_else(|| {
        refuse("hashes are JSON documents: they are in database 0, and their names are UTF-8 without a leading _")
    })
}

fn load(data: &Data<'_>, key: &[u8]) -> Result<Option<Hash>, Refusal> {
    let (collection, id) = name(data, key)?;
    let Some(document) = data.tx.collection(collection)?.get(id)? else { return Ok(None) };
    let damaged = |_| Refusal::Store(Error::NotAnObject { found: "no object" });
    serde_json::from_str(&document.body).map(Some).map_err(damaged)
}

/// Reads a hash, changes it and writes it; one without fields is deleted.
fn change<T>(data: &Data<'_>, key: &[u8], change: impl FnOnce(&mut Hash) -> Result<T, Refusal>) -> Result<T, Refusal> {
    let mut hash = load(data, key)?.unwrap_or(Hash(Vec::new()));
    let before = hash.to_json();
    let answer = change(&mut hash)?;
    let after = hash.to_json();
    if hash.0.is_empty() {
        data.delete(key)?;
    } else if before != after {
        let (collection, id) = name(data, key)?;
        data.tx.collection(collection)?.put(id, after)?;
    }
    Ok(answer)
}

fn field_of(hash: Option<&Hash>, field: &[u8]) -> Option<Vec<u8>> {
    let value = hash?.get(std::str::from_utf8(field).ok()?)?;
    Some(told(value))
}

pub(super) fn hget(data: &Data<'_>, args: Args<'_>) -> Outcome {
    let hash = load(data, args[1])?;
    Ok(Reply::or_null(field_of(hash.as_ref(), args[2])))
}

pub(super) fn hmget(data: &Data<'_>, args: Args<'_>) -> Outcome {
    let hash = load(data, args[1])?;
    let found = args[2..].iter().map(|field| Reply::or_null(field_of(hash.as_ref(), field)));
    Ok(Reply::Array(found.collect()))
}

pub(super) fn hexists(data: &Data<'_>, args: Args<'_>) -> Outcome {
    let hash = load(data, args[1])?;
    Ok(Reply::flag(field_of(hash.as_ref(), args[2]).is_some()))
}

pub(super) fn hstrlen(data: &Data<'_>, args: Args<'_>) -> Outcome {
    let hash = load(data, args[1])?;
    Ok(Reply::count(field_of(hash.as_ref(), args[2]).map_or(0, |value| value.len())))
}

fn members(data: &Data<'_>, key: &[u8]) -> Result<Vec<(String, String)>, Refusal> {
    Ok(load(data, key)?.map(|hash| hash.0).unwrap_or_default())
}

pub(super) fn hlen(data: &Data<'_>, args: Args<'_>) -> Outcome {
    Ok(Reply::count(members(data, args[1])?.len()))
}

pub(super) fn hkeys(data: &Data<'_>, args: Args<'_>) -> Outcome {
    Ok(Reply::Array(members(data, args[1])?.into_iter().map(|(name, _)| Reply::text(name)).collect()))
}

pub(super) fn hvals(data: &Data<'_>, args: Args<'_>) -> Outcome {
    Ok(Reply::Array(members(data, args[1])?.iter().map(|(_, value)| Reply::Bulk(told(value))).collect()))
}

pub(super) fn hgetall(data: &Data<'_>, args: Args<'_>) -> Outcome {
    let members = members(data, args[1])?;
    Ok(Reply::Map(members.iter().map(|(name, value)| (Reply::text(name), Reply::Bulk(told(value)))).collect()))
}

/// A document is small: one answer has all of it.
pub(super) fn hscan(data: &Data<'_>, args: Args<'_>) -> Outcome {
    if integer(args[2])? != 0 {
        return Err(refuse("invalid cursor"));
    }
    let pattern = scan_options(&args[3..])?.pattern;
    let mut found = Vec::new();
    for (name, value) in members(data, args[1])? {
        if pattern.as_ref().is_none_or(|glob| glob.matches(&name)) {
            found.extend([Reply::text(name), Reply::Bulk(told(&value))]);
        }
    }
    Ok(Reply::Array(vec![Reply::text("0"), Reply::Array(found)]))
}

fn set_all(data: &Data<'_>, args: Args<'_>) -> Result<i64, Refusal> {
    let pairs = &args[2..];
    if !pairs.len().is_multiple_of(2) {
        return Err(refuse("wrong number of arguments for 'hset' command"));
    }
    change(data, args[1], |hash| {
        let mut new = 0;
        for pair in pairs.chunks(2) {
            new += i64::from(hash.set(text(pair[0])?, quoted(pair[1])?));
        }
        Ok(new)
    })
}

pub(super) fn hset(data: &Data<'_>, args: Args<'_>) -> Outcome {
    Ok(Reply::Integer(set_all(data, args)?))
}

pub(super) fn hmset(data: &Data<'_>, args: Args<'_>) -> Outcome {
    set_all(data, args)?;
    Ok(Reply::Ok)
}

pub(super) fn hsetnx(data: &Data<'_>, args: Args<'_>) -> Outcome {
    let (field, value) = (text(args[2])?, quoted(args[3])?);
    let set = change(data, args[1], |hash| Ok(hash.get(field).is_none() && hash.set(field, value)))?;
    Ok(Reply::flag(set))
}

pub(super) fn hdel(data: &Data<'_>, args: Args<'_>) -> Outcome {
    if load(data, args[1])?.is_none() {
        return Ok(Reply::Integer(0));
    }
    let deleted = change(data, args[1], |hash| {
        let before = hash.0.len();
        hash.0.retain(|(name, _)| !args[2..].contains(&name.as_bytes()));
        Ok(before - hash.0.len())
    })?;
    Ok(Reply::count(deleted))
}

pub(super) fn hincrby(data: &Data<'_>, args: Args<'_>) -> Outcome {
    let (field, by) = (text(args[2])?, integer(args[3])?);
    let sum = change(data, args[1], |hash| {
        let number = match hash.get(field) {
            None => 0,
            Some(value) => integer(&told(value)).map_err(|_| refuse("hash value is not an integer"))?,
        };
        let sum = number.checked_add(by).ok_or_else(|| refuse("increment or decrement would overflow"))?;
        hash.set(field, sum.to_string());
        Ok(sum)
    })?;
    Ok(Reply::Integer(sum))
}

pub(super) fn hincrbyfloat(data: &Data<'_>, args: Args<'_>) -> Outcome {
    let (field, by) = (text(args[2])?, float(args[3])?);
    let sum = change(data, args[1], |hash| {
        let number = match hash.get(field) {
            None => 0.0,
            Some(value) => float(&told(value)).map_err(|_| refuse("hash value is not a float"))?,
        };
        let sum = number + by;
        if !sum.is_finite() {
            return Err(refuse("increment would produce NaN or Infinity"));
        }
        hash.set(field, sum.to_string());
        Ok(sum.to_string())
    })?;
    Ok(Reply::text(sum))
}
