//! The results of a run: the report (JSON), and its other forms: a table, HTML, CSV, Markdown, a comparison of two. All
//! of them are computed from the JSON, so that no figure is ever written by hand.

pub mod claims;
pub mod compare;
pub mod csv;
pub mod curve;
pub mod digest;
pub mod headlines;
pub mod html;
pub mod losses;
pub mod markdown;
pub mod model;
pub mod picture;
pub mod record;
pub mod recorded;
pub mod series;
pub mod summary;
pub mod table;
#[cfg(test)]
mod testing;
pub mod units;

pub use model::{Report, Row, SubjectInfo};
