//! Descriptions of a design document's views, and the removal of views that no design document names.

use std::collections::BTreeSet;

use http::StatusCode;
use recension::json::quote;
use recension::{ListOptions, Signature, ViewInfo};
use recension_script::Design;

use recension_app::auth::databases::Database;
use recension_app::functions;
use recension_app::request::{Request, only};
use recension_wire::answer::Answer;
use recension_wire::error::Result;

/// The signatures and names of the views of a design document.
fn views_of(db: &Database, design: &Design) -> Result<Vec<(Signature, String)>> {
    let partitioned = db.is_partitioned()?;
    let named = |name: &str| Some((design.signature(name, partitioned)?, format!("{}/{name}", design.id())));
    Ok(design.view_names().into_iter().filter_map(named).collect())
}

/// The collation of keys, and its version.
pub(crate) const COLLATOR: &str = "icu4x-2.4";

/// `/{db}/_design/{design}/_info`
pub async fn info(request: Request, db: Database, id: &str) -> Result<Answer> {
    only(&request, "GET,HEAD")?;
    let design = functions::design(&db, id)?;
    let own = views_of(&db, &design)?;
    let signatures: BTreeSet<Signature> = own.iter().map(|(signature, _)| *signature).collect();
    let kept: Vec<ViewInfo> =
        db.collection().views().list()?.into_iter().filter(|view| signatures.contains(&view.signature)).collect();
    let rows: u64 = kept.iter().map(|view| view.rows).sum();
    let seq = kept.iter().map(|view| view.seq.0).min().unwrap_or(0);
    let signature = signatures.iter().next().map(ToString::to_string).unwrap_or_default();
    let running = request.app.scripts.building(db.name(), id);
    let language = design.get("language").and_then(|language| language.as_str()).unwrap_or("javascript");
    Ok(Answer::ok(format!(
        "{{\"name\":{},\"view_index\":{{\"signature\":\"{signature}\",\"language\":{},\"update_seq\":{seq},\
         \"purge_seq\":0,\"rows\":{rows},\"updater_running\":{running},\"compact_running\":false,\
         \"waiting_commit\":false,\"waiting_clients\":0,\"updates_pending\":{{\"minimum\":0,\"preferred\":0,\
         \"total\":0}},\"collator_versions\":[\"{COLLATOR}\"],\"sizes\":{{\"file\":0,\"external\":0,\"active\":0}}}}}}",
        quote(id.strip_prefix("_design/").unwrap_or(id)),
        quote(language)
    )))
}

/// `POST /{db}/_view_cleanup`
pub async fn cleanup(request: Request, db: Database) -> Result<Answer> {
    request
        .app
        .blocking(move || {
            let (mut views, mut names) = (BTreeSet::new(), BTreeSet::new());
            for document in db.opened().list(&ListOptions::prefix("_design/"))? {
                let document = document?;
                let design = Design::of(&document.id, document.rev, &document.body);
                for (signature, name) in views_of(&db, &design)? {
                    views.insert(signature);
                    names.insert(name);
                }
            }
            db.collection().views().drop_others(&views, &names)?;
            Ok(Answer::json(StatusCode::ACCEPTED, r#"{"ok":true}"#.to_owned()))
        })
        .await
}
