//! Who writes a document of `_replicator` owns it, as in CouchDB: a member's document says so before an endpoint sees
//! it. That nobody reads or writes those of others is the database's access rule (`databases/first.rs`).

use http::Method;
use recension::json::quote;

use super::session::Session;
use super::users_guard::GuardedRequest;
use recension_wire::error::Result;
use recension_wire::members::{member, members_of};
use recension_wire::route::{REPLICATOR, Target};

/// Lets requests for other databases pass, and of server admins.
pub async fn pass(mut asked: GuardedRequest<'_>, session: &Session, target: &Target<'_>) -> Result<()> {
    let writes = match (target, &asked.head.method) {
        (Target::Document { db, id }, &Method::PUT) => db == REPLICATOR && !id.starts_with('_'),
        (Target::Database { db }, &Method::POST) => db == REPLICATOR,
        _ => false,
    };
    let Some(name) = session.identity().name.clone().filter(|_| writes && !session.identity().is_server_admin()) else {
        return Ok(());
    };
    let body = asked.bytes(session).await?;
    let has_one = members_of(&body).is_ok_and(|members| member(&members, "owner").is_some());
    let owned = body.iter().position(|byte| *byte == b'{').filter(|_| !has_one).map(|open| {
        let (before, rest) = body.split_at(open + 1);
        let comma = if rest.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'}') { "" } else { "," };
        [before, format!("\"owner\":{}{comma}", quote(&name)).as_bytes(), rest].concat().into()
    });
    asked.body.replace(owned.unwrap_or(body));
    Ok(())
}
