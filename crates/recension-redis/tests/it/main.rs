//! The door for Redis through its public interface: replies to commands, and connections.

mod callers;
mod commands;
mod connections;
mod differential;
mod long;
mod watching;
