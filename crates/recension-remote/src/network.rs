//! The engine over a network: `recension://TOKEN@HOST:PORT`, for clients with the token. TLS is needed except on
//! loopback.

mod address;
mod client;
mod server;

pub use address::NetworkAddress;
pub use client::open;
pub use server::{Token, listen};
