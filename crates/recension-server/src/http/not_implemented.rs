//! CouchDB's features that this server does not have yet, in one table. Each is refused with 501 and named, so that
//! nobody looks for their own mistake. Access is decided before, as it will be.

use http::Method;

use crate::auth::{Access, Session};
use crate::error::ApiError;

/// The place of a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place<'p> {
    /// `/_name`
    Server,
    /// `/_node/{node}/_name`
    Node,
    /// `/{db}/_name`
    Database(&'p str),
    /// `/{db}/_partition/{partition}/_name`
    Partition(&'p str),
    /// `/{db}/_design/{design}/_name`
    Design(&'p str),
}

/// The users who will be let in.
#[derive(Clone, Copy)]
enum To {
    ServerAdmins,
    Admins,
    Members,
}

/// Place, name, methods (none: any), who is let in, what is missing.
type Room = (Place<'static>, &'static str, &'static str, To, &'static str);

const DB: &str = "";
const SEARCH: &str = "Full-text search";
const SHARDS: &str = "Sharding";
const STATISTICS: &str = "This part of the node's statistics";

const ROOMS: &[Room] = &[
    (Place::Server, "_reshard", "", To::ServerAdmins, SHARDS),
    (Place::Server, "_search_analyze", "", To::ServerAdmins, SEARCH),
    (Place::Server, "_nouveau_analyze", "", To::ServerAdmins, SEARCH),
    (Place::Node, "_stats", "", To::ServerAdmins, STATISTICS),
    (Place::Node, "_system", "", To::ServerAdmins, STATISTICS),
    (Place::Node, "_versions", "", To::ServerAdmins, STATISTICS),
    (Place::Node, "_smoosh", "", To::ServerAdmins, STATISTICS),
    (Place::Node, "_restart", "", To::ServerAdmins, "Restarting by request"),
    (Place::Database(DB), "_shards", "", To::Members, SHARDS),
    (Place::Database(DB), "_sync_shards", "", To::Members, SHARDS),
    (Place::Database(DB), "_search_cleanup", "", To::Admins, SEARCH),
    (Place::Database(DB), "_nouveau_cleanup", "", To::Admins, SEARCH),
    (Place::Design(DB), "_search", "", To::Members, SEARCH),
    (Place::Design(DB), "_search_info", "", To::Members, SEARCH),
    (Place::Design(DB), "_nouveau", "", To::Members, SEARCH),
    (Place::Design(DB), "_nouveau_info", "", To::Members, SEARCH),
];

/// The refusal of a feature that is not there yet; `None` if CouchDB has no such feature either.
pub(crate) fn refusal(session: &Session, method: &Method, place: Place<'_>, name: &str) -> Option<ApiError> {
    let of_place = |room: &&Room| std::mem::discriminant(&room.0) == std::mem::discriminant(&place) && room.1 == name;
    let fits = |room: &&Room| room.2.is_empty() || room.2 == method.as_str();
    let mut rooms = ROOMS.iter().filter(of_place).peekable();
    let methods = rooms.peek()?.2;
    let Some((_, _, _, to, what)) = rooms.find(fits) else { return Some(ApiError::method_not_allowed(methods)) };
    let granted = match (to, place) {
        (To::ServerAdmins, _) | (_, Place::Server | Place::Node) => session.server_admin().map(drop),
        (To::Admins, Place::Database(db) | Place::Partition(db) | Place::Design(db)) => {
            session.database(db, Access::Admin).map(drop)
        }
        (To::Members, Place::Database(db) | Place::Partition(db) | Place::Design(db)) => {
            session.database(db, Access::Member).map(drop)
        }
    };
    Some(granted.err().unwrap_or_else(|| ApiError::not_there_yet(what)))
}
