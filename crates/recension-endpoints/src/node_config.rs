//! `/_node/_local/_config`: settings, by CouchDB's names. `setting_names.rs` says which of them have an effect.

use http::Method;
use http::header::WARNING;
use recension::json::quote;

use recension_app::auth::Session;
use recension_app::identity::admins;
use recension_app::request::Request;
use recension_app::setting_names;
use recension_app::settings::Sections;
use recension_wire::answer::Answer;
use recension_wire::error::{ApiError, Result};
use recension_wire::limits::{PASSWORD_BYTES_MAX, SETTING_BYTES_MAX, SETTING_NAME_BYTES_MAX};

/// `/_node/{node}/_config` and what is below
pub(crate) async fn endpoint(request: Request, session: &Session, path: &[&str]) -> Result<Answer> {
    session.server_admin()?;
    let live = request.app.settings.live();
    let sections: &Sections = &live.sections;
    // Where there is GET, there is HEAD.
    let method = if *request.method() == Method::HEAD { &Method::GET } else { request.method() };
    match (method, path) {
        (&Method::GET, []) => {
            let mut shown = sections.clone();
            for (section, values) in &mut shown {
                values.retain(|key, _| !is_secret(section, key));
            }
            json(&shown)
        }
        (&Method::GET, [section]) => {
            let mut shown = sections.get(*section).cloned().unwrap_or_default();
            shown.retain(|key, _| !is_secret(section, key));
            json(&shown)
        }
        (&Method::GET, [section, key]) if is_secret(section, key) => Err(ApiError::unknown_config_value()),
        (&Method::GET, [section, key]) => {
            let value = sections.get(*section).and_then(|values| values.get(*key));
            Ok(Answer::ok(quote(value.ok_or_else(ApiError::unknown_config_value)?)))
        }
        (&Method::POST, ["_reload"]) => Ok(Answer::ok(r#"{"ok":true}"#)),
        (&Method::PUT, [section, key]) => put(request, section, key).await,
        (&Method::DELETE, [section, key]) => set(&request, section, key, None).await,
        (_, [_, _]) => Err(ApiError::method_not_allowed("GET,PUT,DELETE")),
        _ => Err(ApiError::method_not_allowed("GET")),
    }
}

/// Whether a setting is a key of cookies or tokens. Nobody can read these.
pub fn is_secret(section: &str, key: &str) -> bool {
    key == "secret" || section == "jwt_keys"
}

fn json(value: &impl serde::Serialize) -> Result<Answer> {
    Ok(Answer::ok(serde_json::to_string(value).map_err(|_| ApiError::bad_json())?))
}

async fn put(mut request: Request, section: &str, key: &str) -> Result<Answer> {
    let is_name =
        |name: &str| !name.is_empty() && name.len() <= SETTING_NAME_BYTES_MAX && !name.chars().any(char::is_control);
    if !is_name(section) || !is_name(key) {
        return Err(ApiError::bad_request("A setting's section and key are short, and without control characters."));
    }
    setting_names::check_put(section, key)?;
    let body = request.bytes_up_to(SETTING_BYTES_MAX * 2).await?;
    let value: String =
        serde_json::from_slice(&body).map_err(|_| ApiError::bad_request("A setting is a JSON string."))?;
    let value = if section == "admins" { admin(&request, key, value).await? } else { value };
    set(&request, section, key, Some(value)).await
}

/// The hash by which an admin's password is stored.
pub(crate) async fn admin(request: &Request, name: &str, password: String) -> Result<String> {
    if name.contains(':') || password.is_empty() || password.len() > PASSWORD_BYTES_MAX {
        return Err(ApiError::bad_request("An admin has a name without colons, and a password that is not empty."));
    }
    let iterations = request.app.settings.live().password_iterations;
    request.app.realm.credentials.hash(move || admins::hashed(&password, iterations)).await
}

/// Sets a setting, or removes it.
pub(crate) async fn set(request: &Request, section: &str, key: &str, value: Option<String>) -> Result<Answer> {
    let (app, section, key) = (request.app.clone(), section.to_owned(), key.to_owned());
    // The answer's body is what the value was, as CouchDB's is.
    let note = value.is_some().then(|| setting_names::note(&section, &key)).flatten();
    let before = request.app.blocking(move || app.set((&section, &key), value.as_deref())).await?;
    let answer = Answer::ok(quote(&before));
    Ok(match note {
        Some(note) => answer.with(WARNING, format!("299 - \"{note}\"")),
        None => answer,
    })
}
