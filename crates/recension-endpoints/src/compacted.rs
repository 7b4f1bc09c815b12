//! Bodies of old revisions, which `_compact` gives up.

use std::sync::Arc;

use recension::engine::Seq;
use recension::{CollectionAt, RevId, Revision};

use recension_app::auth::databases::Database;
use recension_app::request::Request;
use recension_wire::error::Result;

/// The setting that says up to which commit old bodies were given up.
const COMPACTED: &str = "compacted";

/// A revision that `rev` may find: a leaf, or an older one whose body was not given up.
pub(crate) fn body_of(at: &CollectionAt, id: &str, rev: &RevId) -> Result<Option<Revision>> {
    let Some(revision) = at.get_revision(id, rev)? else { return Ok(None) };
    let available = compacted(at)?.is_none_or(|until| revision.seq > until) || is_leaf(at, id, rev)?;
    Ok(Some(revision).filter(|_| available))
}

/// Whether the body of a revision is available to `rev`. If nothing was compacted, it is.
pub(crate) fn is_available(at: &CollectionAt, id: &str, rev: &RevId) -> Result<bool> {
    Ok(compacted(at)?.is_none() || body_of(at, id, rev)?.is_some())
}

/// The commit up to which `_compact` gave up old bodies.
pub(crate) fn compacted(at: &CollectionAt) -> Result<Option<Seq>> {
    Ok(at.setting(COMPACTED)?.and_then(|text| text.parse().ok()).map(Seq))
}

fn is_leaf(at: &CollectionAt, id: &str, rev: &RevId) -> Result<bool> {
    Ok(at.leaves(id)?.iter().any(|leaf| leaf.rev == *rev))
}

/// Gives up the bodies of revisions that are no leaves: `rev` does not find them any more. Then the store is compacted,
/// after the answer: the past (`at`, `_history`) stays as far as retention keeps it, and disk is given back.
pub(crate) async fn compact(request: &Request, db: &Database) -> Result<()> {
    let collection = db.share();
    request
        .app
        .blocking(move || {
            let seq = collection.at(recension::At::Now)?.seq();
            Ok(collection.settings().set(COMPACTED, Some(&seq.to_string()))?)
        })
        .await?;
    if !request.app.databases.compacting.ask() {
        return Ok(());
    }
    let app = Arc::clone(&request.app);
    let task = app.scripts.work("database_compaction", db.name(), "");
    tokio::spawn(async move {
        loop {
            let own = Arc::clone(&app);
            match app.blocking(move || own.databases.compact()).await {
                Ok(recension::Compacted { before, after }) => tracing::info!(before, after, "the store was compacted"),
                Err(error) => tracing::warn!(reason = %error.reason, "the store could not be compacted"),
            }
            if !app.databases.compacting.ended() {
                break;
            }
        }
        drop(task);
    });
    Ok(())
}
