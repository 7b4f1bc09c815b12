//! Queries: planning them, carrying them out, look-ups, pages.

pub(in crate::document) mod aggregate;
pub(in crate::document) mod asked;
pub(in crate::document) mod best;
mod cost;
pub(in crate::document) mod find;
mod group_states;
pub(in crate::document) mod groups;
pub(in crate::document) mod id_set;
pub(in crate::document) mod lookup;
pub(in crate::document) mod page;
pub(in crate::document) mod planner;
pub(in crate::document) mod sampler;
pub(in crate::document) mod sorted;
mod spill;
pub(in crate::document) mod stream;
pub(in crate::document) mod way;
pub(in crate::document) mod words;
