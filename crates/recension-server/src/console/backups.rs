//! Backups: those that the server has, making one, and getting a database back out of one under another name, while
//! everything goes on. For server admins.

use std::path::PathBuf;
use std::time::SystemTime;

use http::StatusCode;
use recension::{At, open_read_only};
use recension_replicate::{Control, Local, Options, replicate};
use serde::Deserialize;

use super::form::{self, About};
use super::frame::{Frame, bytes, empty, grouped, table, table_end};
use crate::answer::Answer;
use crate::auth::Session;
use crate::backups;
use crate::error::{ApiError, Result};
use crate::html::writer::Html;
use crate::limits::SESSION_BODY_BYTES_MAX;
use crate::request::Request;

/// Files of a backup that are counted.
const FILES_MAX: usize = 100_000;

/// A backup as it is shown.
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
    let mut frame = Frame::begin(request, session, "Backups", None, "Backups", false);
    let html = &mut frame.html;
    match (&folder, found) {
        (Some(folder), Some(Ok(all))) => {
            let schedule = config.schedule().map_or_else(str::to_owned, |schedule| schedule.to_string());
            html.tag("<p class=\"summary\">Backups: ").text(schedule).tag(", in <code>");
            html.text(folder.display().to_string()).tag("</code>.</p>\n");
            html.tag("<div class=\"bar\">");
            form::button(
                "POST",
                "/_utils/-/backups",
                &[About::Said("A backup was made.")],
                ("primary", "Make one now"),
                html,
            );
            html.tag("</div>\n");
            list(&all, html);
            restoring(&all, html);
        }
        (Some(_), _) => {
            empty("The folder of backups cannot be read: look at the log.", html);
        }
        (None, _) => {
            html.tag("<p class=\"advice\">No folder for backups is configured. Give the server one: <code>[backups]");
            html.tag(" folder = \"/srv/backups\"</code> in its configuration.</p>\n");
        }
    }
    html.tag("<h2>With a command</h2><p>A backup of the whole store, from anywhere, and again only what is new:</p>\n");
    let base = crate::request::absolute(request, "/");
    html.tag("<pre tabindex=\"0\"><code>recension backup ").text(&base).tag(" notes.backup\n");
    html.tag("recension restore-backup notes.backup notes.store</code></pre>\n");
    html.tag(
        "<p class=\"hint\">The second makes a store of it, which <code>recension serve</code> opens. A past that ",
    );
    html.tag("is still there needs no backup: every page has <strong>As of</strong>.</p>\n");
    Ok(frame.end())
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

fn list(all: &[Shown], html: &mut Html) {
    if all.is_empty() {
        return empty("There is no backup yet.", html);
    }
    table("Backups", &["Backup", "#Size", "#Minutes old"], html);
    for one in all {
        html.tag("<tr><th scope=\"row\"><code>").text(&one.name).tag("</code></th><td class=\"number\">");
        html.text(bytes(one.bytes)).tag("</td><td class=\"number\">");
        html.text(one.age_minutes.map(grouped).unwrap_or_default()).tag("</td></tr>\n");
    }
    table_end(html);
}

fn restoring(all: &[Shown], html: &mut Html) {
    if all.is_empty() {
        return;
    }
    html.tag("<h2>Get a database back</h2>\n");
    let about = [About::Then("/_utils/{into}"), About::Said("The database is back, as it was in the backup.")];
    form::begin("POST", "/_utils/-/restore", &about, html);
    html.tag("<div class=\"fields\"><label>Out of <select data-at=\"backup\">");
    for one in all {
        html.tag("<option>").text(&one.name).tag("</option>");
    }
    html.tag("</select></label> ");
    form::field("Database", "data-at=\"database\" required autocomplete=\"off\"", "", html);
    form::field("As", "name=\"into\" data-at=\"into\" required autocomplete=\"off\"", "", html);
    html.tag("</div>");
    form::end("Restore", html);
    html.tag(
        "<p class=\"hint\">It is made anew under that name, with its revisions, attachments and design documents. ",
    );
    html.tag("Only server admins may read it, until its security says more.</p>\n");
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
        let outcome = replicate(&from, &to, &options, &Control::default()).map_err(crate::replication::refusal)?;
        Ok(outcome.statistics.docs_written)
    });
    let written = restored.await?;
    Ok(Answer::json(StatusCode::CREATED, serde_json::json!({ "ok": true, "documents": written }).to_string()))
}
