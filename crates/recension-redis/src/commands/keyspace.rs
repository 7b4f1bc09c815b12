//! Commands about keys of any type. Lists of keys contain the strings only; documents are listed over HTTP.

use recension::{Expiry, Glob, SetOptions};

use crate::data::{Args, Data, Outcome, Refusal, ScanOptions, refuse, scan_options};
use crate::limits::{PAGE_KEYS, REPLY_BYTES_MAX};
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
        found += i64::from(data.keys.entry(key)?.is_some() || data.is_hash(key)?);
    }
    Ok(Reply::Integer(found))
}

pub(super) fn type_of(data: &Data<'_>, args: Args<'_>) -> Outcome {
    Ok(Reply::Simple(match data.keys.entry(args[1])? {
        Some(_) => "string",
        None if data.is_hash(args[1])? => "hash",
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
    let (mut found, mut bytes) = (Vec::new(), 0);
    each_key(data, &glob.prefix(), |key| {
        if glob.matches(&key) {
            bytes += key.len() + 16;
            if bytes > REPLY_BYTES_MAX {
                return Err(refuse("too many keys for one reply; use SCAN"));
            }
            found.push(Reply::Bulk(key));
        }
        Ok(())
    })?;
    Ok(Reply::Array(found))
}

pub(super) fn dbsize(data: &Data<'_>, _: Args<'_>) -> Outcome {
    let mut size = 0;
    each_key(data, b"", |_| {
        size += 1;
        Ok(())
    })?;
    Ok(Reply::Integer(size))
}

pub(super) fn scan(data: &Data<'_>, args: Args<'_>) -> Outcome {
    let cursor = std::str::from_utf8(args[1]).ok().and_then(|cursor| cursor.parse::<u64>().ok());
    let cursor = cursor.ok_or_else(|| refuse("invalid cursor"))?;
    let ScanOptions { pattern, count, kind } = scan_options(&args[2..])?;
    let after = match cursor {
        0 => None,
        cursor => Some(data.scans.lock().after(cursor).ok_or_else(|| refuse("invalid cursor"))?),
    };
    let prefix = pattern.as_ref().map(Glob::prefix).unwrap_or_default();
    let page = data.keys.scan(prefix, after.as_deref(), count)?;
    let next = match page.last() {
        Some((last, _)) if page.len() == count => data.scans.lock().keep(last.clone()),
        _ => 0,
    };
    let is_wanted = |key: &Vec<u8>| {
        pattern.as_ref().is_none_or(|glob| glob.matches(key)) && kind.as_deref().is_none_or(|kind| kind == b"string")
    };
    let found = page.into_iter().map(|(key, _)| key).filter(is_wanted).map(Reply::Bulk).collect();
    Ok(Reply::Array(vec![Reply::text(next.to_string()), Reply::Array(found)]))
}

fn move_to(data: &Data<'_>, args: Args<'_>) -> Result<(), Refusal> {
    let no_key = || refuse("no such key");
    let Some(entry) = data.keys.entry(args[1])? else {
        return Err(if data.is_hash(args[1])? { refuse("a document keeps its id") } else { no_key() });
    };
    data.keys.remove(args[1])?;
    let expiry = match (entry.slides, entry.expires) {
        (Some(slides), _) => Expiry::Sliding(slides),
        (None, Some(expires)) => Expiry::At(expires),
        (None, None) => Expiry::Never,
    };
    data.keys.set_with(args[2], entry.value, &SetOptions::new().expiry(expiry))?;
    Ok(())
}

pub(super) fn rename(data: &Data<'_>, args: Args<'_>) -> Outcome {
    move_to(data, args)?;
    Ok(Reply::Ok)
}

pub(super) fn renamenx(data: &Data<'_>, args: Args<'_>) -> Outcome {
    if data.keys.entry(args[1])?.is_some() && (data.keys.entry(args[2])?.is_some() || data.is_hash(args[2])?) {
        return Ok(Reply::Integer(0));
    }
    move_to(data, args)?;
    Ok(Reply::Integer(1))
}
