//! Servers over real sockets: one test binary, a module each. What has a harness of its own is beside this folder.

mod access;
mod access_filters;
mod access_past;
mod access_rules;
mod accounts;
mod api_tokens;
mod apocrypha;
mod commanded;
mod compared;
mod consumers;
mod described;
mod endpoints;
mod erase;
mod feed_rights;
mod log_level;
mod mango;
mod on_a_store;
mod pages;
mod reload;
mod robustness;
mod schema;
mod served;
mod template_lists;
mod tokens;
mod web_sockets;
