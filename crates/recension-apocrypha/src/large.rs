//! A cache of large members, so that a command on a part of one need not read and parse the whole of it again. An entry
//! is a copy of one version of a document, identified by the commit that wrote it. The store is asked each time whether
//! that is the wanted version, so nothing here can be stale.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use recension::engine::Seq;

use crate::limits::{LARGE_BYTES_MAX, LARGE_BYTES_MIN, LARGE_MEMBERS_MAX};
use crate::value::Value;

/// Members kept, by the ids of their documents.
#[derive(Default)]
pub(crate) struct LargeMembers {
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    members: HashMap<String, Member>,
    bytes: usize,
    /// Counts look-ups, to find the member that was least recently used.
    looks: u64,
}

struct Member {
    written_at: Seq,
    value: Arc<Value>,
    bytes: usize,
    looked_at: u64,
}

impl LargeMembers {
    /// Whether some version of a member is kept.
    pub(crate) fn has(&self, id: &str) -> bool {
        self.kept.lock().members.contains_key(id)
    }

    /// The version of a member that a commit wrote, if it is the cached one.
    pub(crate) fn get(&self, id: &str, written_at: Seq) -> Option<Arc<Value>> {
        let mut kept = self.kept.lock();
        kept.looks += 1;
        let looks = kept.looks;
        let member = kept.members.get_mut(id).filter(|member| member.written_at == written_at)?;
        member.looked_at = looks;
        Some(member.value.clone())
    }

    /// Caches a member, if its body is long enough to be worth it and within the bounds.
    pub(crate) fn keep(&self, id: &str, written_at: Seq, body_bytes: usize, value: &Arc<Value>) {
        if body_bytes < LARGE_BYTES_MIN {
            return;
        }
        let bytes = memory_of(value) + id.len();
        // One member must not take everybody's place.
        if bytes > LARGE_BYTES_MAX / 2 {
            return;
        }
        let member = Member { written_at, value: value.clone(), bytes, looked_at: 0 };
        let mut kept = self.kept.lock();
        kept.take(id);
        while kept.bytes + bytes > LARGE_BYTES_MAX || kept.members.len() >= LARGE_MEMBERS_MAX {
            let oldest = kept.members.iter().min_by_key(|(_, member)| member.looked_at).map(|(id, _)| id.clone());
            let Some(oldest) = oldest else { break };
            kept.take(&oldest);
        }
        kept.bytes += bytes;
        kept.looks += 1;
        let looked_at = kept.looks;
        kept.members.insert(id.to_owned(), Member { looked_at, ..member });
    }
}

impl Kept {
    fn take(&mut self, id: &str) {
        if let Some(member) = self.members.remove(id) {
            self.bytes = self.bytes.saturating_sub(member.bytes);
        }
    }
}

/// About how many bytes of memory a value takes.
fn memory_of(value: &Value) -> usize {
    const ALLOCATION: usize = 16;
    // A member's hash, its place among the others, and the table's unused room.
    const MEMBER: usize = 40 + size_of::<String>() + ALLOCATION;
    size_of::<Value>()
        + match value {
            Value::Null | Value::Bool(_) => 0,
            Value::Number(number) => ALLOCATION + number.text().len(),
            Value::String(text) => ALLOCATION + text.len(),
            Value::Array(elements) => ALLOCATION + elements.iter().map(memory_of).sum::<usize>(),
            Value::Object(members) => {
                let member = |(name, member): (&String, &Value)| MEMBER + name.len() + memory_of(member);
                ALLOCATION + members.iter().map(member).sum::<usize>()
            }
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: usize) -> Arc<Value> {
        Arc::new(Value::String("x".repeat(bytes)))
    }

    #[test]
    fn a_version_is_answered_for_its_own_commit_only() {
        let large = LargeMembers::default();
        large.keep("a", Seq(1), LARGE_BYTES_MIN - 1, &text(1));
        assert!(!large.has("a"));
        large.keep("a", Seq(2), LARGE_BYTES_MIN, &text(2));
        assert!(large.has("a") && large.get("a", Seq(1)).is_none() && large.get("b", Seq(2)).is_none());
        assert_eq!(large.get("a", Seq(2)), Some(text(2)));
        large.keep("a", Seq(3), LARGE_BYTES_MIN, &text(3));
        assert!(large.get("a", Seq(2)).is_none() && large.get("a", Seq(3)).is_some());
    }

    #[test]
    fn what_is_kept_is_bounded_and_the_member_looked_at_longest_ago_goes_first() {
        let large = LargeMembers::default();
        let third = LARGE_BYTES_MAX / 3 - 1000;
        for id in ["a", "b", "c"] {
            large.keep(id, Seq(1), third, &text(third));
        }
        assert!(large.get("a", Seq(1)).is_some());
        large.keep("d", Seq(1), third, &text(third));
        assert_eq!(["a", "b", "c", "d"].map(|id| large.has(id)), [true, false, true, true]);
        large.keep("e", Seq(1), LARGE_BYTES_MAX, &text(LARGE_BYTES_MAX / 2));
        assert!(!large.has("e"));
        for n in 0..2 * LARGE_MEMBERS_MAX {
            large.keep(&n.to_string(), Seq(1), LARGE_BYTES_MIN, &text(1));
        }
        assert_eq!(large.kept.lock().members.len(), LARGE_MEMBERS_MAX);
        assert!(large.kept.lock().bytes < LARGE_MEMBERS_MAX * 1000, "{}", large.kept.lock().bytes);
    }
}
