//! Checkpoints: how far a replication has come, as CouchDB's replicator writes it into a local document on both sides,
//! and the point where a replication with two of them begins. Pure.

use std::time::SystemTime;

use md5::{Digest as _, Md5};
use recension::Position;
use serde::{Deserialize, Serialize};

use crate::limits::HISTORY;
use crate::options::Options;
use crate::statistics::Statistics;

/// The version of the ids that CouchDB 3 writes.
pub(crate) const VERSION: u32 = 4;

/// A checkpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Log {
    pub(crate) session_id: String,
    #[serde(deserialize_with = "seq")]
    pub(crate) source_last_seq: String,
    pub(crate) replication_id_version: u32,
    pub(crate) history: Vec<Session>,
}

/// A run of a replication.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Session {
    #[allow(clippy::struct_field_names)] // the protocol's name
    pub(crate) session_id: String,
    pub(crate) start_time: String,
    pub(crate) end_time: String,
    #[serde(deserialize_with = "seq")]
    pub(crate) start_last_seq: String,
    #[serde(deserialize_with = "seq")]
    pub(crate) end_last_seq: String,
    #[serde(deserialize_with = "seq")]
    pub(crate) recorded_seq: String,
    #[serde(flatten)]
    pub(crate) statistics: Statistics,
}

/// A position is a text. Formerly it was a number.
fn seq<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(text_of(&serde_json::Value::deserialize(deserializer)?))
}

pub(crate) fn text_of(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A time as HTTP writes it.
pub(crate) fn now() -> String {
    httpdate::fmt_http_date(SystemTime::now())
}

/// The number at the beginning of a position.
fn number(seq: &str) -> Option<u64> {
    let digits = seq.find(|own: char| !own.is_ascii_digit()).map_or(seq, |end| &seq[..end]);
    digits.parse().ok()
}

/// The earlier of two positions in one feed; the beginning if they cannot be compared. Recension's own are compared by
/// their commits, whatever number stands before these.
fn earlier(one: &str, other: &str) -> String {
    let own = |seq: &str| seq.parse().ok().map(|position: Position| position.seq().0);
    let numbers = own(one).zip(own(other)).or_else(|| number(one).zip(number(other)));
    if one == other {
        return one.to_owned();
    }
    match numbers {
        Some((first, second)) if first < second => one.to_owned(),
        Some((first, second)) if second < first => other.to_owned(),
        _ => "0".to_owned(),
    }
}

/// The position to begin at: the last one that both sides know. If one side was brought back to an earlier state, its
/// own position is the earlier one.
pub(crate) fn common(source: Option<&Log>, target: Option<&Log>) -> String {
    let (Some(source), Some(target)) = (source, target) else { return "0".to_owned() };
    if !source.session_id.is_empty() && source.session_id == target.session_id {
        return earlier(&source.source_last_seq, &target.source_last_seq);
    }
    let shared = source.history.iter().find_map(|own| {
        let other = target.history.iter().find(|other| other.session_id == own.session_id)?;
        (!own.session_id.is_empty()).then(|| earlier(&own.recorded_seq, &other.recorded_seq))
    });
    shared.unwrap_or_else(|| "0".to_owned())
}

/// Whether what a side has is older than what it had: nothing, or a state that was passed. What another run has written
/// meanwhile is not.
pub(crate) fn is_earlier(had: Option<&Log>, has: Option<&Log>) -> bool {
    let (Some(had), Some(has)) = (had, has) else { return had.is_some() };
    let same = had.session_id == has.session_id && had.source_last_seq == has.source_last_seq;
    !same && had.history.iter().any(|passed| passed.session_id == has.session_id)
}

/// The checkpoint of a session, which replaces the former one.
pub(crate) fn next(before: Option<&Log>, session: &Session) -> Log {
    let old = before.map_or(&[][..], |log| &log.history);
    let old = old.iter().filter(|own| own.session_id != session.session_id).take(HISTORY - 1);
    Log {
        session_id: session.session_id.clone(),
        source_last_seq: session.recorded_seq.clone(),
        replication_id_version: VERSION,
        history: std::iter::once(session).chain(old).cloned().collect(),
    }
}

/// The replication's own id, made from source, target and options. `code` is that of the filter function, if it is
/// known: what another code let through is no measure of how far this one has come.
pub(crate) fn id(source: &str, target: &str, options: &Options, code: Option<&str>) -> String {
    let Options { doc_ids, selector, filter, query_params, .. } = options;
    let mut what = serde_json::json!([source, target, doc_ids, selector, filter, query_params]);
    if let (Some(code), Some(parts)) = (code, what.as_array_mut()) {
        parts.push(code.into());
    }
    Md5::digest(what.to_string()).iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(sessions: &[(&str, &str)]) -> Log {
        let session = |(id, seq): &(&str, &str)| Session {
            session_id: (*id).to_owned(),
            recorded_seq: (*seq).to_owned(),
            ..Session::default()
        };
        let history: Vec<_> = sessions.iter().map(session).collect();
        let first = history.first().cloned().unwrap_or_default();
        Log { session_id: first.session_id, source_last_seq: first.recorded_seq, replication_id_version: 4, history }
    }

    #[test]
    fn it_begins_where_both_sides_have_been() {
        for (source, target, expected) in [
            (&[("a", "7-x")][..], &[("a", "7-x")][..], "7-x"),
            // It was interrupted between the two, or one side was brought back.
            (&[("a", "7-x")], &[("a", "9-y")], "7-x"),
            (&[("a", "12-x")], &[("a", "9-y")], "9-y"),
            (&[("a", "12-100")], &[("a", "12-90")], "12-90"),
            (&[("a", "5-100")], &[("a", "90")], "90"),
            (&[("a", "9-x")], &[("a", "9-y")], "0"),
            (&[("b", "9"), ("a", "5")], &[("a", "5")], "5"),
            (&[("b", "9"), ("a", "5")], &[("c", "8"), ("a", "4")], "4"),
            (&[("b", "9")], &[("c", "9")], "0"),
        ] {
            assert_eq!(common(Some(&log(source)), Some(&log(target))), expected, "{source:?} {target:?}");
        }
        assert_eq!(common(None, Some(&log(&[("a", "7")]))), "0");
    }

    #[test]
    fn checkpoints_of_others_are_read_and_remember_a_bounded_number_of_sessions() {
        let old: Log = serde_json::from_str(
            r#"{"_id":"_local/x","session_id":"s","source_last_seq":12,"history":[{"recorded_seq":12}]}"#,
        )
        .unwrap();
        assert_eq!(old.source_last_seq, "12");
        let mut log = old;
        for number in 0..100 {
            let session = Session { session_id: number.to_string(), ..Session::default() };
            log = next(Some(&log), &session);
        }
        assert_eq!((log.history.len(), log.session_id.as_str()), (HISTORY, "99"));
    }
}
