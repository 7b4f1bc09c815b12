//! `_find`: the documents that a selector selects, streamed.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use recension::engine::Direction;
use recension::engine::budget::Share;
use recension::json::quote;
use recension::{CollectionAt, Cursor, Highlighting, Highlights, Path, Plan, PlanSort, Query, Selector, ValueRange};

use super::conflicts::{CONFLICTS, Remaining, WITHOUT_CONFLICTS, looked_for};
use super::definition::{Definition, STORED_PREFIX, segments};
use super::fields::Fields;
use super::options::{Options, bad};
use super::read::{Hit, Read};
use super::reconcile::{definitions, reconciled};
use crate::format::Format;
use crate::reading::{Extras, Shown};
use crate::rows;
use crate::within::{Limited, Within};
use recension_app::auth::databases::Database;
use recension_app::request::{Request, only};
use recension_app::slow::SlowQueries;
use recension_pages::form::ListRow;
use recension_wire::answer::Answer;
use recension_wire::error::{ApiError, Result};
use recension_wire::limits::FIND_SORT_BYTES_MAX;

/// `/{db}/_find`, or of a partition.
pub(super) async fn endpoint(
    mut request: Request,
    db: Database,
    partition: Option<&str>,
    within: Limited,
) -> Result<Answer> {
    only(&request, "POST")?;
    request.require_json()?;
    let body = request.bytes().await?;
    let mut options = Options::read(&body)?;
    drop(body);
    if within.is_some() {
        // They tell of documents that are hidden.
        (options.conflicts, options.execution_stats) = (false, false);
    }
    if options.selects_by_nothing {
        // As CouchDB answers it.
        return Ok(Answer::ok(r#"{"docs":[]}"#));
    }
    let now = request.query.get("at").is_none();
    let partition = options.partition_of(&db, partition)?;
    let format = request.format(&[Format::Lines, Format::Csv]);
    if format == Format::Csv && options.fields.is_none() {
        return Err(bad("missing_required_key", "Missing required key: fields, which are the columns of a table"));
    }
    let name = db.name().to_owned();
    let kept = Box::pin(request.app.streams.keep_selector(options.selector.weight())).await?;
    let asked = move || PreparedFind::of(&db, options, now, partition.as_deref(), within.as_deref());
    // An index may have to be built first.
    let asked = request.app.blocking(asked).await?.usable()?;
    let noted = Noted::of(name, &asked, &request);
    let rows = request.app.streams.read(move || Rows::of(asked, noted, kept)).await?;
    let answer = rows::answer(&request.app, format, move || Ok(("{\"docs\":[".to_owned(), rows))).await?;
    Ok(answer.varying("Accept"))
}

/// A query as the library takes it.
pub(super) struct PreparedFind {
    pub(super) at: CollectionAt,
    pub(super) options: Options,
    pub(super) query: Query,
    /// What the query leaves to do with the documents that it finds.
    remaining: Option<Remaining>,
    pub(super) plan: Plan,
    /// The index of the plan, if a design document defines it.
    pub(super) definition: Option<Definition>,
    /// All indexes that design documents define.
    pub(super) definitions: Vec<Definition>,
    pub(super) warnings: Vec<String>,
    /// The refusal, if no index serves the query and it may not be answered without one.
    pub(super) unusable: Option<ApiError>,
}

impl PreparedFind {
    /// The same, or the refusal.
    pub(super) fn usable(mut self) -> Result<Self> {
        self.unusable.take().map_or(Ok(self), Err)
    }

    pub(super) fn of(
        db: &Database,
        options: Options,
        now: bool,
        partition: Option<&str>,
        within: Option<&dyn Within>,
    ) -> Result<Self> {
        let (definitions, at) = if now { reconciled(db)? } else { (definitions(db.opened())?, db.opened().clone()) };
        let (selector, remaining) = looked_for(&options);
        let mut query = Query::new().selecting(selector).leaving_out("_design/");
        if let Some(partition) = partition {
            query = query.matching("_id", ValueRange::prefix(format!("{partition}:")));
        }
        if let Some(within) = within {
            query = within.narrowed(query)?;
        }
        if options.relevance {
            query = query.by_relevance();
        }
        for (field, direction) in options.sort.iter().filter(|_| !options.relevance) {
            query = query.sort(Path::from_segments(segments(field))?, *direction);
        }
        let (mut warnings, mut unusable) = (Vec::new(), None);
        if !options.conflicts && options.selector.without(CONFLICTS).is_some() {
            warnings.push(WITHOUT_CONFLICTS.to_owned());
        }
        let mut named = None;
        if let Some((ddoc, name)) = &options.use_index {
            named = usable(&at, &query, &definitions, ddoc, name.as_deref());
            if named.is_none() {
                let (name, valid) = match name {
                    Some(name) => (format!(", {name}"), "is not a valid index"),
                    None => (String::new(), "does not contain a valid index"),
                };
                let reason = format!("{ddoc}{name} was not used because it {valid} for this query.");
                if !options.allow_fallback {
                    let reason = "specified by `use_index` could not be found or it is not suitable.";
                    return Err(bad("invalid_index", format!("{ddoc}{name} {reason}")));
                }
                warnings.push(reason);
            }
        }
        query = match &named {
            Some((through, _)) => through.clone(),
            None => {
                if !options.sort.is_empty() && !options.relevance && !is_sorted_by_index(&at, &query, &definitions)? {
                    let reason = "No index exists for this sort, try indexing by the sort fields.";
                    unusable = Some(bad("no_usable_index", reason));
                }
                // A partial index is used only if the query names it.
                let partial = definitions.iter().filter(|definition| definition.partial.is_some());
                query.not_through(partial.map(Definition::stored_name))
            }
        };
        let plan = at.explain(&query)?;
        if plan.index.is_none() && plan.union.is_empty() {
            if !options.allow_fallback {
                unusable = Some(bad("no_usable_index", "There is no index available for this selector."));
            }
            warnings.push("No matching index found, create an index to optimize query time.".to_owned());
        }
        let of_plan = |definition: &&Definition| plan.index.as_ref() == Some(&definition.stored_name());
        let definition = definitions.iter().find(of_plan).cloned();
        let (query, plan) = match &definition {
            Some(index) => by_values(&at, &options, query, plan, index)?,
            None => (query, plan),
        };
        let mut query = query.after(options.bookmark.clone()).sort_bytes_max(FIND_SORT_BYTES_MAX);
        if remaining.is_none() {
            query = query.skip(options.skip).limit(options.limit);
        }
        Ok(PreparedFind { at, options, query, remaining, plan, definition, definitions, warnings, unusable })
    }
}

/// The same query for values alone, if the index has all that is asked for: then no document is read.
fn by_values(
    at: &CollectionAt,
    options: &Options,
    query: Query,
    plan: Plan,
    index: &Definition,
) -> Result<(Query, Plan)> {
    let documents = options.conflicts || options.highlight.is_some() || options.relevance || index.words.is_some();
    match &options.fields {
        Some(fields) if !documents && index.covers(fields) => {
            let of_values = query.clone().select(Fields::of(fields).paths());
            let own = at.explain(&of_values)?;
            let serves = own.covering && own.index == plan.index;
            Ok(if serves { (of_values, own) } else { (query, plan) })
        }
        _ => Ok((query, plan)),
    }
}

/// The query through an index of a design document, if one can serve it.
fn usable(
    at: &CollectionAt,
    query: &Query,
    definitions: &[Definition],
    ddoc: &str,
    name: Option<&str>,
) -> Option<(Query, Definition)> {
    let asked = |definition: &&Definition| definition.ddoc == ddoc && name.is_none_or(|name| definition.name == name);
    definitions.iter().filter(asked).find_map(|definition| {
        let mut query = query.clone().through(definition.stored_name());
        if let Some(selector) = definition.selector() {
            query = query.selecting(selector);
        }
        let plan = at.explain(&query).ok()?;
        (plan.sort != PlanSort::InMemory).then(|| (query, definition.clone()))
    })
}

/// Whether the order of an index is that of the answer, or the answer is in the order of ids.
fn is_sorted_by_index(at: &CollectionAt, query: &Query, definitions: &[Definition]) -> Result<bool> {
    let partial = |name: &str| {
        name.starts_with(STORED_PREFIX)
            && definitions.iter().any(|known| known.partial.is_some() && known.stored_name() == name)
    };
    for index in at.indexes() {
        if partial(&index.spec.name) {
            continue;
        }
        if let Ok(plan) = at.explain(&query.clone().through(&index.spec.name))
            && plan.sort == PlanSort::ByIndex
        {
            return Ok(true);
        }
    }
    let plan = at.explain(&query.clone().without_indexes())?;
    Ok(plan.sort == PlanSort::ByIndex && plan.bounds.iter().any(|bound| bound.path.to_string() == "_id"))
}

/// How many documents may be examined for one that is found without a warning, as in CouchDB.
const SCAN_WARNING_RATIO: u64 = 10;
const SCAN_WARNING: &str = "The number of documents examined is high in proportion to the number of results returned. \
                            Consider adding a more specific index to improve this.";

/// A query that may turn out to take long.
struct Noted {
    slow: Arc<SlowQueries>,
    database: String,
    selector: String,
    plan: Plan,
    worked: Duration,
}

impl Noted {
    fn of(database: String, asked: &PreparedFind, request: &Request) -> Self {
        let slow = Arc::clone(&request.app.slow);
        let (selector, plan) = (asked.options.selector.to_json(), asked.plan.clone());
        Noted { slow, database, selector, plan, worked: Duration::ZERO }
    }
}

/// The documents of an answer, and what stands behind them.
struct Rows {
    at: CollectionAt,
    found: Read,
    remaining: Option<Remaining>,
    fields: Option<Fields>,
    columns: Vec<String>,
    /// The selector, and how its words are marked.
    highlight: Option<(Selector, Highlighting)>,
    conflicts: bool,
    stats: bool,
    /// Whether CouchDB would read several copies of each document.
    quorum: bool,
    /// The bookmark that was given: an answer without documents has it again.
    bookmark: Option<Cursor>,
    warnings: Vec<String>,
    begun: Instant,
    answered: usize,
    noted: Noted,
    /// The room of the selector.
    _kept: Option<Share>,
}

impl Rows {
    fn of(asked: PreparedFind, mut noted: Noted, kept: Option<Share>) -> Result<Self> {
        let begun = Instant::now();
        let found = Read::of(&asked)?;
        noted.worked += begun.elapsed();
        Ok(Rows {
            noted,
            at: asked.at,
            found,
            remaining: asked.remaining,
            fields: asked.options.fields.as_deref().map(Fields::of),
            columns: asked.options.fields.unwrap_or_default(),
            highlight: asked.options.highlight.map(|how| (asked.options.selector, how)),
            conflicts: asked.options.conflicts,
            stats: asked.options.execution_stats,
            quorum: asked.options.r > 1,
            bookmark: asked.options.bookmark,
            warnings: asked.warnings,
            begun,
            answered: 0,
            _kept: kept,
        })
    }

    /// The next document of the answer, and its text.
    fn found_next(&mut self) -> Result<Option<(Hit, String)>> {
        loop {
            if self.remaining.as_ref().is_some_and(Remaining::is_done) {
                return Ok(None);
            }
            let Some(hit) = self.found.next().transpose()? else { return Ok(None) };
            let text = match &hit {
                Hit::Document(document) => {
                    let extras = Extras { conflicts: self.conflicts, ..Extras::default() };
                    Shown::of_document(document).to_json(&self.at, extras)?
                }
                Hit::Values(found) => found.to_json(),
            };
            if self.remaining.as_mut().is_none_or(|remaining| remaining.takes(&text)) {
                return Ok(Some((hit, text)));
            }
        }
    }

    fn tail(&self) -> String {
        let cursor = self.found.cursor().filter(|_| self.answered > 0).or_else(|| self.bookmark.clone());
        let bookmark = cursor.map_or("nil".to_owned(), |cursor| cursor.to_string());
        let mut tail = format!("\n],\n\"bookmark\":{}", quote(&bookmark));
        if self.stats {
            let (keys, all) = self.found.examined();
            let (documents, of_quorum) = if self.quorum { (0, all) } else { (all, 0) };
            let millis = self.begun.elapsed().as_secs_f64() * 1000.0;
            // Writing to a String cannot fail.
            let _ = write!(
                tail,
                ",\n\"execution_stats\":{{\"total_keys_examined\":{keys},\"total_docs_examined\":{documents},\
                 \"total_quorum_docs_examined\":{of_quorum},\
                 \"results_returned\":{},\"execution_time_ms\":{millis:.3}}}",
                self.answered
            );
        }
        let examined = self.found.examined().1;
        let many = examined > (self.answered.max(1) as u64).saturating_mul(SCAN_WARNING_RATIO);
        let warnings: Vec<&str> =
            self.warnings.iter().map(String::as_str).chain(many.then_some(SCAN_WARNING)).collect();
        if !warnings.is_empty() {
            let _ = write!(tail, ",\n\"warning\":{}", quote(&warnings.join("\n")));
        }
        tail.push('}');
        tail
    }
}

impl rows::Rows for Rows {
    fn next(&mut self, tell: &mut dyn FnMut(&dyn ListRow) -> Result<()>) -> Result<bool> {
        let before = Instant::now();
        let next = self.found_next();
        self.noted.worked += before.elapsed();
        let Some((hit, text)) = next? else { return Ok(false) };
        let fields = self.fields.as_ref();
        let (text, highlights) = match &hit {
            Hit::Document(document) => {
                let marked = self.highlight.as_ref().map(|(selector, how)| selector.highlights(&document.body, how));
                (text, marked)
            }
            Hit::Values(found) => (fields.map_or(text, |fields| fields.of_values(&found.values)), None),
        };
        tell(&Row { text, fields, highlights })?;
        self.answered += 1;
        Ok(true)
    }

    fn columns(&self) -> Vec<String> {
        self.columns.clone()
    }

    fn end(&mut self) -> String {
        let Noted { slow, database, selector, plan, worked } = &self.noted;
        slow.note((database, selector), plan, *worked, (self.found.examined().1, self.answered as u64));
        self.tail()
    }
}

/// A document that is found.
struct Row<'r> {
    text: String,
    fields: Option<&'r Fields>,
    highlights: Option<Highlights>,
}

impl ListRow for Row<'_> {
    fn write_json(&self, out: &mut Vec<u8>) -> Result<()> {
        let mut fields = self.fields.map(|fields| fields.of_document(&self.text));
        if let Some(highlights) = &self.highlights {
            highlights.add_to(fields.get_or_insert_with(|| self.text.clone()));
        }
        out.extend_from_slice(fields.as_ref().unwrap_or(&self.text).as_bytes());
        Ok(())
    }

    fn cells(&self) -> Result<Vec<String>> {
        Ok(self.fields.map(|fields| fields.cells(&self.text)).unwrap_or_default())
    }
}

/// Directions as words, for `_explain`.
pub(super) fn word(direction: Direction) -> &'static str {
    if direction == Direction::Forward { "asc" } else { "desc" }
}
