//! The lines of docs/src/external-subjects.md: fields with tabs between. Pure.

/// A line out of fields, with its end.
pub fn line<F: AsRef<str>>(fields: &[F]) -> String {
    let mut text = String::new();
    for (at, field) in fields.iter().enumerate() {
        if at > 0 {
            text.push('\t');
        }
        for character in field.as_ref().chars() {
            match character {
                '\t' => text.push_str("\\t"),
                '\n' => text.push_str("\\n"),
                '\r' => text.push_str("\\r"),
                '\\' => text.push_str("\\\\"),
                other => text.push(other),
            }
        }
    }
    text.push('\n');
    text
}

/// The fields of a line without its end.
pub fn fields(line: &str) -> Vec<String> {
    line.split('\t').map(unescape).collect()
}

fn unescape(field: &str) -> String {
    if !field.contains('\\') {
        return field.to_owned();
    }
    let mut text = String::with_capacity(field.len());
    let mut characters = field.chars();
    while let Some(character) = characters.next() {
        text.push(match character {
            '\\' => match characters.next() {
                Some('t') => '\t',
                Some('n') => '\n',
                Some('r') => '\r',
                Some(other) => other,
                None => '\\',
            },
            other => other,
        });
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_fields_come_back(written in proptest::collection::vec(".*", 1..5)) {
            let text = line(&written);
            prop_assert_eq!(text.matches('\n').count(), 1);
            prop_assert_eq!(fields(text.trim_end_matches('\n')), written);
        }
    }

    #[test]
    fn lines_are_as_documented() {
        assert_eq!(line(&["new", "7", "a\tb\\"]), "new\t7\ta\\tb\\\\\n");
        assert_eq!(fields("rows\t0"), ["rows", "0"]);
    }
}
