//! Reading the member `_attachments` of a document. Bytes that come with it are decoded, compressed and hashed
//! here, once, before anything is read or written.

use std::borrow::Cow;

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{GeneralPurpose, GeneralPurposeConfig};

use super::info::check_content_type;
use super::upload::Upload;
use super::wanted::{Following, Source, Wanted};
use crate::error::{Error, Result};
use crate::json::{Event, Number, Parser};

/// As Erlang reads it: bits that are left over at the end are ignored.
const BASE64: GeneralPurpose =
    GeneralPurpose::new(&STANDARD, GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true));

/// The type that CouchDB assumes for an attachment without one.
const DEFAULT_TYPE: &str = "application/octet-stream";

/// One member of `_attachments`.
#[derive(Default)]
struct Members<'t> {
    content_type: Option<String>,
    encoding: Option<String>,
    revpos: Option<u32>,
    length: Option<u64>,
    encoded_length: Option<u64>,
    /// A length is a number, and none of bytes.
    no_length: bool,
    digest: Option<String>,
    stub: bool,
    follows: bool,
    data: Option<Cow<'t, str>>,
}

/// Reads the value of `_attachments`. Members of it that are no objects are dropped, as CouchDB does.
pub fn parse(text: &str) -> Result<Wanted> {
    let not_an_object = Error::BadField { field: "_attachments", expected: "an object of attachments by name" };
    let mut parser = Parser::of_text(text);
    let mut wanted = Wanted::default();
    if !matches!(parser.next_event()?, Some(Event::ObjectStart)) {
        return Err(not_an_object);
    }
    while let Some(Event::Key(name)) = parser.next_event()? {
        let name = name.decode().into_owned();
        match parser.next_event()? {
            Some(Event::ObjectStart) => {
                let members = members(&mut parser, &name)?;
                let revpos = members.revpos;
                let source = source(&name, members)?;
                wanted.push(name, revpos, source)?;
            }
            Some(event) => skip(&mut parser, event)?,
            None => break,
        }
    }
    Ok(wanted)
}

fn members<'t>(parser: &mut Parser<'t>, name: &str) -> Result<Members<'t>> {
    let count = |number: Number<'_>, no_length: &mut bool| {
        let count = number.to_i64().and_then(|number| u64::try_from(number).ok());
        *no_length |= count.is_none();
        count
    };
    let mut members = Members::default();
    while let Some(Event::Key(key)) = parser.next_event()? {
        let Some(value) = parser.next_event()? else { break };
        match (&*key.decode(), value) {
            ("content_type", Event::String(text)) => members.content_type = Some(text.decode().into_owned()),
            ("content_type", value) if !matches!(value, Event::Null) => {
                return Err(bad(name, "its content_type is no string"));
            }
            ("encoding", Event::String(text)) => members.encoding = Some(text.decode().into_owned()),
            ("data", Event::String(text)) => members.data = Some(text.decode()),
            ("revpos", Event::Number(number)) => {
                members.revpos = number.to_i64().and_then(|revpos| u32::try_from(revpos).ok());
            }
            ("length", Event::Number(number)) => members.length = count(number, &mut members.no_length),
            ("encoded_length", Event::Number(number)) => {
                members.encoded_length = count(number, &mut members.no_length);
            }
            ("digest", Event::String(text)) => members.digest = Some(text.decode().into_owned()),
            ("stub", Event::Bool(stub)) => members.stub = stub,
            ("follows", Event::Bool(follows)) => members.follows = follows,
            (_, value) => skip(parser, value)?,
        }
    }
    Ok(members)
}

/// Reads to the end of a value that has begun.
fn skip(parser: &mut Parser<'_>, begun: Event<'_>) -> Result<()> {
    if matches!(begun, Event::ObjectStart | Event::ArrayStart) {
        let inside = parser.depth();
        while parser.depth() >= inside {
            parser.next_event()?;
        }
    }
    Ok(())
}

fn source(name: &str, members: Members<'_>) -> Result<Source> {
    let content_type = members.content_type.unwrap_or_else(|| DEFAULT_TYPE.to_owned());
    if members.stub {
        return Ok(Source::Stub { length: members.length });
    }
    if members.follows {
        if members.no_length {
            return Err(bad(name, "its length is no number of bytes"));
        }
        check_content_type(&content_type)?;
        let gzip = members.encoding.as_deref() == Some("gzip");
        return Ok(Source::Follows(Box::new(Following {
            name: name.to_owned(),
            content_type,
            gzip,
            length: if gzip { members.encoded_length } else { members.length },
            md5: members.digest.as_deref().and_then(md5),
        })));
    }
    let data = members.data.ok_or_else(|| bad(name, "it has neither data nor stub nor follows"))?;
    let blank = |byte: u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
    let bytes = if data.bytes().any(blank) {
        BASE64.decode(data.bytes().filter(|&byte| !blank(byte)).collect::<Vec<u8>>())
    } else {
        BASE64.decode(data.as_bytes())
    };
    let bytes = bytes.map_err(|_| bad(name, "its data is not Base64"))?;
    Ok(Source::Upload(Upload::inline(&bytes, &content_type)?))
}

fn bad(name: &str, why: &'static str) -> Error {
    Error::BadAttachment { name: name.chars().take(80).collect(), why }
}

/// The MD5 of a digest such as `md5-rL0Y20zC+Fzt72VPzMSk2A==`. Digests of other kinds say nothing here.
fn md5(digest: &str) -> Option<[u8; 16]> {
    BASE64.decode(digest.strip_prefix("md5-")?).ok()?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attachments_are_read_and_junk_is_dropped_as_couchdb_does() {
        let wanted = parse(
            r#"{"x":1,"a":{"data":"aGk=","content_type":"image/png","revpos":7,"junk":{"b":[{}]}},"y":[{"data":1}],
               "b":{"stub":true,"digest":"md5-x","length":2},"c":{"follows":true,"content_type":"text/plain","encoding":"gzip"},
               "d":{"data":"aG\n k="}, "e":{"data":"","stub":false}}"#,
        )
        .unwrap();
        let lengths: Vec<_> = wanted.uploads().map(|upload| (upload.content_type(), upload.length())).collect();
        assert_eq!(lengths, [("image/png", 2), (DEFAULT_TYPE, 2), (DEFAULT_TYPE, 0)]);
        assert_eq!(wanted.following().len(), 1);
        assert!(wanted.following()[0].gzip);
        assert!(parse("{}").unwrap().is_nothing() && parse(r#"{"x":1}"#).unwrap().is_nothing());
    }

    #[test]
    fn what_cannot_be_attachments_is_refused() {
        for (text, part) in [
            ("1", "_attachments must be an object"),
            ("[]", "_attachments must be an object"),
            (r#"{"a":{}}"#, "neither data"),
            (r#"{"a":{"data":1}}"#, "neither data"),
            (r#"{"a":{"data":"a"}}"#, "not Base64"),
            (r#"{"a":{"follows":true,"length":-5}}"#, "no number of bytes"),
            (r#"{"a":{"follows":true,"length":99999999999999999999}}"#, "no number of bytes"),
            (r#"{"a":{"data":"a!=="}}"#, "not Base64"),
            (r#"{"_a":{"data":""}}"#, "start with _"),
            (r#"{"a":{"data":"","content_type":"a\nb"}}"#, "control characters"),
        ] {
            let message = parse(text).unwrap_err().to_string();
            assert!(message.contains(part), "{text}: {message}");
        }
    }
}
