//! `/{db}/_design/{design}/_view/{view}` and `…/queries`.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use http::Method;
use recension::{At, CollectionAt, ViewAt};
use recension_script::DesignView;
use serde_json::value::RawValue;

use super::rows::ViewList;
use super::view_query::ViewQuery;
use crate::body::distinct_members_of;
use crate::format::Format;
use crate::list_options::{Parameters, Update, check_members, queries_of};
use crate::rows;
use crate::within::Limited;
use recension_app::auth::databases::Database;
use recension_app::functions;
use recension_app::request::{Request, only};
use recension_app::state::App;
use recension_wire::answer::Answer;
use recension_wire::error::{ApiError, Result};

/// A view that is queried, and its database.
pub struct QueriedView {
    app: Arc<App>,
    db: Database,
    design: String,
    pub view: DesignView,
    /// The moment lies in the past.
    past: bool,
    /// Who asks may not see all documents.
    within: Limited,
}

impl QueriedView {
    /// The view of a design document.
    ///
    /// # Errors
    /// 404, in CouchDB's words; 400 if a partition is given and there is none, or one is needed.
    pub fn of(
        request: &Request,
        db: Database,
        (id, name): (&str, &str),
        partition: Option<&str>,
        within: Limited,
    ) -> Result<Self> {
        let app = Arc::clone(&request.app);
        let design = functions::design(&db, id)?;
        let partitioned = db.is_partitioned()?;
        let missing = || ApiError::new(http::StatusCode::NOT_FOUND, "not_found", "missing_named_view");
        if design.view_names().contains(&name) && design.get("language").is_some_and(|own| own != "query") {
            design.check_language()?;
        }
        design.signature(name, partitioned).ok_or_else(missing)?;
        let of_partitions = partitioned && design.option("partitioned") != Some(false);
        match (of_partitions, partition) {
            (true, None) => {
                let reason = "`partition` parameter is mandatory for queries to this view.";
                return Err(ApiError::query_parse(reason));
            }
            (false, Some(_)) => {
                return Err(ApiError::query_parse("`partition` parameter is not supported in this design doc"));
            }
            _ => {}
        }
        let functions = app.scripts.functions_of(&db, app.settings.live().function_deadline)?;
        let view = design.view(name, partitioned, &functions).ok_or_else(missing)?;
        Ok(QueriedView { app, db, design: id.to_owned(), view, past: request.query.get("at").is_some(), within })
    }

    /// The view at its moment. Waits until missing documents are mapped.
    pub fn read(&self, update: Update) -> Result<ViewAt> {
        let view = self.read_all(update)?;
        match &self.within {
            Some(within) => Arc::clone(within).view(view),
            None => Ok(view),
        }
    }

    fn read_all(&self, update: Update) -> Result<ViewAt> {
        if self.past {
            return Ok(self.db.opened().view(&self.view.view)?);
        }
        match update {
            Update::Before => {
                self.bring_up_to_date()?;
                Ok(self.db.now()?.view(&self.view.view)?)
            }
            Update::Never | Update::Afterwards => {
                let now: CollectionAt = self.db.collection().at(At::Now)?;
                Ok(now.view_as_kept(&self.view.view)?)
            }
        }
    }

    /// Brings the view up to date, and reports its progress.
    pub(crate) fn bring_up_to_date(&self) -> Result<()> {
        let task = self.app.scripts.build(self.db.name(), &self.design);
        let stop = AtomicBool::new(false);
        let stopping = self.app.stopping.clone();
        let progress = |progress: recension::BuildProgress| {
            task.tell(progress.done, progress.total);
            stop.store(*stopping.borrow(), std::sync::atomic::Ordering::Relaxed);
        };
        Ok(self.db.collection().views().update(&self.view.view, &stop, progress)?)
    }

    /// Brings the view up to date after the answer.
    fn afterwards(self) {
        let app = Arc::clone(&self.app);
        tokio::spawn(async move {
            let done = app.blocking(move || self.bring_up_to_date()).await;
            if let Err(error) = done {
                tracing::warn!(reason = %error.reason, "a view was not brought up to date");
            }
        });
    }
}

/// `/{db}/_design/{design}/_view/{view}` and `…/queries`; of a partition, only its rows.
pub async fn endpoint(
    mut request: Request,
    db: Database,
    id: &str,
    rest: &[&str],
    partition: Option<&str>,
    within: Limited,
) -> Result<Answer> {
    let (name, queries) = match rest {
        [name] => (*name, false),
        [name, "queries"] => (*name, true),
        _ => return Err(ApiError::method_not_allowed("GET,POST,HEAD")),
    };
    let asked = QueriedView::of(&request, db, (id, name), partition, within.clone())?;
    if queries {
        return several(request, asked, partition).await;
    }
    only(&request, "GET,POST,HEAD")?;
    let mut in_body = Vec::new();
    if *request.method() == Method::POST {
        request.require_json()?;
        let body = request.bytes().await?;
        let members = distinct_members_of(&body)?;
        check_members(&members)?;
        in_body = members.into_iter().map(|(name, value)| (name, value.get().to_owned())).collect();
    }
    let reduction = asked.view.reduction.clone();
    if in_body.iter().any(|(name, _)| name == "queries") {
        let reason = "The `queries` parameter is no longer supported at this endpoint";
        return Err(ApiError::bad_request(reason));
    }
    let parameters = Parameters::new(&request.query, in_body);
    let mut query = ViewQuery::read(&parameters, reduction.is_some(), asked.view.view.collation(), partition)?;
    let format = request.format(&[Format::Lines, Format::Csv]);
    let fields = if format == Format::Csv { request.query.get("fields") } else { None };
    let fields: Vec<String> = fields.map(|fields| fields.split(',').map(str::to_owned).collect()).unwrap_or_default();
    if !fields.is_empty() && query.grouping.is_some() {
        return Err(ApiError::query_parse("`fields` are columns of documents, and is invalid for reduce"));
    }
    query.include_docs |= !fields.is_empty();
    let update = query.update;
    let app = Arc::clone(&request.app);
    let (asked, view) = app.blocking(move || asked.read(update).map(|view| (asked, view))).await?;
    if update == Update::Afterwards {
        asked.afterwards();
    }
    query.fields = fields;
    let remembered = Arc::clone(&app.scripts.reduced);
    let opened = app.streams.read(move || ViewList::of(view, query, within, reduction, &remembered)).await?;
    let answer = rows::answer(&app, format, move || Ok(opened)).await?;
    Ok(answer.varying("Accept"))
}

/// `POST …/queries`: several queries in one answer.
async fn several(mut request: Request, asked: QueriedView, partition: Option<&str>) -> Result<Answer> {
    only(&request, "POST")?;
    request.require_json()?;
    let body = request.bytes().await?;
    let queries = queries_of(&body)?;
    let reduction = asked.view.reduction.clone();
    let order = asked.view.view.collation();
    let read = |query: &RawValue| {
        let members = distinct_members_of(query.get().as_bytes())?;
        check_members(&members)?;
        let members = members.into_iter().map(|(name, value)| (name, value.get().to_owned())).collect();
        ViewQuery::read(&Parameters::of_one(&request.query, members), reduction.is_some(), order, partition)
    };
    let queries = queries.into_iter().map(read).collect::<Result<Vec<_>>>()?;
    let app = Arc::clone(&request.app);
    // All of one moment.
    let within = asked.within.clone();
    let view = app.blocking(move || asked.read(Update::Before)).await?;
    let remembered = Arc::clone(&app.scripts.reduced);
    let open = move |asked: ViewQuery| {
        let reduction = reduction.clone().filter(|_| asked.grouping.is_some());
        ViewList::of(view.clone(), asked, within.clone(), reduction, &remembered)
    };
    rows::several(&app, queries.into_iter(), open).await
}
