//! What stands around the table of documents: facets, columns, and the ways to other pages. Pure.

use minijinja::{Value, context};

use super::documents::{ListRequest, PAGES_MAX};
use super::search::Sample;
use recension_pages::links::Parameters;

/// The members with few values, each a facet that is shown or not.
pub(super) fn facets(asked: &ListRequest, sample: &Sample, parameters: &Parameters, path: &str) -> Vec<Value> {
    let facet = |member: String| {
        let shown = asked.facet.as_deref() == Some(&*member);
        let to = parameters.without(&["after", "page"]).with("facet", if shown { "" } else { &member }).on(path);
        context! { shown, to, member }
    };
    sample.facets().into_iter().map(facet).collect()
}

/// The columns that can be chosen, and whether they are.
pub(super) fn columns(asked: &ListRequest, sample: &Sample) -> Vec<Value> {
    let (mut names, chosen) = (sample.names(), asked.fields.clone().unwrap_or_default());
    let others: Vec<String> = chosen.iter().filter(|name| !names.contains(name)).cloned().collect();
    names.extend(others);
    names.into_iter().map(|name| Value::from((name.clone(), chosen.contains(&name)))).collect()
}

/// The ways to the other pages: the one before, the one after, and some by their numbers. `count`: all rows, if known.
pub(super) fn pages(
    asked: &ListRequest,
    count: Option<u64>,
    next: Option<&str>,
    parameters: &Parameters,
    path: &str,
) -> Option<Value> {
    let last = count.and_then(|count| usize::try_from(count).ok()).map(|count| count.div_ceil(asked.rows).max(1));
    if next.is_none() && asked.page == 1 && asked.after.is_none() {
        return None;
    }
    let parameters = parameters.without(&["after", "page"]);
    let to =
        |page: usize| if page == 1 { parameters.on(path) } else { parameters.with("page", &page.to_string()).on(path) };
    let near = asked.page.saturating_sub(2).max(1)..=asked.page.saturating_add(2).min(last.unwrap_or(asked.page));
    let mut shown: Vec<usize> = std::iter::once(1).chain(near).chain(last).filter(|page| *page <= PAGES_MAX).collect();
    shown.dedup();
    let mut before = 0;
    let near = shown.into_iter().map(|number| {
        let gap = number > std::mem::replace(&mut before, number) + 1;
        context! { number, gap, to => (number != asked.page).then(|| to(number)) }
    });
    let behind = |next| parameters.with("after", next).with("page", &asked.page.saturating_add(1).to_string());
    Some(context! {
        near => near.collect::<Vec<_>>(), previous => (asked.page > 1).then(|| to(asked.page - 1)),
        next => next.map(|next| behind(next).on(path)),
    })
}
