//! Commands about the expiry of keys.

use recension::Expiry;
use recension::engine::Timestamp;

use crate::data::{Args, Data, Outcome, Refusal, integer, is, refuse};
use crate::reply::Reply;

/// The conditions of an expiry: NX excludes the others, and GT excludes LT.
fn flags(options: Args<'_>) -> Result<Vec<&'static str>, Refusal> {
    let mut flags = Vec::new();
    for option in options {
        let known = ["NX", "XX", "GT", "LT"].into_iter().find(|flag| is(option, flag));
        let unknown = || refuse(&format!("Unsupported option {}", String::from_utf8_lossy(option)));
        flags.push(known.ok_or_else(unknown)?);
    }
    let has = |flag| flags.contains(&flag);
    if has("NX") && (has("XX") || has("GT") || has("LT")) {
        return Err(refuse("NX and XX, GT or LT options at the same time are not compatible"));
    }
    if has("GT") && has("LT") {
        return Err(refuse("GT and LT options at the same time are not compatible"));
    }
    Ok(flags)
}

/// Sets a key's expiry: a number of `unit` microseconds, from now on or since 1970.
fn end(data: &Data<'_>, args: Args<'_>, unit: i64, from_now: bool) -> Outcome {
    let flags = flags(&args[3..])?;
    let wrong = || {
        refuse(&format!("invalid expire time in '{}' command", String::from_utf8_lossy(args[0]).to_ascii_lowercase()))
    };
    let number = integer(args[2])?;
    // As in Redis, a number of seconds has to fit as milliseconds.
    number.checked_mul(unit / 1000).ok_or_else(wrong)?;
    let begin = if from_now { i128::from(data.keys.moment().0) } else { 0 };
    let moment = begin + i128::from(number) * i128::from(unit);
    if moment > i128::from(i64::MAX) {
        return Err(wrong());
    }
    // A moment before 1970 has passed as well.
    let moment = Timestamp(u64::try_from(moment).unwrap_or(0));
    let Some(entry) = data.keys.entry(args[1])? else {
        if data.document(args[1])?.is_some() {
            return Err(refuse("a document expires by the rule of its collection"));
        }
        return Ok(Reply::Integer(0));
    };
    let holds = |flag: &&str| match *flag {
        "NX" => entry.expires.is_none(),
        "XX" => entry.expires.is_some(),
        "GT" => entry.expires.is_some_and(|expires| moment > expires),
        _ => entry.expires.is_none_or(|expires| moment < expires),
    };
    if !flags.iter().all(holds) {
        return Ok(Reply::Integer(0));
    }
    if moment <= data.keys.moment() {
        return Ok(Reply::flag(data.delete(args[1])?));
    }
    Ok(Reply::flag(data.keys.expire(args[1], Expiry::At(moment))?))
}

pub(super) fn expire(data: &Data<'_>, args: Args<'_>) -> Outcome {
    end(data, args, 1_000_000, true)
}

pub(super) fn pexpire(data: &Data<'_>, args: Args<'_>) -> Outcome {
    end(data, args, 1000, true)
}

pub(super) fn expireat(data: &Data<'_>, args: Args<'_>) -> Outcome {
    end(data, args, 1_000_000, false)
}

pub(super) fn pexpireat(data: &Data<'_>, args: Args<'_>) -> Outcome {
    end(data, args, 1000, false)
}

pub(super) fn persist(data: &Data<'_>, args: Args<'_>) -> Outcome {
    let expires = data.keys.entry(args[1])?.is_some_and(|entry| entry.expires.is_some());
    Ok(Reply::flag(expires && data.keys.expire(args[1], Expiry::Never)?))
}

/// The answer about a key's expiry in microseconds; -1 if it has none, -2 if there is no such key.
fn told(data: &Data<'_>, key: &[u8], tell: impl Fn(i64) -> i64) -> Result<Reply, Refusal> {
    let Some(entry) = data.keys.entry(key)? else {
        return Ok(Reply::Integer(if data.document(key)?.is_some() { -1 } else { -2 }));
    };
    let expires = entry.expires.map(|expires| i64::try_from(expires.0).unwrap_or(i64::MAX));
    Ok(Reply::Integer(expires.map_or(-1, tell)))
}

fn left(data: &Data<'_>) -> impl Fn(i64) -> i64 {
    let now = i64::try_from(data.keys.moment().0).unwrap_or(i64::MAX);
    move |expires| expires.saturating_sub(now)
}

pub(super) fn ttl(data: &Data<'_>, args: Args<'_>) -> Outcome {
    let left = left(data);
    // It is rounded as in Redis.
    told(data, args[1], |expires| left(expires).saturating_add(500_000) / 1_000_000)
}

pub(super) fn pttl(data: &Data<'_>, args: Args<'_>) -> Outcome {
    let left = left(data);
    told(data, args[1], |expires| left(expires) / 1000)
}

pub(super) fn expiretime(data: &Data<'_>, args: Args<'_>) -> Outcome {
    told(data, args[1], |expires| expires / 1_000_000)
}

pub(super) fn pexpiretime(data: &Data<'_>, args: Args<'_>) -> Outcome {
    told(data, args[1], |expires| expires / 1000)
}
