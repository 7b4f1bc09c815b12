//! Sequences as CouchDB's clients know them: `7-12`, where 12 is the position in the store and 7 tells people and
//! programs how many updates of the database lie behind it. Nothing is decided by the number: a client may send any, or
//! the position alone.

use std::fmt;

use recension::{Counts, Position};

use recension_wire::error::{ApiError, Result};

/// A position in the feed of a database, with the number of updates before it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Sequence {
    /// In a feed that was not read to its end, each document counts once since the `since` that was asked for, so that
    /// the number is at most that of the updates.
    pub(crate) number: u64,
    pub(crate) position: Position,
}

impl Sequence {
    /// The sequence behind the last change of a database, whose counts these are.
    pub(crate) fn of(counts: &Counts) -> Self {
        Sequence { number: counts.updates(), position: Position::from(counts.changed) }
    }

    /// Reads what a client was given, also within quotes, as some send it. `None`: now.
    pub(crate) fn parse(text: Option<&str>) -> Result<Option<Self>> {
        let text = match text.map(|text| text.trim_matches('"')) {
            Some("now") => return Ok(None),
            None | Some("" | "null") => return Ok(Some(Self::default())),
            Some(text) => text,
        };
        let malformed = |_| ApiError::bad_request("Malformed sequence supplied in 'since' parameter.");
        let position: Position = text.parse().map_err(malformed)?;
        // A position alone has no number before it.
        let number = text.strip_suffix(&position.to_string()).and_then(|before| before.strip_suffix('-'));
        let number = number.and_then(|number| number.parse().ok()).unwrap_or(0);
        Ok(Some(Sequence { number, position }))
    }
}

impl fmt::Display for Sequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::default() {
            return f.write_str("0");
        }
        write!(f, "{}-{}", self.number, self.position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use recension::engine::Seq;

    #[test]
    fn sequences_read_back_and_so_do_positions_alone() {
        let within = Position { seq: Seq(12), within: Some(("7".to_owned(), "id-1".to_owned())) };
        for sequence in [
            Sequence::default(),
            Sequence { number: 7, position: Position::from(Seq(12)) },
            Sequence { number: 0, position: within.clone() },
            Sequence { number: 3, position: within },
        ] {
            assert_eq!(Sequence::parse(Some(&sequence.to_string())).unwrap(), Some(sequence.clone()));
            let alone = Sequence::parse(Some(&format!("\"{}\"", sequence.position))).unwrap();
            assert_eq!(alone, Some(Sequence { number: 0, ..sequence }));
        }
        for text in ["x", "-", "1-", "-1", "1-x", "x-1", "1-2-3-4-5", "1-2-zz-00", "99999999999999999999-1"] {
            assert!(Sequence::parse(Some(text)).is_err(), "{text}");
        }
    }
}
