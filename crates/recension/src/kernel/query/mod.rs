//! Queries: planning them, carrying them out, look-ups, pages.

pub(crate) mod aggregate;
pub(crate) mod best;
mod cost;
mod field;
pub(crate) mod find;
mod group_row;
mod group_states;
pub(crate) mod groups;
mod hit;
pub(crate) mod id_set;
mod index_groups;
pub(crate) mod lookup;
mod numbers;
pub(crate) mod page;
pub(crate) mod planner;
pub(crate) mod prepared;
mod repeats;
mod row_reader;
pub(crate) mod sampler;
pub(crate) mod sorted;
mod spill;
pub(crate) mod stream;
pub(crate) mod way;
mod word_terms;
pub(crate) mod words;
