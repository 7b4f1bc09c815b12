//! Views as values: their signatures and options, and the rows that mappers emit. Plain values.

use std::fmt;

use sha2::{Digest as _, Sha256};

use crate::collation::Collation;

/// A key and a value that a mapper has emitted, as JSON texts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Emitted {
    /// The key.
    pub key: String,
    /// The value.
    pub value: String,
}

/// Options of a view, on which its rows depend besides its mapper.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ViewOptions {
    /// How strings among the keys are ordered.
    pub collation: Collation,
    /// The rows of a partition stand together: ids are `partition:rest`.
    pub partitioned: bool,
    /// Design documents are mapped, too.
    pub design_documents: bool,
}

/// Identifies a view's rows among all views of its collection.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Signature(pub [u8; 16]);

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
    /// The signature of the rows of a function.
    pub fn of(function: &str, options: ViewOptions) -> Self {
        let mut hash = Sha256::new();
        hash.update([options.collation.encoding(), options.partitioned.into(), options.design_documents.into()]);
        hash.update(function);
        let mut signature = [0; 16];
        signature.copy_from_slice(&hash.finalize()[..16]);
        Signature(signature)
    }
}
