//! How a query is carried out, as a picture: its steps in their order, with how many rows each is about, and what else
//! was weighed, as bars. It is lists and meters, so that it reads as text too.

use minijinja::{Value, context};
use recension::{Condition, Plan, PlanSort};

use super::frame::grouped;
use super::index_names;
use recension_pages::writer::Html;

/// The longest detail of a step, in characters.
const DETAIL_MAX: usize = 160;

/// Writes it, with the steps behind it of a pipeline.
pub(super) fn picture(plan: &Plan, stages: &[String], html: &mut Html) {
    let mut all = steps(plan, html);
    all.extend(stages.iter().map(|stage| {
        let (name, rest) = stage.split_once(':').unwrap_or((stage, ""));
        step("then", name, rest.trim(), None)
    }));
    let values = context! {
        summary => index_names::in_text(&plan.summary()), flow => flow(all, html), ways => weighed(plan),
        suggestion => plan.suggestion.as_deref(),
    };
    html.fill("plan", values);
}

/// Steps as markup.
fn flow(steps: Vec<Value>, html: &Html) -> Value {
    let mut piece = html.piece();
    piece.fill("flow", context! { steps });
    piece.into_markup()
}

fn rows_of(rows: Option<f64>) -> Option<u64> {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // an estimate, within what numbers of rows are
    rows.filter(|rows| rows.is_finite() && *rows >= 0.0).map(|rows| rows.round() as u64)
}

fn step(class: &str, what: &str, detail: &str, rows: Option<u64>) -> Value {
    let mut short: String = detail.chars().take(DETAIL_MAX).collect();
    if short.len() < detail.len() {
        short.push('…');
    }
    context! { class, what, detail => short, rows, ways => () }
}

fn steps(plan: &Plan, html: &Html) -> Vec<Value> {
    let mut all = Vec::new();
    for (ways, what) in [(&plan.union, "documents of any"), (&plan.intersection, "documents of all")] {
        if !ways.is_empty() {
            let ways: Vec<Value> = ways.iter().map(|way| flow(steps(way, html), html)).collect();
            all.extend([context! { ways }, step("then", what, "by id", None)]);
        }
    }
    let joined =
        |conditions: &[Condition]| conditions.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and ");
    if plan.union.is_empty() && plan.intersection.is_empty() {
        let bounds = plan.words.clone().unwrap_or_else(|| joined(&plan.bounds));
        let (what, class) = match (&plan.index, plan.bounds.is_empty()) {
            (Some(name), _) => (format!("index {}", index_names::shown(name)), "good"),
            (None, false) => ("documents by id".to_owned(), "good"),
            (None, true) => ("every document".to_owned(), "poor"),
        };
        all.push(step(class, &what, &bounds, rows_of(plan.rows)));
    }
    if !plan.key_filter.is_empty() {
        all.push(step("then", "test keys", &joined(&plan.key_filter), None));
    }
    let mut tests = Vec::new();
    if !plan.filter.is_empty() {
        tests.push(joined(&plan.filter));
    }
    tests.extend(plan.absent.iter().map(|path| format!("{path} is absent")));
    tests.extend(plan.selector.clone());
    if plan.covering {
        all.push(step("good", "no document is read", "", None));
    } else if plan.index.is_some() || !plan.union.is_empty() || !plan.intersection.is_empty() {
        all.push(step("then", "read documents", "", None));
    }
    if !tests.is_empty() {
        all.push(step("then", "test documents", &tests.join(" and "), None));
    }
    match plan.sort {
        PlanSort::InMemory => all.push(step("poor", "sort in memory", "", None)),
        PlanSort::ByRelevance => all.push(step("then", "by relevance", "", None)),
        PlanSort::ByIndex => all.push(step("good", "in its order already", "", None)),
        PlanSort::Unsorted => {}
    }
    all
}

/// The ways that were weighed, the one that was taken first; none if there was one only.
fn weighed(plan: &Plan) -> Vec<Value> {
    if plan.alternatives.is_empty() {
        return Vec::new();
    }
    let costs = plan.alternatives.iter().filter_map(|way| way.cost).chain(plan.cost);
    let most = costs.fold(1.0_f64, f64::max);
    let row = |name: &str, rows: Option<f64>, cost: Option<f64>, why: &str| {
        let number = |number: Option<f64>| rows_of(number).map(grouped);
        // As long as its share of the dearest way, and never nothing.
        let share = cost.map(|cost| format!("{:.1}", (cost / most * 100.0).clamp(1.0, 100.0)));
        context! { name, rows => number(rows), cost => number(cost), share, why }
    };
    let taken = row(&index_names::in_text(&plan.summary()), plan.rows, plan.cost, "taken");
    let others = plan.alternatives.iter().map(|way| {
        let name = way.index.as_ref().map(|name| format!("index {}", index_names::shown(name)));
        row(
            name.as_deref().unwrap_or("every document"),
            way.rows,
            way.cost,
            way.rejected.as_deref().unwrap_or("dearer"),
        )
    });
    std::iter::once(taken).chain(others).collect()
}
