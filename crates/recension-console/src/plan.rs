//! How a query is carried out, as a picture: its steps in their order, with how many rows each is about, and what else
//! was weighed, as bars. It is lists and meters, so that it reads as text too.

use recension::{Plan, PlanSort};

use super::frame::{grouped, table, table_end};
use super::index_names;
use recension_pages::writer::Html;

/// Writes it, with the steps behind it of a pipeline.
pub(super) fn picture(plan: &Plan, stages: &[String], html: &mut Html) {
    html.tag("<figure class=\"plan-picture\"><figcaption>")
        .text(index_names::in_text(&plan.summary()))
        .tag("</figcaption><ol class=\"flow\">\n");
    steps(plan, html);
    for stage in stages {
        let (name, rest) = stage.split_once(':').unwrap_or((stage, ""));
        step("then", name, rest.trim(), None, html);
    }
    html.tag("<li class=\"end\"><strong>answer</strong></li></ol></figure>\n");
    if let Some(paths) = &plan.suggestion {
        html.tag("<p class=\"advice\">No index serves it: every document is read. An index on <code>").text(paths);
        html.tag("</code> would help.</p>\n");
    }
    weighed(plan, html);
}

fn rows_of(rows: Option<f64>) -> Option<u64> {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // an estimate, within what numbers of rows are
    rows.filter(|rows| rows.is_finite() && *rows >= 0.0).map(|rows| rows.round() as u64)
}

fn step(class: &'static str, what: &str, detail: &str, rows: Option<u64>, html: &mut Html) {
    html.tag("<li class=\"").tag(class).tag("\"><strong>").text(what).tag("</strong>");
    if !detail.is_empty() {
        let short: String = detail.chars().take(160).collect();
        html.tag(" <code>").text(&short).tag(if short.len() < detail.len() { "…</code>" } else { "</code>" });
    }
    if let Some(rows) = rows {
        html.tag(" <span class=\"rows\">about ").text(grouped(rows)).tag(if rows == 1 { " row" } else { " rows" });
        html.tag("</span>");
    }
    html.tag("</li>\n");
}

fn steps(plan: &Plan, html: &mut Html) {
    for (ways, what) in [(&plan.union, "documents of any"), (&plan.intersection, "documents of all")] {
        if !ways.is_empty() {
            html.tag("<li class=\"ways\"><ul>\n");
            for way in ways {
                html.tag("<li><ol class=\"flow\">\n");
                steps(way, html);
                html.tag("</ol></li>\n");
            }
            html.tag("</ul></li>\n");
            step("then", what, "by id", None, html);
        }
    }
    let joined = |conditions: &[recension::Condition]| {
        conditions.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and ")
    };
    if plan.union.is_empty() && plan.intersection.is_empty() {
        let bounds = plan.words.clone().unwrap_or_else(|| joined(&plan.bounds));
        let (what, class) = match (&plan.index, plan.bounds.is_empty()) {
            (Some(name), _) => (format!("index {}", index_names::shown(name)), "good"),
            (None, false) => ("documents by id".to_owned(), "good"),
            (None, true) => ("every document".to_owned(), "poor"),
        };
        step(class, &what, &bounds, rows_of(plan.rows), html);
    }
    if !plan.key_filter.is_empty() {
        step("then", "test keys", &joined(&plan.key_filter), None, html);
    }
    let mut tests = Vec::new();
    if !plan.filter.is_empty() {
        tests.push(joined(&plan.filter));
    }
    tests.extend(plan.absent.iter().map(|path| format!("{path} is absent")));
    tests.extend(plan.selector.clone());
    if plan.covering {
        step("good", "no document is read", "", None, html);
    } else if plan.index.is_some() || !plan.union.is_empty() || !plan.intersection.is_empty() {
        step("then", "read documents", "", None, html);
    }
    if !tests.is_empty() {
        step("then", "test documents", &tests.join(" and "), None, html);
    }
    match plan.sort {
        PlanSort::InMemory => step("poor", "sort in memory", "", None, html),
        PlanSort::ByRelevance => step("then", "by relevance", "", None, html),
        PlanSort::ByIndex => step("good", "in its order already", "", None, html),
        PlanSort::Unsorted => {}
    }
}

/// The ways that were weighed, the one that was taken first.
fn weighed(plan: &Plan, html: &mut Html) {
    if plan.alternatives.is_empty() {
        return;
    }
    let costs = plan.alternatives.iter().filter_map(|way| way.cost).chain(plan.cost);
    let most = costs.fold(1.0_f64, f64::max);
    table("Ways that were weighed", &["Way", "#Rows, about", "#Cost", "", "Why not"], html);
    let row = |name: &str, rows: Option<f64>, cost: Option<f64>, why: &str, html: &mut Html| {
        let number = |number: Option<f64>| rows_of(number).map(grouped).unwrap_or_default();
        html.tag("<tr><th scope=\"row\"><bdi>").text(name).tag("</bdi></th><td class=\"number\">").text(number(rows));
        html.tag("</td><td class=\"number\">").text(number(cost)).tag("</td><td>");
        if let Some(cost) = cost {
            // As long as its share of the dearest way, and never nothing.
            let share = (cost / most * 100.0).clamp(1.0, 100.0);
            html.tag("<svg class=\"cost\" viewBox=\"0 0 100 10\" preserveAspectRatio=\"none\" aria-hidden=\"true\">");
            html.tag("<rect height=\"10\" width=\"").text(format!("{share:.1}")).tag("\"/></svg>");
        }
        html.tag("</td><td>").text(why).tag("</td></tr>\n");
    };
    row(&index_names::in_text(&plan.summary()), plan.rows, plan.cost, "taken", html);
    for way in &plan.alternatives {
        let name = way
            .index
            .as_ref()
            .map_or("every document".to_owned(), |name| format!("index {}", index_names::shown(name)));
        row(&name, way.rows, way.cost, way.rejected.as_deref().unwrap_or("dearer"), html);
    }
    table_end(html);
}
