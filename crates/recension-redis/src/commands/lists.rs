//! Lists. An element's row has its place as its key: a push takes the place before the first or behind the last, so
//! that both ends cost the same however long the list is. In the middle the shorter side moves.

use std::ops::Bound;

use recension::engine::Direction;

use super::ranges::{clamped, place, reply_of};
use crate::data::{Args, Data, Outcome, Refusal, integer, is, refuse, syntax};
use crate::group::{Group, Kind};
use crate::reply::Reply;

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Left,
    Right,
}

/// The key of a place: places are ordered as their keys are.
fn at(place: i64) -> [u8; 8] {
    (place.cast_unsigned() ^ (1 << 63)).to_be_bytes()
}

fn open<'d>(data: &'d Data<'d>, key: &[u8]) -> Result<Option<Group<'d>>, Refusal> {
    Group::open(data, key, Kind::List)
}

/// The place of the element with this index.
fn place_of(list: &Group<'_>, index: usize) -> i64 {
    list.first.saturating_add(i64::try_from(index).unwrap_or(i64::MAX))
}

fn element(list: &Group<'_>, index: usize) -> Result<Vec<u8>, Refusal> {
    let missing = || refuse("an element of the list is missing; run recension verify");
    list.get(&at(place_of(list, index)))?.ok_or_else(missing)
}

fn push_one(list: &mut Group<'_>, end: End, value: &[u8]) -> Result<(), Refusal> {
    if end == End::Left {
        list.first = list.first.checked_sub(1).ok_or_else(|| refuse("the list is full"))?;
    }
    let index = if end == End::Left { 0 } else { list.len() };
    list.put(&at(place_of(list, index)), value.to_vec())?;
    list.count += 1;
    Ok(())
}

fn pop_one(list: &mut Group<'_>, end: End) -> Result<Vec<u8>, Refusal> {
    let index = if end == End::Left { 0 } else { list.len() - 1 };
    let value = element(list, index)?;
    list.delete(&at(place_of(list, index)));
    list.count -= 1;
    list.first += i64::from(end == End::Left);
    Ok(value)
}

fn push(data: &Data<'_>, args: Args<'_>, end: End, new: bool) -> Outcome {
    let mut list = match open(data, args[1])? {
        Some(list) => list,
        None if new => Group::new(data, Kind::List)?,
        None => return Ok(Reply::Integer(0)),
    };
    for value in &args[2..] {
        push_one(&mut list, end, value)?;
    }
    let len = list.len();
    list.save(args[1])?;
    data.pushed.set(true);
    Ok(Reply::count(len))
}

pub(super) fn lpush(data: &Data<'_>, args: Args<'_>) -> Outcome {
    push(data, args, End::Left, true)
}

pub(super) fn rpush(data: &Data<'_>, args: Args<'_>) -> Outcome {
    push(data, args, End::Right, true)
}

pub(super) fn lpushx(data: &Data<'_>, args: Args<'_>) -> Outcome {
    push(data, args, End::Left, false)
}

pub(super) fn rpushx(data: &Data<'_>, args: Args<'_>) -> Outcome {
    push(data, args, End::Right, false)
}

/// Takes elements from one end; the last taken one is the last of the answer.
fn take(data: &Data<'_>, key: &[u8], end: End, count: usize) -> Result<Option<Vec<Vec<u8>>>, Refusal> {
    let Some(mut list) = open(data, key)? else { return Ok(None) };
    let count = count.min(list.len());
    if count > 1 {
        // It is known to fit before anything is taken.
        let from = if end == End::Left { 0 } else { list.len() - count };
        drop(elements(&list, from, from + count)?);
    }
    let taken = (0..count).map(|_| pop_one(&mut list, end)).collect::<Result<Vec<_>, _>>()?;
    if !taken.is_empty() {
        list.save(key)?;
    }
    Ok(Some(taken))
}

fn positive(argument: &[u8]) -> Result<usize, Refusal> {
    let number = integer(argument).ok().and_then(|number| usize::try_from(number).ok());
    number.ok_or_else(|| refuse("value is out of range, must be positive"))
}

fn pop(data: &Data<'_>, args: Args<'_>, end: End) -> Outcome {
    match &args[2..] {
        [] => Ok(Reply::or_null(take(data, args[1], end, 1)?.and_then(|mut taken| taken.pop()))),
        [count] => {
            let count = positive(count)?;
            let taken = take(data, args[1], end, count)?;
            Ok(taken.map_or(Reply::NullArray, |taken| Reply::Array(taken.into_iter().map(Reply::Bulk).collect())))
        }
        _ => Err(crate::data::arity(args[0])),
    }
}

pub(super) fn lpop(data: &Data<'_>, args: Args<'_>) -> Outcome {
    pop(data, args, End::Left)
}

pub(super) fn rpop(data: &Data<'_>, args: Args<'_>) -> Outcome {
    pop(data, args, End::Right)
}

pub(super) fn llen(data: &Data<'_>, args: Args<'_>) -> Outcome {
    Ok(Reply::count(open(data, args[1])?.map_or(0, |list| list.len())))
}

/// The elements of a list from one index to before another.
fn elements(list: &Group<'_>, from: usize, to: usize) -> Result<Vec<Vec<u8>>, Refusal> {
    let (from, to) = (at(place_of(list, from)), at(place_of(list, to)));
    let rows = list.rows((Bound::Included(&from), Bound::Excluded(&to)), Direction::Forward);
    let value = |row: Result<(Vec<u8>, Vec<u8>), Refusal>| {
        let (_, value) = row?;
        list.gather(value.len())?;
        Ok(value)
    };
    rows.map(value).collect()
}

pub(super) fn lrange(data: &Data<'_>, args: Args<'_>) -> Outcome {
    let (start, end) = (integer(args[2])?, integer(args[3])?);
    let Some(list) = open(data, args[1])? else { return Ok(Reply::Array(Vec::new())) };
    let range = clamped(start, end, list.len());
    let (from, to) = (at(place_of(&list, range.start)), at(place_of(&list, range.end)));
    let rows = list.rows((Bound::Included(&from), Bound::Excluded(&to)), Direction::Forward);
    reply_of(data, rows.map(|row| row.map(|(_, value)| value)))
}

pub(super) fn lindex(data: &Data<'_>, args: Args<'_>) -> Outcome {
    let Some(list) = open(data, args[1])? else { return Ok(Reply::Null) };
    match place(integer(args[2])?, list.len()) {
        Some(index) => Ok(Reply::Bulk(element(&list, index)?)),
        None => Ok(Reply::Null),
    }
}

pub(super) fn lset(data: &Data<'_>, args: Args<'_>) -> Outcome {
    let Some(list) = open(data, args[1])? else { return Err(refuse("no such key")) };
    let index = place(integer(args[2])?, list.len()).ok_or_else(|| refuse("index out of range"))?;
    list.put(&at(place_of(&list, index)), args[3].to_vec())?;
    list.save(args[1])?;
    Ok(Reply::Ok)
}

pub(super) fn ltrim(data: &Data<'_>, args: Args<'_>) -> Outcome {
    let (start, end) = (integer(args[2])?, integer(args[3])?);
    let Some(mut list) = open(data, args[1])? else { return Ok(Reply::Ok) };
    let kept = clamped(start, end, list.len());
    for index in (0..kept.start).chain(kept.end..list.len()) {
        list.delete(&at(place_of(&list, index)));
    }
    list.first = place_of(&list, kept.start);
    list.count = kept.len() as u64;
    list.save(args[1])?;
    Ok(Reply::Ok)
}

/// Writes the elements from one index on as they are now; those behind are moved up or back.
fn rewrite(list: &mut Group<'_>, from: usize, elements: &[Vec<u8>]) -> Result<(), Refusal> {
    let before = list.len();
    for (number, value) in elements.iter().enumerate() {
        list.put(&at(place_of(list, from + number)), value.clone())?;
    }
    let after = from + elements.len();
    for index in after..before {
        list.delete(&at(place_of(list, index)));
    }
    list.count = after as u64;
    Ok(())
}

pub(super) fn linsert(data: &Data<'_>, args: Args<'_>) -> Outcome {
    let behind = is(args[2], "AFTER");
    if !behind && !is(args[2], "BEFORE") {
        return Err(syntax());
    }
    let Some(mut list) = open(data, args[1])? else { return Ok(Reply::Integer(0)) };
    let mut all = elements(&list, 0, list.len())?;
    let Some(found) = all.iter().position(|value| value == args[3]) else { return Ok(Reply::Integer(-1)) };
    let index = found + usize::from(behind);
    if index == 0 {
        push_one(&mut list, End::Left, args[4])?;
    } else {
        all.insert(index, args[4].to_vec());
        rewrite(&mut list, index, &all[index..])?;
    }
    let len = list.len();
    list.save(args[1])?;
    Ok(Reply::count(len))
}

pub(super) fn lrem(data: &Data<'_>, args: Args<'_>) -> Outcome {
    let count = integer(args[2])?;
    let Some(mut list) = open(data, args[1])? else { return Ok(Reply::Integer(0)) };
    let all = elements(&list, 0, list.len())?;
    let most = if count == 0 { usize::MAX } else { usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX) };
    let equal = all.iter().enumerate().filter(|(_, value)| *value == args[3]).map(|(index, _)| index);
    let removed: std::collections::BTreeSet<usize> =
        if count < 0 { equal.rev().take(most).collect() } else { equal.take(most).collect() };
    let Some(&first) = removed.first() else { return Ok(Reply::Integer(0)) };
    let rest = all.iter().enumerate().skip(first).filter(|(index, _)| !removed.contains(index));
    let rest: Vec<Vec<u8>> = rest.map(|(_, value)| value.clone()).collect();
    rewrite(&mut list, first, &rest)?;
    list.save(args[1])?;
    Ok(Reply::count(removed.len()))
}

/// LPOS: the index of an element, or several.
pub(super) fn lpos(data: &Data<'_>, args: Args<'_>) -> Outcome {
    let (mut rank, mut count, mut longest, mut rest) = (1, None, 0, &args[3..]);
    while let [option, value, after @ ..] = rest {
        let not_negative = |what: &str| {
            let number = integer(value).ok().and_then(|number| usize::try_from(number).ok());
            number.ok_or_else(|| refuse(&format!("{what} can't be negative")))
        };
        if is(option, "RANK") {
            rank = integer(value)?;
            if rank == 0 || rank == i64::MIN {
                return Err(refuse(
                    "RANK can't be zero: use 1 to start from the first match, 2 from the second ... or use negative to \
                     start from the end of the list",
                ));
            }
        } else if is(option, "COUNT") {
            count = Some(not_negative("COUNT")?);
        } else if is(option, "MAXLEN") {
            longest = not_negative("MAXLEN")?;
        } else {
            return Err(syntax());
        }
        rest = after;
    }
    if !rest.is_empty() {
        return Err(syntax());
    }
    let nothing = if count.is_some() { Reply::Array(Vec::new()) } else { Reply::Null };
    let Some(list) = open(data, args[1])? else { return Ok(nothing) };
    let most = match count {
        Some(0) => usize::MAX,
        Some(count) => count,
        None => 1,
    };
    let longest = if longest == 0 { usize::MAX } else { longest };
    let direction = if rank < 0 { Direction::Backward } else { Direction::Forward };
    let mut found = Vec::new();
    let mut skip = rank.unsigned_abs() - 1;
    for (number, row) in list.rows(crate::group::ALL, direction).take(longest).enumerate() {
        if row?.1 == args[2] {
            if skip > 0 {
                skip -= 1;
                continue;
            }
            found.push(Reply::count(if rank < 0 { list.len() - 1 - number } else { number }));
            if found.len() >= most {
                break;
            }
        }
    }
    match count {
        Some(_) => Ok(Reply::Array(found)),
        None => Ok(found.pop().unwrap_or(Reply::Null)),
    }
}

fn end_of(word: &[u8]) -> Result<End, Refusal> {
    if is(word, "LEFT") {
        Ok(End::Left)
    } else if is(word, "RIGHT") {
        Ok(End::Right)
    } else {
        Err(syntax())
    }
}

/// Takes an element of one list and adds it to another, or to the same.
fn shift(data: &Data<'_>, from: &[u8], to: &[u8], ends: (End, End)) -> Outcome {
    if data.unless_waited(open(data, from))?.is_none() {
        return Ok(Reply::Null);
    }
    // A target of another type is an error before anything is taken.
    Group::open(data, to, Kind::List)?;
    let Some(value) = take(data, from, ends.0, 1)?.and_then(|mut taken| taken.pop()) else { return Ok(Reply::Null) };
    let mut list = Group::open_or_new(data, to, Kind::List)?;
    push_one(&mut list, ends.1, &value)?;
    list.save(to)?;
    data.pushed.set(true);
    Ok(Reply::Bulk(value))
}

pub(super) fn rpoplpush(data: &Data<'_>, args: Args<'_>) -> Outcome {
    shift(data, args[1], args[2], (End::Right, End::Left))
}

pub(super) fn lmove(data: &Data<'_>, args: Args<'_>) -> Outcome {
    shift(data, args[1], args[2], (end_of(args[3])?, end_of(args[4])?))
}

/// BLPOP and BRPOP: the first list that has an element. The connection waits while this returns nothing.
fn pop_first(data: &Data<'_>, args: Args<'_>, end: End) -> Outcome {
    super::ranges::timeout(args[args.len() - 1])?;
    for key in &args[1..args.len() - 1] {
        if let Some(value) = data.unless_waited(take(data, key, end, 1))?.and_then(|mut taken| taken.pop()) {
            return Ok(Reply::Array(vec![Reply::Bulk(key.to_vec()), Reply::Bulk(value)]));
        }
    }
    Ok(Reply::NullArray)
}

pub(super) fn blpop(data: &Data<'_>, args: Args<'_>) -> Outcome {
    pop_first(data, args, End::Left)
}

pub(super) fn brpop(data: &Data<'_>, args: Args<'_>) -> Outcome {
    pop_first(data, args, End::Right)
}

pub(super) fn blmove(data: &Data<'_>, args: Args<'_>) -> Outcome {
    let ends = (end_of(args[3])?, end_of(args[4])?);
    super::ranges::timeout(args[5])?;
    shift(data, args[1], args[2], ends)
}

pub(super) fn brpoplpush(data: &Data<'_>, args: Args<'_>) -> Outcome {
    super::ranges::timeout(args[3])?;
    shift(data, args[1], args[2], (End::Right, End::Left))
}

/// `numkeys key [key ...] LEFT|RIGHT [COUNT count]`, behind the timeout of BLMPOP.
fn several(args: Args<'_>) -> Result<(Args<'_>, End, usize), Refusal> {
    let (keys, rest) = super::ranges::numbered_keys(args, "numkeys should be greater than 0")?;
    let (end, count) = match rest {
        [end] => (end_of(end)?, 1),
        [end, word, count] if is(word, "COUNT") => {
            let count = integer(count).ok().and_then(|count| usize::try_from(count).ok()).filter(|count| *count > 0);
            (end_of(end)?, count.ok_or_else(|| refuse("count should be greater than 0"))?)
        }
        _ => return Err(syntax()),
    };
    Ok((keys, end, count))
}

fn pop_several(data: &Data<'_>, (keys, end, count): (Args<'_>, End, usize)) -> Outcome {
    for key in keys {
        if let Some(taken) = data.unless_waited(take(data, key, end, count))? {
            let taken = Reply::Array(taken.into_iter().map(Reply::Bulk).collect());
            return Ok(Reply::Array(vec![Reply::Bulk(key.to_vec()), taken]));
        }
    }
    Ok(Reply::NullArray)
}

pub(super) fn lmpop(data: &Data<'_>, args: Args<'_>) -> Outcome {
    pop_several(data, several(&args[1..])?)
}

pub(super) fn blmpop(data: &Data<'_>, args: Args<'_>) -> Outcome {
    let several = several(&args[2..])?;
    super::ranges::timeout(args[1])?;
    pop_several(data, several)
}
