//! JSON with its members on lines of their own, for people. Pure.

/// A JSON text with its members on lines of their own.
pub(super) fn pretty(text: &str) -> String {
    // Numbers stay as they are: nothing is read into floating point.
    let (mut out, mut depth, mut in_string, mut escaped) =
        (String::with_capacity(text.len() * 2), 0_usize, false, false);
    let line = |out: &mut String, depth: usize| {
        out.push('\n');
        out.extend(std::iter::repeat_n("  ", depth.min(64)));
    };
    let mut last = ' ';
    for c in text.chars() {
        if in_string {
            out.push(c);
            in_string = escaped || c != '"';
            escaped = !escaped && c == '\\';
        } else {
            match c {
                '{' | '[' => {
                    out.push(c);
                    depth += 1;
                    last = c;
                    continue;
                }
                '}' | ']' => {
                    depth = depth.saturating_sub(1);
                    if !matches!(last, '{' | '[') {
                        line(&mut out, depth);
                    }
                    out.push(c);
                }
                ',' => {
                    out.push(c);
                    line(&mut out, depth);
                }
                ':' => out.push_str(": "),
                c => {
                    if matches!(last, '{' | '[') {
                        line(&mut out, depth);
                    }
                    in_string = c == '"';
                    out.push(c);
                }
            }
        }
        last = c;
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn json_is_written_for_people() {
        let text = r#"{"a":[1,{"b":"x,{\"}"}],"c":{},"d":[]}"#;
        let expected =
            "{\n  \"a\": [\n    1,\n    {\n      \"b\": \"x,{\\\"}\"\n    }\n  ],\n  \"c\": {},\n  \"d\": []\n}";
        assert_eq!(pretty(text), expected);
    }

    proptest! {
        #[test]
        fn what_is_pretty_means_the_same(
            members in prop::collection::btree_map(".{0,9}", prop::collection::vec(".{0,9}", 0..4), 0..5),
        ) {
            let text = serde_json::to_string(&members).unwrap();
            let value: serde_json::Value = serde_json::from_str(&pretty(&text)).unwrap();
            prop_assert_eq!(value.to_string(), text);
        }
    }
}
