//! Moments as people say them: how long ago, with the exact time behind it (on hover, and for programs).

pub(super) use recension_pages::people::{now, to_the_second};
