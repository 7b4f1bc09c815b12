//! The text of a JSON web token, read so that it can be read in one way only: three parts of base64url without padding
//! or loose bits, the first two being JSON objects in which no member's name occurs twice, at any level. RFC 8725's
//! warnings beyond signatures and claims are followed here. Pure; nothing is believed yet.

use std::fmt;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use recension_wire::limits::TOKEN_BYTES_MAX;

/// The content of a token, before its signature is checked.
#[derive(Debug)]
pub(super) struct Said {
    /// The key that it names.
    pub(super) kid: Option<String>,
    pub(super) typ: Option<String>,
    pub(super) claims: Map<String, Value>,
}

/// Reads a token.
///
/// # Errors
/// The reason for which it is refused.
pub(super) fn read(token: &str) -> Result<Said, &'static str> {
    if token.len() > TOKEN_BYTES_MAX {
        return Err("it is too long");
    }
    let parts: Vec<&str> = token.split('.').collect();
    let [header, claims, signature] = parts.as_slice() else { return Err("it has not three parts") };
    if signature.is_empty() {
        return Err("it is not signed");
    }
    let header = object(header)?;
    // RFC 7515, 4.1.11: a reader must refuse critical headers that it does not understand. This one understands none.
    if header.contains_key("crit") {
        return Err("it has critical extensions, and none is understood");
    }
    if header.contains_key("enc") || header.contains_key("zip") {
        return Err("it is encrypted or compressed");
    }
    let text = |name: &str| match header.get(name) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err("a member of its header is no text"),
    };
    if text("alg")?.is_none() {
        return Err("it names no algorithm");
    }
    Ok(Said { kid: text("kid")?, typ: text("typ")?, claims: object(claims)? })
}

fn object(part: &str) -> Result<Map<String, Value>, &'static str> {
    let bytes = BASE64_URL_SAFE_NO_PAD.decode(part).map_err(|_| "a part of it is not base64url")?;
    match serde_json::from_slice(&bytes) {
        Ok(Unambiguous(Value::Object(members))) => Ok(members),
        _ => Err("a part of it is no JSON object, or has a member twice"),
    }
}

/// A JSON value in which no object has two members of one name.
struct Unambiguous(Value);

impl<'de> Deserialize<'de> for Unambiguous {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Reader).map(Unambiguous)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON without members that come twice")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("no number"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(Unambiguous(element)) = elements.next_element()? {
            array.push(element);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some((name, Unambiguous(value))) = members.next_entry::<String, Unambiguous>()? {
            if object.insert(name, value).is_some() {
                return Err(A::Error::custom("a member comes twice"));
            }
        }
        Ok(Value::Object(object))
    }
}
