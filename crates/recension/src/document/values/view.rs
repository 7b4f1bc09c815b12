//! What views are known by, what their rows depend on, and what mappers emit. Plain values.

use std::fmt;

use sha2::{Digest as _, Sha256};

use crate::document::values::collation::Collation;

/// A key and a value that a mapper has emitted, as JSON texts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Emitted {
    /// The key.
    pub key: String,
    /// The value.
    pub value: String,
}

/// What the rows of a view depend on besides its mapper.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ViewOptions {
    /// How strings among the keys are ordered.
    pub collation: Collation,
    /// The rows of a partition stand together: ids are `partition:rest`.
    pub partitioned: bool,
    /// Design documents are mapped, too.
    pub design_documents: bool,
}

/// Tells a view's rows from those of every other view of its collection.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Signature(pub(in crate::document) [u8; 16]);

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Signature {
    /// What the rows of a function are known by.
    pub fn of(function: &str, options: ViewOptions) -> Self {
        let mut hash = Sha256::new();
        hash.update([options.collation.encoding(), options.partitioned.into(), options.design_documents.into()]);
        hash.update(function);
        let mut signature = [0; 16];
        signature.copy_from_slice(&hash.finalize()[..16]);
        Signature(signature)
    }
}
