//! The engine over a network: `recension://HOST:PORT`, in TLS but on loopback, for those whom the
//! server lets in.

mod address;
mod client;
mod secret;
mod server;

pub use crate::door::Still;
pub use address::NetworkAddress;
pub use client::open;
pub use server::{Gate, Said, Token, listen};
