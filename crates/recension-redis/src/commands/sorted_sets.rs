//! Sorted sets. A member has two rows: one by its name with its score, and one by its score, in whose order ranges are
//! read. Both are written in the same commit.

use std::ops::Bound;

use recension::engine::Direction;

use super::ranges::{cursor, scanned, step};
use super::sets::{picked, picks};
use crate::data::{Args, Data, Outcome, Refusal, Scan, float, integer, is, refuse, scan_options, syntax};
use crate::group::{Group, Kind};
use crate::reply::{Reply, digits};

/// A member and its score.
pub(super) type Scored = (Vec<u8>, f64);

const BY_NAME: u8 = 0;
const BY_SCORE: u8 = 1;

pub(super) fn open<'d>(data: &'d Data<'d>, key: &[u8]) -> Result<Option<Group<'d>>, Refusal> {
    Group::open(data, key, Kind::SortedSet)
}

fn by_name(member: &[u8]) -> Vec<u8> {
    [&[BY_NAME], member].concat()
}

/// A score as a number that is ordered as the scores are.
pub(super) fn ordered(score: f64) -> u64 {
    // -0 is 0.
    let bits = (score + 0.0).to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

fn score_of(ordered: u64) -> f64 {
    f64::from_bits(if ordered >> 63 == 1 { ordered & !(1 << 63) } else { !ordered })
}

/// The beginning of the rows by score from a score on.
pub(super) fn from_score(ordered: u64) -> Vec<u8> {
    [&[BY_SCORE][..], &ordered.to_be_bytes()].concat()
}

fn by_score(member: &[u8], score: f64) -> Vec<u8> {
    [&from_score(ordered(score)), member].concat()
}

pub(super) fn score(set: &Group<'_>, member: &[u8]) -> Result<Option<f64>, Refusal> {
    let Some(row) = set.get(&by_name(member))? else { return Ok(None) };
    let bits = row.try_into().map_err(|_| refuse("a score is damaged; run recension verify"))?;
    Ok(Some(f64::from_bits(u64::from_be_bytes(bits))))
}

/// Members within rows by score, in their order or the other way round.
pub(super) fn members<'d>(
    set: &Group<'d>,
    bounds: (Bound<Vec<u8>>, Bound<Vec<u8>>),
    direction: Direction,
) -> impl Iterator<Item = Result<Scored, Refusal>> + use<'d> {
    let start = match &bounds.0 {
        Bound::Unbounded => Bound::Included(&[BY_SCORE][..]),
        Bound::Included(key) => Bound::Included(&key[..]),
        Bound::Excluded(key) => Bound::Excluded(&key[..]),
    };
    let end = match &bounds.1 {
        Bound::Unbounded => Bound::Unbounded,
        Bound::Included(key) => Bound::Included(&key[..]),
        Bound::Excluded(key) => Bound::Excluded(&key[..]),
    };
    set.rows((start, end), direction).map(|row| {
        let row = row?.0;
        let score = row.get(1..9).and_then(|score| score.try_into().ok()).map(u64::from_be_bytes);
        let score = score.ok_or_else(|| refuse("a score is damaged; run recension verify"))?;
        Ok((row[9..].to_vec(), score_of(score)))
    })
}

pub(super) const EVERY: (Bound<Vec<u8>>, Bound<Vec<u8>>) = (Bound::Unbounded, Bound::Unbounded);

/// Gives a member a score; returns the one that it had.
pub(super) fn set(set: &mut Group<'_>, member: &[u8], to: f64) -> Result<Option<f64>, Refusal> {
    let to = to + 0.0;
    let before = score(set, member)?;
    match before {
        Some(before) if ordered(before) == ordered(to) => return Ok(Some(before)),
        Some(before) => set.delete(&by_score(member, before)),
        None => set.count += 1,
    }
    set.put(&by_name(member), to.to_bits().to_be_bytes().to_vec())?;
    set.put(&by_score(member, to), Vec::new())?;
    Ok(before)
}

/// Removes a member whose score is known.
pub(super) fn remove(set: &mut Group<'_>, member: &[u8], score: f64) {
    set.delete(&by_name(member));
    set.delete(&by_score(member, score));
    set.count -= 1;
}

/// The words of ZADD before the scores.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a word of the command")]
struct Adding {
    nx: bool,
    xx: bool,
    gt: bool,
    lt: bool,
    ch: bool,
    incr: bool,
}

impl Adding {
    fn read(mut rest: Args<'_>) -> Result<(Self, Args<'_>), Refusal> {
        let mut adding = Adding::default();
        while let [word, after @ ..] = rest {
            let flags = [
                ("NX", &mut adding.nx),
                ("XX", &mut adding.xx),
                ("GT", &mut adding.gt),
                ("LT", &mut adding.lt),
                ("CH", &mut adding.ch),
                ("INCR", &mut adding.incr),
            ];
            let Some((_, flag)) = flags.into_iter().find(|(name, _)| is(word, name)) else { break };
            *flag = true;
            rest = after;
        }
        if rest.is_empty() || !rest.len().is_multiple_of(2) {
            return Err(syntax());
        }
        if adding.nx && adding.xx {
            return Err(refuse("XX and NX options at the same time are not compatible"));
        }
        if [adding.nx, adding.gt, adding.lt].into_iter().filter(|flag| *flag).count() > 1 {
            return Err(refuse("GT, LT, and/or NX options at the same time are not compatible"));
        }
        if adding.incr && rest.len() > 2 {
            return Err(refuse("INCR option supports a single increment-element pair"));
        }
        Ok((adding, rest))
    }

    /// The new score of a member that has one, or none; `None`: it stays.
    fn decide(&self, before: Option<f64>, given: f64) -> Result<Option<f64>, Refusal> {
        let Some(before) = before else { return Ok((!self.xx).then_some(given)) };
        if self.nx {
            return Ok(None);
        }
        let score = if self.incr { before + given } else { given };
        if score.is_nan() {
            return Err(refuse("resulting score is not a number (NaN)"));
        }
        let stays = (self.gt && score <= before) || (self.lt && score >= before);
        Ok((!stays).then_some(score))
    }
}

pub(super) fn zadd(data: &Data<'_>, args: Args<'_>) -> Outcome {
    let (adding, pairs) = Adding::read(&args[2..])?;
    let scores = pairs.chunks(2).map(|pair| float(pair[0])).collect::<Result<Vec<_>, _>>()?;
    let mut group = Group::open_or_new(data, args[1], Kind::SortedSet)?;
    let (mut added, mut changed, mut last) = (0, 0, None);
    for (pair, given) in pairs.chunks(2).zip(scores) {
        let before = score(&group, pair[1])?;
        last = adding.decide(before, given)?;
        if let Some(to) = last {
            set(&mut group, pair[1], to)?;
            added += usize::from(before.is_none());
            changed += usize::from(before.is_some_and(|before| ordered(before) != ordered(to)));
        }
    }
    if added + changed > 0 {
        group.save(args[1])?;
        data.pushed.set(true);
    }
    if adding.incr {
        return Ok(last.map_or(Reply::Null, Reply::Double));
    }
    Ok(Reply::count(if adding.ch { added + changed } else { added }))
}

pub(super) fn zincrby(data: &Data<'_>, args: Args<'_>) -> Outcome {
    let by = float(args[2])?;
    let mut group = Group::open_or_new(data, args[1], Kind::SortedSet)?;
    let adding = Adding { incr: true, ..Adding::default() };
    let to = adding.decide(score(&group, args[3])?, by)?.unwrap_or(by);
    set(&mut group, args[3], to)?;
    group.save(args[1])?;
    data.pushed.set(true);
    Ok(Reply::Double(to))
}

pub(super) fn zrem(data: &Data<'_>, args: Args<'_>) -> Outcome {
    let Some(mut group) = open(data, args[1])? else { return Ok(Reply::Integer(0)) };
    let mut removed = 0;
    for member in &args[2..] {
        if let Some(score) = score(&group, member)? {
            remove(&mut group, member, score);
            removed += 1;
        }
    }
    if removed > 0 {
        group.save(args[1])?;
    }
    Ok(Reply::count(removed))
}

pub(super) fn zcard(data: &Data<'_>, args: Args<'_>) -> Outcome {
    Ok(Reply::count(open(data, args[1])?.map_or(0, |set| set.len())))
}

fn score_in(set: Option<&Group<'_>>, member: &[u8]) -> Result<Reply, Refusal> {
    let score = set.map_or(Ok(None), |set| score(set, member))?;
    Ok(score.map_or(Reply::Null, Reply::Double))
}

pub(super) fn zscore(data: &Data<'_>, args: Args<'_>) -> Outcome {
    score_in(open(data, args[1])?.as_ref(), args[2])
}

pub(super) fn zmscore(data: &Data<'_>, args: Args<'_>) -> Outcome {
    let set = open(data, args[1])?;
    args[2..].iter().map(|member| score_in(set.as_ref(), member)).collect::<Result<_, _>>().map(Reply::Array)
}

/// The place of a member; it is counted.
fn rank(data: &Data<'_>, args: Args<'_>, direction: Direction) -> Outcome {
    let with_score = match &args[3..] {
        [] => false,
        [word] if is(word, "WITHSCORE") => true,
        _ => return Err(syntax()),
    };
    let nothing = if with_score { Reply::NullArray } else { Reply::Null };
    let Some(set) = open(data, args[1])? else { return Ok(nothing) };
    let Some(score) = score(&set, args[2])? else { return Ok(nothing) };
    let end = Bound::Excluded(by_score(args[2], score));
    let bounds = if direction == Direction::Forward { (Bound::Unbounded, end) } else { (end, Bound::Unbounded) };
    let mut rank = 0;
    for member in members(&set, bounds, direction) {
        member?;
        rank += 1;
    }
    let rank = Reply::count(rank);
    Ok(if with_score { Reply::Array(vec![rank, Reply::Double(score)]) } else { rank })
}

pub(super) fn zrank(data: &Data<'_>, args: Args<'_>) -> Outcome {
    rank(data, args, Direction::Forward)
}

pub(super) fn zrevrank(data: &Data<'_>, args: Args<'_>) -> Outcome {
    rank(data, args, Direction::Backward)
}

pub(super) fn zrandmember(data: &Data<'_>, args: Args<'_>) -> Outcome {
    let (picks, with_scores) = match &args[2..] {
        [] => (None, false),
        [count] => (Some(picks(integer(count)?)?), false),
        [count, word] if is(word, "WITHSCORES") => (Some(picks(integer(count)?)?), true),
        _ => return Err(syntax()),
    };
    let nothing = if picks.is_some() { Reply::Array(Vec::new()) } else { Reply::Null };
    let Some(set) = open(data, args[1])? else { return Ok(nothing) };
    let rows = members(&set, EVERY, Direction::Forward);
    let keep = |(member, _): &Scored| data.gather(member.len());
    let mut found = picked(rows, set.len(), picks.unwrap_or((1, false)), keep)?;
    if picks.is_none() {
        return Ok(Reply::or_null(found.pop().map(|(member, _)| member)));
    }
    Ok(super::sorted_ranges::shown(found, with_scores))
}

pub(super) fn zscan(data: &Data<'_>, args: Args<'_>) -> Outcome {
    let options = scan_options(&args[3..], Scan::Members)?;
    let after = cursor(data, args[2])?;
    let Some(set) = open(data, args[1])? else { return Ok(scanned(0, Vec::new())) };
    let (next, rows) = step(data, &set, after.as_deref(), options.count, Bound::Excluded(&[BY_SCORE]))?;
    let mut found = Vec::new();
    for (row, value) in rows {
        let member = row[1..].to_vec();
        if options.pattern.as_ref().is_none_or(|glob| glob.matches(&member)) {
            let score = f64::from_bits(value.try_into().map_or(0, u64::from_be_bytes));
            found.extend([Reply::Bulk(member), Reply::text(digits(score))]);
        }
    }
    Ok(scanned(next, found))
}
