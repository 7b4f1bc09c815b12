//! The language and the event loops of Apocrypha: one test binary, a module each.

mod event_loop;
mod language;
