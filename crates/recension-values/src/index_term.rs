//! What CouchDB hashes (SHA-1) for the name of an index of Mango that has none (`mango_idx:gen_name`): the Erlang
//! external term of the definition and of the options that it came with. Pure.

use crate::error::Result;
use crate::rev_hash::HashableBody;
use crate::term;

/// The options of an index that is made.
#[derive(Clone, Copy, Debug)]
pub struct IndexOptions<'i> {
    /// The definition, as minified JSON, as the client gave it.
    pub definition: &'i str,
    /// The design document, as the client named it.
    pub ddoc: Option<&'i str>,
    /// The name.
    pub name: Option<&'i str>,
    /// Whether it is of partitions, if the client says so.
    pub partitioned: Option<bool>,
    /// `json` or `text`.
    pub of_type: &'i str,
    /// The quorum, which CouchDB hashes, too.
    pub w: i64,
}

impl IndexOptions<'_> {
    /// The term.
    ///
    /// # Errors
    /// [`crate::error::Error::NumberOutOfRange`], [`crate::error::Error::Json`].
    pub fn term(&self) -> Result<Vec<u8>> {
        let definition = HashableBody::of(self.definition)?;
        let mut out = vec![term::VERSION];
        let out = &mut out;
        term::put_tuple(out, 2);
        out.extend_from_slice(definition.bytes());
        term::put_list(out, 6);
        let option = |out: &mut Vec<u8>, name: &str| {
            term::put_tuple(out, 2);
            term::put_atom(out, name);
        };
        let text = |out: &mut Vec<u8>, text: Option<&str>| match text {
            Some(text) => term::put_binary(out, text.as_bytes()),
            None => term::put_atom(out, "auto_name"),
        };
        // In the order of their names.
        option(out, "ddoc");
        text(out, self.ddoc);
        option(out, "def");
        out.extend_from_slice(definition.bytes());
        option(out, "name");
        text(out, self.name);
        option(out, "partitioned");
        term::put_atom(out, self.partitioned.map_or("db_default", |given| if given { "true" } else { "false" }));
        option(out, "type");
        term::put_binary(out, self.of_type.as_bytes());
        option(out, "w");
        term::put_integer(out, self.w);
        term::put_nil(out);
        Ok(std::mem::take(out))
    }
}
