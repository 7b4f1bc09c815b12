//! `/_cluster_setup`: set-up scripts ask it to make a CouchDB a single node. This server is one from its start.

use http::{Method, StatusCode};
use serde_json::Value;

use super::node_config;
use recension_app::auth::Session;
use recension_app::request::Request;
use recension_wire::answer::Answer;
use recension_wire::error::{ApiError, Result};
use recension_wire::route::SYSTEM_DATABASES;

/// `/_cluster_setup`
pub async fn endpoint(mut request: Request, session: &Session) -> Result<Answer> {
    let proof = session.server_admin()?;
    if matches!(*request.method(), Method::GET | Method::HEAD) {
        return Ok(Answer::ok(r#"{"state":"single_node_enabled"}"#));
    }
    recension_app::request::only(&request, "GET,POST")?;
    request.require_json()?;
    let body = request.bytes().await?;
    let asked: Value = serde_json::from_slice(&body).map_err(|_| ApiError::bad_json())?;
    let text = |name: &str| asked.get(name).and_then(Value::as_str);
    match text("action") {
        Some("enable_single_node" | "finish_cluster") => {}
        Some("enable_cluster" | "add_node" | "receive_cookie") => {
            return Err(ApiError::not_there_yet("Clusters by CouchDB's protocol"));
        }
        _ => return Err(ApiError::bad_request("Invalid Action")),
    }
    // The system databases that CouchDB makes at this point.
    for name in SYSTEM_DATABASES {
        match request.app.databases.create(name, &[], proof) {
            Err(error) if error != ApiError::database_exists() => return Err(error),
            _ => {}
        }
    }
    if let (Some(name), Some(password)) = (text("username"), text("password")) {
        let password = node_config::admin(&request, name, password.to_owned()).await?;
        node_config::set(&request, "admins", name, Some(password)).await?;
    }
    Ok(Answer::json(StatusCode::CREATED, r#"{"ok":true}"#.to_owned()))
}
