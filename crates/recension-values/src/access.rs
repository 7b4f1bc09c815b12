//! Values that an index of access is asked for. Plain values.

use std::sync::Arc;

use recension_engine::TreeId;

/// Values at paths of an index of access, as its keys have them:
/// `AccessAt::marks` makes them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AccessMarks {
    /// The tree of the index, in which alone they mean anything.
    pub tree: TreeId,
    pub marks: Arc<[Vec<u8>]>,
}
