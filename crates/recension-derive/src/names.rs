//! The names that serde gives to fields, and the names that collections may have.

/// A rule of serde's `rename_all`, applied to a field's name.
pub(crate) fn renamed(field: &str, rule: &str) -> Option<String> {
    let words = || field.split('_').filter(|word| !word.is_empty());
    let capital = |word: &str| {
        let mut chars = word.chars();
        chars.next().map(|first| first.to_uppercase().chain(chars).collect::<String>()).unwrap_or_default()
    };
    Some(match rule {
        "lowercase" | "snake_case" => field.to_owned(),
        "UPPERCASE" | "SCREAMING_SNAKE_CASE" => field.to_uppercase(),
        "PascalCase" => words().map(capital).collect(),
        "camelCase" => {
            let pascal: String = words().map(capital).collect();
            let mut chars = pascal.chars();
            chars.next().map(|first| first.to_lowercase().chain(chars).collect()).unwrap_or_default()
        }
        "kebab-case" => field.replace('_', "-"),
        "SCREAMING-KEBAB-CASE" => field.to_uppercase().replace('_', "-"),
        _ => return None,
    })
}

/// A struct's name as the name of a collection.
pub(crate) fn snake_case(name: &str) -> String {
    let mut out = String::new();
    for (at, c) in name.char_indices() {
        if c.is_uppercase() && at > 0 {
            out.push('_');
        }
        out.extend(c.to_lowercase());
    }
    out
}

/// The error for a wrong name of a collection or an index. The rule is the library's own.
pub(crate) fn check_name(name: &str) -> Result<(), &'static str> {
    if name.is_empty() || name.len() > 238 {
        return Err("a name has 1 to 238 characters");
    }
    if !name.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_') {
        return Err("a name begins with a letter, a digit or _");
    }
    if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_$()+-/.".contains(&byte)) {
        return Err("a name is made of the letters a-z and A-Z, digits, and _ $ ( ) + - / .");
    }
    Ok(())
}

/// The path to a member of this name.
pub(crate) fn path_to(member: &str) -> String {
    let mut out = String::new();
    for c in member.chars() {
        if matches!(c, '.' | '[' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_named_as_serde_names_them() {
        for (rule, expected) in [
            ("lowercase", "first_name"),
            ("UPPERCASE", "FIRST_NAME"),
            ("PascalCase", "FirstName"),
            ("camelCase", "firstName"),
            ("snake_case", "first_name"),
            ("SCREAMING_SNAKE_CASE", "FIRST_NAME"),
            ("kebab-case", "first-name"),
            ("SCREAMING-KEBAB-CASE", "FIRST-NAME"),
        ] {
            assert_eq!(renamed("first_name", rule).as_deref(), Some(expected), "{rule}");
        }
        assert_eq!(renamed("x", "spongeBob"), None);
        assert_eq!(snake_case("BankAccount"), "bank_account");
        assert_eq!(path_to("a.b[c"), "a\\.b\\[c");
    }
}
