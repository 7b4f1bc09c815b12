//! Unions, intersections and differences of sorted sets and sets.

use std::collections::BTreeMap;

use recension::engine::Direction;

use super::ranges::numbered_keys;
use super::sorted_ranges::shown;
use super::sorted_sets::{EVERY, Scored, members, set};
use crate::data::{Args, Data, Held, Outcome, Refusal, float, integer, is, refuse, syntax, wrong_type};
use crate::group::{ALL, Group, Kind};
use crate::reply::Reply;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Combine {
    Inter,
    Union,
    Diff,
}

#[derive(Clone, Copy)]
enum Aggregate {
    Sum,
    Min,
    Max,
}

/// What is combined, and how.
struct Request<'a> {
    keys: Args<'a>,
    weights: Vec<f64>,
    aggregate: Aggregate,
    with_scores: bool,
}

impl<'a> Request<'a> {
    fn read(args: Args<'a>, command: &[u8], how: Combine, stores: bool) -> Result<Self, Refusal> {
        let name = String::from_utf8_lossy(command).to_ascii_lowercase();
        let none = format!("at least 1 input key is needed for '{name}' command");
        integer(args[0])?;
        let (keys, mut rest) = numbered_keys(args, &none)?;
        let weights = vec![1.0; keys.len()];
        let mut request = Request { keys, weights, aggregate: Aggregate::Sum, with_scores: false };
        while let [word, after @ ..] = rest {
            rest = if is(word, "WEIGHTS") && how != Combine::Diff && after.len() >= keys.len() {
                let (weights, after) = after.split_at(keys.len());
                let weight = |weight: &&[u8]| float(weight).map_err(|_| refuse("weight value is not a float"));
                request.weights = weights.iter().map(weight).collect::<Result<_, _>>()?;
                after
            } else if let (true, true, [how, after @ ..]) = (is(word, "AGGREGATE"), how != Combine::Diff, after) {
                let known = [("SUM", Aggregate::Sum), ("MIN", Aggregate::Min), ("MAX", Aggregate::Max)];
                request.aggregate = known.into_iter().find(|(name, _)| is(how, name)).ok_or_else(syntax)?.1;
                after
            } else if is(word, "WITHSCORES") && !stores {
                request.with_scores = true;
                after
            } else {
                return Err(syntax());
            };
        }
        Ok(request)
    }
}

/// The members of a sorted set, or of a set with the score 1.
fn source(data: &Data<'_>, key: &[u8]) -> Result<Vec<Scored>, Refusal> {
    let mut found = Vec::new();
    let mut keep = |member: Scored| {
        data.gather(member.0.len())?;
        found.push(member);
        Ok::<_, Refusal>(())
    };
    match data.held(key)? {
        None => {}
        Some(Held::Group(Kind::SortedSet, _)) => {
            if let Some(group) = Group::open(data, key, Kind::SortedSet)? {
                members(&group, EVERY, Direction::Forward).try_for_each(|member| keep(member?))?;
            }
        }
        Some(Held::Group(Kind::Set, _)) => {
            if let Some(group) = Group::open(data, key, Kind::Set)? {
                group.rows(ALL, Direction::Forward).try_for_each(|row| keep((row?.0, 1.0)))?;
            }
        }
        Some(_) => return Err(wrong_type()),
    }
    Ok(found)
}

/// Infinities that meet make 0, as in Redis.
fn or_zero(score: f64) -> f64 {
    if score.is_nan() { 0.0 } else { score }
}

fn combined(data: &Data<'_>, request: &Request<'_>, how: Combine) -> Result<Vec<Scored>, Refusal> {
    let mut all: BTreeMap<Vec<u8>, f64> = BTreeMap::new();
    for (number, (key, weight)) in request.keys.iter().zip(&request.weights).enumerate() {
        let these = source(data, key)?.into_iter().map(|(member, score)| (member, or_zero(score * weight)));
        let together = |a: f64, b: f64| match request.aggregate {
            Aggregate::Sum => or_zero(a + b),
            Aggregate::Min => a.min(b),
            Aggregate::Max => a.max(b),
        };
        match how {
            _ if number == 0 => all = these.collect(),
            Combine::Diff => these.for_each(|(member, _)| {
                all.remove(&member);
            }),
            Combine::Union => these.for_each(|(member, score)| {
                all.entry(member).and_modify(|all| *all = together(*all, score)).or_insert(score);
            }),
            Combine::Inter => {
                let both = these.filter_map(|(member, score)| {
                    let before = *all.get(&member)?;
                    Some((member, together(before, score)))
                });
                all = both.collect();
            }
        }
    }
    let mut found: Vec<Scored> = all.into_iter().collect();
    found.sort_by(|a, b| a.1.total_cmp(&b.1).then_with(|| a.0.cmp(&b.0)));
    Ok(found)
}

fn read(data: &Data<'_>, args: Args<'_>, how: Combine) -> Outcome {
    let request = Request::read(&args[1..], args[0], how, false)?;
    Ok(shown(combined(data, &request, how)?, request.with_scores))
}

fn store(data: &Data<'_>, args: Args<'_>, how: Combine) -> Outcome {
    let request = Request::read(&args[2..], args[0], how, true)?;
    let found = combined(data, &request, how)?;
    let mut target = Group::new(data, Kind::SortedSet)?;
    for (member, score) in &found {
        set(&mut target, member, *score)?;
    }
    data.pushed.set(true);
    Ok(Reply::Integer(i64::try_from(target.save_as(args[1])?).unwrap_or(i64::MAX)))
}

pub(super) fn zunion(data: &Data<'_>, args: Args<'_>) -> Outcome {
    read(data, args, Combine::Union)
}

pub(super) fn zinter(data: &Data<'_>, args: Args<'_>) -> Outcome {
    read(data, args, Combine::Inter)
}

pub(super) fn zdiff(data: &Data<'_>, args: Args<'_>) -> Outcome {
    read(data, args, Combine::Diff)
}

pub(super) fn zunionstore(data: &Data<'_>, args: Args<'_>) -> Outcome {
    store(data, args, Combine::Union)
}

pub(super) fn zinterstore(data: &Data<'_>, args: Args<'_>) -> Outcome {
    store(data, args, Combine::Inter)
}

pub(super) fn zdiffstore(data: &Data<'_>, args: Args<'_>) -> Outcome {
    store(data, args, Combine::Diff)
}

pub(super) fn zintercard(data: &Data<'_>, args: Args<'_>) -> Outcome {
    integer(args[1])?;
    let (keys, rest) = numbered_keys(&args[1..], "at least 1 input key is needed for 'zintercard' command")?;
    let most = match rest {
        [] => 0,
        [word, limit] if is(word, "LIMIT") => {
            let limit = integer(limit).ok().and_then(|limit| usize::try_from(limit).ok());
            limit.ok_or_else(|| refuse("LIMIT can't be negative"))?
        }
        _ => return Err(syntax()),
    };
    let request = Request { keys, weights: vec![1.0; keys.len()], aggregate: Aggregate::Sum, with_scores: false };
    let found = combined(data, &request, Combine::Inter)?.len();
    Ok(Reply::count(if most == 0 { found } else { found.min(most) }))
}
