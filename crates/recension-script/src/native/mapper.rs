//! The mapper of a view whose map function is a program.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use recension::json::quote;
use recension::{Emitted, Error, MapInput, Mapper, Result};

use super::program::Program;
use super::run::run;
use super::value::read;

/// Members that are not in a document's body.
const BESIDE: [&str; 4] = ["_attachments", "_conflicts", "_deleted_conflicts", "_local_seq"];

/// Maps documents by a program.
pub(crate) struct NativeMapper {
    program: Program,
    local_seq: bool,
    log: fn(&str),
    /// The members of a document's body that it reads. `None`: it reads the document as JavaScript would see it.
    of_body: Option<BTreeSet<String>>,
}

/// The document as a map function sees it.
pub(crate) fn whole_text(input: &MapInput, local_seq: bool) -> String {
    let mut json = input.to_json();
    if local_seq {
        json.pop();
        // Writing to a String cannot fail.
        let _ = write!(json, ",\"_local_seq\":{}}}", input.document.seq);
    }
    json
}

impl NativeMapper {
    pub(crate) fn new(program: Program, local_seq: bool, log: fn(&str)) -> Self {
        let in_body = |members: &&BTreeSet<String>| !BESIDE.iter().any(|name| members.contains(*name));
        let of_body = program.members.as_ref().filter(in_body).cloned();
        NativeMapper { program, local_seq, log, of_body }
    }

    fn map_one(&self, input: &MapInput) -> Result<Vec<Emitted>> {
        let made = match &self.of_body {
            // In the common case no text has to be put together.
            Some(members) if !members.contains("_id") && !members.contains("_rev") => {
                run(&self.program, &read(&input.document.body, Some(members)).map_err(damaged)?)
            }
            Some(members) => {
                let head = format!("{{\"_id\":{},\"_rev\":\"{}\"}}", quote(&input.document.id), input.document.rev);
                let body = read(&input.document.body, Some(members)).map_err(damaged)?;
                run(&self.program, &read(&head, Some(members)).map_err(damaged)?.with(body))
            }
            None => {
                let text = whole_text(input, self.local_seq);
                run(&self.program, &read(&text, self.program.members.as_ref()).map_err(damaged)?)
            }
        };
        Ok(made.unwrap_or_else(|why| {
            (self.log)(&format!("function raised exception {why} with doc._id {}", input.document.id));
            Vec::new()
        }))
    }
}

fn damaged(error: recension::json::JsonError) -> Error {
    Error::Function { error: "os_process_error".to_owned(), reason: format!("a document does not read: {error}") }
}

impl Mapper for NativeMapper {
    fn map(&self, documents: &[MapInput]) -> Result<Vec<Vec<Emitted>>> {
        documents.iter().map(|input| self.map_one(input)).collect()
    }

    /// A program reads the document once, and the rows that it emits are bounded.
    fn in_commit(&self) -> bool {
        !self.local_seq
    }

    fn parallel(&self) -> usize {
        std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
    }
}
