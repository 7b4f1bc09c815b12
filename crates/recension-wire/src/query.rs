//! The parameters of a request: decoded once, read by name, with CouchDB's words for invalid ones.

use recension::RevId;

use crate::error::{ApiError, Result};
use crate::route::decode;

/// The parameters behind the `?` of a request, in their order.
#[derive(Clone, Debug, Default)]
pub struct Query(Vec<(String, String)>);

impl Query {
    /// Reads what follows the `?`. A `;` separates parameters too, as in CouchDB.
    pub fn parse(text: &str) -> Result<Self> {
        Self::separated(text, &['&', ';'])
    }

    /// Reads a form, in whose values a `;` may stand as it was typed.
    pub fn form(text: &str) -> Result<Self> {
        Self::separated(text, &['&'])
    }

    fn separated(text: &str, by: &[char]) -> Result<Self> {
        let pairs = text.split(by).filter(|pair| !pair.is_empty());
        let read = |pair: &str| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Ok((decode(name)?, decode(value)?))
        };
        pairs.map(read).collect::<Result<_>>().map(Query)
    }

    /// A parameter as text. If there are several with the name, the first.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    /// Refuses one of those that are `known` with two values: one of them would be ignored.
    ///
    /// # Errors
    /// 400, with its name.
    pub fn refuse_repeated(&self, known: impl Fn(&str) -> bool) -> Result<()> {
        fn usual(name: &str) -> &str {
            match name {
                "start_key" => "startkey",
                "end_key" => "endkey",
                "start_key_doc_id" | "start_key_docid" => "startkey_docid",
                "end_key_doc_id" | "end_key_docid" => "endkey_docid",
                name => name,
            }
        }
        for (number, (name, value)) in self.0.iter().enumerate().skip(1).filter(|(_, (name, _))| known(name)) {
            let other = self.0[..number].iter().find(|(own, _)| usual(own) == usual(name));
            if other.is_some_and(|(_, other)| other != value) {
                return Err(ApiError::query_parse(format!(
                    "The parameter \"{name}\" is given twice, with two values."
                )));
            }
        }
        Ok(())
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All of them, in their order.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Whether a parameter is `true`; another value than `true` and `false` is refused.
    pub fn flag(&self, name: &str) -> Result<bool> {
        match self.get(name) {
            None | Some("false") => Ok(false),
            Some("true") => Ok(true),
            Some(other) => Err(ApiError::query_parse(format!("Invalid boolean parameter: \"{other}\""))),
        }
    }

    /// Whether a parameter is `true`. Every other value counts as none.
    pub fn is_true(&self, name: &str) -> bool {
        self.get(name) == Some("true")
    }

    /// A revision.
    pub fn rev(&self, name: &str) -> Result<Option<RevId>> {
        self.get(name).map(|text| text.parse().map_err(|_| ApiError::bad_rev())).transpose()
    }

    /// A number from 0.
    pub fn number(&self, name: &str) -> Result<Option<u64>> {
        let bad = |text: &str| ApiError::query_parse(format!("Invalid value for integer: \"{text}\""));
        self.get(name).map(|text| text.parse().map_err(|_| bad(text))).transpose()
    }
}
