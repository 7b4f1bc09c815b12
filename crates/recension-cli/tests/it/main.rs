//! The real binary as its users run it: one test binary, a module a command or client. What has to be alone in its
//! process is beside this folder and says why.
// Texts and tables stand where they are used.
#![allow(clippy::format_collect, clippy::format_push_string, clippy::large_stack_arrays, clippy::type_complexity)]

mod answers;
mod apocrypha;
mod apocrypha_clients;
mod attach;
mod attacks;
mod backups;
mod branches;
mod browser;
mod changes;
mod cluster;
mod common;
mod config;
mod couchdb_recordings;
mod curl;
mod doctor;
mod documents;
mod edits;
mod encryption;
mod erase;
mod find;
mod functions;
mod gateways;
mod generated;
mod guide;
mod help;
mod import;
mod javascript_clients;
mod python_clients;
mod redis_clients;
mod replication;
mod retention;
mod schema;
mod scripts;
mod serve_logs;
mod sharing;
mod shell;
mod text_browser;
mod token;
mod views;
