//! What an API token lets its bearer do, and where. Pure.

use http::Method;
use recension::Glob;
use serde::{Deserialize, Serialize};

use recension_wire::route::Target;

/// What a token lets its bearer do.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rights {
    /// Read the server's metrics, and nothing else.
    Metrics,
    /// Read documents.
    Read,
    /// Read and write documents.
    Write,
    /// Also design documents, indexes and everything else that a database's admin may do.
    Admin,
    /// Everything, as a server admin.
    Server,
}

impl std::str::FromStr for Rights {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        match text {
            "metrics" => Ok(Rights::Metrics),
            "read" => Ok(Rights::Read),
            "write" => Ok(Rights::Write),
            "admin" => Ok(Rights::Admin),
            "server" => Ok(Rights::Server),
            _ => Err("rights are metrics, read, write, admin or server".to_owned()),
        }
    }
}

/// The limits of a token that does not allow everything.
#[derive(Clone, Debug)]
pub(crate) struct Scope {
    pub(super) databases: Vec<Glob>,
    pub(super) rights: Rights,
}

impl Scope {
    /// Whether it is for the database. Databases of the server are only for tokens of a server admin.
    pub(super) fn covers(&self, database: &str) -> bool {
        !database.starts_with('_') && self.databases.iter().any(|glob| glob.matches(database))
    }

    /// Whether the token allows the request: any, or only one that reads.
    pub(super) fn permits(&self, method: &Method, target: &Target<'_>) -> bool {
        // Only server admins can write at the server's own paths; the console's are of databases, too.
        let of_server = match target {
            Target::Server { name, .. } => name != "_utils" || matches!(*method, Method::GET | Method::HEAD),
            _ => matches!(target, Target::Root | Target::Redirect { .. }),
        };
        self.rights > Rights::Read || of_server || reads(method, target)
    }
}

/// Whether a request to a database only reads.
pub fn reads(method: &Method, target: &Target<'_>) -> bool {
    if matches!(*method, Method::GET | Method::HEAD) {
        return true;
    }
    match target {
        Target::Special { name, rest, .. } if *method == Method::POST => {
            let reads = ["_all_docs", "_design_docs", "_bulk_get", "_revs_diff", "_missing_revs", "_changes"];
            let asks = ["_find", "_explain", "_aggregate", "_partition", "_local_docs"];
            (reads.contains(&&**name) || asks.contains(&&**name)) && !rest.iter().any(|part| part == "_index")
        }
        Target::OfDocument { id, name, .. } => {
            *method == Method::POST && id.starts_with("_design/") && name.starts_with("_view/")
        }
        _ => false,
    }
}
