//! The store's indexes follow the design documents. An index that a design document defines is made when it is first
//! asked for, however the document came (`_index`, replication, a restored backup). An index of no design document is
//! dropped.

use recension::{CollectionAt, Error, IndexState, ListOptions};
use serde_json::value::RawValue;

use super::definition::{Definition, STORED_PREFIX};
use crate::body::{member, members_of};
use recension_app::auth::databases::Database;
use recension_wire::error::{ApiError, Result};

/// The indexes that design documents define, in the order of their ids.
pub(super) fn definitions(at: &CollectionAt) -> Result<Vec<Definition>> {
    let mut definitions = Vec::new();
    for document in at.list(&ListOptions::prefix("_design/"))? {
        let document = document?;
        // An invalid definition defines no index.
        definitions.extend(of_document(&document.id, &document.body).unwrap_or_default());
    }
    Ok(definitions)
}

/// The indexes of one design document; none if it is in another language.
pub(super) fn of_document(id: &str, body: &str) -> Result<Vec<Definition>> {
    type Read = fn(&str, &str, &RawValue) -> Result<Definition>;
    let members = members_of(body.as_bytes())?;
    if member(&members, "language").map(RawValue::get) != Some("\"query\"") {
        return Ok(Vec::new());
    }
    let kinds: [(&str, &str, Read); 2] =
        [("views", "map", Definition::read), ("indexes", "index", Definition::read_words)];
    let option = member(&members, "options").and_then(|options| members_of(options.get().as_bytes()).ok());
    let partitioned = option.and_then(|options| member(&options, "partitioned")?.get().parse().ok());
    let mut definitions = Vec::new();
    for (kind, within, read) in kinds {
        let Some(those) = member(&members, kind) else { continue };
        for (name, view) in members_of(those.get().as_bytes())? {
            let view = members_of(view.get().as_bytes())?;
            if let Some(index) = member(&view, within) {
                let definition = read(id, &name, index).ok();
                definitions.extend(definition.map(|definition| Definition { partitioned, ..definition }));
            }
        }
    }
    Ok(definitions)
}

/// Makes the store's missing indexes and drops those of no design document. Returns the definitions, and the database
/// after that.
pub(super) fn reconciled(db: &Database) -> Result<(Vec<Definition>, CollectionAt)> {
    let now = db.now()?;
    let definitions = definitions(&now)?;
    let specs: Vec<_> = definitions.iter().filter_map(Definition::spec).collect();
    let there = now.indexes();
    let ready = |name: &str| there.iter().any(|index| index.spec.name == name && index.state == IndexState::Ready);
    let mut changed = false;
    for index in &there {
        let name = &index.spec.name;
        if name.starts_with(STORED_PREFIX) && !specs.iter().any(|spec| spec.name == *name) {
            changed = true;
            match db.collection().drop_index(name) {
                Ok(()) | Err(Error::NoSuchIndex { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
    for spec in specs {
        let name = spec.name.clone();
        if ready(&name) || db.collection().settings().get(&refusal(&name))?.is_some() {
            continue;
        }
        changed = true;
        match db.collection().create_index(spec, |_| {}) {
            Ok(()) => {}
            // Queries do without it, and do not try to make it again.
            Err(
                error @ (Error::ValueTooLong { .. }
                | Error::TooManyEntries { .. }
                | Error::TooManyIndexes { .. }
                | Error::BadIndex { .. }
                | Error::BadName { .. }
                | Error::NotUnique { .. }),
            ) => {
                tracing::warn!(index = name, %error, "an index of a design document cannot be made");
                db.collection().settings().set(&refusal(&name), Some(&error.to_string()))?;
            }
            Err(error) => return Err(error.into()),
        }
    }
    let at = if changed { db.now()? } else { now };
    Ok((definitions, at))
}

/// The name of the setting that says why this index could not be made.
fn refusal(stored_name: &str) -> String {
    format!("mango/refused/{}", stored_name.rsplit('/').next().unwrap_or_default())
}

/// The reason for which an index could not be made, if there is one. It is forgotten, so that the index is tried again.
pub(super) fn take_refusal(db: &Database, definition: &Definition) -> Result<Option<ApiError>> {
    let name = refusal(&definition.stored_name());
    let Some(reason) = db.collection().settings().get(&name)? else { return Ok(None) };
    db.collection().settings().set(&name, None)?;
    Ok(Some(ApiError::forbidden(reason)))
}
