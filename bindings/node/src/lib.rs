//! Recension in a Node process: the compiled part of the module `recension-db`. `index.js` has the rest: the classes
//! that people see. Between the two go texts of JSON, which JavaScript's own parser reads faster than anything here
//! could make objects.
//!
//! Every call runs on a thread of Node's pool; none blocks the event loop.
// What JavaScript gives is a value of one's own.
#![allow(clippy::needless_pass_by_value)]

mod branches;
mod collection;
mod job;
mod query_options;
mod rows;
mod store;
