//! `CouchDB`'s HTTP, as Recension, express-pouchdb and `CouchDB` itself speak it.

use std::collections::HashMap;
use std::fmt::Write as _; // to a String, which cannot fail
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{Dialect, Server, id, wrong};
use crate::data::value;
use crate::error::{LabError, Result};
use crate::load::Answer;

/// The dialect.
pub struct Couch {
    /// The header fields that every request has.
    fields: String,
}

/// The server of a URL, `http://name:password@host:port`.
pub(super) fn given(url: &str) -> Result<Server> {
    let (address, admin) = parsed_url(url)?;
    Ok(super::couch(None, address, admin, &format!("a server that was given: CouchDB {}", version(address))))
}

/// The version that a server says it has.
fn version(address: SocketAddr) -> String {
    let mut said = String::new();
    let asked = TcpStream::connect(address).and_then(|mut stream| {
        stream.write_all(b"GET / HTTP/1.0\r\nhost: lab\r\n\r\n")?;
        stream.read_to_string(&mut said)
    });
    let version = said.split_once("\"version\":\"").and_then(|(_, rest)| rest.split('"').next());
    asked.ok().and(version).unwrap_or("of an unknown version").to_owned()
}

/// Its address, and how it is asked.
pub(crate) fn at(url: &str) -> Result<(SocketAddr, Couch)> {
    parsed_url(url).map(|(address, admin)| (address, Couch::new(address, admin)))
}

type Login<'u> = Option<(&'u str, &'u str)>;

fn parsed_url(url: &str) -> Result<(SocketAddr, Login<'_>)> {
    let malformed = || LabError::Usage {
        what: format!("--couchdb-url must be http://NAME:PASSWORD@HOST:PORT without a path, and is \"{url}\""),
    };
    let rest = url.strip_prefix("http://").ok_or_else(malformed)?.trim_end_matches('/');
    let (login, place) = rest.rsplit_once('@').map_or((None, rest), |(login, place)| (Some(login), place));
    let place = if place.contains(':') { place.to_owned() } else { format!("{place}:5984") };
    let found = place.to_socket_addrs().map_err(LabError::io(format!("finding {place}")))?.next();
    Ok((found.ok_or_else(malformed)?, login.and_then(|login| login.split_once(':'))))
}

/// A row of `_all_docs` or of `_changes`, an answer of `_bulk_docs`.
#[derive(Deserialize)]
struct Told<'a> {
    id: String,
    #[serde(default)]
    rev: Option<String>,
    #[serde(default)]
    value: Option<Rev>,
    #[serde(default)]
    changes: Vec<Rev>,
    #[serde(borrow, default)]
    doc: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Rev {
    rev: String,
}

#[derive(Deserialize)]
struct Listed<'a> {
    #[serde(borrow, default, alias = "results")]
    rows: Vec<Told<'a>>,
}

impl Couch {
    /// For a server, as an admin if it has one.
    pub(crate) fn new(address: SocketAddr, admin: Option<(&str, &str)>) -> Self {
        let mut fields = format!("host: {address}\r\naccept: application/json\r\n");
        if let Some((name, password)) = admin {
            let _ = write!(fields, "authorization: Basic {}\r\n", base64(format!("{name}:{password}").as_bytes()));
        }
        Couch { fields }
    }

    /// A request.
    pub(crate) fn request(&self, method: &str, target: &str, body: Option<&str>) -> Vec<u8> {
        let body_fields = match body {
            Some(body) => format!("content-type: application/json\r\ncontent-length: {}\r\n", body.len()),
            None if method == "GET" => String::new(),
            None => "content-length: 0\r\n".to_owned(),
        };
        let body = body.unwrap_or_default();
        format!("{method} /{target} HTTP/1.1\r\n{}{body_fields}\r\n{body}", self.fields).into_bytes()
    }

    /// Makes a database.
    pub fn make(&self, database: &str) -> Vec<u8> {
        self.request("PUT", database, None)
    }

    /// Gets a target in a form.
    pub(crate) fn get_as(&self, target: &str, form: &str) -> Vec<u8> {
        let as_json = String::from_utf8(self.request("GET", target, None)).unwrap_or_default();
        as_json.replacen("accept: application/json", &format!("accept: {form}"), 1).into_bytes()
    }

    /// Posts a text to a target.
    pub(crate) fn post(&self, target: &str, body: &str) -> Vec<u8> {
        self.request("POST", target, Some(body))
    }

    /// Puts bytes to a target.
    pub(crate) fn put_bytes(&self, target: &str, bytes: &[u8]) -> Vec<u8> {
        let (fields, length) = (&self.fields, bytes.len());
        let form = "content-type: application/octet-stream";
        let head = format!("PUT /{target} HTTP/1.1\r\n{fields}{form}\r\ncontent-length: {length}\r\n\r\n");
        [head.as_bytes(), bytes].concat()
    }

    /// Stores these documents.
    pub(crate) fn bulk_of(&self, database: &str, documents: &str) -> Vec<u8> {
        self.request("POST", &format!("{database}/_bulk_docs"), Some(documents))
    }

    /// Removes one; for servers that were given.
    pub fn remove(&self, database: &str) -> Vec<u8> {
        self.request("DELETE", database, None)
    }

    /// Stores documents in one request.
    pub fn bulk(&self, database: &str, first: u64, count: u64) -> Vec<u8> {
        self.request("POST", &format!("{database}/_bulk_docs"), Some(&documents(first, count, "{\"docs\":", "}")))
    }

    /// Lists all documents.
    pub fn all_docs(&self, database: &str, with_documents: bool) -> Vec<u8> {
        let query = if with_documents { "?include_docs=true" } else { "" };
        self.request("GET", &format!("{database}/_all_docs{query}"), None)
    }

    /// Reads all changes.
    pub fn changes(&self, database: &str) -> Vec<u8> {
        self.request("GET", &format!("{database}/_changes"), None)
    }

    /// Whether a batch was stored; returns the revisions in the order of the documents. The answer's rows may come in
    /// another one: `CouchDB` answers in the order of the request, and `PouchDB`, as of express-pouchdb, nearly.
    pub fn check_bulk(&self, first: u64, count: u64, answer: &Answer) -> Result<Vec<String>> {
        let what = format!("_bulk_docs of {count} documents");
        let told: Vec<Told<'_>> = parsed(&what, 201, answer)?;
        same_count(&what, count as usize, told.len(), answer)?;
        let mut revisions: HashMap<String, Option<String>> = told.into_iter().map(|told| (told.id, told.rev)).collect();
        let revision = |n: u64| {
            let found = revisions.remove(&id(n));
            found.clone().flatten().ok_or_else(|| LabError::Wrong {
                what: what.clone(),
                expected: format!("the revision of {}", id(n)),
                found: if found.is_some() { "a row without one" } else { "no row of it" }.to_owned(),
            })
        };
        (first..first + count).map(revision).collect()
    }

    /// Checks that a list has exactly these documents, in their order, with their revisions and, if they are wanted,
    /// their bodies.
    pub fn check_all_docs(&self, revisions: &[String], with_documents: bool, answer: &Answer) -> Result<()> {
        let what = "_all_docs";
        let listed: Listed<'_> = parsed(what, 200, answer)?;
        same_count(what, revisions.len(), listed.rows.len(), answer)?;
        for ((row, revision), n) in listed.rows.iter().zip(revisions).zip(0..) {
            let told = row.value.as_ref().map(|value| value.rev.as_str());
            if row.id != id(n) || told.is_some_and(|told| told != revision) || (told.is_none() && row.doc.is_none()) {
                return Err(wrong(what, format!("{} at {revision}", id(n)), answer));
            }
            match row.doc {
                Some(doc) if with_documents => same_document(n, revision, doc.get())?,
                None if with_documents => return Err(wrong(what, format!("the body of {}", id(n)), answer)),
                _ => {}
            }
        }
        Ok(())
    }

    /// Whether the feed has each document once, with its revision.
    pub fn check_changes(&self, revisions: &[String], answer: &Answer) -> Result<()> {
        let what = "_changes";
        let listed: Listed<'_> = parsed(what, 200, answer)?;
        same_count(what, revisions.len(), listed.rows.len(), answer)?;
        let told: HashMap<&str, &str> =
            listed.rows.iter().filter_map(|row| Some((row.id.as_str(), row.changes.first()?.rev.as_str()))).collect();
        for (revision, n) in revisions.iter().zip(0..) {
            if told.get(id(n).as_str()) != Some(&revision.as_str()) {
                return Err(wrong(what, format!("{} at {revision}", id(n)), answer));
            }
        }
        Ok(())
    }
}

impl Dialect for Couch {
    fn put(&self, database: &str, n: u64) -> Vec<u8> {
        self.request("PUT", &format!("{database}/{}", id(n)), Some(&value(n, 0)))
    }

    fn get(&self, database: &str, n: u64) -> Vec<u8> {
        self.request("GET", &format!("{database}/{}", id(n)), None)
    }

    fn check_put(&self, n: u64, answer: &Answer) -> Result<String> {
        let what = format!("PUT of {}", id(n));
        let told: Told<'_> = parsed(&what, 201, answer)?;
        let rev = told.rev.filter(|rev| rev.starts_with("1-") && told.id == id(n));
        rev.ok_or_else(|| wrong(what, "its first revision", answer))
    }

    fn check_get(&self, n: u64, revision: &str, answer: &Answer) -> Result<()> {
        let what = format!("GET of {}", id(n));
        if answer.status != 200 {
            return Err(wrong(what, "200", answer));
        }
        same_document(n, revision, &String::from_utf8_lossy(&answer.body))
    }

    fn couch(&self) -> Option<&Couch> {
        Some(self)
    }
}

/// Documents as an array with something around it.
pub fn documents(first: u64, count: u64, before: &str, after: &str) -> String {
    let mut text = String::from(before);
    for n in first..first + count {
        text.push(if n == first { '[' } else { ',' });
        let _ = write!(text, "{{\"_id\":\"{}\",{}", id(n), value(n, 0).trim_start_matches('{'));
    }
    text.push(']');
    text.push_str(after);
    text
}

fn parsed<'a, T: Deserialize<'a>>(what: &str, status: u16, answer: &'a Answer) -> Result<T> {
    let parsed = serde_json::from_slice(&answer.body).ok().filter(|_| answer.status == status);
    parsed.ok_or_else(|| wrong(what, format!("{status} and what CouchDB answers"), answer))
}

fn same_count(what: &str, expected: usize, found: usize, answer: &Answer) -> Result<()> {
    if expected == found { Ok(()) } else { Err(wrong(what, format!("{expected} rows, found {found}"), answer)) }
}

/// Whether a text is document `n`: as values, since a server may write numbers its own way.
fn same_document(n: u64, revision: &str, text: &str) -> Result<()> {
    let differs = || LabError::Wrong {
        what: format!("the document {}", id(n)),
        expected: format!("{} at {revision}", value(n, 0)),
        found: text.chars().take(600).collect(),
    };
    let Ok(Value::Object(mut found)) = serde_json::from_str(text) else { return Err(differs()) };
    let (found_id, found_rev) = (found.shift_remove("_id"), found.shift_remove("_rev"));
    let named = found_id.as_ref().and_then(Value::as_str) == Some(id(n).as_str())
        && found_rev.as_ref().and_then(Value::as_str) == Some(revision);
    let expected: Value = serde_json::from_str(&value(n, 0)).unwrap_or_default();
    if named && same_value(&Value::Object(found), &expected) { Ok(()) } else { Err(differs()) }
}

/// Whether two values say the same: 8.00 and 8 are one number.
fn same_value(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(name, value)| other.get(name).is_some_and(|other| same_value(value, other)))
        }
        _ => one == other,
    }
}

/// Base64, for one header field.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let bits = three.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - three.len()));
        for place in 0..4 {
            let digit = DIGITS.get((bits >> (18 - 6 * place)) as usize & 63).copied().unwrap_or_default();
            text.push(if place <= three.len() { char::from(digit) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn couch() -> Couch {
        Couch::new(([127, 0, 0, 1], 5984).into(), Some(("adm", "pass")))
    }

    fn answer(status: u16, body: impl Into<String>) -> Answer {
        Answer { status, body: body.into().into_bytes() }
    }

    #[test]
    fn the_header_field_of_basic_authentication_is_right() {
        for (login, expected) in
            [("adm:pass", "YWRtOnBhc3M="), ("a:bcd", "YTpiY2Q="), ("ab:c", "YWI6Yw=="), ("abc", "YWJj")]
        {
            assert_eq!(base64(login.as_bytes()), expected);
        }
        assert!(String::from_utf8(couch().get("db", 7)).unwrap().starts_with("GET /db/d000007 HTTP/1.1\r\nhost: "));
    }

    /// The document of a number, as a server answers it.
    fn document(n: u64, rev: &str) -> String {
        format!("{{\"_id\":\"{}\",\"_rev\":\"{rev}\",{}", id(n), value(n, 0).trim_start_matches('{'))
    }

    #[test]
    fn a_server_that_lies_is_found() {
        let couch = couch();
        let revs: Vec<String> = (0..3).map(|n| format!("1-{n}")).collect();
        let row = |n: u64, body: &str| {
            format!("{{\"id\":\"{}\",\"key\":\"{}\",\"value\":{{\"rev\":\"1-{n}\"}}{body}}}", id(n), id(n))
        };
        let list = |rows: &[String]| answer(200, format!("{{\"total_rows\":3,\"rows\":[{}]}}", rows.join(",")));
        let doc =
            |n: u64, of: u64| row(n, &format!(",\"doc\":{}", document(of, &format!("1-{n}")).replace(&id(of), &id(n))));
        let change =
            |n: u64, rev: u64| format!("{{\"seq\":{n},\"id\":\"{}\",\"changes\":[{{\"rev\":\"1-{rev}\"}}]}}", id(n));
        let feed = |rows: &[String]| answer(200, format!("{{\"results\":[{}],\"last_seq\":3}}", rows.join(",")));
        let stored = |count: u64| {
            let rows: Vec<String> =
                (0..count).map(|n| format!("{{\"ok\":true,\"id\":\"{}\",\"rev\":\"1-{n}\"}}", id(n))).collect();
            answer(201, format!("[{}]", rows.join(",")))
        };
        let plain = [row(0, ""), row(1, ""), row(2, "")];
        let full = [doc(0, 0), doc(1, 1), doc(2, 2)];

        couch.check_get(1, "1-1", &answer(200, document(1, "1-1"))).unwrap();
        couch.check_all_docs(&revs, false, &list(&plain)).unwrap();
        couch.check_all_docs(&revs, true, &list(&full)).unwrap();
        couch.check_changes(&revs, &feed(&[change(2, 2), change(0, 0), change(1, 1)])).unwrap();
        assert_eq!(couch.check_bulk(0, 3, &stored(3)).unwrap(), revs);
        let told: Vec<serde_json::Value> = serde_json::from_slice(&stored(3).body).unwrap();
        let rows = |order: [usize; 3]| answer(201, serde_json::to_string(&order.map(|at| &told[at])).unwrap());
        assert_eq!(couch.check_bulk(0, 3, &rows([0, 2, 1])).unwrap(), revs, "the revisions are the documents'");
        for (what, checked) in [
            ("another document", couch.check_get(2, "1-1", &answer(200, document(1, "1-1")))),
            ("another revision", couch.check_get(1, "1-2", &answer(200, document(1, "1-1")))),
            (
                "a body that was changed",
                couch.check_get(1, "1-1", &answer(200, document(1, "1-1").replace("20", "21"))),
            ),
            ("another status", couch.check_get(1, "1-1", &answer(404, document(1, "1-1")))),
            ("an error for a revision", couch.check_put(1, &answer(409, "{\"error\":\"conflict\"}")).map(drop)),
            ("fewer stored", couch.check_bulk(0, 3, &stored(2)).map(drop)),
            ("one stored twice", couch.check_bulk(0, 3, &rows([0, 1, 1])).map(drop)),
            ("others stored", couch.check_bulk(1, 3, &stored(3)).map(drop)),
            ("a short list", couch.check_all_docs(&revs, false, &list(&plain[..2]))),
            ("one twice", couch.check_all_docs(&revs, false, &list(&[row(0, ""), row(1, ""), row(1, "")]))),
            ("no documents", couch.check_all_docs(&revs, true, &list(&plain))),
            (
                "a document's body in another's place",
                couch.check_all_docs(&revs, true, &list(&[doc(0, 0), doc(1, 2), doc(2, 2)])),
            ),
            ("a change missing", couch.check_changes(&revs, &feed(&[change(0, 0), change(1, 1), change(1, 1)]))),
            (
                "a change of another revision",
                couch.check_changes(&revs, &feed(&[change(0, 0), change(1, 2), change(2, 2)])),
            ),
        ] {
            assert!(matches!(checked, Err(LabError::Wrong { .. })), "{what}: {checked:?}");
        }
    }
}
