//! Pipelines from JSON, in MongoDB's words. Pure; length and stages are bounded.

use super::projection::projection;
use super::{Fold, GroupId, Pipeline, Stage, Unwind};
use crate::error::{Error, Result};
use crate::json::{Kind, Outline, Path, View};
use crate::limits::{PIPELINE_STAGES_MAX, SELECTOR_BYTES_MAX};
use crate::selector::{Selector, distinct, too_large};
use recension_engine::Direction;

pub(super) fn pipeline(text: &[u8]) -> Result<Pipeline> {
    if text.len() > SELECTOR_BYTES_MAX {
        return Err(too_large());
    }
    let text = distinct(text, "bad_pipeline")?;
    let outline = Outline::of(&text)?;
    let stages = stages(outline.root())?;
    if stages.iter().map(Stage::len).sum::<usize>() > PIPELINE_STAGES_MAX {
        return Err(bad(format!("A pipeline has {PIPELINE_STAGES_MAX} stages at most.")));
    }
    Ok(Pipeline { stages, ..Pipeline::default() })
}

fn stages(view: View<'_>) -> Result<Vec<Stage>> {
    if view.kind() != Kind::Array {
        return Err(bad("A pipeline is an array of stages."));
    }
    let one = |view: View<'_>| {
        let mut members = view.children();
        let (Kind::Object, Some(member), None) = (view.kind(), members.next(), members.next()) else {
            return Err(bad("A stage is an object with one member, such as {\"$match\":{..}}."));
        };
        stage(&member.name().decode(), member)
    };
    // One more than allowed suffices to refuse them.
    view.children().take(PIPELINE_STAGES_MAX + 1).map(one).collect()
}

/// Stages under names. None of them may be a `$facet`, so that nothing nests.
fn facets(view: View<'_>) -> Result<Stage> {
    let mut facets = Vec::new();
    for member in view.children().filter(|_| view.kind() == Kind::Object).take(PIPELINE_STAGES_MAX + 1) {
        if member.children().any(|stage| stage.children().any(|stage| stage.name().is("$facet"))) {
            return Err(bad("A $facet has no $facet within it."));
        }
        facets.push((name_of(member, "$facet")?, stages(member)?));
    }
    if facets.is_empty() {
        return Err(bad("$facet takes an object with an array of stages under each name."));
    }
    Ok(Stage::Facet(facets))
}

pub(super) fn bad(reason: impl Into<String>) -> Error {
    Error::BadSelector { error: "bad_pipeline", reason: reason.into() }
}

fn stage(name: &str, view: View<'_>) -> Result<Stage> {
    let wrong = |what: &str| bad(format!("{name} takes {what}."));
    let number = || view.text().parse().map_err(|_| wrong("a number from 0"));
    Ok(match name {
        "$match" => Stage::Match(Selector::from_json(view.text())?),
        "$unwind" => unwind(view)?,
        "$group" => group(view)?,
        "$facet" => facets(view)?,
        "$sort" => {
            let one = |member: View<'_>| {
                let direction = match member.text() {
                    "1" => Direction::Forward,
                    "-1" => Direction::Backward,
                    _ => return Err(wrong("1 or -1 for each field")),
                };
                Ok((member.name().decode().parse::<Path>()?, direction))
            };
            if view.kind() != Kind::Object {
                return Err(wrong("an object of fields"));
            }
            let by: Vec<_> = view.children().map(one).collect::<Result<_>>()?;
            if by.is_empty() {
                return Err(wrong("an object of fields"));
            }
            Stage::Sort(by)
        }
        "$limit" => Stage::Limit(number()?),
        "$skip" => Stage::Skip(number()?),
        "$count" => match view.kind() {
            Kind::String => Stage::Count(checked(view.string().decode().into_owned(), "$count")?),
            _ => return Err(wrong("the name of a member, such as \"n\"")),
        },
        "$project" => Stage::Project(projection(view)?),
        _ => {
            return Err(bad(format!(
                "{name} is no stage here: there are $match $unwind $group $sort $limit $skip $project $count $facet."
            )));
        }
    })
}

/// A row for each element: of a path, or of an object with a path and options.
fn unwind(view: View<'_>) -> Result<Stage> {
    let wrong = || bad("$unwind takes a path, such as \"$items\", or an object with one as its path.");
    let (mut path, mut keep, mut number) = (None, false, None);
    if view.kind() == Kind::Object {
        for option in view.children() {
            let name = option.name().decode().into_owned();
            match (name.as_str(), option.kind(), option.text()) {
                ("path", ..) => path = reference(option)?,
                ("preserveNullAndEmptyArrays", Kind::Word, "true") => keep = true,
                ("preserveNullAndEmptyArrays", Kind::Word, "false") => keep = false,
                ("preserveNullAndEmptyArrays", ..) => return Err(bad(format!("{name} is true or false."))),
                ("includeArrayIndex", Kind::String, _) => {
                    number = Some(checked(option.string().decode().into_owned(), &name)?);
                }
                ("includeArrayIndex", ..) => return Err(bad(format!("{name} is the name of a member."))),
                _ => {
                    return Err(bad(format!(
                        "{name} is no option of $unwind: there are path preserveNullAndEmptyArrays includeArrayIndex."
                    )));
                }
            }
        }
    } else {
        path = reference(view)?;
    }
    let path = path.filter(|path| !path.steps().is_empty()).ok_or_else(wrong)?;
    Ok(Stage::Unwind(Unwind { path, keep, number }))
}

/// `"$a.b"`, `"$$ROOT"` or `"$$ROOT.a"`; `None` if it is something else.
pub(super) fn reference(view: View<'_>) -> Result<Option<Path>> {
    let text = if view.kind() == Kind::String { view.string().decode() } else { return Ok(None) };
    let Some(path) = text.strip_prefix('$') else { return Ok(None) };
    let Some(variable) = path.strip_prefix('$') else { return path.parse().map(Some) };
    let (variable, path) = variable.split_once('.').map_or((variable, None), |(name, path)| (name, Some(path)));
    if !matches!(variable, "ROOT" | "CURRENT") {
        return Err(bad(format!("$${variable} is no variable here: there are $$ROOT and $$CURRENT.")));
    }
    Ok(Some(path.map_or_else(|| Ok(Path::of_names(Vec::new())), str::parse)?))
}

/// The name of a member that a stage makes.
fn name_of(member: View<'_>, stage: &str) -> Result<String> {
    checked(member.name().decode().into_owned(), stage)
}

/// A name that later stages can refer to.
fn checked(name: String, stage: &str) -> Result<String> {
    if name.is_empty() || name.starts_with('$') || name.contains('.') {
        return Err(bad(format!(
            "\"{name}\" at {stage} is no name for a member: one is not empty, begins without $ and has no dot."
        )));
    }
    Ok(name)
}

fn group(view: View<'_>) -> Result<Stage> {
    let (mut id, mut folds) = (None, Vec::new());
    for member in view.children().filter(|_| view.kind() == Kind::Object) {
        if member.name().is("_id") {
            id = Some(group_id(member)?);
        } else {
            folds.push((name_of(member, "$group")?, fold(member)?));
        }
    }
    let id = id
        .ok_or_else(|| bad("$group takes an object with _id: a path such as \"$a.b\", an object of paths, or null."))?;
    Ok(Stage::Group(id, folds))
}

fn group_id(view: View<'_>) -> Result<GroupId> {
    let wrong = |view: View<'_>| {
        let found: String = view.text().chars().take(80).collect();
        bad(format!("_id of $group is a path such as \"$a.b\", an object of paths, or null, and not {found}."))
    };
    let path = |view: View<'_>| reference(view)?.ok_or_else(|| wrong(view));
    match view.kind() {
        Kind::Object => {
            let one = |member: View<'_>| {
                let name = member.name().decode().into_owned();
                if name.starts_with('$') { Err(wrong(view)) } else { Ok((name, path(member)?)) }
            };
            Ok(GroupId::Named(view.children().map(one).collect::<Result<_>>()?))
        }
        Kind::Word if view.text() == "null" => Ok(GroupId::Nothing),
        _ => Ok(GroupId::One(path(view)?)),
    }
}

fn fold(view: View<'_>) -> Result<Fold> {
    let wrong = || {
        let known = "$sum $avg $min $max $first $last $addToSet $push $count";
        let found: String = view.text().chars().take(80).collect();
        bad(format!(
            "A member of $group is an object with one of {known} and a path such as \"$a.b\", and not {found}."
        ))
    };
    let mut members = view.children();
    let (Kind::Object, Some(member), None) = (view.kind(), members.next(), members.next()) else { return Err(wrong()) };
    let name = member.name().decode().into_owned();
    let is_one = member.kind() == Kind::Number && member.text().parse() == Ok(1.0);
    if (name == "$count" && member.text() == "{}") || (name == "$sum" && is_one) {
        return Ok(Fold::Count);
    }
    let path = reference(member)?.ok_or_else(wrong)?;
    Ok(match name.as_str() {
        "$sum" => Fold::Sum(path),
        "$avg" => Fold::Average(path),
        "$min" => Fold::Min(path),
        "$max" => Fold::Max(path),
        "$first" => Fold::First(path),
        "$last" => Fold::Last(path),
        "$addToSet" => Fold::Distinct(path),
        "$push" => Fold::Collect(path),
        _ => return Err(wrong()),
    })
}
