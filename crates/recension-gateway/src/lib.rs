//! Requests in the forms in which web servers pass them on: records of FastCGI, netstrings of SCGI, and the environment
//! of CGI, which the other two contain. Pure: bytes in, events and bytes out, no socket and no clock. Every length is
//! bounded ([`limits`]).
//!
//! ```
//! use recension_gateway::{environment, scgi};
//!
//! let sent = b"43:CONTENT_LENGTH\x000\x00SCGI\x001\x00REQUEST_URI\x00/a%2Fb\x00,";
//! let (environment, taken) = scgi::head(sent)?.expect("all of it is there");
//! assert_eq!(taken, sent.len());
//! assert_eq!(environment::request(&environment)?.head.uri, "/a%2Fb");
//! # Ok::<(), recension_gateway::Malformed>(())
//! ```

pub mod answer;
pub mod environment;
pub mod fcgi;
pub mod handed;
pub mod limits;
pub mod pairs;
pub mod raw;
pub mod record;
pub mod scgi;

/// The error for bytes that cannot be read: the sender speaks another protocol, or exceeds a bound. The connection is
/// closed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Malformed(pub &'static str);

impl std::fmt::Display for Malformed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for Malformed {}

/// The variables of a request, in the order in which they were sent.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Environment(pub Vec<(Vec<u8>, Vec<u8>)>);

impl Environment {
    /// A variable. If several have the name, the first.
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        self.0.iter().find(|(own, _)| own == name.as_bytes()).map(|(_, value)| value.as_slice())
    }

    /// A variable that is text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.get(name).and_then(|value| std::str::from_utf8(value).ok())
    }
}
