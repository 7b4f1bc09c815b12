//! JSON as text: a strict streaming parser (RFC 8259), a minifier, paths into a text, numbers.
//! No tree of values is ever built here; what is stored is the text that came in.

mod error;
mod members;
mod minify;
mod number;
mod parser;
mod path;
mod path_set;
mod text;

pub use error::{JsonError, JsonProblem};
pub use minify::{Minified, minify, minify_object};
pub(super) use number::BigInteger;
pub use number::Number;
pub use parser::{Event, Parser};
pub use path::{Path, Step};
pub(super) use path_set::PathSet;
pub use text::{Text, quote};
