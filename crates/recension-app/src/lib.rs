//! What all requests share ([`state::App`]): configuration and settings, who asks and what they may do, the databases
//! that are reached by that alone, and figures. It knows no endpoint.

// A floor of the server, for no other program: what a name says is not said again.
#![allow(missing_docs)]

pub mod auth;
pub mod backups;
pub mod compacting;
pub mod config;
pub mod cors;
pub mod descriptors;
pub mod functions;
pub mod identity;
pub mod learning;
pub mod logs;
pub mod metrics;
pub mod node_statistics;
pub mod observed;
pub mod replication;
pub mod request;
pub mod request_log;
pub mod samples;
pub mod setting_names;
pub mod settings;
pub mod slow;
pub mod spoken;
pub mod state;
pub mod uuids;
