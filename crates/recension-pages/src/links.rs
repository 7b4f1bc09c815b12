//! Addresses of pages: a document's path, and a query with one of its parameters changed.

use recension_wire::query::Query;
use recension_wire::route::encode;

/// A number that another text hardly has (FNV-1a).
pub fn fnv(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The path of a document.
pub fn document(db: &str, id: &str) -> String {
    match id.split_once('/') {
        Some((kind @ ("_design" | "_local"), name)) => format!("/{}/{kind}/{}", encode(db), encode(name)),
        _ => format!("/{}/{}", encode(db), encode(id)),
    }
}

/// The path of a document in the console.
pub fn in_console(db: &str, id: &str) -> String {
    format!("/_utils/{}/doc/{}", encode(db), encode(id))
}

/// The parameters of a page, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parameters(Vec<(String, String)>);

impl Parameters {
    /// Those of a request.
    pub fn of(query: &Query) -> Self {
        Parameters(query.pairs().map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
    }

    /// With one more, or another value for it. An empty one is none.
    #[must_use]
    pub fn with(&self, name: &str, value: &str) -> Self {
        let mut pairs = self.without(&[name]).0;
        if !value.is_empty() {
            pairs.push((name.to_owned(), value.to_owned()));
        }
        Parameters(pairs)
    }

    /// With those of others behind them.
    #[must_use]
    pub fn and(&self, others: Parameters) -> Self {
        Parameters(self.0.iter().cloned().chain(others.0).collect())
    }

    /// Without some.
    #[must_use]
    pub fn without(&self, names: &[&str]) -> Self {
        Parameters(self.0.iter().filter(|(own, _)| !names.contains(&own.as_str())).cloned().collect())
    }

    /// Only some.
    #[must_use]
    pub fn only(&self, names: &[&str]) -> Self {
        Parameters(self.0.iter().filter(|(own, _)| names.contains(&own.as_str())).cloned().collect())
    }

    /// The first with a name; an empty text where there is none.
    pub fn get(&self, name: &str) -> &str {
        self.pairs().find(|(own, _)| *own == name).map(|(_, value)| value).unwrap_or_default()
    }

    /// Each of them.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// A path with them.
    pub fn on(&self, path: &str) -> String {
        let mut out = path.to_owned();
        for (number, (name, value)) in self.0.iter().enumerate() {
            out.push(if number == 0 { '?' } else { '&' });
            out.push_str(&encode(name));
            out.push('=');
            out.push_str(&encode(value));
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_lead_to_what_they_name() {
        assert_eq!(document("a/b", "x y/z?"), "/a%2Fb/x%20y%2Fz%3F");
        assert_eq!(document("db", "_design/a/b"), "/db/_design/a%2Fb");
        let parameters = Parameters::of(&Query::parse("limit=2&at=7&k=%22a+b%22").unwrap());
        assert_eq!(parameters.with("at", "x&y").on("/p"), "/p?limit=2&k=%22a%20b%22&at=x%26y");
        assert_eq!(parameters.without(&["limit", "k"]).on(""), "?at=7");
        assert_eq!(parameters.only(&["none"]).on("/p"), "/p");
        assert_eq!(parameters.with("at", "").on("/p"), "/p?limit=2&k=%22a%20b%22");
    }
}
