//! The documents of a database as a table: searched, sorted, with facets, as of any moment, and in every other form.

use std::time::{Duration, Instant};

use minijinja::{Value, context};
use recension::engine::Direction;
use recension::json::quote;
use recension::{CollectionAt, Cursor, Document, ListOptions, Path, Query, ValueSet};

use super::facets::{self, Facet};
use super::frame::Frame;
use super::search::{self, DESIGNS, Field, Mistake, Sample};
use super::{around, document, index_names, moments};
use recension_app::auth::{Access, Session};
use recension_app::request::{Request, at_its_moment};
use recension_pages::links::{Parameters, in_console};
use recension_pages::list::Table;
use recension_pages::page_request::Kind;
use recension_pages::value::cell;
use recension_pages::writer::Html;
use recension_wire::answer::Answer;
use recension_wire::error::{ApiError, Result};
use recension_wire::route::encode;

/// The form that the boxes of rows belong to.
const CHOSEN: &str = "chosen";
const ROWS: usize = 50;
const ROWS_MAX: usize = 500;
/// Pages that can be gone to by their number; behind them one goes on from page to page.
pub(super) const PAGES_MAX: usize = 2000;
/// Design documents that are taken from the number of documents.
const DESIGNS_MAX: usize = 10_000;
const SORT_BYTES_MAX: usize = 32 << 20;

/// What is asked for.
#[derive(Clone)]
pub(super) struct ListRequest {
    pub(super) filter: String,
    pub(super) sort: String,
    pub(super) facet: Option<String>,
    pub(super) after: Option<Cursor>,
    pub(super) rows: usize,
    /// The number of the page, from 1.
    pub(super) page: usize,
    /// Documents that were chosen, instead of all.
    ids: Vec<String>,
    pub(super) fields: Option<Vec<String>>,
}

impl ListRequest {
    /// Reads it.
    pub(super) fn of(request: &Request) -> Result<Self> {
        let text = |name: &str| request.query.get(name).unwrap_or_default().trim().to_owned();
        let some = |name: &str| Some(text(name)).filter(|text| !text.is_empty());
        let bad = |_| ApiError::bad_request("The page's place cannot be read; go to the first page.");
        Ok(ListRequest {
            filter: text("q"),
            sort: text("sort"),
            facet: some("facet"),
            after: some("after").map(|cursor| cursor.parse().map_err(bad)).transpose()?,
            rows: request
                .query
                .number("rows")?
                .map_or(ROWS, |rows| usize::try_from(rows).unwrap_or(ROWS))
                .clamp(1, ROWS_MAX),
            page: request
                .query
                .number("page")?
                .map_or(1, |page| usize::try_from(page).unwrap_or(PAGES_MAX))
                .clamp(1, PAGES_MAX),
            ids: request.query.pairs().filter(|(name, _)| *name == "id").map(|(_, id)| id.to_owned()).collect(),
            fields: fields(request),
        })
    }

    fn query(&self, at: &CollectionAt) -> std::result::Result<Query, Mistake> {
        let (selector, users) = (search::selector(&self.filter, at)?, Query::new().leaving_out(DESIGNS));
        let query = selector.map_or(users.clone(), |selector| users.selecting(selector));
        let chosen = || ValueSet::one_of(self.ids.iter().map(String::as_str));
        Ok(if self.ids.is_empty() { query } else { query.matching("_id", chosen()) })
    }

    /// The facet that is asked for, of the filter.
    pub(super) fn facet(&self, at: &CollectionAt, patience: Duration) -> Result<Option<Facet>> {
        let Some(member) = &self.facet else { return Ok(None) };
        facets::count(at, &self.query(at)?, member, patience).map(Some)
    }

    /// All that the filter lets through, in its order.
    pub(super) fn whole(&self, at: &CollectionAt) -> Result<Query> {
        self.in_order(self.query(at)?)
    }

    fn in_order(&self, query: Query) -> Result<Query> {
        let mut query = query.sort_bytes_max(SORT_BYTES_MAX);
        for part in self.sort.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (name, direction) =
                part.strip_prefix('-').map_or((part, Direction::Forward), |name| (name, Direction::Backward));
            query = query.sort(Path::from_segments(name.split('.'))?, direction);
        }
        Ok(query)
    }
}

/// The columns that are chosen: a list in one parameter, or a parameter for each.
fn fields(request: &Request) -> Option<Vec<String>> {
    let all = request.query.pairs().filter(|(name, _)| *name == "fields").flat_map(|(_, names)| names.split(','));
    let fields: Vec<String> = all.map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect();
    Some(fields).filter(|fields| !fields.is_empty())
}

/// What was found.
struct Found {
    rows: Vec<String>,
    /// Their ids and revisions.
    revs: Vec<(String, String)>,
    next: Option<String>,
    facet: Option<Facet>,
    /// All documents, and those of the search; not all of them if counting took too long.
    count: u64,
    of_search: Option<(u64, bool)>,
    plan: String,
    millis: u128,
    sample: Sample,
    hints: Vec<String>,
    mistake: Option<Mistake>,
}

fn find(at: &CollectionAt, asked: &ListRequest) -> Result<Found> {
    // What cannot be understood is said, and all documents stay.
    let (query, mistake) = match asked.query(at) {
        Ok(query) => (query, None),
        Err(mistake) => (Query::new().leaving_out(DESIGNS), Some(mistake)),
    };
    let begun = Instant::now();
    // The next page goes on behind a row, whatever was written meanwhile; another one is counted from the first.
    let skip = if asked.after.is_some() { 0 } else { (asked.page - 1) * asked.rows };
    let wanted = asked.in_order(query.clone())?.after(asked.after.clone()).skip(skip).limit(asked.rows);
    let mut found = at.find(&wanted)?;
    let plan = found.plan().summary();
    let (mut rows, mut revs) = (Vec::new(), Vec::new());
    for document in found.by_ref() {
        let document = document?;
        revs.push((document.id.to_string(), document.rev.to_string()));
        rows.push(row(&document));
    }
    let millis = begun.elapsed().as_millis();
    let next = if rows.len() == asked.rows { found.cursor().map(|cursor| cursor.to_string()) } else { None };
    let facet = if mistake.is_some() { None } else { asked.facet(at, facets::PATIENCE)? };
    let of_search =
        match (asked.filter.is_empty() || mistake.is_some(), next.is_some() || asked.after.is_some() || asked.page > 1)
        {
            (true, _) => None,
            (false, false) => Some((rows.len() as u64, true)),
            (false, true) => Some(search::count(at, &query)?),
        };
    let sample = Sample::of(at)?;
    let hints = if rows.is_empty() && mistake.is_none() { sample.hints(&asked.filter) } else { Vec::new() };
    let designs = at.list(&ListOptions { limit: Some(DESIGNS_MAX), ..ListOptions::prefix(DESIGNS) })?.count() as u64;
    let count = at.count()?.saturating_sub(designs);
    Ok(Found { rows, revs, next, facet, count, of_search, plan, millis, sample, hints, mistake })
}

/// A document with its id, as a row.
pub(super) fn row(document: &Document<'_>) -> String {
    let members = document.body.strip_prefix('{').unwrap_or("}");
    let comma = if members == "}" { "" } else { "," };
    format!("{{\"_id\":{}{comma}{members}", quote(&document.id))
}

/// `/_utils/{db}`
pub(super) async fn page(request: &Request, session: &Session, db: &str) -> Result<Answer> {
    let database = at_its_moment(request, session.database(db, Access::Member)?)?;
    let asked = ListRequest::of(request)?;
    let at = database.opened().clone();
    let reading = asked.clone();
    let found = request.app.streams.read(move || find(&at, &reading)).await?;
    let moments = moments::of(request, &database).await?;
    let parameters = Parameters::of(&request.query).without(&["db", "undo", "edit"]);
    let path = format!("/_utils/{}", encode(db));
    let now = request.query.get("at").is_none();
    let offers = found.sample.offers();
    let placeholder = "a word, an id, or population > 1000000 and country = PT";
    let field = Field { text: &asked.filter, placeholder, path: &path, carried: &parameters, offers: &offers };
    let all = asked.filter.is_empty() && asked.sort.is_empty() && asked.ids.is_empty();
    let frame = Frame::begin(request, session, db, Some(db), "Documents", true);
    let (mut moment, mut beside, mut rows) = (frame.piece(), frame.piece(), frame.piece());
    if let Some(moments) = &moments {
        moments.write(&path, &parameters, &mut moment);
    }
    if let Some(id) = request.query.get("doc").filter(|id| !id.is_empty()) {
        document::beside(request, &database, (db, id), (&path, &parameters), &mut beside).await?;
    }
    let kind = Kind::Special { db: db.to_owned(), name: "_find".to_owned() };
    let mut table = Table::new(kind, parameters.only(&["at"]), asked.fields.clone())
        .placed(in_console)
        .opened_beside(&path, &parameters)
        .chosen_for(CHOSEN)
        .sorted_by(&path, &parameters.without(&["after"]));
    for row in &found.rows {
        table.row(row.as_bytes(), &mut rows);
    }
    table.end(&mut rows);
    let facet = found.facet.as_ref().zip(asked.facet.as_ref());
    let count = found.of_search.map_or(Some(found.count), |(number, all)| all.then_some(number));
    let revs: Vec<String> = found.revs.iter().map(|(id, rev)| format!("{}:\"{rev}\"", quote(id))).collect();
    let values = context! {
        db, now, path => path.as_str(), raw => format!("/{}", encode(db)), moments => moment.into_markup(),
        beside => beside.into_markup(), table_of_rows => rows.into_markup(), any => !found.rows.is_empty(),
        field => field.values(None), mistake => found.mistake.as_ref().map(Mistake::values), count => found.count,
        of_search => found.of_search.map(|(count, all)| context! { count, cut => !all }),
        plan => if all { "all, in the order of their ids".to_owned() } else { index_names::in_text(&found.plan) },
        millis => found.millis, seq => database.opened().seq().0, page => asked.page, hints => found.hints,
        facet => facet.map(|(facet, member)| facet_list(facet, member, &asked, &parameters, &path)),
        facets => around::facets(&asked, &found.sample, &parameters, &path),
        columns => around::columns(&asked, &found.sample), columns_carried => &parameters.without(&["fields"]),
        all_columns => asked.fields.as_ref().map(|_| parameters.without(&["fields"]).on(&path)),
        revs => format!("{{{}}}", revs.join(",")), chosen_carried => &parameters.only(&["at", "sort"]),
        pages => around::pages(&asked, count, found.next.as_deref(), &parameters, &path),
        export_carried => &parameters.only(&["at", "q", "sort", "fields"]), selector => search::as_json(&asked.filter),
    };
    Ok(frame.page("documents", values))
}

/// The values of a facet, each a filter.
fn facet_list(facet: &Facet, member: &str, asked: &ListRequest, parameters: &Parameters, path: &str) -> Value {
    let (values, others) = facet.shown();
    let one = |(value, count): &(String, u64)| {
        let as_value = asked.filter.trim_start().starts_with('{') || value.starts_with(['{', '[']);
        let filter = || search::with(&asked.filter, format!("{} = {value}", search::name_of(member)));
        let to = (!as_value).then(|| parameters.without(&["after"]).with("q", &filter()).on(path));
        let mut html = Html::default();
        cell(value, &mut html);
        let text = serde_json::from_str::<String>(value).unwrap_or_else(|_| value.clone());
        context! { to, text, cell => html.into_markup(), absent => value.is_empty(), count => *count }
    };
    context! {
        member, others, cut => facet.cut, documents => facet.documents,
        most => values.first().map_or(1, |(_, count)| *count).max(1),
        values => values.iter().map(one).collect::<Vec<_>>(),
        carried => &parameters.only(&["at", "q", "facet"]).with("of", "facet"),
    }
}
