//! Names that are constants in the contract, received over a connection: each is stored once, for as long as the
//! process lives. Their number is bounded.

use std::collections::BTreeSet;

use parking_lot::Mutex;

use crate::limits::NAMES_MAX;

static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

/// The longest name that is kept, in bytes.
const NAME_BYTES_MAX: usize = 512;

/// The stored name; another word if there are too many already.
pub(crate) fn name(text: &str) -> &'static str {
    let mut names = NAMES.lock();
    if let Some(known) = names.get(text) {
        return known;
    }
    if names.len() >= NAMES_MAX || text.len() > NAME_BYTES_MAX {
        return "(a name too many)";
    }
    let kept: &'static str = Box::leak(text.to_owned().into_boxed_str());
    names.insert(kept);
    kept
}
