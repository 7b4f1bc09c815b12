//! Documents over the engine contract: collections, revisions, indexes, history.
