//! Strings.

use std::time::Duration;

use recension::engine::Timestamp;
use recension::{Expiry, KeyCondition, KeyValue, SetOptions};

use super::ranges::reply_of_some;
use crate::data::{Args, Data, Outcome, Refusal, arity, integer, is, refuse, syntax};
use crate::limits::ARGUMENT_BYTES_MAX;
use crate::reply::Reply;

pub(super) fn get(data: &Data<'_>, args: Args<'_>) -> Outcome {
    Ok(Reply::or_null(data.string(args[1])?.map(|entry| entry.value.into_bytes())))
}

/// The words of an expiry and its number: `EX 10`, `PXAT 1795000000000`.
fn expiry_of(name: &[u8], number: &[u8], command: &str, now: Timestamp) -> Result<Expiry, Refusal> {
    if !["EX", "PX", "EXAT", "PXAT"].iter().any(|word| is(name, word)) {
        return Err(syntax());
    }
    let wrong = || refuse(&format!("invalid expire time in '{command}' command"));
    let number = integer(number)?;
    let number = u64::try_from(number).ok().filter(|number| *number > 0).ok_or_else(wrong)?;
    // As in Redis, a moment is a number of milliseconds of 63 bits.
    let fits = |micros: &u64| micros.checked_add(now.0).is_some_and(|end| i64::try_from(end).is_ok());
    let micros = |unit: u64| number.checked_mul(unit).filter(fits).ok_or_else(wrong);
    if is(name, "EX") {
        Ok(Expiry::After(Duration::from_micros(micros(1_000_000)?)))
    } else if is(name, "PX") {
        Ok(Expiry::After(Duration::from_micros(micros(1000)?)))
    } else if is(name, "EXAT") {
        Ok(Expiry::At(Timestamp(micros(1_000_000)?)))
    } else if is(name, "PXAT") {
        Ok(Expiry::At(Timestamp(micros(1000)?)))
    } else {
        Err(syntax())
    }
}

pub(super) fn set(data: &Data<'_>, args: Args<'_>) -> Outcome {
    let (mut expiry, mut condition, mut get) = (None, None, false);
    let mut rest = &args[3..];
    while let [option, after @ ..] = rest {
        rest = after;
        let condition_is = if is(option, "NX") {
            Some(KeyCondition::Absent)
        } else if is(option, "XX") {
            Some(KeyCondition::Present)
        } else {
            None
        };
        if condition_is.is_some() {
            if condition.is_some() {
                return Err(syntax());
            }
            condition = condition_is;
        } else if is(option, "GET") {
            get = true;
        } else if is(option, "KEEPTTL") && expiry.is_none() {
            expiry = Some(Expiry::Keep);
        } else if let ([number, after @ ..], None) = (rest, expiry) {
            expiry = Some(expiry_of(option, number, "set", data.keys.moment())?);
            rest = after;
        } else {
            return Err(syntax());
        }
    }
    if get {
        data.string(args[1])?;
    }
    let condition = present_or_absent(data, args[1], condition)?;
    let options = SetOptions::new().expiry(expiry.unwrap_or_default()).only_if(condition.unwrap_or_default());
    let outcome = data.keys.set_with(args[1], args[2], &options)?;
    Ok(match (get, outcome.written) {
        (true, _) => Reply::or_null(outcome.previous.map(|entry| entry.value.into_bytes())),
        (false, true) => Reply::Ok,
        (false, false) => Reply::Null,
    })
}

/// A document counts as a key that is there: the store's keys do not know it.
fn present_or_absent(
    data: &Data<'_>,
    key: &[u8],
    condition: Option<KeyCondition>,
) -> Result<Option<KeyCondition>, Refusal> {
    if condition.is_none() || data.document(key)?.is_none() || data.keys.entry(key)?.is_some() {
        return Ok(condition);
    }
    Ok(condition.map(|condition| match condition {
        KeyCondition::Absent => KeyCondition::Present,
        _ => KeyCondition::Anything,
    }))
}

pub(super) fn setnx(data: &Data<'_>, args: Args<'_>) -> Outcome {
    let condition = present_or_absent(data, args[1], Some(KeyCondition::Absent))?.unwrap_or_default();
    Ok(Reply::flag(data.keys.set_with(args[1], args[2], &SetOptions::new().only_if(condition))?.written))
}

fn set_expiring(data: &Data<'_>, args: Args<'_>, unit: &str) -> Outcome {
    let command = String::from_utf8_lossy(args[0]).to_ascii_lowercase();
    let expiry = expiry_of(unit.as_bytes(), args[2], &command, data.keys.moment())?;
    data.keys.set_with(args[1], args[3], &SetOptions::new().expiry(expiry))?;
    Ok(Reply::Ok)
}

pub(super) fn setex(data: &Data<'_>, args: Args<'_>) -> Outcome {
    set_expiring(data, args, "EX")
}

pub(super) fn psetex(data: &Data<'_>, args: Args<'_>) -> Outcome {
    set_expiring(data, args, "PX")
}

pub(super) fn getset(data: &Data<'_>, args: Args<'_>) -> Outcome {
    data.string(args[1])?;
    let outcome = data.keys.set_with(args[1], args[2], &SetOptions::new())?;
    Ok(Reply::or_null(outcome.previous.map(|entry| entry.value.into_bytes())))
}

pub(super) fn getdel(data: &Data<'_>, args: Args<'_>) -> Outcome {
    let Some(entry) = data.string(args[1])? else { return Ok(Reply::Null) };
    data.delete(args[1])?;
    Ok(Reply::Bulk(entry.value.into_bytes()))
}

pub(super) fn getex(data: &Data<'_>, args: Args<'_>) -> Outcome {
    let expiry = match &args[2..] {
        [] => None,
        [option] if is(option, "PERSIST") => Some(Expiry::Never),
        [option, number] => Some(expiry_of(option, number, "getex", data.keys.moment())?),
        _ => return Err(syntax()),
    };
    let entry = data.string(args[1])?;
    if let (Some(expiry), Some(_)) = (expiry, &entry) {
        data.keys.expire(args[1], expiry)?;
    }
    Ok(Reply::or_null(entry.map(|entry| entry.value.into_bytes())))
}

pub(super) fn mget(data: &Data<'_>, args: Args<'_>) -> Outcome {
    let found = args[1..].iter().map(|key| {
        // A key that is no string counts as missing here, and is no error.
        let entry = data.keys.entry(key)?.filter(|entry| !matches!(entry.value, KeyValue::Rows(_)));
        Ok(entry.map(|entry| entry.value.into_bytes()))
    });
    reply_of_some(data, found)
}

/// Checks all keys before one is written.
fn pairs(args: Args<'_>) -> Result<Args<'_>, Refusal> {
    let pairs = &args[1..];
    if !pairs.len().is_multiple_of(2) {
        return Err(arity(args[0]));
    }
    if pairs.chunks(2).any(|pair| pair[0].is_empty() || pair[0].len() > recension::limits::KEY_BYTES_MAX) {
        return Err(refuse("a key is 1 to 8000 bytes long"));
    }
    Ok(pairs)
}

pub(super) fn mset(data: &Data<'_>, args: Args<'_>) -> Outcome {
    pairs(args)?.chunks(2).try_for_each(|pair| data.keys.set(pair[0], pair[1]))?;
    Ok(Reply::Ok)
}

pub(super) fn msetnx(data: &Data<'_>, args: Args<'_>) -> Outcome {
    let pairs = pairs(args)?;
    for pair in pairs.chunks(2) {
        if data.exists(pair[0])? {
            return Ok(Reply::Integer(0));
        }
    }
    pairs.chunks(2).try_for_each(|pair| data.keys.set(pair[0], pair[1]))?;
    Ok(Reply::Integer(1))
}

fn bytes_of(data: &Data<'_>, key: &[u8]) -> Result<Vec<u8>, Refusal> {
    Ok(data.string(key)?.map(|entry| entry.value.into_bytes()).unwrap_or_default())
}

pub(super) fn append(data: &Data<'_>, args: Args<'_>) -> Outcome {
    let mut bytes = bytes_of(data, args[1])?;
    bytes.extend_from_slice(args[2]);
    let len = bytes.len();
    data.keys.set_with(args[1], bytes, &SetOptions::new().keep_existing())?;
    Ok(Reply::count(len))
}

pub(super) fn strlen(data: &Data<'_>, args: Args<'_>) -> Outcome {
    Ok(Reply::count(bytes_of(data, args[1])?.len()))
}

pub(super) fn getrange(data: &Data<'_>, args: Args<'_>) -> Outcome {
    let (start, end) = (integer(args[2])?, integer(args[3])?);
    let bytes = bytes_of(data, args[1])?;
    let len = i64::try_from(bytes.len()).unwrap_or(i64::MAX);
    let place = |at: i64| if at < 0 { at.saturating_add(len) } else { at };
    let start = usize::try_from(place(start).max(0)).unwrap_or(usize::MAX);
    let end = usize::try_from(place(end).saturating_add(1).clamp(0, len)).unwrap_or(0);
    Ok(Reply::Bulk(bytes.get(start..end).unwrap_or_default().to_vec()))
}

pub(super) fn setrange(data: &Data<'_>, args: Args<'_>) -> Outcome {
    let offset = integer(args[2])?;
    let offset = usize::try_from(offset).map_err(|_| refuse("offset is out of range"))?;
    let mut bytes = bytes_of(data, args[1])?;
    let end = offset.saturating_add(args[3].len());
    if end > ARGUMENT_BYTES_MAX {
        return Err(refuse("string exceeds maximum allowed size (proto-max-bulk-len)"));
    }
    if !args[3].is_empty() {
        bytes.resize(bytes.len().max(end), 0);
        bytes[offset..end].copy_from_slice(args[3]);
        data.keys.set_with(args[1], bytes.as_slice(), &SetOptions::new().keep_existing())?;
    }
    Ok(Reply::count(bytes.len()))
}
