//! The endpoints, one file a family. Each checks its method, reads its parameters, asks the documents layer and puts
//! the answer into CouchDB's form. Rights are for `auth` to decide, waiting threads for `state`.

// A floor of the server, for no other program: what a name says is not said again.
#![allow(missing_docs)]

pub mod access;
pub mod all_docs;
pub mod attachments;
pub mod backup;
pub mod branches;
pub mod bulk;
pub mod changes;
pub(crate) mod changes_query;
pub mod cluster_setup;
pub(crate) mod compacted;
pub mod consumers;
pub mod database;
pub mod db_updates;
pub mod documents;
pub mod erase;
pub mod expiry;
pub(crate) mod feed;
pub mod functions;
pub mod history;
pub(crate) mod incoming;
pub(crate) mod inline;
pub(crate) mod intake;
pub mod leaves;
pub(crate) mod list_options;
pub(crate) mod listed;
pub mod local;
pub mod maintenance;
pub mod mango;
pub(crate) mod multipart;
pub mod multipart_parser;
pub mod node;
pub mod node_config;
pub(crate) mod normal;
pub mod partition;
pub(crate) mod patch;
pub mod purge;
pub(crate) mod range;
pub(crate) mod reading;
pub mod replicate;
pub mod retention;
pub mod revisions;
pub mod rows;
pub mod schema;
pub mod security;
pub(crate) mod sequence;
pub mod server;
pub mod session;
pub(crate) mod streaming;
pub mod tokens;
pub mod topics;
pub mod views;
pub(crate) mod web_socket;
pub mod within;
pub mod writing;

pub(crate) use recension_wire::format;
pub(crate) use recension_wire::members as body;
