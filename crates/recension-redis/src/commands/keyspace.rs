//! Commands about keys of any type. Lists of keys contain what this door has written; documents are listed over HTTP.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};

use recension::{Expiry, Glob, KeyEntry, KeyValue, SetOptions};

use crate::data::{Args, Data, Held, Outcome, Refusal, Scan, ScanOptions, integer, is, refuse, scan_options, syntax};
use crate::group::{Group, Kind};
use crate::limits::{DATABASES, FLUSHED_IN_MULTI_MAX, PAGE_KEYS};
use crate::reply::Reply;

pub(super) fn del(data: &Data<'_>, args: Args<'_>) -> Outcome {
    let mut deleted = 0;
    for key in &args[1..] {
        deleted += i64::from(data.delete(key)?);
    }
    Ok(Reply::Integer(deleted))
}

pub(super) fn exists(data: &Data<'_>, args: Args<'_>) -> Outcome {
    let mut found = 0;
    for key in &args[1..] {
        found += i64::from(data.exists(key)?);
    }
    Ok(Reply::Integer(found))
}

pub(super) fn type_of(data: &Data<'_>, args: Args<'_>) -> Outcome {
    Ok(Reply::Simple(match data.held(args[1])? {
        Some(Held::Text(_)) => "string",
        Some(Held::Group(kind, _)) => kind.name(),
        Some(Held::Document(_)) => "hash",
        None => "none",
    }))
}

/// All keys, page by page.
fn each_key(
    data: &Data<'_>,
    prefix: &[u8],
    mut see: impl FnMut(Vec<u8>) -> Result<(), Refusal>,
) -> Result<(), Refusal> {
    let mut after: Option<Vec<u8>> = None;
    loop {
        let page = data.keys.scan(prefix, after.as_deref(), PAGE_KEYS)?;
        let is_last = page.len() < PAGE_KEYS;
        after = page.last().map(|(key, _)| key.clone());
        page.into_iter().try_for_each(|(key, _)| see(key))?;
        if is_last {
            return Ok(());
        }
    }
}

pub(super) fn keys(data: &Data<'_>, args: Args<'_>) -> Outcome {
    let glob = Glob::new(args[1]);
    let mut found = Vec::new();
    each_key(data, &glob.prefix(), |key| {
        if glob.matches(&key) {
            data.gather(key.len())?;
            found.push(Reply::Bulk(key));
        }
        Ok(())
    })?;
    Ok(Reply::Array(found))
}

fn size(data: &Data<'_>) -> Result<usize, Refusal> {
    let mut size = 0;
    each_key(data, b"", |_| {
        size += 1;
        Ok(())
    })?;
    Ok(size)
}

pub(super) fn dbsize(data: &Data<'_>, _: Args<'_>) -> Outcome {
    Ok(Reply::count(size(data)?))
}

/// A random number below another one.
pub(super) fn chance(below: usize) -> usize {
    let number = RandomState::new().build_hasher().finish();
    usize::try_from(number % (below.max(1) as u64)).unwrap_or(0)
}

pub(super) fn randomkey(data: &Data<'_>, _: Args<'_>) -> Outcome {
    let (mut at, mut found) = (chance(size(data)?), Reply::Null);
    each_key(data, b"", |key| {
        if at == 0 {
            found = Reply::Bulk(key);
        }
        at = at.wrapping_sub(1);
        Ok(())
    })?;
    Ok(found)
}

pub(super) fn scan(data: &Data<'_>, args: Args<'_>) -> Outcome {
    let cursor = std::str::from_utf8(args[1]).ok().and_then(|cursor| cursor.parse::<u64>().ok());
    let cursor = cursor.ok_or_else(|| refuse("invalid cursor"))?;
    let ScanOptions { pattern, count, kind, .. } = scan_options(&args[2..], Scan::Keys)?;
    let after = match cursor {
        0 => None,
        cursor => Some(data.shared.scans.lock().after(cursor).ok_or_else(|| refuse("invalid cursor"))?),
    };
    let prefix = pattern.as_ref().map(Glob::prefix).unwrap_or_default();
    let page = data.keys.scan(prefix, after.as_deref(), count)?;
    let next = match page.last() {
        Some((last, _)) if page.len() == count => data.shared.scans.lock().keep(last.clone()),
        _ => 0,
    };
    let named = |value: &KeyValue| match value {
        KeyValue::Rows(rows) => Kind::of(rows).map_or("", Kind::name),
        _ => "string",
    };
    let is_wanted = |key: &Vec<u8>, value: &KeyValue| {
        pattern.as_ref().is_none_or(|glob| glob.matches(key))
            && kind.as_deref().is_none_or(|kind| kind == named(value).as_bytes())
    };
    let wanted = page.into_iter().filter(|(key, entry)| is_wanted(key, &entry.value));
    let found = wanted.map(|(key, _)| Reply::Bulk(key)).collect();
    Ok(Reply::Array(vec![Reply::text(next.to_string()), Reply::Array(found)]))
}

fn expiry_of(entry: &KeyEntry) -> Expiry {
    match (entry.slides, entry.expires) {
        (Some(slides), _) => Expiry::Sliding(slides),
        (None, Some(expires)) => Expiry::At(expires),
        (None, None) => Expiry::Never,
    }
}

/// The entry of a key that this door has written.
fn own(data: &Data<'_>, key: &[u8]) -> Result<Option<KeyEntry>, Refusal> {
    match data.held(key)? {
        None => Ok(None),
        Some(Held::Text(entry) | Held::Group(_, entry)) => Ok(Some(entry)),
        Some(Held::Document(_)) => Err(refuse("a document keeps its id")),
    }
}

fn move_to(data: &Data<'_>, args: Args<'_>, unless_there: bool) -> Result<bool, Refusal> {
    let entry = own(data, args[1])?.ok_or_else(|| refuse("no such key"))?;
    if unless_there && data.exists(args[2])? {
        return Ok(false);
    }
    if args[1] != args[2] {
        // Rows go with the name.
        data.keys.detach(args[1])?;
        data.removed(args[1]);
        data.keys.set_with(args[2], entry.value.clone(), &SetOptions::new().expiry(expiry_of(&entry)))?;
        data.pushed.set(true);
    }
    Ok(true)
}

pub(super) fn rename(data: &Data<'_>, args: Args<'_>) -> Outcome {
    move_to(data, args, false)?;
    Ok(Reply::Ok)
}

pub(super) fn renamenx(data: &Data<'_>, args: Args<'_>) -> Outcome {
    Ok(Reply::flag(move_to(data, args, true)?))
}

fn database(argument: &[u8]) -> Result<usize, Refusal> {
    let number = integer(argument).map_err(|_| refuse("value is not an integer or out of range"))?;
    let number = usize::try_from(number).ok().filter(|number| *number < DATABASES);
    number.ok_or_else(|| refuse("DB index is out of range"))
}

/// Copies a key to another name or database; returns whether it did.
fn copy_to(data: &Data<'_>, key: &[u8], to: (&Data<'_>, &[u8]), replace: bool) -> Result<bool, Refusal> {
    let (target, name) = to;
    let Some(entry) = own(data, key)? else { return Ok(false) };
    if target.exists(name)? {
        if !replace {
            return Ok(false);
        }
        target.delete(name)?;
    }
    target.pushed.set(true);
    match entry.value.clone() {
        KeyValue::Rows(rows) => {
            Group::read(data, rows)?.copied_to(target)?.save(name)?;
            target.keys.expire(name, expiry_of(&entry))?;
        }
        value => {
            target.keys.set_with(name, value, &SetOptions::new().expiry(expiry_of(&entry)))?;
        }
    }
    Ok(true)
}

pub(super) fn copy(data: &Data<'_>, args: Args<'_>) -> Outcome {
    let (mut to, mut replace, mut rest) = (data.database, false, &args[3..]);
    while let [option, after @ ..] = rest {
        rest = match after {
            [number, after @ ..] if is(option, "DB") => {
                to = database(number)?;
                after
            }
            _ if is(option, "REPLACE") => {
                replace = true;
                after
            }
            _ => return Err(syntax()),
        };
    }
    if to == data.database {
        if args[1] == args[2] {
            return Err(refuse("source and destination objects are the same"));
        }
        return Ok(Reply::flag(copy_to(data, args[1], (data, args[2]), replace)?));
    }
    Ok(Reply::flag(copy_to(data, args[1], (&data.in_database(to)?, args[2]), replace)?))
}

pub(super) fn move_key(data: &Data<'_>, args: Args<'_>) -> Outcome {
    let to = database(args[2])?;
    if to == data.database {
        return Err(refuse("source and destination objects are the same"));
    }
    let moved = copy_to(data, args[1], (&data.in_database(to)?, args[1]), false)?;
    if moved {
        data.delete(args[1])?;
    }
    Ok(Reply::flag(moved))
}

/// Deletes the keys of a database between MULTI and EXEC.
fn empty(data: &Data<'_>, args: Args<'_>) -> Result<(), Refusal> {
    super::server::flush_options(args)?;
    let page = data.keys.scan(b"", None, FLUSHED_IN_MULTI_MAX + 1)?;
    if page.len() > FLUSHED_IN_MULTI_MAX {
        return Err(refuse("there are more than 100000 keys: empty the database outside of MULTI"));
    }
    for (key, _) in page {
        data.delete(&key)?;
    }
    Ok(())
}

pub(super) fn flushdb(data: &Data<'_>, args: Args<'_>) -> Outcome {
    empty(data, args)?;
    Ok(Reply::Ok)
}

pub(super) fn flushall(data: &Data<'_>, args: Args<'_>) -> Outcome {
    for database in 0..DATABASES {
        empty(&data.in_database(database)?, args)?;
    }
    Ok(Reply::Ok)
}
