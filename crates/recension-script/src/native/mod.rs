//! Map functions that need no JavaScript: those that only test, read members and emit. They are recognised by their
//! text and run here. A function that is not surely understood is left to JavaScript. docs/internals/views.md lists the
//! recognised forms. `lexer` and `parse` make a program from a text. `value` reads and writes JSON as JavaScript does.
//! `coerce` has JavaScript's conversions, and `run` runs a program. `members` finds the members that a function reads
//! if it is left to JavaScript.

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
