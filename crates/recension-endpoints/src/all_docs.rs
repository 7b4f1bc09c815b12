//! `_all_docs` and `_design_docs`: documents by id, streamed.

use http::StatusCode;
use http::header::ETAG;

use super::body::distinct_members_of;
use super::format::Format;
use super::list_options::{ListQuery, queries_of};
use super::listed::{List, Part};
use super::rows;
use super::within::Limited;
use super::writing::not_modified;
use recension_app::auth::databases::Database;
use recension_app::request::{Request, only};
use recension_pages::form::WantedForm;
use recension_wire::answer::Answer;
use recension_wire::error::{ApiError, Result};

/// `/{db}/_all_docs`, `/{db}/_design_docs`, and `…/queries`; of a partition, its documents only.
pub async fn endpoint(
    mut request: Request,
    db: Database,
    (name, rest): (&str, &[&str]),
    partition: Option<&str>,
    within: Limited,
) -> Result<Answer> {
    let part = match (name, partition) {
        ("_design_docs", _) => Part::Design,
        (_, Some(prefix)) => Part::Partition(prefix.to_owned()),
        (_, None) => Part::All,
    };
    match rest {
        [] => {}
        ["queries"] => return queries(request, db, part, within).await,
        _ => return Err(ApiError::missing()),
    }
    only(&request, "GET,HEAD,POST")?;
    let mut asked = ListQuery::of(&mut request).await?;
    let format = request.format(&[Format::Lines, Format::Csv]);
    let at = db.opened().clone();
    // The tag of a list is its collection's last change: it is known before any row is read. What somebody with limits
    // sees changes with their rights, too.
    let tag = within.is_none().then(|| at.counts()).transpose()?;
    let tag = tag.map(|counts| format!("{}{}", counts.changed, format.suffix()));
    if let Some(tag) = tag.as_ref().filter(|tag| not_modified(&request, tag)) {
        let answer = Answer::empty(StatusCode::NOT_MODIFIED).with(ETAG, format!("W/\"{tag}\""));
        return Ok(answer.varying("Accept"));
    }
    let app = request.app.clone();
    let form = request.head.extensions.get::<WantedForm>().filter(|_| format == Format::Json);
    let form = form.and_then(|WantedForm(form)| form.take());
    if format != Format::Json {
        let fields = request.query.get("fields").map(|fields| fields.split(',').map(str::to_owned).collect());
        asked.include_docs |= fields.is_some();
        asked.fields = fields;
    }
    let open = move || List::of(at, asked, &part, within);
    let answer = match form {
        Some(form) => rows::formed(&app, form, open).await?,
        None => rows::answer(&app, format, open).await?,
    };
    Ok(match tag {
        Some(tag) => answer.with(ETAG, format!("W/\"{tag}\"")),
        None => answer,
    }
    .varying("Accept"))
}

/// `POST …/queries`: several lists in one answer.
async fn queries(mut request: Request, db: Database, part: Part, within: Limited) -> Result<Answer> {
    let queries = asked_together(&mut request).await?;
    let at = db.opened().clone();
    let open = move |asked| List::of(at.clone(), asked, &part, within.clone());
    rows::several(&request.app, queries.into_iter(), open).await
}

/// The lists that a request asks for together.
pub(super) async fn asked_together(request: &mut Request) -> Result<Vec<ListQuery>> {
    only(request, "POST")?;
    // As in CouchDB, the body is read as JSON whatever type it has.
    let body = request.bytes().await?;
    let read = |query: &serde_json::value::RawValue| {
        let members = distinct_members_of(query.get().as_bytes())?;
        ListQuery::read_one(&request.query, &body, members)
    };
    queries_of(&body)?.into_iter().map(read).collect()
}
