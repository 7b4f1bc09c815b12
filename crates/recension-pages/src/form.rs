//! Forms of a list that an endpoint writes without knowing them: its rows, told one after the other.

use std::fmt;
use std::sync::Arc;

use recension::Document;

use recension_wire::error::Result;

/// A row of a list, while it is read.
pub trait ListRow {
    /// Its document, if the row has it as it is stored and with no member more.
    fn stored(&self) -> Option<&Document<'_>> {
        None
    }
    /// Writes the row as JSON.
    fn write_json(&self, out: &mut Vec<u8>) -> Result<()>;
    /// Its cells in a table.
    fn cells(&self) -> Result<Vec<String>>;
}

/// A form of a list that somebody else brings: its rows are written as they are read, and nothing is made of the text
/// that they would be as JSON.
pub trait Form: fmt::Debug + Send {
    /// Writes what stands before the rows. `head` is the JSON before them, which ends with an open list.
    fn begin(&mut self, head: &str, out: &mut Vec<u8>) -> Result<()>;
    /// Writes a row.
    fn row(&mut self, row: &dyn ListRow, out: &mut Vec<u8>) -> Result<()>;
    /// Writes what stands behind the rows.
    fn end(&mut self, out: &mut Vec<u8>) -> Result<()>;
}

/// A form that waits for an endpoint that can write its list with it. It is left there if none does.
pub trait Offered: fmt::Debug + Send + Sync {
    /// The form, once.
    fn take(&self) -> Option<Box<dyn Form>>;
}

/// The form that a request's list is wanted in, if it is none of the endpoints' own: an extension of its head.
#[derive(Clone, Debug)]
pub struct WantedForm(pub Arc<dyn Offered>);
