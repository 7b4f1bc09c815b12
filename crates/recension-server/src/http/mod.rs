//! The endpoints, one file a family. Each checks its method, reads its parameters, asks the documents layer and puts
//! the answer into CouchDB's form; none of them decides who may do what (`auth`), or how a thread waits (`state`).

pub(crate) mod all_docs;
pub(crate) mod attachments;
pub(crate) mod body;
pub(crate) mod bulk;
pub(crate) mod changes;
pub(crate) mod changes_query;
pub(crate) mod database;
pub(crate) mod db_updates;
pub(crate) mod documents;
pub(crate) mod feed;
pub(crate) mod format;
pub(crate) mod history;
pub(crate) mod incoming;
pub(crate) mod inline;
pub(crate) mod intake;
pub(crate) mod list_options;
pub(crate) mod local;
pub(crate) mod maintenance;
pub(crate) mod multipart;
pub(crate) mod multipart_parser;
pub(crate) mod node_config;
pub(crate) mod normal;
pub(crate) mod openapi;
pub(crate) mod partition;
pub(crate) mod patch;
pub(crate) mod purge;
pub(crate) mod range;
pub(crate) mod reading;
pub(crate) mod retention;
pub(crate) mod revisions;
pub(crate) mod security;
pub(crate) mod selector;
pub(crate) mod server;
pub(crate) mod session;
pub(crate) mod streaming;
