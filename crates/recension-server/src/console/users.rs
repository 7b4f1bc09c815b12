//! Who may log in: users with their roles and server admins, for server admins; and one's own password, for oneself.

use recension::{Cursor, Query, json};
use serde_json::Value;

use super::export_links;
use super::form::{self, About};
use super::frame::{Frame, empty, table, table_end};
use super::search::{self, DESIGNS, Field};
use crate::answer::Answer;
use crate::auth::{Access, Session, users};
use crate::error::{ApiError, Result};
use crate::html::links::{Parameters, document, in_console};
use crate::html::writer::Html;
use crate::request::{Request, at_its_moment};

/// Users on a page.
const ROWS: usize = 100;
const HERE: &str = "/_utils/-/users";
const ADMINS: &str = "/_node/_local/_config/admins";

/// A user as they are shown.
struct Shown {
    id: String,
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
            let (id, rev) = (document.id.to_string(), document.rev.to_string());
            let roles = roles.filter_map(Value::as_str).map(str::to_owned).collect();
            rows.push(Shown { id, rev, name: text("name"), roles, scheme: text("password_scheme") });
        }
        let next = found.cursor().map(|cursor| cursor.to_string()).filter(|_| rows.len() == ROWS);
        Ok((rows, next))
    });
    let (rows, next) = found.await?;
    let past = request.query.get("at").is_some();
    let mut frame = Frame::begin(request, session, "Users", None, "Users", true);
    let (html, parameters) = (&mut frame.html, Parameters::of(&request.query));
    Field {
        text: &text,
        placeholder: "a name, or roles contains editors",
        path: HERE,
        carried: &parameters,
        offers: &[],
    }
    .write(mistake.as_ref(), html);
    if rows.is_empty() && !text.is_empty() {
        empty("No user is of that.", html);
    } else if rows.is_empty() {
        empty("There are no users yet: only server admins can log in.", html);
    } else {
        let columns: &[_] = if past {
            &["Name", "Roles", "Password kept by"]
        } else {
            &["Name", "Roles", "Password kept by", "Change"]
        };
        table("Users", columns, html);
        for row in &rows {
            user(row, past, html);
        }
        table_end(html);
    }
    if let Some(next) = next {
        let next = parameters.with("after", &next);
        html.tag("<nav class=\"pages\" aria-label=\"More\"><a rel=\"next\" href=\"").to(&next.on(HERE));
        html.tag("\">Next page</a></nav>\n");
    }
    if !past {
        new_user(html);
        admins(request, html);
    }
    export_links::of_rows(users::DATABASE, &Parameters::of(&request.query).only(&["at"]), "All users as", html);
    Ok(frame.end())
}

fn user(row: &Shown, past: bool, html: &mut Html) {
    html.tag("<tr><th scope=\"row\">").link(&in_console(users::DATABASE, &row.id), row.name.as_bytes());
    html.tag("</th><td><span>");
    for role in &row.roles {
        html.tag("<code>").text(role).tag("</code> ");
    }
    html.tag("</span></td><td>").text(&row.scheme).tag("</td>");
    if past {
        html.tag("</tr>\n");
        return;
    }
    let to = document(users::DATABASE, &row.id);
    let base = format!("{{\"_rev\":{}}}", json::quote(&row.rev));
    html.tag("<td><details class=\"inline\"><summary>Change<span class=\"unseen\"> ").text(&row.name);
    html.tag("</span></summary>");
    let said = format!("{} was changed.", row.name);
    form::begin("PUT", &to, &[About::Merge(&to), About::Base(&base), About::Said(&said)], html);
    form::field("Roles", "data-at=\"roles\" data-kind=\"list\"", &row.roles.join(", "), html);
    let password = "type=\"password\" data-at=\"password\" data-kind=\"given\" autocomplete=\"new-password\" \
                    placeholder=\"as it is\"";
    form::field("New password", password, "", html);
    form::end("Save", html);
    let sure = format!("Delete the user {}? Nobody can log in by that name then.", row.name);
    let gone = Parameters::default().with("rev", &row.rev).on(&to);
    let about = [About::Sure(&sure), About::Said("The user was deleted.")];
    form::button("DELETE", &gone, &about, ("danger", "Delete"), html);
    html.tag("</details></td></tr>\n");
}

fn new_user(html: &mut Html) {
    html.tag("<details class=\"new\"><summary>New user</summary>");
    let to = format!("/{}/{}{{name}}", users::DATABASE, users::PREFIX);
    let about = [About::Base("{\"type\":\"user\",\"roles\":[]}"), About::Said("The user was made.")];
    form::begin("PUT", &to, &about, html);
    html.tag("<div class=\"fields\">");
    form::field("Name", "name=\"name\" data-at=\"name\" required autocomplete=\"off\"", "", html);
    let password = "type=\"password\" data-at=\"password\" required autocomplete=\"new-password\"";
    form::field("Password", password, "", html);
    form::field("Roles", "data-at=\"roles\" data-kind=\"list\" placeholder=\"editors, readers\"", "", html);
    html.tag("</div>");
    form::end("Create", html);
    html.tag("</details>\n");
}

/// Server admins: of the settings, so without a past.
fn admins(request: &Request, html: &mut Html) {
    let live = request.app.settings.live();
    html.tag("<h2>Server admins</h2><p>They may do everything, in all databases.</p>\n");
    table("Server admins", &["Name", "Change"], html);
    for name in live.admins.shown().keys() {
        let to = format!("{ADMINS}/{}", crate::route::encode(name));
        html.tag("<tr><th scope=\"row\"><bdi>").text(name).tag("</bdi></th><td><details class=\"inline\"><summary>");
        html.tag("Change<span class=\"unseen\"> ").text(name).tag("</span></summary>");
        form::begin("PUT", &to, &[About::Text, About::Said("The password was changed.")], html);
        let field = "type=\"password\" name=\"body\" required autocomplete=\"new-password\"";
        form::field("New password", field, "", html);
        form::end("Save", html);
        let sure = format!("Take the rights of a server admin from {name}?");
        form::button("DELETE", &to, &[About::Sure(&sure)], ("danger", "Take the right away"), html);
        html.tag("</details></td></tr>\n");
    }
    table_end(html);
    html.tag("<details class=\"new\"><summary>New server admin</summary>");
    form::begin("PUT", &format!("{ADMINS}/{{admin}}"), &[About::Text, About::Said("The admin was made.")], html);
    html.tag("<div class=\"fields\">");
    form::field("Name", "name=\"admin\" required autocomplete=\"off\" pattern=\"[^:]+\"", "", html);
    form::field("Password", "type=\"password\" name=\"body\" required autocomplete=\"new-password\"", "", html);
    html.tag("</div>");
    form::end("Create", html);
    html.tag("</details>\n");
}

/// `/_utils/-/account`: who one is, and one's password.
pub(super) fn account(request: &Request, session: &Session) -> Result<Answer> {
    let identity = session.identity();
    let Some(name) = &identity.name else { return Err(ApiError::authentication_required()) };
    let mut frame = Frame::begin(request, session, "Account", None, "Account", false);
    let html = &mut frame.html;
    html.tag("<dl class=\"members\"><dt>Name</dt><dd><bdi>").text(name).tag("</bdi></dd><dt>Roles</dt><dd>");
    for role in &identity.roles {
        html.tag("<code>").text(role).tag("</code> ");
    }
    html.tag("</dd></dl>\n");
    if identity.is_server_admin() {
        html.tag("<p>").link(HERE, "Server admins are changed among the users.").tag("</p>\n");
        return Ok(frame.end());
    }
    let to = document(users::DATABASE, &format!("{}{name}", users::PREFIX));
    let said = "The password was changed: log in with it.";
    let about = [About::Merge(&to), About::Said(said), About::Then("/_utils/")];
    form::begin("PUT", &to, &about, html);
    let field = "type=\"password\" data-at=\"password\" required autocomplete=\"new-password\"";
    form::field("New password", field, "", html);
    form::end("Change it", html);
    Ok(frame.end())
}
