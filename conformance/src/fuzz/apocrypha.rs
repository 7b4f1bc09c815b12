//! Sessions of Apocrypha: a byte for the dialect, then frames as a client sends them.
//!
//! Oracle: the store has the same answers, and then the same contents, as a map in memory. The top level stays an
//! object that exports.

use recension::{At, Store};
use recension_apocrypha::language::{Fault, MemoryRoot, evaluate, parse};
use recension_apocrypha::wire::{HEAD_BYTES, Incoming, next};
use recension_apocrypha::{Database, Dialect, Value, file};

/// Longest request that is tried.
const REQUEST_BYTES_MAX: usize = 4096;

pub(super) fn session(input: &[u8]) {
    let Some((kind, mut frames)) = input.split_first() else { return };
    let dialect = Dialect::ALL[usize::from(kind % 2)];
    let Ok(database) = Store::memory().and_then(|store| Database::on(&store, dialect)) else { return };
    let mut model = MemoryRoot::new();
    while let Incoming::Frame(payload) = next(frames, REQUEST_BYTES_MAX) {
        frames = &frames[HEAD_BYTES + payload.len()..];
        let Ok(request) = std::str::from_utf8(payload) else { continue };
        let reply = database.answer(request);
        let Ok(command) = parse(request, &dialect) else {
            assert!(reply.starts_with("error: "), "{request:?}: {reply:?}");
            continue;
        };
        // The clock, the past and durability are not part of the model.
        if command.history || command.at.is_some() {
            continue;
        }
        let mut changed = model.clone();
        match evaluate(&command, &dialect, &mut changed) {
            Ok(effect) => {
                let mut expected = effect.lines.join("\n");
                if dialect.newline_at_end && !effect.lines.is_empty() {
                    expected.push('\n');
                }
                assert!(command.timing || reply == expected, "{request:?}: {reply:?}, expected {expected:?}");
                model = changed;
            }
            Err(Fault::Refused(why)) => assert_eq!(reply, database.refusal(&why), "{request:?}"),
            Err(Fault::Store(error)) => panic!("a map has no store: {error}"),
        }
    }
    let mut out = Vec::new();
    assert!(file::export(&database, At::Now, &mut out).is_ok(), "it exports");
    let exported = std::str::from_utf8(&out).ok().and_then(|text| Value::parse(text).ok());
    let whole = Value::Object(model.into_iter().collect());
    assert!(exported.is_some_and(|exported| exported.means(&whole)), "the store is not what the map is: {whole:?}");
}
