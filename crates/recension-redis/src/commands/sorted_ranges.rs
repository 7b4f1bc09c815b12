//! Ranges of sorted sets: by rank, by score, by name; read, counted, removed, popped.

use std::ops::Bound;

use recension::engine::Direction;

use super::ranges::{clamped, numbered_keys, timeout};
use super::sorted_sets::{EVERY, Scored, from_score, members, open, ordered, remove, set};
use crate::data::{Args, Data, Outcome, Refusal, integer, is, refuse, syntax};
use crate::group::{Group, Kind};
use crate::reply::Reply;

#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    Rank,
    Score,
    Lex,
}

/// A range of a sorted set.
struct Range<'a> {
    by: By,
    start: &'a [u8],
    end: &'a [u8],
    reverse: bool,
    /// How many are passed over, and how many are taken at most.
    limit: Option<(i64, i64)>,
    with_scores: bool,
}

fn score_bound(text: &[u8]) -> Result<Bound<f64>, Refusal> {
    let (open, number) = match text.strip_prefix(b"(") {
        Some(number) => (true, number),
        None => (false, text),
    };
    let number = crate::data::float(number).map_err(|_| refuse("min or max is not a float"))?;
    Ok(if open { Bound::Excluded(number) } else { Bound::Included(number) })
}

/// A bound of names: `-` and `+` are the ends, `[a` is included, `(a` is not.
#[derive(Clone, PartialEq)]
enum Name<N> {
    Lowest,
    Highest,
    At(bool, N),
}

impl Name<&[u8]> {
    fn to_owned(&self) -> Name<Vec<u8>> {
        match self {
            Name::Lowest => Name::Lowest,
            Name::Highest => Name::Highest,
            Name::At(included, name) => Name::At(*included, name.to_vec()),
        }
    }
}

fn name_bound(text: &[u8]) -> Result<Name<&[u8]>, Refusal> {
    match text.split_first() {
        Some((b'-', [])) => Ok(Name::Lowest),
        Some((b'+', [])) => Ok(Name::Highest),
        Some((b'[', name)) => Ok(Name::At(true, name)),
        Some((b'(', name)) => Ok(Name::At(false, name)),
        _ => Err(refuse("min or max not valid string range item")),
    }
}

/// The bounds of a range as rows; for ranks `None`.
enum Checked<'a> {
    Rank(i64, i64),
    Score(Bound<f64>, Bound<f64>),
    Lex(Name<&'a [u8]>, Name<&'a [u8]>),
}

impl<'a> Range<'a> {
    fn of(by: By, start: &'a [u8], end: &'a [u8]) -> Self {
        Range { by, start, end, reverse: false, limit: None, with_scores: false }
    }

    fn reversed(self) -> Self {
        Range { reverse: true, ..self }
    }

    /// Reads the bounds, the lower one first.
    fn checked(&self) -> Result<Checked<'a>, Refusal> {
        let (low, high) =
            if self.reverse && self.by != By::Rank { (self.end, self.start) } else { (self.start, self.end) };
        Ok(match self.by {
            By::Rank => Checked::Rank(integer(low)?, integer(high)?),
            By::Score => Checked::Score(score_bound(low)?, score_bound(high)?),
            By::Lex => Checked::Lex(name_bound(low)?, name_bound(high)?),
        })
    }

    /// The members of the range.
    fn read<'d>(
        &self,
        group: &Group<'d>,
        checked: Checked<'_>,
    ) -> Result<Box<dyn Iterator<Item = Result<Scored, Refusal>> + 'd>, Refusal> {
        let direction = if self.reverse { Direction::Backward } else { Direction::Forward };
        let rows: Box<dyn Iterator<Item = Result<Scored, Refusal>> + 'd> = match checked {
            Checked::Rank(start, end) => {
                let places = clamped(start, end, group.len());
                return Ok(Box::new(members(group, EVERY, direction).skip(places.start).take(places.len())));
            }
            Checked::Score(low, high) => Box::new(members(group, rows_of_scores(low, high), direction)),
            Checked::Lex(low, high) => match only_score(group)? {
                Some(score) => Box::new(members(group, rows_of_names(score, &low, &high), direction)),
                None => self.walk(group, &low, &high)?,
            },
        };
        let Some((offset, count)) = self.limit else { return Ok(rows) };
        let Ok(offset) = usize::try_from(offset) else { return Ok(Box::new(std::iter::empty())) };
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        Ok(Box::new(rows.skip(offset).take(count)))
    }
}

impl Range<'_> {
    /// A range of names among members of different scores: Redis walks them in the order of their scores, from the
    /// first within the bounds to the first beyond, and so does this.
    fn walk<'d>(
        &self,
        group: &Group<'d>,
        low: &Name<&[u8]>,
        high: &Name<&[u8]>,
    ) -> Result<Box<dyn Iterator<Item = Result<Scored, Refusal>> + 'd>, Refusal> {
        let (low, high) = (low.to_owned(), high.to_owned());
        let end = |direction| members(group, EVERY, direction).next().transpose();
        let (first, last) = (end(Direction::Forward)?, end(Direction::Backward)?);
        let is_any =
            first.is_some_and(|(name, _)| is_to(&name, &high)) && last.is_some_and(|(name, _)| is_from(&name, &low));
        if !is_any {
            return Ok(Box::new(std::iter::empty()));
        }
        let direction = if self.reverse { Direction::Backward } else { Direction::Forward };
        let reverse = self.reverse;
        let (from, to) = (low.clone(), high.clone());
        let is_before = move |name: &[u8]| if reverse { !is_to(name, &to) } else { !is_from(name, &from) };
        let is_beyond = move |name: &[u8]| if reverse { !is_from(name, &low) } else { !is_to(name, &high) };
        let rows = members(group, EVERY, direction);
        let rows = rows.skip_while(move |row| row.as_ref().is_ok_and(|(name, _)| is_before(name)));
        Ok(Box::new(rows.take_while(move |row| row.as_ref().map_or(true, |(name, _)| !is_beyond(name)))))
    }
}

type Rows = (Bound<Vec<u8>>, Bound<Vec<u8>>);

fn rows_of_scores(low: Bound<f64>, high: Bound<f64>) -> Rows {
    let start = match low {
        Bound::Included(score) => ordered(score),
        Bound::Excluded(score) => ordered(score) + 1,
        Bound::Unbounded => 0,
    };
    let end = match high {
        Bound::Included(score) => ordered(score) + 1,
        Bound::Excluded(score) => ordered(score),
        Bound::Unbounded => u64::MAX,
    };
    (Bound::Included(from_score(start)), Bound::Excluded(from_score(end.max(start))))
}

/// The score of all members, if they have the same: then the order of names is that of the rows.
fn only_score(group: &Group<'_>) -> Result<Option<u64>, Refusal> {
    let at = |direction| members(group, EVERY, direction).next().transpose();
    let (first, last) = (at(Direction::Forward)?, at(Direction::Backward)?);
    Ok(first.zip(last).map(|(first, last)| (ordered(first.1), ordered(last.1))).filter(|(a, b)| a == b).map(|(a, _)| a))
}

fn is_from(name: &[u8], low: &Name<Vec<u8>>) -> bool {
    match low {
        Name::Lowest => true,
        Name::Highest => false,
        Name::At(true, low) => name >= &low[..],
        Name::At(false, low) => name > &low[..],
    }
}

fn is_to(name: &[u8], high: &Name<Vec<u8>>) -> bool {
    match high {
        Name::Lowest => false,
        Name::Highest => true,
        Name::At(true, high) => name <= &high[..],
        Name::At(false, high) => name < &high[..],
    }
}

fn rows_of_names(score: u64, low: &Name<&[u8]>, high: &Name<&[u8]>) -> Rows {
    let nothing = || (Bound::Included(from_score(0)), Bound::Excluded(from_score(0)));
    let at = |name: &[u8]| [&from_score(score), name].concat();
    let start = match low {
        Name::Lowest => Bound::Included(at(b"")),
        Name::Highest => return nothing(),
        Name::At(true, name) => Bound::Included(at(name)),
        Name::At(false, name) => Bound::Excluded(at(name)),
    };
    let end = match high {
        Name::Lowest => return nothing(),
        Name::Highest => Bound::Excluded(from_score(score + 1)),
        Name::At(true, name) => Bound::Included(at(name)),
        Name::At(false, name) => Bound::Excluded(at(name)),
    };
    (start, end)
}

/// Members of a reply, which is bounded.
pub(super) fn gathered(
    data: &Data<'_>,
    found: impl Iterator<Item = Result<Scored, Refusal>>,
) -> Result<Vec<Scored>, Refusal> {
    let item = |item: Result<Scored, Refusal>| {
        let item = item?;
        data.gather(item.0.len())?;
        Ok(item)
    };
    found.map(item).collect()
}

pub(super) fn shown(found: Vec<Scored>, with_scores: bool) -> Reply {
    if with_scores {
        Reply::Pairs(found.into_iter().map(|(member, score)| (Reply::Bulk(member), Reply::Double(score))).collect())
    } else {
        Reply::Array(found.into_iter().map(|(member, _)| Reply::Bulk(member)).collect())
    }
}

fn answer(data: &Data<'_>, key: &[u8], range: &Range<'_>) -> Outcome {
    let checked = range.checked()?;
    let Some(group) = open(data, key)? else { return Ok(Reply::Array(Vec::new())) };
    Ok(shown(gathered(data, range.read(&group, checked)?)?, range.with_scores))
}

/// The words behind the bounds. `general`: those of ZRANGE, which has all kinds of ranges.
fn with_options<'a>(
    mut range: Range<'a>,
    mut rest: Args<'a>,
    general: bool,
    scores: bool,
) -> Result<Range<'a>, Refusal> {
    while let [word, after @ ..] = rest {
        rest = match after {
            _ if scores && is(word, "WITHSCORES") => {
                range.with_scores = true;
                after
            }
            [offset, count, after @ ..] if is(word, "LIMIT") && (general || range.by != By::Rank) => {
                range.limit = Some((integer(offset)?, integer(count)?));
                after
            }
            _ if general && is(word, "REV") => {
                range.reverse = true;
                after
            }
            _ if general && range.by == By::Rank && is(word, "BYSCORE") => {
                range.by = By::Score;
                after
            }
            _ if general && range.by == By::Rank && is(word, "BYLEX") => {
                range.by = By::Lex;
                after
            }
            _ => return Err(syntax()),
        };
    }
    if range.limit.is_some() && range.by == By::Rank {
        return Err(refuse("syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX"));
    }
    if range.with_scores && range.by == By::Lex {
        return Err(refuse("syntax error, WITHSCORES not supported in combination with BYLEX"));
    }
    Ok(range)
}

pub(super) fn zrange(data: &Data<'_>, args: Args<'_>) -> Outcome {
    answer(data, args[1], &with_options(Range::of(By::Rank, args[2], args[3]), &args[4..], true, true)?)
}

pub(super) fn zrevrange(data: &Data<'_>, args: Args<'_>) -> Outcome {
    let range = Range::of(By::Rank, args[2], args[3]).reversed();
    answer(data, args[1], &with_options(range, &args[4..], false, true)?)
}

pub(super) fn zrangebyscore(data: &Data<'_>, args: Args<'_>) -> Outcome {
    answer(data, args[1], &with_options(Range::of(By::Score, args[2], args[3]), &args[4..], false, true)?)
}

pub(super) fn zrevrangebyscore(data: &Data<'_>, args: Args<'_>) -> Outcome {
    let range = Range::of(By::Score, args[2], args[3]).reversed();
    answer(data, args[1], &with_options(range, &args[4..], false, true)?)
}

pub(super) fn zrangebylex(data: &Data<'_>, args: Args<'_>) -> Outcome {
    answer(data, args[1], &with_options(Range::of(By::Lex, args[2], args[3]), &args[4..], false, false)?)
}

pub(super) fn zrevrangebylex(data: &Data<'_>, args: Args<'_>) -> Outcome {
    let range = Range::of(By::Lex, args[2], args[3]).reversed();
    answer(data, args[1], &with_options(range, &args[4..], false, false)?)
}

pub(super) fn zrangestore(data: &Data<'_>, args: Args<'_>) -> Outcome {
    let range = with_options(Range::of(By::Rank, args[3], args[4]), &args[5..], true, false)?;
    let checked = range.checked()?;
    let mut target = Group::new(data, Kind::SortedSet)?;
    if let Some(source) = open(data, args[2])? {
        for member in range.read(&source, checked)? {
            let (member, score) = member?;
            set(&mut target, &member, score)?;
        }
    }
    data.pushed.set(true);
    Ok(Reply::Integer(i64::try_from(target.save_as(args[1])?).unwrap_or(i64::MAX)))
}

fn count(data: &Data<'_>, args: Args<'_>, by: By) -> Outcome {
    let range = Range::of(by, args[2], args[3]);
    let checked = range.checked()?;
    let Some(group) = open(data, args[1])? else { return Ok(Reply::Integer(0)) };
    let mut count = 0;
    for member in range.read(&group, checked)? {
        member?;
        count += 1;
    }
    Ok(Reply::Integer(count))
}

pub(super) fn zcount(data: &Data<'_>, args: Args<'_>) -> Outcome {
    count(data, args, By::Score)
}

pub(super) fn zlexcount(data: &Data<'_>, args: Args<'_>) -> Outcome {
    count(data, args, By::Lex)
}

fn remove_range(data: &Data<'_>, args: Args<'_>, by: By) -> Outcome {
    let range = Range::of(by, args[2], args[3]);
    let checked = range.checked()?;
    let Some(mut group) = open(data, args[1])? else { return Ok(Reply::Integer(0)) };
    let found = range.read(&group, checked)?.collect::<Result<Vec<_>, _>>()?;
    for (member, score) in &found {
        remove(&mut group, member, *score);
    }
    if !found.is_empty() {
        group.save(args[1])?;
    }
    Ok(Reply::count(found.len()))
}

pub(super) fn zremrangebyrank(data: &Data<'_>, args: Args<'_>) -> Outcome {
    remove_range(data, args, By::Rank)
}

pub(super) fn zremrangebyscore(data: &Data<'_>, args: Args<'_>) -> Outcome {
    remove_range(data, args, By::Score)
}

pub(super) fn zremrangebylex(data: &Data<'_>, args: Args<'_>) -> Outcome {
    remove_range(data, args, By::Lex)
}

/// Takes the members with the lowest or the highest scores; `None` if there is no such key.
fn take(data: &Data<'_>, key: &[u8], direction: Direction, count: usize) -> Result<Option<Vec<Scored>>, Refusal> {
    let Some(mut group) = open(data, key)? else { return Ok(None) };
    let taken = gathered(data, members(&group, EVERY, direction).take(count))?;
    for (member, score) in &taken {
        remove(&mut group, member, *score);
    }
    if !taken.is_empty() {
        group.save(key)?;
    }
    Ok(Some(taken))
}

fn pop(data: &Data<'_>, args: Args<'_>, direction: Direction) -> Outcome {
    let count = match &args[2..] {
        [] => None,
        [count] => {
            let count = integer(count).ok().and_then(|count| usize::try_from(count).ok());
            Some(count.ok_or_else(|| refuse("value is out of range, must be positive"))?)
        }
        _ => return Err(syntax()),
    };
    let mut taken = take(data, args[1], direction, count.unwrap_or(1))?.unwrap_or_default();
    match (count, taken.pop()) {
        (_, None) => Ok(Reply::Array(Vec::new())),
        (None, Some((member, score))) => Ok(Reply::Array(vec![Reply::Bulk(member), Reply::Double(score)])),
        (Some(_), Some(last)) => {
            taken.push(last);
            Ok(shown(taken, true))
        }
    }
}

pub(super) fn zpopmin(data: &Data<'_>, args: Args<'_>) -> Outcome {
    pop(data, args, Direction::Forward)
}

pub(super) fn zpopmax(data: &Data<'_>, args: Args<'_>) -> Outcome {
    pop(data, args, Direction::Backward)
}

/// The connection waits while this returns nothing.
fn pop_first(data: &Data<'_>, args: Args<'_>, direction: Direction) -> Outcome {
    timeout(args[args.len() - 1])?;
    for key in &args[1..args.len() - 1] {
        if let Some((member, score)) =
            data.unless_waited(take(data, key, direction, 1))?.and_then(|mut taken| taken.pop())
        {
            return Ok(Reply::Array(vec![Reply::Bulk(key.to_vec()), Reply::Bulk(member), Reply::Double(score)]));
        }
    }
    Ok(Reply::NullArray)
}

pub(super) fn bzpopmin(data: &Data<'_>, args: Args<'_>) -> Outcome {
    pop_first(data, args, Direction::Forward)
}

pub(super) fn bzpopmax(data: &Data<'_>, args: Args<'_>) -> Outcome {
    pop_first(data, args, Direction::Backward)
}

/// `numkeys key [key ...] MIN|MAX [COUNT count]`, behind the timeout of BZMPOP.
fn several(args: Args<'_>) -> Result<(Args<'_>, Direction, usize), Refusal> {
    let (keys, rest) = numbered_keys(args, "numkeys should be greater than 0")?;
    let direction = |word: &[u8]| match word {
        word if is(word, "MIN") => Ok(Direction::Forward),
        word if is(word, "MAX") => Ok(Direction::Backward),
        _ => Err(syntax()),
    };
    let (direction, count) = match rest {
        [end] => (direction(end)?, 1),
        [end, word, count] if is(word, "COUNT") => {
            let count = integer(count).ok().and_then(|count| usize::try_from(count).ok()).filter(|count| *count > 0);
            (direction(end)?, count.ok_or_else(|| refuse("count should be greater than 0"))?)
        }
        _ => return Err(syntax()),
    };
    Ok((keys, direction, count))
}

fn pop_several(data: &Data<'_>, (keys, direction, count): (Args<'_>, Direction, usize)) -> Outcome {
    for key in keys {
        if let Some(taken) = data.unless_waited(take(data, key, direction, count))? {
            let pair = |(member, score)| Reply::Array(vec![Reply::Bulk(member), Reply::Double(score)]);
            let taken = Reply::Array(taken.into_iter().map(pair).collect());
            return Ok(Reply::Array(vec![Reply::Bulk(key.to_vec()), taken]));
        }
    }
    Ok(Reply::NullArray)
}

pub(super) fn zmpop(data: &Data<'_>, args: Args<'_>) -> Outcome {
    pop_several(data, several(&args[1..])?)
}

pub(super) fn bzmpop(data: &Data<'_>, args: Args<'_>) -> Outcome {
    let several = several(&args[2..])?;
    timeout(args[1])?;
    pop_several(data, several)
}
