//! Members of the top level as documents: their ids and bodies. Ids and members of bodies must not begin with `_`, ids
//! must not be empty, and a body must be an object. Names that break this, and names that would be confused with
//! escaped ones, get a `$` in front. A value that is no object becomes the only member, `$value`, of one.

use std::borrow::Cow;

use recension::json::JsonError;
use recension::limits::DOCUMENT_ID_BYTES_MAX;

use crate::value::{Members, Value};

/// The member of a body that holds a value which is no object.
const VALUE: &str = "$value";
/// The beginning of such a body.
const BEFORE_VALUE: &str = r#"{"$value":"#;

/// The id of a member of the top level; `None` if its name is too long.
pub(crate) fn id_of(name: &str) -> Option<Cow<'_, str>> {
    let bare = name.trim_start_matches('$');
    let id =
        if bare.is_empty() || bare.starts_with('_') { Cow::Owned(format!("${name}")) } else { Cow::Borrowed(name) };
    Some(id).filter(|id| id.len() <= DOCUMENT_ID_BYTES_MAX)
}

/// The member of the top level that a document is; `None` if it is none, such as a design document.
pub(crate) fn name_of(id: &str) -> Option<&str> {
    let bare = id.trim_start_matches('$');
    match () {
        () if id.starts_with('_') => None,
        () if bare.is_empty() || bare.starts_with('_') => id.strip_prefix('$'),
        () => Some(id),
    }
}

fn is_marked(name: &str) -> bool {
    let bare = name.trim_start_matches('$');
    bare.starts_with('_') || (bare == "value" && bare.len() < name.len())
}

/// The body of a value's document.
pub(crate) fn body_of(value: &Value) -> String {
    match value {
        Value::Object(members) if !members.keys().any(|name| is_marked(name)) => value.to_json(),
        Value::Object(members) => {
            let marked = |(name, member): (&String, &Value)| {
                (if is_marked(name) { format!("${name}") } else { name.clone() }, member.clone())
            };
            Value::Object(members.iter().map(marked).collect()).to_json()
        }
        other => {
            let mut body = BEFORE_VALUE.to_owned();
            other.write_json(&mut body);
            body.push('}');
            body
        }
    }
}

/// The string in a document's body, if it can be used as it stands: it is not empty, and nothing in it is escaped.
pub(crate) fn text_of(body: &str) -> Option<&str> {
    let text = body.strip_prefix(BEFORE_VALUE)?.strip_prefix('"')?.strip_suffix("\"}")?;
    // A body is JSON: without a quote in it, the text is one string to the end.
    (!text.is_empty() && !text.bytes().any(|byte| matches!(byte, b'"' | b'\\'))).then_some(text)
}

/// The value of a document's body.
pub(crate) fn value_of(body: &str) -> Result<Value, JsonError> {
    // If it is a single value to the end, there is no other member.
    let only = body.strip_prefix(BEFORE_VALUE).and_then(|rest| rest.strip_suffix('}'));
    if let Some(Ok(value)) = only.map(Value::parse) {
        return Ok(value);
    }
    Value::parse(body).map(value_in)
}

fn value_in(body: Value) -> Value {
    let Value::Object(mut members) = body else { return body };
    if members.len() == 1
        && let Some(value) = members.swap_remove(VALUE)
    {
        return value;
    }
    if !members.keys().any(|name| name.starts_with('$') && is_marked(name)) {
        return Value::Object(members);
    }
    let bare = |(name, member): (String, Value)| match name.strip_prefix('$') {
        // Another program has written `$value` beside other members: it is no value of ours.
        Some(rest) if is_marked(&name) && name != VALUE => (rest.to_owned(), member),
        _ => (name, member),
    };
    Value::Object(members.into_iter().map(bare).collect::<Members>())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_text_is_what_the_value_is_and_nothing_that_has_to_be_decoded() {
        for (body, text) in [
            (r#"{"$value":"a"}"#, Some("a")),
            (r#"{"$value":"é, {}"}"#, Some("é, {}")),
            (r#"{"$value":""}"#, None),
            (r#"{"$value":"}"#, None),
            (r#"{"$value":"a\"}"#, None),
            (r#"{"$value":"a\n"}"#, None),
            (r#"{"$value":"a","b":"c"}"#, None),
            (r#"{"$value":["a"]}"#, None),
            (r#"{"value":"a"}"#, None),
            ("{}", None),
        ] {
            assert_eq!(text_of(body), text, "{body}");
            if let Some(text) = text {
                assert_eq!(value_of(body).unwrap().as_str(), Some(text));
            }
        }
    }

    #[test]
    fn names_that_no_document_can_have_get_another() {
        for (name, id) in [
            ("a", "a"),
            ("", "$"),
            ("$", "$$"),
            ("_a", "$_a"),
            ("$_a", "$$_a"),
            ("$a", "$a"),
            ("a_", "a_"),
            ("_design/x", "$_design/x"),
        ] {
            assert_eq!(id_of(name).as_deref(), Some(id));
            assert_eq!(name_of(id), Some(name));
        }
        assert_eq!(name_of("_design/x"), None);
        assert_eq!(id_of(&"x".repeat(2049)), None);
    }

    #[test]
    fn what_is_no_object_is_the_member_value_of_one() {
        for (value, body) in [
            ("1", r#"{"$value":1}"#),
            ("[{\"_a\":1}]", r#"{"$value":[{"_a":1}]}"#),
            (r#"{"value":1}"#, r#"{"value":1}"#),
            (r#"{"$value":1}"#, r#"{"$$value":1}"#),
            (r#"{"_id":1,"$_id":2,"$x":{"_y":3}}"#, r#"{"$_id":1,"$$_id":2,"$x":{"_y":3}}"#),
            ("{}", "{}"),
        ] {
            let parsed = Value::parse(value).unwrap();
            assert_eq!(body_of(&parsed), body);
            assert_eq!(value_of(body).unwrap(), parsed);
        }
    }

    #[test]
    fn a_body_of_others_is_what_it_says() {
        for body in
            [r#"{"$value":1,"a":2}"#, r#"{"$value":{"a":1},"b":{"c":2}}"#, r#"{"$value":[1],"$value":{},"x":"}"}"#]
        {
            assert_eq!(value_of(body).unwrap(), Value::parse(body).unwrap());
        }
        assert_eq!(value_of(r#"{ "$value" : 1 }"#).unwrap(), Value::parse("1").unwrap());
        assert_eq!(value_of(r#"{"$value":1,"$value":2}"#).unwrap(), Value::parse("2").unwrap());
        assert!(value_of(r#"{"$value":}"#).is_err());
    }

    proptest! {
        #[test]
        fn every_name_and_value_comes_back(names in prop::collection::btree_set("[$_]{0,3}(value|a|)", 0..5), other: bool) {
            for name in &names {
                let id = id_of(name).unwrap();
                prop_assert!(!id.is_empty() && !id.starts_with('_'));
                prop_assert_eq!(name_of(&id), Some(name.as_str()));
            }
            let members = Value::Object(names.into_iter().map(|name| (name, Value::Bool(other))).collect());
            for value in [members.clone(), Value::Array(vec![members]), Value::Bool(other)] {
                let body = body_of(&value);
                prop_assert!(recension::Write::put("x", &body).is_ok(), "{}", body);
                prop_assert_eq!(value_of(&body).unwrap(), value);
            }
        }
    }
}
