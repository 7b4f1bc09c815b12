//! Pipelines from JSON, in MongoDB's words. Pure; length and stages are bounded.

use super::{Fold, GroupId, Pipeline, Stage};
use crate::error::{Error, Result};
use crate::json::{Kind, Outline, Path, View, minify};
use crate::limits::{PIPELINE_STAGES_MAX, SELECTOR_BYTES_MAX};
use crate::selector::{Selector, too_large};
use recension_engine::Direction;

pub(super) fn pipeline(text: &[u8]) -> Result<Pipeline> {
    if text.len() > SELECTOR_BYTES_MAX {
        return Err(too_large());
    }
    let text = minify(text)?;
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
        facets.push((member.name().decode().into_owned(), stages(member)?));
    }
    if facets.is_empty() {
        return Err(bad("$facet takes an object with an array of stages under each name."));
    }
    Ok(Stage::Facet(facets))
}

fn bad(reason: impl Into<String>) -> Error {
    Error::BadSelector { error: "bad_pipeline", reason: reason.into() }
}

fn stage(name: &str, view: View<'_>) -> Result<Stage> {
    let wrong = |what: &str| bad(format!("{name} takes {what}."));
    let number = || view.text().parse().map_err(|_| wrong("a number from 0"));
    Ok(match name {
        "$match" => Stage::Match(Selector::from_json(view.text())?),
        "$unwind" => {
            let of_object = view.children().find(|member| view.kind() == Kind::Object && member.name().is("path"));
            Stage::Unwind(reference(of_object.unwrap_or(view)).ok_or_else(|| wrong("a path, such as \"$items\""))??)
        }
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
            Stage::Sort(view.children().map(one).collect::<Result<_>>()?)
        }
        "$limit" => Stage::Limit(number()?),
        "$skip" => Stage::Skip(number()?),
        "$count" if view.kind() == Kind::String => Stage::Count(view.string().decode().into_owned()),
        "$project" => {
            if view.kind() != Kind::Object {
                return Err(wrong("an object of fields"));
            }
            let mut fields = Vec::new();
            for member in view.children() {
                let name = member.name().decode().into_owned();
                match member.text() {
                    "1" | "true" => fields.push((name.clone(), name.parse()?)),
                    "0" | "false" if name == "_id" => {}
                    _ => {
                        let path =
                            reference(member).ok_or_else(|| wrong("1 or a path, such as \"$a.b\", for each field"))?;
                        fields.push((name, path?));
                    }
                }
            }
            Stage::Project(fields)
        }
        _ => {
            return Err(bad(format!(
                "{name} is no stage here: there are $match $unwind $group $sort $limit $skip $project $count $facet."
            )));
        }
    })
}

/// `"$a.b"`; `None` if it is something else.
fn reference(view: View<'_>) -> Option<Result<Path>> {
    let text = (view.kind() == Kind::String).then(|| view.string().decode().into_owned())?;
    Some(text.strip_prefix('$')?.parse())
}

fn group(view: View<'_>) -> Result<Stage> {
    let (mut id, mut folds) = (None, Vec::new());
    for member in view.children().filter(|_| view.kind() == Kind::Object) {
        let name = member.name().decode().into_owned();
        if name == "_id" {
            id = Some(group_id(member)?);
        } else {
            folds.push((name, fold(member)?));
        }
    }
    let id = id
        .ok_or_else(|| bad("$group takes an object with _id: a path such as \"$a.b\", an object of paths, or null."))?;
    Ok(Stage::Group(id, folds))
}

fn group_id(view: View<'_>) -> Result<GroupId> {
    let wrong = || bad("_id of $group is a path such as \"$a.b\", an object of paths, or null.");
    match view.kind() {
        Kind::Object => {
            let one =
                |member: View<'_>| Ok((member.name().decode().into_owned(), reference(member).ok_or_else(wrong)??));
            Ok(GroupId::Named(view.children().map(one).collect::<Result<_>>()?))
        }
        Kind::Word if view.text() == "null" => Ok(GroupId::Nothing),
        _ => Ok(GroupId::One(reference(view).ok_or_else(wrong)??)),
    }
}

fn fold(view: View<'_>) -> Result<Fold> {
    let wrong = || {
        let known = "$sum $avg $min $max $first $last $addToSet $push $count";
        bad(format!("A member of $group is an object with one of {known} and a path such as \"$a.b\"."))
    };
    let mut members = view.children();
    let (Kind::Object, Some(member), None) = (view.kind(), members.next(), members.next()) else { return Err(wrong()) };
    let name = member.name().decode().into_owned();
    if name == "$count" || (name == "$sum" && member.text() == "1") {
        return Ok(Fold::Count);
    }
    let path = reference(member).ok_or_else(wrong)??;
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
