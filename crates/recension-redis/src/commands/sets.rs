//! Sets. A member is a row of its own without a value.

use std::collections::BTreeSet;
use std::ops::Bound;

use recension::engine::Direction;

use super::keyspace::chance;
use super::ranges::{numbered_keys, reply_of};
use crate::data::{Args, Data, Outcome, Refusal, Scan, integer, is, refuse, scan_options, syntax};
use crate::group::{ALL, Group, Kind};
use crate::limits::PICKED_MAX;
use crate::reply::Reply;

fn open<'d>(data: &'d Data<'d>, key: &[u8]) -> Result<Option<Group<'d>>, Refusal> {
    Group::open(data, key, Kind::Set)
}

/// Adds a member; returns whether it is new.
fn add(set: &mut Group<'_>, member: &[u8]) -> Result<bool, Refusal> {
    let is_new = set.get(member)?.is_none();
    if is_new {
        set.put(member, Vec::new())?;
        set.count += 1;
    }
    Ok(is_new)
}

/// Removes a member; returns whether it was there.
fn remove(set: &mut Group<'_>, member: &[u8]) -> Result<bool, Refusal> {
    let was_there = set.get(member)?.is_some();
    if was_there {
        set.delete(member);
        set.count -= 1;
    }
    Ok(was_there)
}

pub(super) fn sadd(data: &Data<'_>, args: Args<'_>) -> Outcome {
    let mut set = Group::open_or_new(data, args[1], Kind::Set)?;
    let mut added = 0;
    for member in &args[2..] {
        added += usize::from(add(&mut set, member)?);
    }
    if added > 0 {
        set.save(args[1])?;
    }
    Ok(Reply::count(added))
}

pub(super) fn srem(data: &Data<'_>, args: Args<'_>) -> Outcome {
    let Some(mut set) = open(data, args[1])? else { return Ok(Reply::Integer(0)) };
    let mut removed = 0;
    for member in &args[2..] {
        removed += usize::from(remove(&mut set, member)?);
    }
    if removed > 0 {
        set.save(args[1])?;
    }
    Ok(Reply::count(removed))
}

pub(super) fn scard(data: &Data<'_>, args: Args<'_>) -> Outcome {
    Ok(Reply::count(open(data, args[1])?.map_or(0, |set| set.len())))
}

fn has(set: Option<&Group<'_>>, member: &[u8]) -> Result<bool, Refusal> {
    match set {
        Some(set) => Ok(set.get(member)?.is_some()),
        None => Ok(false),
    }
}

pub(super) fn sismember(data: &Data<'_>, args: Args<'_>) -> Outcome {
    Ok(Reply::flag(has(open(data, args[1])?.as_ref(), args[2])?))
}

pub(super) fn smismember(data: &Data<'_>, args: Args<'_>) -> Outcome {
    let set = open(data, args[1])?;
    let found = args[2..].iter().map(|member| Ok(Reply::flag(has(set.as_ref(), member)?)));
    found.collect::<Result<_, Refusal>>().map(Reply::Array)
}

fn members<'d>(set: &Group<'d>) -> impl Iterator<Item = Result<Vec<u8>, Refusal>> + use<'d> {
    set.rows(ALL, Direction::Forward).map(|row| row.map(|(member, _)| member))
}

pub(super) fn smembers(data: &Data<'_>, args: Args<'_>) -> Outcome {
    match open(data, args[1])? {
        Some(set) => as_set(reply_of(data, members(&set))),
        None => Ok(Reply::Set(Vec::new())),
    }
}

fn as_set(outcome: Outcome) -> Outcome {
    Ok(match outcome? {
        Reply::Array(members) => Reply::Set(members),
        other => other,
    })
}

pub(super) fn smove(data: &Data<'_>, args: Args<'_>) -> Outcome {
    let Some(mut from) = open(data, args[1])? else { return Ok(Reply::Integer(0)) };
    let to = open(data, args[2])?;
    if args[1] == args[2] {
        return Ok(Reply::flag(has(Some(&from), args[3])?));
    }
    if !remove(&mut from, args[3])? {
        return Ok(Reply::Integer(0));
    }
    from.save(args[1])?;
    let mut to = match to {
        Some(to) => to,
        None => Group::new(data, Kind::Set)?,
    };
    if add(&mut to, args[3])? {
        to.save(args[2])?;
    }
    Ok(Reply::Integer(1))
}

/// Members at places that were drawn; it reads the set up to the last of them.
pub(super) fn at_places<T>(
    rows: impl Iterator<Item = Result<T, Refusal>>,
    places: &BTreeSet<usize>,
    keep: impl Fn(&T) -> Result<(), Refusal>,
) -> Result<Vec<T>, Refusal> {
    let mut wanted = places.iter().copied().peekable();
    let mut found = Vec::new();
    for (place, row) in rows.enumerate() {
        if wanted.next_if_eq(&place).is_some() {
            let row = row?;
            keep(&row)?;
            found.push(row);
        }
        if wanted.peek().is_none() {
            break;
        }
    }
    Ok(found)
}

/// Different places of this many, drawn by chance.
pub(super) fn places(of: usize, count: usize) -> BTreeSet<usize> {
    if count >= of {
        return (0..of).collect();
    }
    let mut drawn = BTreeSet::new();
    // Floyd's way: every choice of places is as likely as every other.
    for last in of - count..of {
        let place = chance(last + 1);
        if !drawn.insert(place) {
            drawn.insert(last);
        }
    }
    drawn
}

fn shuffled<T>(mut items: Vec<T>) -> Vec<T> {
    for last in (1..items.len()).rev() {
        items.swap(last, chance(last + 1));
    }
    items
}

pub(super) fn spop(data: &Data<'_>, args: Args<'_>) -> Outcome {
    let count = match &args[2..] {
        [] => None,
        [count] => {
            let count = integer(count).ok().and_then(|count| usize::try_from(count).ok());
            Some(count.ok_or_else(|| refuse("value is out of range, must be positive"))?)
        }
        _ => return Err(syntax()),
    };
    let nothing = if count.is_some() { Reply::Set(Vec::new()) } else { Reply::Null };
    let Some(mut set) = open(data, args[1])? else { return Ok(nothing) };
    let keep = |member: &Vec<u8>| data.gather(member.len());
    let picked = at_places(members(&set), &places(set.len(), count.unwrap_or(1)), keep)?;
    for member in &picked {
        remove(&mut set, member)?;
    }
    if !picked.is_empty() {
        set.save(args[1])?;
    }
    let mut picked: Vec<Reply> = shuffled(picked).into_iter().map(Reply::Bulk).collect();
    Ok(if count.is_some() { Reply::Set(picked) } else { picked.pop().unwrap_or(Reply::Null) })
}

/// How many are wanted, and whether one may come twice: a negative number allows that.
pub(super) fn picks(count: i64) -> Result<(usize, bool), Refusal> {
    let wanted = usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX);
    if count < 0 && wanted > PICKED_MAX {
        return Err(refuse("value is out of range"));
    }
    Ok((wanted, count < 0))
}

/// Picks among rows by chance.
pub(super) fn picked<T: Clone>(
    rows: impl Iterator<Item = Result<T, Refusal>>,
    len: usize,
    (wanted, twice): (usize, bool),
    keep: impl Fn(&T) -> Result<(), Refusal>,
) -> Result<Vec<T>, Refusal> {
    if !twice {
        return Ok(shuffled(at_places(rows, &places(len, wanted), keep)?));
    }
    let drawn: Vec<usize> = (0..wanted).map(|_| chance(len)).collect();
    let places: BTreeSet<usize> = drawn.iter().copied().collect();
    let found = at_places(rows, &places, |_| Ok(()))?;
    let order: Vec<usize> = places.into_iter().collect();
    let drawn = drawn.iter().filter_map(|place| found.get(order.binary_search(place).ok()?));
    drawn.map(|item| keep(item).map(|()| item.clone())).collect()
}

pub(super) fn srandmember(data: &Data<'_>, args: Args<'_>) -> Outcome {
    let count = match &args[2..] {
        [] => None,
        [count] => Some(picks(integer(count)?)?),
        _ => return Err(syntax()),
    };
    let nothing = if count.is_some() { Reply::Array(Vec::new()) } else { Reply::Null };
    let Some(set) = open(data, args[1])? else { return Ok(nothing) };
    let keep = |member: &Vec<u8>| data.gather(member.len());
    let mut found = picked(members(&set), set.len(), count.unwrap_or((1, false)), keep)?;
    match count {
        None => Ok(Reply::or_null(found.pop())),
        Some(_) => Ok(Reply::Array(found.into_iter().map(Reply::Bulk).collect())),
    }
}

/// Members in the order of their bytes.
pub(super) fn sscan(data: &Data<'_>, args: Args<'_>) -> Outcome {
    let options = scan_options(&args[3..], Scan::Members)?;
    let after = super::ranges::cursor(data, args[2])?;
    let Some(set) = open(data, args[1])? else { return Ok(super::ranges::scanned(0, Vec::new())) };
    let (next, rows) = super::ranges::step(data, &set, after.as_deref(), options.count, Bound::Unbounded)?;
    let fits = |member: &Vec<u8>| options.pattern.as_ref().is_none_or(|glob| glob.matches(member));
    let found = rows.into_iter().map(|(member, _)| member).filter(fits);
    Ok(super::ranges::scanned(next, found.map(Reply::Bulk).collect()))
}

#[derive(Clone, Copy)]
enum Combine {
    Inter,
    Union,
    Diff,
}

/// What several sets make together, within the bounds of a reply.
fn combined(data: &Data<'_>, keys: Args<'_>, how: Combine, most: usize) -> Result<BTreeSet<Vec<u8>>, Refusal> {
    let sets = keys.iter().map(|key| open(data, key)).collect::<Result<Vec<_>, _>>()?;
    let mut found = BTreeSet::new();
    let mut keep = |member: Vec<u8>| {
        data.gather(member.len())?;
        found.insert(member);
        Ok::<_, Refusal>(found.len() < most)
    };
    let all = |others: &[&Group<'_>], member: &[u8], wanted: bool| -> Result<bool, Refusal> {
        for other in others {
            if has(Some(other), member)? != wanted {
                return Ok(false);
            }
        }
        Ok(true)
    };
    match how {
        Combine::Union => {
            for set in sets.iter().flatten() {
                for member in members(set) {
                    keep(member?)?;
                }
            }
        }
        Combine::Diff => {
            let [Some(first), rest @ ..] = &sets[..] else { return Ok(found) };
            let rest: Vec<&Group<'_>> = rest.iter().flatten().collect();
            for member in members(first) {
                let member = member?;
                if all(&rest, &member, false)? {
                    keep(member)?;
                }
            }
        }
        Combine::Inter => {
            let Some(mut sets) = sets.iter().map(Option::as_ref).collect::<Option<Vec<_>>>() else {
                return Ok(found);
            };
            sets.sort_by_key(|set| set.count);
            for member in members(sets[0]) {
                let member = member?;
                if all(&sets[1..], &member, true)? && !keep(member)? {
                    break;
                }
            }
        }
    }
    Ok(found)
}

fn combine(data: &Data<'_>, keys: Args<'_>, how: Combine) -> Outcome {
    Ok(Reply::Set(combined(data, keys, how, usize::MAX)?.into_iter().map(Reply::Bulk).collect()))
}

fn combine_into(data: &Data<'_>, args: Args<'_>, how: Combine) -> Outcome {
    let members = combined(data, &args[2..], how, usize::MAX)?;
    let mut set = Group::new(data, Kind::Set)?;
    for member in &members {
        add(&mut set, member)?;
    }
    Ok(Reply::Integer(i64::try_from(set.save_as(args[1])?).unwrap_or(i64::MAX)))
}

pub(super) fn sinter(data: &Data<'_>, args: Args<'_>) -> Outcome {
    combine(data, &args[1..], Combine::Inter)
}

pub(super) fn sunion(data: &Data<'_>, args: Args<'_>) -> Outcome {
    combine(data, &args[1..], Combine::Union)
}

pub(super) fn sdiff(data: &Data<'_>, args: Args<'_>) -> Outcome {
    combine(data, &args[1..], Combine::Diff)
}

pub(super) fn sinterstore(data: &Data<'_>, args: Args<'_>) -> Outcome {
    combine_into(data, args, Combine::Inter)
}

pub(super) fn sunionstore(data: &Data<'_>, args: Args<'_>) -> Outcome {
    combine_into(data, args, Combine::Union)
}

pub(super) fn sdiffstore(data: &Data<'_>, args: Args<'_>) -> Outcome {
    combine_into(data, args, Combine::Diff)
}

pub(super) fn sintercard(data: &Data<'_>, args: Args<'_>) -> Outcome {
    let (keys, rest) = numbered_keys(&args[1..], "numkeys should be greater than 0").map_err(|error| match error {
        Refusal::Reply(Reply::Error(text)) if text == "ERR syntax error" => {
            refuse("Number of keys can't be greater than number of args")
        }
        other => other,
    })?;
    let most = match rest {
        [] => usize::MAX,
        [word, limit] if is(word, "LIMIT") => {
            let limit = integer(limit).ok().and_then(|limit| usize::try_from(limit).ok());
            let limit = limit.ok_or_else(|| refuse("LIMIT can't be negative"))?;
            if limit == 0 { usize::MAX } else { limit }
        }
        _ => return Err(syntax()),
    };
    Ok(Reply::count(combined(data, keys, Combine::Inter, most)?.len()))
}
