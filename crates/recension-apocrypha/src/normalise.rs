//! Removing empty values after a write. Pure.

use crate::dialect::Normal;
use crate::value::{Members, Value};

/// Normalises the objects from the top of a member down to the written place.
pub(crate) fn along(members: &mut Members) {
    members.retain(|_, member| !member.is_empty());
}

/// Normalises all of a member of the top level.
pub(crate) fn everywhere(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|_, member| {
                everywhere(member);
                !member.is_falsy()
            });
        }
        Value::Array(elements) if elements.len() == 1 => {
            if let Some(only) = elements.pop() {
                *value = only;
            }
        }
        _ => {}
    }
}

/// Whether a value is removed from the top level.
pub(crate) fn vanishes(normal: Normal, value: &Value) -> bool {
    match normal {
        Normal::AlongThePath => value.is_empty(),
        Normal::Everywhere => value.is_falsy(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_falsy_value_vanishes_upward_and_arrays_of_one_collapse() {
        for (before, after) in [
            (r#"{"a":0,"b":false,"c":null,"d":"","e":{"f":[]},"g":0.0,"h":[0,1],"i":1}"#, r#"{"h":[0,1],"i":1}"#),
            (r#"{"a":["x"],"b":[["q"]],"c":[{}]}"#, r#"{"a":"x","b":["q"]}"#),
            (r#"[{"a":0},{}]"#, r#"[{"a":0},{}]"#),
        ] {
            let mut value = Value::parse(before).unwrap();
            everywhere(&mut value);
            assert_eq!(value.to_json(), after);
        }
    }
}
