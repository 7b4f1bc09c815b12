//! Detects the format of an input, from its beginning and its name. It must not guess if the bytes allow two answers
//! and the wrong one would import something else than was meant.

use std::path::Path;

/// The forms in which documents come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// An array of documents: [{...}, {...}]
    Json,
    /// One object whose members are the documents, by id: {"id": {...}, ...}
    Map,
    /// One document after the other, usually one per line (NDJSON, JSON Lines)
    #[value(alias = "jsonl")]
    Ndjson,
    /// Comma-separated values under a header; also with tabs, semicolons or bars
    Csv,
}

/// The format of an input that begins with `start` and comes from `path`, if it can be told.
pub fn detect(start: &[u8], path: Option<&Path>) -> Option<Format> {
    match start.iter().find(|byte| !byte.is_ascii_whitespace()) {
        Some(b'[') => return Some(Format::Json),
        Some(b'{') => return Some(Format::Ndjson),
        _ => {}
    }
    let extension =
        path.and_then(Path::extension).and_then(|extension| extension.to_str()).map(str::to_ascii_lowercase);
    match extension.as_deref() {
        Some("csv" | "tsv") => return Some(Format::Csv),
        // The text does not begin as JSON does. It will be reported as malformed.
        Some("ndjson" | "jsonl") => return Some(Format::Ndjson),
        Some("json") => return Some(Format::Json),
        _ => {}
    }
    let line = start.split(|byte| b"\r\n".contains(byte)).next().unwrap_or_default();
    match line.first() {
        None => None,
        // Text in JSON is quoted, and cells may be quoted too. A bare word before a delimiter is a header.
        Some(_) => line.iter().any(|byte| b",;\t|".contains(byte)).then_some(Format::Csv),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_is_told_from_the_first_bytes_or_else_from_the_name() {
        for (start, name, format) in [
            (" [", None, Some(Format::Json)),
            ("\n{\"a\"", None, Some(Format::Ndjson)),
            ("{", Some("x.json"), Some(Format::Ndjson)),
            ("[", Some("x.csv"), Some(Format::Json)),
            ("a,b\n", None, Some(Format::Csv)),
            ("\"a\";\"b\"\n", None, Some(Format::Csv)),
            ("a\n", Some("x.CSV"), Some(Format::Csv)),
            ("x", Some("x.ndjson"), Some(Format::Ndjson)),
            ("hello\na,b", None, None),
            ("Country,Population\rPT,1", None, Some(Format::Csv)),
            ("sep=;\r\na;b", None, Some(Format::Csv)),
            ("", None, None),
        ] {
            assert_eq!(detect(start.as_bytes(), name.map(Path::new)), format, "{start:?} {name:?}");
        }
    }
}
