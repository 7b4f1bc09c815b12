//! Views of design documents over HTTP: `_view`, its `queries`, `_info`, `_view_cleanup`. One file each for the
//! parameters, the rows and the descriptions.

mod asked;
mod info;
mod rows;
mod view;

pub(crate) use self::asked::ViewQuery;
pub use self::info::{cleanup, info};
pub(crate) use self::rows::ViewList;
pub use self::view::{Asked, endpoint};
