//! Functions of design documents over HTTP: `_update`, `_show`, `_list`, `_rewrite`. What they are told of a request,
//! what they make of it, and how that is answered.

mod answered;
mod called;
mod list;
mod requested;
pub(crate) mod rewrite;

pub(crate) use self::called::{show, update};
pub(crate) use self::list::list;
pub(crate) use self::requested::RequestObject;
