//! What the modules for other languages have in common: a store that can be closed, where a collection is read, long
//! answers in pieces, and which kind of refusal an error is. Nothing here knows a language.

mod ahead;
pub mod branches;
mod fork;
mod numbers;
mod place;
mod refused;

pub use ahead::Ahead;
pub use fork::{Own, forked};
pub use numbers::{is_plain, respelled};
pub use place::{Handle, Patch, Place, Within};
pub use refused::{Kind, Refused, Result};
