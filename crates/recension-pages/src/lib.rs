//! Answers as pages: the JSON of any endpoint, turned into HTML while it is sent. A page is markup that is written in
//! this source, with text in its places; [`writer::Html`] takes nothing else, so that no document leaves its place. A
//! page reads without a stylesheet and without a script. It holds one row of its answer at a time.

// A floor of the server, for no other program: what a name says is not said again.
#![allow(missing_docs)]

pub mod assets;
pub(crate) mod body;
pub(crate) mod escape;
pub mod form;
pub mod kept;
pub mod links;
pub mod list;
pub(crate) mod markup;
pub mod page_request;
pub mod people;
pub(crate) mod plain;
pub mod shell;
pub(crate) mod split;
pub mod template;
pub(crate) mod turned;
pub mod value;
pub mod writer;
