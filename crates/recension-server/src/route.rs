//! From a request's path to what it names. Pure. CouchDB's rules: a path is cut at its slashes before it is decoded, `+` is
//! a blank, ids of design and local documents have a slash of their own, and attachments' names any number of them.

use crate::error::{ApiError, Result};

/// What a path names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Target {
    /// `/`
    Root,
    /// `/_name/rest…`: of the server. The rest is decoded.
    Server { name: String, rest: Vec<String> },
    /// `/{db}`
    Database { db: String },
    /// `/{db}/_name/rest…`: of the database.
    Special { db: String, name: String, rest: Vec<String> },
    /// `/{db}/{id}`, `/{db}/_design/{name}` or `/{db}/_local/{name}`
    Document { db: String, id: String },
    /// What follows a document's id: an attachment's name, or an endpoint of ours that begins with `_`.
    OfDocument { db: String, id: String, name: String },
    /// `/{db}/_design%2Fname`: to be asked for with a slash.
    Redirect { to: String },
}

/// Databases whose names begin with `_`.
const SYSTEM_DATABASES: [&str; 3] = ["_users", "_replicator", "_global_changes"];

impl Target {
    /// Reads a path, as it stands in the request.
    pub(crate) fn parse(path: &str) -> Result<Self> {
        let mut parts = path.strip_prefix('/').unwrap_or(path).split('/');
        let first = parts.next().map_or_else(|| Ok(String::new()), decode)?;
        let rest: Vec<&str> = parts.collect();
        if first.is_empty() {
            return Ok(Target::Root);
        }
        if first.starts_with('_') && !SYSTEM_DATABASES.contains(&first.as_str()) {
            let rest = rest.iter().filter(|part| !part.is_empty()).map(|part| decode(part)).collect::<Result<_>>()?;
            return Ok(Target::Server { name: first, rest });
        }
        let db = first;
        match rest.as_slice() {
            [] | [""] => Ok(Target::Database { db }),
            ["_design", name, rest @ ..] if !name.is_empty() => {
                of_document(db, format!("_design/{}", decode(name)?), rest)
            }
            ["_local", name, rest @ ..] if !name.is_empty() => {
                of_document(db, format!("_local/{}", decode(name)?), rest)
            }
            ["_local"] | ["_local", ..] => Err(ApiError::bad_local_id()),
            [first, rest @ ..] => {
                let name = decode(first)?;
                if let Some(design) = name.strip_prefix("_design/") {
                    let to = path.replacen(first, &format!("_design/{}", encode(design)), 1);
                    return Ok(Target::Redirect { to });
                }
                if name.starts_with("_local/") {
                    return of_document(db, name, rest);
                }
                if name.starts_with('_') {
                    let rest = rest.iter().map(|part| decode(part)).collect::<Result<_>>()?;
                    return Ok(Target::Special { db, name, rest });
                }
                of_document(db, name, rest)
            }
        }
    }
}

fn of_document(db: String, id: String, rest: &[&str]) -> Result<Target> {
    match rest {
        [] | [""] => Ok(Target::Document { db, id }),
        _ => Ok(Target::OfDocument { db, id, name: decode(&rest.join("/"))? }),
    }
}

/// Decodes `%41` and `+`.
pub(crate) fn decode(text: &str) -> Result<String> {
    if !text.bytes().any(|byte| matches!(byte, b'%' | b'+')) {
        return Ok(text.to_owned());
    }
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    let digit = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16));
    while let Some(byte) = bytes.next() {
        match byte {
            b'+' => out.push(b' '),
            b'%' => {
                let mut ahead = bytes.clone();
                match (digit(ahead.next()), digit(ahead.next())) {
                    (Some(high), Some(low)) => {
                        out.push((high << 4 | low) as u8);
                        bytes = ahead;
                    }
                    _ => out.push(byte),
                }
            }
            _ => out.push(byte),
        }
    }
    String::from_utf8(out).map_err(|_| ApiError::bad_target())
}

/// Encodes what a path's part cannot hold; slashes too.
pub(crate) fn encode(text: &str) -> String {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._:".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push('%');
            out.push(char::from(HEX[usize::from(byte >> 4)]));
            out.push(char::from(HEX[usize::from(byte & 15)]));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> String {
        text.to_owned()
    }

    #[test]
    fn paths_name_what_couchdbs_do() {
        let document = |id: &str| Target::Document { db: text("db"), id: text(id) };
        let within = |id: &str, name: &str| Target::OfDocument { db: text("db"), id: text(id), name: text(name) };
        for (path, expected) in [
            ("/", Target::Root),
            ("/_up", Target::Server { name: text("_up"), rest: vec![] }),
            (
                "/_node/_local/_config/a%2Fb",
                Target::Server { name: text("_node"), rest: vec![text("_local"), text("_config"), text("a/b")] },
            ),
            ("/db", Target::Database { db: text("db") }),
            ("/db/", Target::Database { db: text("db") }),
            ("/a%2Fb", Target::Database { db: text("a/b") }),
            ("/_users", Target::Database { db: text("_users") }),
            ("/db/_changes", Target::Special { db: text("db"), name: text("_changes"), rest: vec![] }),
            ("/db/a+b", document("a b")),
            ("/db/a%2Bb%2Fc", document("a+b/c")),
            ("/db/_design/x", document("_design/x")),
            ("/db/_local/y%2Fz", document("_local/y/z")),
            ("/db/_local%2Fx", document("_local/x")),
            ("/db/a/dir/f.txt", within("a", "dir/f.txt")),
            ("/db/_design/x/_view/v", within("_design/x", "_view/v")),
            ("/db/_design%2Fx", Target::Redirect { to: text("/db/_design/x") }),
            ("/db/100%", document("100%")),
        ] {
            assert_eq!(Target::parse(path), Ok(expected), "{path}");
        }
        assert_eq!(Target::parse("/db/_local/"), Err(ApiError::bad_local_id()));
        assert_eq!(Target::parse("/db/%ff"), Err(ApiError::bad_target()));
    }

    #[test]
    fn what_is_encoded_decodes_to_itself() {
        for sample in ["a b", "ä/ö+%", "_design/x", "\0\u{7f}😀"] {
            assert_eq!(decode(&encode(sample)).as_deref(), Ok(sample));
        }
    }
}
