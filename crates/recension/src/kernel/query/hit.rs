//! A document that a query found, as it goes from the way to the order and to whoever asked.

use recension_values::cursor::Place;
use recension_values::model::Document;

/// A document that was found.
pub(crate) struct Hit {
    /// Its place, if [`Stream::place`] does not tell it.
    pub(crate) place: Option<Place>,
    pub(crate) named: Named,
    pub(crate) values: Vec<Option<String>>,
    /// The encoded values to sort by, if the hits are to be sorted.
    pub(crate) order: Vec<u8>,
}

/// A found document, or its id alone.
pub(crate) enum Named {
    Id(String),
    Document(Document<'static>),
}

impl Named {
    pub(crate) fn id(&self) -> &str {
        match self {
            Named::Id(id) => id,
            Named::Document(document) => &document.id,
        }
    }

    pub(crate) fn into_id(self) -> String {
        match self {
            Named::Id(id) => id,
            Named::Document(document) => document.id.into_owned(),
        }
    }
}

impl Hit {
    pub(super) fn of(named: Named) -> Self {
        Hit { place: None, named, values: Vec::new(), order: Vec::new() }
    }
}
