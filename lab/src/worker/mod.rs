//! Each store is measured in a process of its own, a worker. It takes commands on standard input and answers on
//! standard output, each a line of JSON. A subject's memory, processor time and writes can thus be told from others'.
//! Its threads come to rest before the next subject's turn. It can be killed, traced, and given a budget of memory, and
//! its crash does not end the run.

pub mod acknowledged;
pub mod apocrypha;
pub mod bigtable;
pub mod bonsaidb;
mod branches;
pub mod cluster;
pub mod couch;
pub mod documents;
pub mod goget;
pub mod hasql;
pub mod http;
pub mod logs;
pub mod mine;
pub mod offered;
pub mod process;
pub mod processes;
pub mod protocol;
pub mod queries;
pub mod reads;
pub mod revisions;
pub mod serve;
pub mod writes;
pub mod ycsb;

pub use process::{Launch, Loss, Worker};
pub use protocol::{Command, Reply, Rows};
