//! Answers as pages: the JSON of any endpoint, turned into HTML while it is sent. A page is markup that is written in
//! this source, with text in its places; [`writer::Html`] takes nothing else, so that no document leaves its place. A
//! page reads without a stylesheet and without a script. It holds one row of its answer at a time.

pub(crate) mod asked;
pub(crate) mod assets;
pub(crate) mod body;
pub(crate) mod escape;
pub(crate) mod form;
pub(crate) mod kept;
pub(crate) mod links;
pub(crate) mod list;
pub(crate) mod markup;
pub(crate) mod people;
pub(crate) mod plain;
pub(crate) mod shell;
pub(crate) mod split;
pub(crate) mod template;
pub(crate) mod turned;
pub(crate) mod value;
pub(crate) mod writer;
