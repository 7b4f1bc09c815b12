//! Who may log in: users with their roles and server admins, for server admins; and one's own password, for oneself.

use minijinja::context;
use minijinja::value::Serde;
use recension::{Cursor, Query};
use serde::Serialize;
use serde_json::Value;

use super::frame::Frame;
use super::search::{self, DESIGNS, Field};
use recension_app::auth::{Access, Session, users};
use recension_app::request::{Request, at_its_moment};
use recension_pages::links::{Parameters, document, in_console};
use recension_wire::answer::Answer;
use recension_wire::error::{ApiError, Result};

/// Users on a page.
const ROWS: usize = 100;
const HERE: &str = "/_utils/-/users";

/// A user as they are shown, and where.
#[derive(Serialize)]
struct Shown {
    page: String,
    path: String,
    name: String,
    rev: String,
    roles: Vec<String>,
    /// By what the password is kept.
    scheme: String,
}

/// `/_utils/-/users`
pub(super) async fn page(request: &Request, session: &Session) -> Result<Answer> {
    session.server_admin()?;
    let after = request.query.get("after").map(str::parse::<Cursor>).transpose()?;
    let database = match session.database(users::DATABASE, Access::Admin) {
        Err(error) if error == ApiError::no_database() => None,
        database => Some(at_its_moment(request, database?)?),
    };
    let reading = database.map(|database| database.opened().clone());
    let text = request.query.get("q").unwrap_or_default().to_owned();
    let (selector, mistake) = match reading.as_ref().map_or(Ok(None), |at| search::selector(&text, at)) {
        Ok(selector) => (selector, None),
        Err(mistake) => (None, Some(mistake)),
    };
    let found = request.app.streams.read(move || {
        let Some(at) = reading else { return Ok((Vec::new(), None)) };
        let query = Query::new().leaving_out(DESIGNS).after(after).limit(ROWS);
        let mut found = at.find(&selector.map_or(query.clone(), |selector| query.selecting(selector)))?;
        let mut rows = Vec::new();
        for document in found.by_ref() {
            let document = document?;
            let body: Value = serde_json::from_str(&document.body).unwrap_or_default();
            let text = |name: &str| body.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
            let roles = body.get("roles").and_then(Value::as_array).into_iter().flatten();
            let rev = document.rev.to_string();
            let (page, path) =
                (in_console(users::DATABASE, &document.id), self::document(users::DATABASE, &document.id));
            let roles = roles.filter_map(Value::as_str).map(str::to_owned).collect();
            rows.push(Shown { page, path, rev, name: text("name"), roles, scheme: text("password_scheme") });
        }
        let next = found.cursor().map(|cursor| cursor.to_string()).filter(|_| rows.len() == ROWS);
        Ok((rows, next))
    });
    let (rows, next) = found.await?;
    let (parameters, past) = (Parameters::of(&request.query), request.query.get("at").is_some());
    let placeholder = "a name, or roles contains editors";
    let field = Field { text: &text, placeholder, path: HERE, carried: &parameters, offers: &[] };
    let live = request.app.settings.live();
    let values = context! {
        field => field.values(mistake.as_ref()), past, at => parameters.get("at"),
        users => Serde(rows), next => next.map(|next| parameters.with("after", &next).on(HERE)),
        new_user => format!("/{}/{}{{name}}", users::DATABASE, users::PREFIX), database => users::DATABASE,
        admins => live.admins.shown().keys().map(ToString::to_string).collect::<Vec<_>>(),
    };
    Ok(Frame::begin(request, session, "Users", None, "Users", true).page("users", values))
}

/// `/_utils/-/account`: who one is, and one's password.
pub(super) fn account(request: &Request, session: &Session) -> Result<Answer> {
    let identity = session.identity();
    let Some(name) = &identity.name else { return Err(ApiError::authentication_required()) };
    let path = document(users::DATABASE, &format!("{}{name}", users::PREFIX));
    let values =
        context! { name => name.as_str(), roles => &identity.roles, is_admin => identity.is_server_admin(), path };
    Ok(Frame::begin(request, session, "Account", None, "Account", false).page("account", values))
}
