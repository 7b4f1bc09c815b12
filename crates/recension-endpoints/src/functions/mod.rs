//! Functions of design documents over HTTP: `_update`, `_show`, `_list`, `_rewrite`; the request object that they are
//! given, and the answer that is made from their result.

mod answered;
mod called;
mod list;
mod requested;
pub mod rewrite;

pub use self::called::{show, update};
pub use self::list::list;
pub(crate) use self::requested::RequestObject;
