//! From a call to the function of its endpoint. Whoever comes here has the right of the row; a limited user comes with
//! `within`.

use http::{Method, StatusCode};

use super::{Answering, Call, openapi, rewritten};
use recension_app::request::only;
use recension_console as console;
use recension_endpoints::{self as endpoints, access, functions, mango, partition, server, views};
use recension_wire::answer::Answer;
use recension_wire::error::ApiError;
use recension_wire::query::Query;

macro_rules! handlers {
    ($($name:ident($request:pat, $session:pat, $parts:pat, $place:pat) $body:expr;)*) => {$(
        pub(super) fn $name(call: Call) -> Answering {
            Box::pin(async move {
                let Call { request: $request, session: $session, parts: $parts, place: $place, .. } = call;
                $body
            })
        }
    )*};
}

/// The parts of a path from one on.
fn below(parts: &[String], from: usize) -> Vec<&str> {
    parts.iter().skip(from).map(String::as_str).collect()
}

/// A part of a path.
fn part(parts: &[String], at: usize) -> &str {
    parts.get(at).map_or("", String::as_str)
}

/// Refuses what stands behind the name of an endpoint of the server that has nothing below it.
fn whole(parts: &[String]) -> Result<(), ApiError> {
    if parts.len() > 1 { Err(ApiError::missing()) } else { Ok(()) }
}

/// The id of a path's document.
fn id_of(parts: &[String]) -> String {
    match part(parts, 1) {
        kind @ ("_design" | "_local") if parts.len() > 2 => format!("{kind}/{}", part(parts, 2)),
        id => id.to_owned(),
    }
}

handlers! {
    root(request, _, _, _) server::root(&request);
    up(request, _, _, _) server::up(request).await;
    uuids(request, _, _, _) server::uuids(&request);
    all_dbs(request, session, parts, _) whole(&parts).and_then(|()| server::all_dbs(&request, &session));
    dbs_info(request, session, parts, _) {
        whole(&parts)?;
        server::dbs_info(request, &session).await
    };
    membership(request, _, _, _) server::membership(&request);
    metrics(request, session, _, _) server::metrics(&request, &session);
    description(request, _, _, _) openapi::endpoint(&request);
    active_tasks(request, session, _, _) endpoints::replicate::active_tasks(&request, &session);
    backup(request, session, _, _) endpoints::backup::endpoint(request, &session).await;
    cluster_setup(request, session, _, _) endpoints::cluster_setup::endpoint(request, &session).await;
    replicate(request, session, _, _) endpoints::replicate::endpoint(request, &session).await;
    scheduler(request, session, parts, _) endpoints::replicate::scheduler(request, session, &below(&parts, 1)).await;
    db_updates(request, session, _, _) endpoints::db_updates::endpoint(request, &session).await;
    branches(request, session, parts, _) endpoints::branches::branches(request, &session, &below(&parts, 1)).await;
    tags(request, session, parts, _) endpoints::branches::tags(request, &session, &below(&parts, 1)).await;
    merge(request, session, _, _) endpoints::branches::merge(request, &session).await;
    diff(request, session, _, _) endpoints::branches::diff(request, &session).await;
    tokens(request, session, parts, _) endpoints::tokens::endpoint(request, &session, &below(&parts, 1)).await;
    session(request, session, _, _) endpoints::session::endpoint(request, &session).await;
    node(request, session, parts, _) {
        endpoints::node::endpoint(request, &session, part(&parts, 1), &below(&parts, 2)).await
    };
    console(request, session, parts, _) console::endpoint(request, session, &below(&parts, 1)).await;

    database(request, session, parts, place) match place.within {
        Some(limits) => {
            only(&request, "GET,HEAD")?;
            Ok(Answer::ok(access::description(&limits)))
        }
        None => endpoints::database::endpoint(request, session, part(&parts, 0), place.db).await,
    };
    new_document(request, _, _, place) {
        let (db, within) = place.open()?;
        endpoints::documents::post(request, db, within).await
    };
    read_document(request, _, parts, place) {
        let id = id_of(&parts);
        let reads = matches!(*request.method(), Method::GET | Method::HEAD);
        match (place.within.clone().filter(|_| reads), place.open()?) {
            (Some(limits), _) => access::document(request, limits, &id).await,
            (None, (db, within)) => endpoints::documents::document(request, db, &id, within).await,
        }
    };
    document(request, _, parts, place) {
        let (db, within) = place.open()?;
        endpoints::documents::document(request, db, &id_of(&parts), within).await
    };
    local(request, _, parts, place) {
        let (db, within) = place.open()?;
        endpoints::local::document(request, db, &id_of(&parts), within).await
    };
    history(request, _, parts, place) {
        endpoints::history::of_document(request, place.open()?.0, part(&parts, 1)).await
    };
    attachment(mut request, _, parts, place) {
        let id = part(&parts, 1);
        if let Some(limits) = &place.within {
            only(&request, "GET,HEAD")?;
            if let Some(real) = access::attached(limits, id, request.query.rev("rev")?)? {
                request.query = Query::parse(&format!("rev={real}"))?;
            }
        }
        endpoints::attachments::endpoint(request, place.open()?.0, id, part(&parts, 2)).await
    };
    design_attachment(request, _, parts, place) {
        endpoints::attachments::endpoint(request, place.open()?.0, &id_of(&parts), part(&parts, 3)).await
    };
    design_info(request, _, parts, place) views::info(request, place.open()?.0, &id_of(&parts)).await;
    view(request, _, parts, place) {
        let (db, within) = place.open()?;
        let partition = partition::in_query(&request)?;
        views::endpoint(request, db, &id_of(&parts), &below(&parts, 4), partition.as_deref(), within).await
    };
    show(request, _, parts, place) {
        let (db, within) = place.open()?;
        functions::show(request, db, &id_of(&parts), &below(&parts, 4), within).await
    };
    list(request, _, parts, place) {
        let (db, within) = place.open()?;
        functions::list(request, db, &id_of(&parts), &below(&parts, 4), within).await
    };
    update(request, _, parts, place) {
        let (db, within) = place.open()?;
        functions::update(request, db, &id_of(&parts), &below(&parts, 4), within).await
    };
    rewrite(request, session, parts, place) {
        rewritten(request, session, place.open()?.0, &id_of(&parts), &below(&parts, 4).join("/")).await
    };

    all_docs(request, _, parts, place) {
        let (db, within) = place.open()?;
        let partition = partition::in_query(&request)?;
        db.check_partition(partition.as_deref())?;
        let prefix = partition.map(|partition| format!("{partition}:"));
        let list = (part(&parts, 1), &below(&parts, 2)[..]);
        endpoints::all_docs::endpoint(request, db, list, prefix.as_deref(), within).await
    };
    local_docs(request, _, parts, place) {
        let db = place.open()?.0;
        db.check_partition(partition::in_query(&request)?.as_deref())?;
        endpoints::local::list(request, db, &below(&parts, 2)).await
    };
    bulk_docs(request, _, _, place) {
        let (db, within) = place.open()?;
        endpoints::bulk::endpoint(request, db, within).await
    };
    bulk_get(request, _, _, place) match place.within {
        Some(limits) => access::bulk_get(request, limits).await,
        None => endpoints::revisions::bulk_get(request, place.open()?.0).await,
    };
    revs_diff(request, _, _, place) match place.within {
        Some(limits) => access::revs_diff(request, limits, false).await,
        None => endpoints::revisions::revs_diff(request, place.open()?.0).await,
    };
    missing_revs(request, _, _, place) match place.within {
        Some(limits) => access::revs_diff(request, limits, true).await,
        None => endpoints::revisions::missing_revs(request, place.open()?.0).await,
    };
    leaves(request, _, _, place) endpoints::leaves::endpoint(request, place.open()?.0).await;
    changes(request, session, parts, place) match place.within {
        Some(limits) => access::changes(request, &session, limits).await,
        None => endpoints::changes::endpoint(request, &session, part(&parts, 0)).await,
    };
    find(request, _, parts, place) {
        let (db, within) = place.open()?;
        let partition = partition::in_query(&request)?;
        mango::query(request, db, part(&parts, 1), partition.as_deref(), within).await
    };
    aggregate(request, _, _, place) {
        let (db, within) = place.open()?;
        mango::aggregate::endpoint(request, db, within).await
    };
    by_query(request, _, parts, place) {
        mango::by_query::endpoint(request, place.open()?.0, part(&parts, 1)).await
    };
    // The design documents that define them are read by all.
    indexes(request, _, parts, place) mango::index::endpoint(request, place.open()?.0, &below(&parts, 2)).await;
    partition(request, _, parts, place) {
        let (db, within) = place.open()?;
        endpoints::partition::endpoint(request, db, &below(&parts, 2), within).await
    };
    purge(request, session, parts, _) {
        endpoints::purge::endpoint(request, session, part(&parts, 0), part(&parts, 1)).await
    };
    erase(request, session, parts, _) endpoints::erase::endpoint(request, session, part(&parts, 0)).await;
    access(request, session, parts, _) access::setting(request, session, part(&parts, 0)).await;
    schema(request, session, parts, _) endpoints::schema::endpoint(request, session, part(&parts, 0)).await;
    security(request, session, parts, _) endpoints::security::endpoint(request, session, part(&parts, 0)).await;
    retention(request, session, parts, _) endpoints::retention::endpoint(request, session, part(&parts, 0)).await;
    expiry(request, session, parts, _) endpoints::expiry::endpoint(request, session, part(&parts, 0)).await;
    topics(request, session, parts, _) {
        endpoints::topics::endpoint(request, session, part(&parts, 0), &below(&parts, 2)).await
    };
    consumers(request, session, parts, _) {
        endpoints::consumers::endpoint(request, session, part(&parts, 0), &below(&parts, 2)).await
    };
    maintenance(request, session, parts, _) {
        let (db, name) = (part(&parts, 0), part(&parts, 1));
        endpoints::maintenance::endpoint(request, session, db, name, &below(&parts, 2)).await
    };
    shards(request, _, parts, _) endpoints::maintenance::shards(&request, part(&parts, 1), &below(&parts, 2));
    full_commit(request, _, _, _) endpoints::maintenance::full_commit(&request);
    view_cleanup(request, _, _, place) {
        only(&request, "POST")?;
        views::cleanup(request, place.open()?.0).await
    };
    temporary_view(_, _, _, _) {
        Err(ApiError::new(StatusCode::GONE, "gone", "Temporary views are not supported in CouchDB"))
    };
}

/// What CouchDB has and this server does not. It is named, so that nobody looks for their own mistake.
pub(super) fn not_there(call: Call) -> Answering {
    let what = call.route.summary;
    drop(call);
    Box::pin(async move { Err(ApiError::not_there_yet(what)) })
}
