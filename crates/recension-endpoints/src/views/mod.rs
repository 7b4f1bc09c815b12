//! Views of design documents over HTTP: `_view`, its `queries`, `_info`, `_view_cleanup`. One file each for the
//! parameters, the rows and the descriptions.

mod info;
mod rows;
mod view;
mod view_query;

pub(crate) use self::info::COLLATOR;
pub use self::info::{cleanup, info};
pub(crate) use self::rows::ViewList;
pub use self::view::{QueriedView, endpoint};
pub(crate) use self::view_query::ViewQuery;
