//! The URL of a database: its place and its credentials. Credentials leave this file only as a header.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::error::{Error, Result};

/// A database's URL, taken apart.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Address {
    /// The URL without credentials and without a trailing slash.
    pub(crate) url: String,
    /// The header `Authorization`.
    pub(crate) authorization: Option<String>,
}

/// A URL without name and password, for logs and answers.
pub fn without_credentials(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    format!("{scheme}://{host}{path}")
}

impl Address {
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let shown = without_credentials(text);
        let bad = |why| Error::BadUrl { url: shown.clone(), why };
        let (scheme, rest) =
            text.split_once("://").ok_or_else(|| bad("it begins with neither http:// nor https://"))?;
        if !matches!(scheme, "http" | "https") {
            return Err(bad("it begins with neither http:// nor https://"));
        }
        let authority = rest.split('/').next().unwrap_or_default();
        let authorization = match authority.rsplit_once('@') {
            None => None,
            Some((who, _)) => {
                let (name, password) = who.split_once(':').unwrap_or((who, ""));
                let decoded = |text| decoded(text).ok_or_else(|| bad("its name or password does not decode"));
                Some(basic(&decoded(name)?, &decoded(password)?))
            }
        };
        let url = shown.trim_end_matches('/').to_owned();
        if url.contains(['?', '#']) {
            return Err(bad("it has a query"));
        }
        let uri: http::Uri = url.parse().map_err(|_| bad("it does not read"))?;
        if uri.host().is_none_or(str::is_empty) {
            return Err(bad("it names no host"));
        }
        if uri.path().len() < 2 {
            return Err(bad("it does not end with the name of a database"));
        }
        Ok(Address { url, authorization })
    }
}

/// The header for a name and a password.
pub(crate) fn basic(name: &str, password: &str) -> String {
    format!("Basic {}", STANDARD.encode(format!("{name}:{password}")))
}

fn decoded(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let mut digit = || char::from(bytes.next()?).to_digit(16);
            let (high, low) = (digit()?, digit()?);
            out.push((high << 4 | low) as u8);
        } else {
            out.push(byte);
        }
    }
    String::from_utf8(out).ok()
}

/// Encodes a part of a path; slashes too.
pub(crate) fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// The path of a document. The slash after `_design` stays.
pub(crate) fn path_of(id: &str) -> String {
    match id.split_once('/') {
        Some((first @ ("_design" | "_local"), rest)) => format!("{first}/{}", encode(rest)),
        _ => encode(id),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_become_a_header_and_are_in_nothing_else() {
        let address = Address::parse("https://ada:p%40ss:w@example.org:5984/a%2Fb/").unwrap();
        assert_eq!(address.url, "https://example.org:5984/a%2Fb");
        assert_eq!(address.authorization, Some(basic("ada", "p@ss:w")));
        for wrong in
            ["notes", "ftp://a:secret@h/db", "http://a:secret@h", "http://a:secret@h/", "http://a:secret@h/d?x"]
        {
            let error = Address::parse(wrong).err().unwrap().to_string();
            assert!(!error.contains("secret"), "{error}");
        }
        assert_eq!(path_of("_design/a b/c"), "_design/a%20b%2Fc");
    }
}
