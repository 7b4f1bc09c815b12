//! The engine over a network: `recension://TOKEN@HOST:PORT`, in TLS but on loopback, for those who know the token.

mod address;
mod client;
mod server;

pub use address::NetworkAddress;
pub use client::open;
pub use server::{Token, listen};
