//! What CouchDB has and this server does not have yet, in one table: each is refused with 501 and says what it is that is
//! missing, so that nobody looks for a mistake of their own. Access is decided before, as it will be.

use http::Method;

use crate::auth::{Access, Session};
use crate::error::ApiError;

/// Where a path stands.
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

/// Who will be let in.
#[derive(Clone, Copy)]
enum To {
    ServerAdmins,
    Admins,
    Members,
}

/// Place, name, methods (none: any), who is let in, what is missing.
type Room = (Place<'static>, &'static str, &'static str, To, &'static str);

const DB: &str = "";
const REPLICATION: &str = "Replication by the server itself";
const QUERIES: &str = "Mango queries (_find)";
const INDEXES: &str = "Mango indexes";
const VIEWS: &str = "Views";
const FUNCTIONS: &str = "Functions of design documents";
const SEARCH: &str = "Full-text search";
const SHARDS: &str = "Sharding";
const STATISTICS: &str = "This part of the node's statistics";

const ROOMS: &[Room] = &[
    (Place::Server, "_replicate", "POST", To::ServerAdmins, REPLICATION),
    (Place::Server, "_scheduler", "", To::ServerAdmins, REPLICATION),
    (Place::Server, "_cluster_setup", "", To::ServerAdmins, "Clustering"),
    (Place::Server, "_reshard", "", To::ServerAdmins, SHARDS),
    (Place::Server, "_search_analyze", "", To::ServerAdmins, SEARCH),
    (Place::Server, "_nouveau_analyze", "", To::ServerAdmins, SEARCH),
    (Place::Server, "_utils", "", To::ServerAdmins, "A page for administration (Fauxton)"),
    (Place::Node, "_stats", "", To::ServerAdmins, STATISTICS),
    (Place::Node, "_system", "", To::ServerAdmins, STATISTICS),
    (Place::Node, "_versions", "", To::ServerAdmins, STATISTICS),
    (Place::Node, "_smoosh", "", To::ServerAdmins, STATISTICS),
    (Place::Node, "_restart", "", To::ServerAdmins, "Restarting by request"),
    (Place::Database(DB), "_find", "POST", To::Members, QUERIES),
    (Place::Database(DB), "_explain", "POST", To::Members, QUERIES),
    (Place::Database(DB), "_index", "GET", To::Members, INDEXES),
    (Place::Database(DB), "_index", "", To::Admins, INDEXES),
    (Place::Database(DB), "_shards", "", To::Members, SHARDS),
    (Place::Database(DB), "_sync_shards", "", To::Members, SHARDS),
    (Place::Database(DB), "_search_cleanup", "", To::Admins, SEARCH),
    (Place::Database(DB), "_nouveau_cleanup", "", To::Admins, SEARCH),
    (Place::Partition(DB), "_find", "POST", To::Members, QUERIES),
    (Place::Partition(DB), "_explain", "POST", To::Members, QUERIES),
    (Place::Partition(DB), "_design", "", To::Members, VIEWS),
    (Place::Design(DB), "_view", "", To::Members, VIEWS),
    (Place::Design(DB), "_info", "", To::Members, VIEWS),
    (Place::Design(DB), "_show", "", To::Members, FUNCTIONS),
    (Place::Design(DB), "_list", "", To::Members, FUNCTIONS),
    (Place::Design(DB), "_update", "", To::Members, FUNCTIONS),
    (Place::Design(DB), "_rewrite", "", To::Members, FUNCTIONS),
    (Place::Design(DB), "_search", "", To::Members, SEARCH),
    (Place::Design(DB), "_search_info", "", To::Members, SEARCH),
    (Place::Design(DB), "_nouveau", "", To::Members, SEARCH),
    (Place::Design(DB), "_nouveau_info", "", To::Members, SEARCH),
];

/// How a request for something that is not there yet is refused; `None` where CouchDB has no such thing either.
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
