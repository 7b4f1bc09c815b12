//! What commands on lists, sets and sorted sets read alike: indexes from either end, numbers of keys, timeouts.

use std::ops::{Bound, Range};

use recension::engine::Direction;

pub(super) use crate::data::timeout;
use crate::data::{Args, Data, Outcome, Refusal, integer, refuse, syntax};
use crate::group::Group;
use crate::reply::Reply;

/// The place of an index, which counts from the end if it is negative.
pub(super) fn place(index: i64, len: usize) -> Option<usize> {
    let len = i64::try_from(len).unwrap_or(i64::MAX);
    let index = if index < 0 { index.checked_add(len)? } else { index };
    usize::try_from(index).ok().filter(|_| index < len)
}

/// The places from one index to another one, which is included.
pub(super) fn clamped(start: i64, end: i64, len: usize) -> Range<usize> {
    let signed = i64::try_from(len).unwrap_or(i64::MAX);
    let from_end = |index: i64| if index < 0 { index.saturating_add(signed) } else { index };
    let start = usize::try_from(from_end(start).max(0)).unwrap_or(usize::MAX).min(len);
    let end = usize::try_from(from_end(end).saturating_add(1).clamp(0, signed)).unwrap_or(0);
    start..end.max(start)
}

/// An array of byte strings, if it is not too long for a reply.
pub(super) fn reply_of(data: &Data<'_>, items: impl Iterator<Item = Result<Vec<u8>, Refusal>>) -> Outcome {
    let item = |item: Result<Vec<u8>, Refusal>| {
        let item = item?;
        data.gather(item.len())?;
        Ok(Reply::Bulk(item))
    };
    items.map(item).collect::<Result<_, Refusal>>().map(Reply::Array)
}

/// The same of items some of which are not there.
pub(super) fn reply_of_some(data: &Data<'_>, items: impl Iterator<Item = Result<Option<Vec<u8>>, Refusal>>) -> Outcome {
    let item = |item: Result<Option<Vec<u8>>, Refusal>| {
        let item = item?;
        data.gather(item.as_ref().map_or(0, Vec::len))?;
        Ok(Reply::or_null(item))
    };
    items.map(item).collect::<Result<_, Refusal>>().map(Reply::Array)
}

/// The keys behind their number, and what follows them.
pub(super) fn numbered_keys<'a>(args: Args<'a>, wrong: &str) -> Result<(Args<'a>, Args<'a>), Refusal> {
    let number = args.first().and_then(|number| integer(number).ok()).and_then(|number| usize::try_from(number).ok());
    let number = number.filter(|number| *number > 0).ok_or_else(|| refuse(wrong))?;
    let rest = &args[1..];
    if number > rest.len() { Err(syntax()) } else { Ok(rest.split_at(number)) }
}

/// The row behind which a scan of a set, sorted set or hash goes on.
pub(super) fn cursor(data: &Data<'_>, argument: &[u8]) -> Result<Option<Vec<u8>>, Refusal> {
    let cursor = std::str::from_utf8(argument).ok().and_then(|cursor| cursor.parse::<u64>().ok());
    match cursor.ok_or_else(|| refuse("invalid cursor"))? {
        0 => Ok(None),
        cursor => data.shared.scans.lock().after(cursor).map(Some).ok_or_else(|| refuse("invalid cursor")),
    }
}

/// Rows that a scan takes, and the cursor behind them.
pub(super) type Step = (u64, Vec<(Vec<u8>, Vec<u8>)>);

/// The next rows of a scan within one tag of rows.
pub(super) fn step(
    data: &Data<'_>,
    group: &Group<'_>,
    after: Option<&[u8]>,
    count: usize,
    end: Bound<&[u8]>,
) -> Result<Step, Refusal> {
    let start = after.map_or(Bound::Unbounded, Bound::Excluded);
    let rows = group.rows((start, end), Direction::Forward).take(count);
    let rows = rows.collect::<Result<Vec<_>, _>>()?;
    let next = match rows.last() {
        Some((last, _)) if rows.len() == count => data.shared.scans.lock().keep(last.clone()),
        _ => 0,
    };
    Ok((next, rows))
}

/// The reply of a scan.
pub(super) fn scanned(next: u64, found: Vec<Reply>) -> Reply {
    Reply::Array(vec![Reply::text(next.to_string()), Reply::Array(found)])
}
