//! Names that the contract has as constants and that come over a connection: each is kept once, for as long as the
//! process
//! lives, and there is a bound of how many.

use std::collections::BTreeSet;

use parking_lot::Mutex;

use crate::limits::NAMES_MAX;

static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

/// The longest name that is kept, in bytes.
const NAME_BYTES_MAX: usize = 512;

/// The name; another word where there are too many already.
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
