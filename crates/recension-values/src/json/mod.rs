//! JSON as text: a strict streaming parser (RFC 8259), a minifier, paths into a text, numbers. The stored text is the
//! text that came in. Changes (patches, differences) work on an outline of the text, and copy the parts that they do
//! not touch as they stand.

mod align;
mod diff;
mod error;
mod members;
mod merge_patch;
mod minify;
mod node;
mod number;
mod outline;
mod parser;
mod patch;
mod patch_error;
mod path;
mod path_set;
mod pointer;
mod same;
mod scan;
mod text;
mod three_way;

pub use diff::diff_minified;
pub use diff::{Change, diff};
pub use error::{JsonError, JsonProblem};
#[cfg(feature = "typed")]
pub use members::Shape;
pub use members::all_differ;
pub use merge_patch::{merge_patch, merge_patch_minified};
pub use minify::{Minified, minify, minify_naming_repeats, minify_object};
pub use minify::{Visitor, minify_object_beside};
pub use minify::{is_reserved, reserved_name};
pub use number::BigInteger;
pub use number::Number;
pub use outline::{Kind, Outline, View};
pub use parser::{Event, Parser};
pub use patch::{JsonPatch, Operation};
pub use patch_error::{PatchError, PatchProblem};
pub use path::Cursor;
pub use path::{IntoPath, Path, Step};
pub use path_set::PathSet;
pub use pointer::Pointer;
#[cfg(feature = "typed")]
pub use same::same_number;
pub use text::{Text, plain_string, quote, quote_into, write_quoted};
pub use three_way::{MergeConflict, MergeRules, Preferred, merge_three};
