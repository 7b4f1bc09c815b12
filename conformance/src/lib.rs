//! Suites that every engine and every server must pass, and the simulated disk that crashes.

pub mod crash;
pub mod disturbed;
pub mod erase;
pub mod forking;
pub mod fuzz;
pub mod history;
pub mod killed;
pub mod promise;
pub mod shared;
pub mod sim;
pub mod suite;
