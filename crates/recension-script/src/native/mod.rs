//! Map functions that need no JavaScript: those that only test, read members and emit. They are recognised from their
//! text and run here; whatever is not surely understood is left to JavaScript. docs/internals/views.md says what is
//! recognised. `lexer` and `parse` make a program of a text, `value` reads and writes JSON as JavaScript does, `coerce`
//! has its conversions, `run` runs, `members` finds which members a function reads that is left to JavaScript.

mod coerce;
mod lexer;
mod mapper;
mod members;
mod names;
mod number;
mod parse;
mod program;
mod run;
mod value;

pub(crate) use mapper::{NativeMapper, whole_text};
pub(crate) use members::Projection;
pub use program::Program;
