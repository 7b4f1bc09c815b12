//! From a request's path to its target. Pure. CouchDB's rules: a path is split at its slashes before it is decoded, `+`
//! is a blank, ids of design and local documents have one slash, and names of attachments any number of them.

use std::borrow::Cow;

use crate::error::{ApiError, Result};

/// The target of a path. It borrows from the path if nothing had to be decoded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Target<'p> {
    /// `/`
    Root,
    /// `/_name/rest…`: of the server. The rest is decoded.
    Server { name: Cow<'p, str>, rest: Vec<Cow<'p, str>> },
    /// `/{db}`
    Database { db: Cow<'p, str> },
    /// `/{db}/_name/rest…`: of the database.
    Special { db: Cow<'p, str>, name: Cow<'p, str>, rest: Vec<Cow<'p, str>> },
    /// `/{db}/{id}`, `/{db}/_design/{name}` or `/{db}/_local/{name}`
    Document { db: Cow<'p, str>, id: Cow<'p, str> },
    /// A name behind a document's id: an attachment's, or an endpoint of ours, which begins with `_`.
    OfDocument { db: Cow<'p, str>, id: Cow<'p, str>, name: Cow<'p, str> },
    /// `/{db}/_design%2Fname`: the client is sent to the path with a slash.
    Redirect { to: String },
}

/// The databases of the server's own, whose names begin with `_`.
pub const SYSTEM_DATABASES: [&str; 3] = ["_users", REPLICATOR, "_global_changes"];

/// The one whose documents ask for replications.
pub const REPLICATOR: &str = "_replicator";

impl<'p> Target<'p> {
    /// Reads a path, as it stands in the request. Several slashes are one.
    pub fn parse(path: &'p str) -> Result<Self> {
        if !path.contains("//") {
            return Target::of(path);
        }
        let mut single = String::with_capacity(path.len());
        for c in path.chars() {
            if c != '/' || !single.ends_with('/') {
                single.push(c);
            }
        }
        Ok(Target::of(&single)?.owned())
    }

    fn of(path: &'p str) -> Result<Self> {
        let (first, rest) = cut(path.strip_prefix('/').unwrap_or(path));
        let first = decoded(first)?;
        if first.is_empty() {
            return Ok(Target::Root);
        }
        if first.starts_with('_') && !SYSTEM_DATABASES.contains(&&*first) {
            let rest = parts(rest).filter(|part| !part.is_empty()).map(decoded).collect::<Result<_>>()?;
            return Ok(Target::Server { name: first, rest });
        }
        let db = first;
        let Some(rest) = rest.filter(|rest| !rest.is_empty()) else { return Ok(Target::Database { db }) };
        let (first, rest) = cut(rest);
        match (first, rest) {
            ("_design" | "_local", Some(below)) if !below.is_empty() && !below.starts_with('/') => {
                let (name, rest) = cut(below);
                return of_document(db, Cow::Owned(format!("{first}/{}", decoded(name)?)), rest);
            }
            ("_local", _) => return Err(ApiError::bad_local_id()),
            _ => {}
        }
        let name = decoded(first)?;
        if let Some(design) = name.strip_prefix("_design/") {
            return Ok(Target::Redirect { to: path.replacen(first, &format!("_design/{}", encode(design)), 1) });
        }
        if name.starts_with('_') && !name.starts_with("_local/") {
            let rest = parts(rest).map(decoded).collect::<Result<_>>()?;
            return Ok(Target::Special { db, name, rest });
        }
        of_document(db, name, rest)
    }
}

impl Target<'_> {
    fn owned<'o>(self) -> Target<'o> {
        let own = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
        let all = |rest: Vec<Cow<'_, str>>| rest.into_iter().map(own).collect();
        match self {
            Target::Root => Target::Root,
            Target::Server { name, rest } => Target::Server { name: own(name), rest: all(rest) },
            Target::Database { db } => Target::Database { db: own(db) },
            Target::Special { db, name, rest } => Target::Special { db: own(db), name: own(name), rest: all(rest) },
            Target::Document { db, id } => Target::Document { db: own(db), id: own(id) },
            Target::OfDocument { db, id, name } => Target::OfDocument { db: own(db), id: own(id), name: own(name) },
            Target::Redirect { to } => Target::Redirect { to },
        }
    }

    /// The database of the target.
    pub fn database(&self) -> Option<&str> {
        match self {
            Target::Database { db }
            | Target::Special { db, .. }
            | Target::Document { db, .. }
            | Target::OfDocument { db, .. } => Some(db),
            Target::Root | Target::Server { .. } | Target::Redirect { .. } => None,
        }
    }
}

/// A path's first part, and the text behind the slash after it.
fn cut(path: &str) -> (&str, Option<&str>) {
    path.split_once('/').map_or((path, None), |(first, rest)| (first, Some(rest)))
}

fn parts(rest: Option<&str>) -> impl Iterator<Item = &str> {
    rest.into_iter().flat_map(|rest| rest.split('/'))
}

fn of_document<'p>(db: Cow<'p, str>, id: Cow<'p, str>, rest: Option<&'p str>) -> Result<Target<'p>> {
    match rest {
        None | Some("") => Ok(Target::Document { db, id }),
        Some(name) => Ok(Target::OfDocument { db, id, name: decoded(name)? }),
    }
}

/// Decodes `%41` and `+`.
pub fn decode(text: &str) -> Result<String> {
    decoded(text).map(Cow::into_owned)
}

/// The same, borrowed if there is nothing to decode.
fn decoded(text: &str) -> Result<Cow<'_, str>> {
    if !text.bytes().any(|byte| matches!(byte, b'%' | b'+')) {
        return Ok(Cow::Borrowed(text));
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
                    _ => return Err(ApiError::bad_url_encoding()),
                }
            }
            _ => out.push(byte),
        }
    }
    String::from_utf8(out).map(Cow::Owned).map_err(|_| ApiError::bad_target())
}

/// Encodes characters that a part of a path cannot hold; slashes too.
pub fn encode(text: &str) -> String {
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

    fn text(text: &str) -> Cow<'_, str> {
        Cow::Borrowed(text)
    }

    #[test]
    fn paths_name_what_couchdbs_do() {
        let document = |id: &'static str| Target::Document { db: text("db"), id: text(id) };
        let within = |id: &'static str, name: &'static str| Target::OfDocument {
            db: text("db"),
            id: text(id),
            name: text(name),
        };
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
            ("/db/_design%2Fx", Target::Redirect { to: "/db/_design/x".to_owned() }),
            ("/db/100%25", document("100%")),
            ("/db/a/", document("a")),
            ("/db/a//b", within("a", "b")),
            ("//db//_design//x//_view/v", within("_design/x", "_view/v")),
            ("/db/_design", Target::Special { db: text("db"), name: text("_design"), rest: vec![] }),
            ("/db/_design/", Target::Special { db: text("db"), name: text("_design"), rest: vec![text("")] }),
            ("//db", Target::Database { db: text("db") }),
        ] {
            assert_eq!(Target::parse(path), Ok(expected), "{path}");
        }
        assert_eq!(Target::parse("/db/_local/"), Err(ApiError::bad_local_id()));
        assert_eq!(Target::parse("/db/%ff"), Err(ApiError::bad_target()));
        for cut in ["/db/100%", "/db/%2", "/d%zz/x", "/db/x/%+1"] {
            assert_eq!(Target::parse(cut), Err(ApiError::bad_url_encoding()), "{cut}");
        }
    }

    #[test]
    fn what_is_encoded_decodes_to_itself() {
        for sample in ["a b", "ä/ö+%", "_design/x", "\0\u{7f}😀"] {
            assert_eq!(decode(&encode(sample)).as_deref(), Ok(sample));
        }
    }
}
