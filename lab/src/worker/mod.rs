//! Each store is measured in a process of its own, which takes commands on its standard input and answers on
//! its standard output, a line of JSON each. So a subject's memory, processor time and writes are its own,
//! its threads are seen to rest before the next subject's turn, it can be killed, traced, and given a budget
//! of memory, and one that crashes does not take the run with it.

pub mod acknowledged;
pub mod apocrypha;
pub mod bigtable;
pub mod bonsaidb;
pub mod cluster;
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
pub mod serve;
pub mod writes;

pub use process::{Launch, Loss, Worker};
pub use protocol::{Command, Reply, Rows};
