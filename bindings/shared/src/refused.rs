//! Refusals, and the kinds of them that programs decide by.

use recension::Error;
use recension::engine::EngineError;

/// What came of a call.
pub type Result<T> = std::result::Result<T, Refused>;

/// Why a call was refused.
#[derive(Debug)]
pub enum Refused {
    /// What it was asked of has been closed or has ended.
    Closed(&'static str),
    /// The past cannot be written.
    Past,
    /// The call makes no sense there.
    Wrong(&'static str),
    /// A value that cannot be.
    Invalid(&'static str),
    /// The store's own refusal.
    Store(Error),
}

impl<E: Into<Error>> From<E> for Refused {
    fn from(error: E) -> Self {
        Refused::Store(error.into())
    }
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Refused::Closed(says) | Refused::Wrong(says) | Refused::Invalid(says) => f.write_str(says),
            Refused::Past => f.write_str("the past cannot be written: use the collection of the database"),
            Refused::Store(error) => error.fmt(f),
        }
    }
}

/// The kinds of refusals.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// The document is at another revision; a branch or a tag cannot be made or dropped as it was asked for.
    Conflict,
    /// Others were faster.
    Busy,
    /// A unique index has the value.
    NotUnique,
    /// There is no such document, or branch.
    Missing,
    /// A value of the wrong type.
    Type,
    /// A value that cannot be.
    Value,
    /// Stored bytes are not what was written.
    Damaged,
    /// Another process has the store.
    InUse,
    /// Nothing can be written there.
    ReadOnly,
    /// The owner does not answer.
    Unavailable,
    /// Whether it was written is not known.
    Unknown,
    /// It has been closed.
    Closed,
    /// Anything else.
    Other,
}

impl Kind {
    /// The kind as a word.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Conflict => "conflict",
            Kind::Busy => "busy",
            Kind::NotUnique => "not_unique",
            Kind::Missing => "missing",
            Kind::Type => "type",
            Kind::Value => "value",
            Kind::Damaged => "damaged",
            Kind::InUse => "in_use",
            Kind::ReadOnly => "read_only",
            Kind::Unavailable => "unavailable",
            Kind::Unknown => "unknown",
            Kind::Closed => "closed",
            Kind::Other => "other",
        }
    }
}

impl Refused {
    /// Its kind.
    pub fn kind(&self) -> Kind {
        let error = match self {
            Refused::Closed(_) => return Kind::Closed,
            Refused::Past => return Kind::ReadOnly,
            Refused::Wrong(_) => return Kind::Type,
            Refused::Invalid(_) => return Kind::Value,
            Refused::Store(error) => error.cause(),
        };
        match error {
            Error::Conflict { .. } | Error::Engine(EngineError::Branch { .. } | EngineError::Kept { .. }) => {
                Kind::Conflict
            }
            Error::Busy { .. } => Kind::Busy,
            Error::NotUnique { .. } => Kind::NotUnique,
            Error::NoSuchDocument { .. } | Error::Engine(EngineError::NoSuchBranch { .. }) => Kind::Missing,
            Error::NotAnObject { .. } => Kind::Type,
            Error::Json(_)
            | Error::BadName { .. }
            | Error::BadField { .. }
            | Error::BadIndex { .. }
            | Error::BadMoment { .. }
            | Error::BadPosition { .. }
            | Error::MomentAhead { .. }
            | Error::PositionAhead { .. }
            | Error::BadQuery { .. }
            | Error::BadRevision { .. }
            | Error::BadSelector { .. }
            | Error::BadCursor { .. }
            | Error::NumberOutOfRange { .. }
            | Error::ReservedField { .. }
            | Error::Engine(EngineError::BadBranch { .. } | EngineError::NotYet { .. }) => Kind::Value,
            Error::DamagedRow { .. } | Error::Engine(EngineError::Damaged { .. } | EngineError::Diverged { .. }) => {
                Kind::Damaged
            }
            Error::Engine(EngineError::Locked { .. }) => Kind::InUse,
            Error::Engine(EngineError::ReadOnly) => Kind::ReadOnly,
            Error::Engine(EngineError::Unavailable { .. }) => Kind::Unavailable,
            Error::Engine(EngineError::Unknown { .. }) => Kind::Unknown,
            _ => Kind::Other,
        }
    }
}
