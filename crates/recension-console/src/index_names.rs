//! Names of indexes as people read them. Those of design documents have a mark before them and a hash behind them,
//! which tell them apart in the store and nobody else. Pure.

/// What names of indexes of design documents begin with.
const OF_DESIGN: &str = "_mango/";
const HASH_DIGITS: usize = 12;

/// An index's name without its mark and its hash.
pub(super) fn shown(name: &str) -> &str {
    let Some(own) = name.strip_prefix(OF_DESIGN) else { return name };
    match own.rsplit_once('/') {
        Some((own, hash)) if hash.len() == HASH_DIGITS && hash.bytes().all(|digit| digit.is_ascii_hexdigit()) => own,
        _ => own,
    }
}

/// A text that names indexes, as plans do, with their names so.
pub(super) fn in_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(OF_DESIGN) {
        let (before, from) = rest.split_at(at);
        // These names have no spaces, and no punctuation but that of `shown_name`.
        let end = from.find(|c: char| !(c.is_ascii_alphanumeric() || "_-+./".contains(c))).unwrap_or(from.len());
        let (name, after) = from.split_at(end);
        out.push_str(before);
        out.push_str(shown(name));
        rest = after;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_no_hashes() {
        for (name, expected) in [
            ("by-name", "by-name"),
            ("_mango/country/0123456789ab", "country"),
            ("_mango/site/by-name/0123456789ab", "site/by-name"),
            ("_mango/a+b", "a+b"),
        ] {
            assert_eq!(shown(name), expected);
        }
        let plan = "2 ways: index _mango/a/0123456789ab alone; index _mango/b.c/abcdef012345, then sorted in memory";
        assert_eq!(in_text(plan), "2 ways: index a alone; index b.c, then sorted in memory");
        assert_eq!(in_text("scan of every document"), "scan of every document");
    }
}
