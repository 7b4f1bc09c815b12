//! Backups: those that the server has, making one, and getting a database back out of one under another name, while
//! everything goes on. For server admins.

use std::path::PathBuf;
use std::time::SystemTime;

use http::StatusCode;
use minijinja::context;
use minijinja::value::Serde;
use recension::{At, open_read_only};
use recension_replicate::{Control, Local, Options, replicate};
use serde::{Deserialize, Serialize};

use super::frame::Frame;
use recension_app::auth::Session;
use recension_app::backups;
use recension_app::request::Request;
use recension_wire::answer::Answer;
use recension_wire::error::{ApiError, Result};
use recension_wire::limits::SESSION_BODY_BYTES_MAX;

/// Files of a backup that are counted.
const FILES_MAX: usize = 100_000;

/// A backup as it is shown.
#[derive(Serialize)]
struct Shown {
    name: String,
    bytes: u64,
    age_minutes: Option<u64>,
}

fn folder(request: &Request) -> Option<PathBuf> {
    request.app.config.backups.folder.clone()
}

/// `/_utils/-/backups`
pub(super) async fn page(request: &Request, session: &Session) -> Result<Answer> {
    session.server_admin()?;
    let config = &request.app.config.backups;
    let folder = folder(request);
    let reading = folder.clone();
    let found = request.app.blocking(move || Ok(reading.as_deref().map(listed)));
    let found = found.await?;
    let schedule = config.schedule().map_or_else(str::to_owned, |schedule| schedule.to_string());
    let values = context! {
        schedule, folder => folder.map(|folder| folder.display().to_string()),
        all => found.and_then(std::io::Result::ok).map(Serde), here => recension_app::request::absolute(request, "/"),
    };
    Ok(Frame::begin(request, session, "Backups", None, "Backups", false).page("backups", values))
}

fn listed(folder: &std::path::Path) -> std::io::Result<Vec<Shown>> {
    let names = backups::names(folder)?;
    let shown = |name: String| {
        let (mut bytes, mut left, mut folders) = (0, FILES_MAX, vec![folder.join(&name)]);
        let made = std::fs::metadata(folder.join(&name)).and_then(|found| found.modified()).ok();
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                left = left.saturating_sub(1);
                match entry.metadata() {
                    Ok(found) if found.is_dir() && left > 0 => folders.push(entry.path()),
                    Ok(found) => bytes += found.len(),
                    Err(_) => {}
                }
            }
        }
        let age = made.and_then(|made| SystemTime::now().duration_since(made).ok());
        Shown { name, bytes, age_minutes: age.map(|age| age.as_secs() / 60) }
    };
    Ok(names.into_iter().rev().map(shown).collect())
}

/// `POST /_utils/-/backups`: makes one.
pub(super) async fn make(request: &Request, session: &Session) -> Result<Answer> {
    let proof = session.server_admin()?;
    super::is_json(request)?;
    let folder = folder(request).ok_or_else(none_configured)?;
    let (app, schedule) = (request.app.clone(), request.app.config.backups.schedule());
    let made = request.app.blocking(move || {
        let kept = schedule.map_err(ApiError::bad_request)?.kept;
        let made = backups::make(&app.databases.store(proof), &folder, kept);
        Ok(made.map_err(recension::Error::from)?)
    });
    let made = made.await?;
    let name = made.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(Answer::json(StatusCode::CREATED, serde_json::json!({ "ok": true, "backup": name }).to_string()))
}

fn none_configured() -> ApiError {
    ApiError::bad_request("No folder for backups is configured: set [backups] folder, and start the server again.")
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    backup: String,
    database: String,
    into: String,
}

/// `POST /_utils/-/restore`: a database of a backup under a name that is not taken.
pub(super) async fn restore(request: &mut Request, session: &Session) -> Result<Answer> {
    let proof = session.server_admin()?;
    super::is_json(request)?;
    let folder = folder(request).ok_or_else(none_configured)?;
    let body = request.bytes_up_to(SESSION_BODY_BYTES_MAX).await?;
    let wanted: Wanted = serde_json::from_slice(&body)
        .map_err(|_| ApiError::bad_request("An object was expected, with backup, database and into."))?;
    if !backups::is_name(&wanted.backup) {
        return Err(ApiError::bad_request("There is no such backup."));
    }
    let app = request.app.clone();
    let restored = request.app.blocking(move || {
        let Wanted { backup, database, into } = wanted;
        let store = open_read_only(folder.join(&backup))?;
        let there = store.collections(At::Now)?.into_iter().any(|own| own.name == database);
        if !there || database.starts_with('_') {
            let reason = format!("The backup has no database {database} that can be had back alone.");
            return Err(ApiError::new(StatusCode::NOT_FOUND, "not_found", reason));
        }
        app.databases.create(&into, &[], proof)?;
        let target = app.databases.served(&into, proof)?;
        let (from, to) = (Local::new(store.collection(&database)?), Local::new(target.share()));
        // Nothing is written to a backup, and nothing is gone on with.
        let options = Options { checkpoints: false, ..Options::default() };
        let outcome =
            replicate(&from, &to, &options, &Control::default()).map_err(recension_app::replication::refusal)?;
        Ok(outcome.statistics.docs_written)
    });
    let written = restored.await?;
    Ok(Answer::json(StatusCode::CREATED, serde_json::json!({ "ok": true, "documents": written }).to_string()))
}
