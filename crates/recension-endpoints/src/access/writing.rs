//! `POST /{db}/_revs_diff` and `_missing_revs` within limits: which revisions of a replica are missing, as far as the
//! user may know. A revision of a hidden document counts as missing: its name says what the document says.

use recension::RevId;
use recension::json::quote;

use super::limits::{Limits, Shared};
use crate::body::ids_and_revs;
use recension_app::request::{Request, only};
use recension_wire::answer::Answer;
use recension_wire::error::Result;

/// `rows_only`: as `_missing_revs` answers. Possible ancestors are left out.
pub async fn revs_diff(mut request: Request, limits: Shared, rows_only: bool) -> Result<Answer> {
    only(&request, "POST")?;
    request.require_json()?;
    let asked = ids_and_revs(&request.bytes().await?)?;
    let row = move |(id, revs): (String, Vec<RevId>)| -> Result<Option<String>> {
        let mut missing: Vec<String> = Vec::new();
        for rev in revs {
            if !knows(&limits, &id, &rev)? {
                missing.push(format!("\"{rev}\""));
            }
        }
        let (id, missing) = (quote(&id), missing.join(","));
        Ok(match missing.as_str() {
            "" => None,
            _ if rows_only => Some(format!("{id}:[{missing}]")),
            _ => Some(format!("{id}:{{\"missing\":[{missing}]}}")),
        })
    };
    let rows = move || asked.into_iter().filter_map(|asked| row(asked).transpose()).collect::<Result<Vec<_>>>();
    let rows = request.app.blocking(rows).await?.join(",");
    Ok(Answer::ok(if rows_only { format!("{{\"missing_revs\":{{{rows}}}}}") } else { format!("{{{rows}}}") }))
}

/// Whether the database has a revision, as far as the user may know. Those that were made up are never missing.
fn knows(limits: &Limits, id: &str, rev: &RevId) -> Result<bool> {
    if limits.names.is_made_up(id, rev) || limits.stands_on(id, rev)? {
        return Ok(true);
    }
    let revision = limits.db.opened().get_revision(id, rev)?;
    Ok(revision.is_some_and(|revision| limits.may_read(id, &revision)))
}
