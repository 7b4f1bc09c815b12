//! The five queries of `JSONBench` (github.com/ClickHouse/JSONBench) over events of Bluesky's Jetstream, which are
//! made here: a function of their number. Pure.
//!
//! Copied of the real first million: the members of an event, how many events each collection has, how many of them
//! create a record, and how many users did. Not copied: the texts, who does what together, and the time: these events
//! are spread over a day, so that the question about hours has 24 answers, where the real ones lie within 14 minutes.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use crate::data::Random;

/// Collections, with the number of their events in a million, of those that create a record, and of the users of these.
const COLLECTIONS: [(&str, u64, u64, u64); 14] = [
    ("app.bsky.feed.like", 448_944, 444_523, 117_671),
    ("app.bsky.graph.follow", 360_374, 337_978, 64_023),
    (POST, 90_816, 86_812, 50_489),
    ("app.bsky.feed.repost", 58_540, 56_993, 26_584),
    ("app.bsky.graph.block", 14_040, 13_838, 5_785),
    ("app.bsky.actor.profile", 11_762, 5_337, 5_336),
    ("app.bsky.graph.listitem", 8_103, 7_568, 1_078),
    ("app.bsky.graph.listblock", 895, 860, 449),
    ("app.bsky.graph.starterpack", 405, 104, 101),
    ("app.bsky.graph.list", 356, 259, 218),
    ("app.bsky.feed.threadgate", 255, 228, 196),
    ("app.bsky.feed.postgate", 104, 101, 82),
    ("app.bsky.feed.generator", 74, 10, 9),
    ("app.bsky.labeler.service", 4, 0, 1),
];
const POST: &str = "app.bsky.feed.post";
/// The collections of the question about hours.
pub const BY_HOUR: [&str; 3] = [POST, "app.bsky.feed.repost", "app.bsky.feed.like"];
const MILLION: u64 = 1_000_000;
/// 2024-11-21, 00:00, in microseconds.
const BEGIN_US: u64 = 1_732_147_200_000_000;
/// When records say that they were created; nobody asks.
const CREATED: &str = "2024-11-21T00:00:00.000Z";
const HOUR_US: u64 = 3_600_000_000;
const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

/// An event.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Event {
    /// Who did it.
    pub user: String,
    /// When, in microseconds; no two at once.
    pub time_us: u64,
    /// What was done in which collection; none of an event about an account.
    pub commit: Option<(&'static str, &'static str)>,
    number: u64,
}

/// So many letters and digits of base 32.
fn letters(seed: u64, count: usize) -> String {
    let mut random = Random::new(seed ^ 0x00b1_0e5c);
    (0..count).map(|_| LETTERS.get(random.below(32) as usize).copied().map_or('a', char::from)).collect()
}

/// One of this many events.
pub fn event(number: u64, of: u64) -> Event {
    let mut random = Random::new(number ^ 0x0e7e_4715);
    let step = 24 * HOUR_US / of.max(1);
    let time_us = BEGIN_US + number * step + random.below(step);
    let mut left = random.below(MILLION);
    let drawn = COLLECTIONS.iter().find(|(_, events, ..)| {
        let found = left < *events;
        left -= if found { 0 } else { *events };
        found
    });
    let (commit, users) = match drawn {
        Some((name, _, creates, users)) if left < *creates => (Some(("create", *name)), *users),
        // Profiles are changed, all else is taken back.
        Some((name, _, _, users)) => {
            (Some((if name.ends_with("profile") { "update" } else { "delete" }, *name)), *users)
        }
        None => (None, MILLION),
    };
    let user = random.below((users * of / MILLION).max(1));
    Event { user: format!("did:plc:{}", letters(user, 24)), time_us, commit, number }
}

impl Event {
    /// As a document.
    pub fn document(&self) -> String {
        let (user, n) = (&self.user, self.number);
        let mut event = json!({"did": user, "time_us": self.time_us, "kind": "commit"});
        let Some((operation, collection)) = self.commit else {
            event["kind"] = "identity".into();
            let handle = format!("{}.bsky.social", letters(n, 12));
            event["identity"] = json!({"did": user, "handle": handle, "seq": n, "time": CREATED});
            return event.to_string();
        };
        let (rev, key) = (letters(n, 13), letters(n + 1, 13));
        let mut commit = json!({"rev": rev, "operation": operation, "collection": collection, "rkey": key});
        if operation != "delete" {
            let mut record = json!({"$type": collection, "createdAt": CREATED});
            if collection == POST {
                record["langs"] = json!(["en"]);
                record["text"] = Random::new(n).words(4 + (n % 24) as usize).into();
            } else {
                let uri = format!("at://did:plc:{}/{POST}/{}", letters(n + 3, 24), letters(n + 4, 13));
                record["subject"] = json!({"cid": format!("bafyrei{}", letters(n + 5, 53)), "uri": uri});
            }
            commit["record"] = record;
            commit["cid"] = format!("bafyrei{}", letters(n + 2, 53)).into();
        }
        event["commit"] = commit;
        event.to_string()
    }

    fn created(&self) -> Option<&'static str> {
        self.commit.filter(|(operation, _)| *operation == "create").map(|(_, collection)| collection)
    }
}

/// A name and two numbers of each row.
pub type Rows = Vec<(String, u64, u64)>;

/// What a question (1 to 5) is answered, from all events: collections with their number of events; those of created
/// records with their users; events by hours; the first three who have posted, and when; the three whose first and last
/// posts lie furthest apart, and how many milliseconds.
pub fn answer(question: u8, events: &[Event]) -> Rows {
    let created = || events.iter().filter_map(|event| Some((event.created()?, event)));
    let posts = created().filter(|(collection, _)| *collection == POST).map(|(_, event)| event);
    let mut users = BTreeMap::<&str, (u64, u64)>::new();
    for event in posts {
        let span = users.entry(&event.user).or_insert((event.time_us, event.time_us));
        *span = (span.0.min(event.time_us), span.1.max(event.time_us));
    }
    match question {
        1 | 2 => {
            let mut found = BTreeMap::<&str, (u64, BTreeSet<&str>)>::new();
            for event in events {
                let name = event.commit.map_or("", |(_, collection)| collection);
                if question == 1 || event.created().is_some() {
                    let group = found.entry(name).or_default();
                    group.0 += 1;
                    group.1.insert(&event.user);
                }
            }
            let of = |(name, (count, users)): (&str, (u64, BTreeSet<&str>))| {
                (name.to_owned(), count, if question == 2 { users.len() as u64 } else { 0 })
            };
            let mut rows: Rows = found.into_iter().map(of).collect();
            rows.sort_by_key(|(_, count, _)| std::cmp::Reverse(*count));
            rows
        }
        3 => hours(created().map(|(collection, event)| (collection, event.time_us))),
        4 => {
            let mut rows: Rows = users.into_iter().map(|(user, (first, _))| (user.to_owned(), first, 0)).collect();
            rows.sort_by_key(|(_, first, _)| *first);
            rows.truncate(3);
            rows
        }
        _ => longest(users.into_iter().map(|(user, (first, last))| (user.to_owned(), first, last)).collect()),
    }
}

/// The question about hours, for who has to count by itself.
pub fn hours<'e>(created: impl Iterator<Item = (&'e str, u64)>) -> Rows {
    let mut found = BTreeMap::<(u64, &str), u64>::new();
    for (collection, time_us) in created.filter(|(collection, _)| BY_HOUR.contains(collection)) {
        *found.entry((time_us / HOUR_US % 24, collection)).or_default() += 1;
    }
    found.into_iter().map(|((hour, name), count)| (name.to_owned(), hour, count)).collect()
}

/// The three rows of users whose first and last posts lie furthest apart.
pub fn longest(mut spans: Vec<(String, u64, u64)>) -> Rows {
    spans.sort_by(|one, other| (other.2 - other.1).cmp(&(one.2 - one.1)).then(one.0.cmp(&other.0)));
    spans.into_iter().take(3).map(|(user, first, last)| (user, (last - first) / 1000, 0)).collect()
}

/// How a database names what a question needs.
pub struct Names {
    /// The user.
    pub did: &'static str,
    /// The kind.
    pub kind: &'static str,
    /// What was done.
    pub operation: &'static str,
    /// Where.
    pub collection: &'static str,
    /// When, as a number.
    pub time_us: &'static str,
    /// Division of whole numbers.
    pub divided: &'static str,
}

impl Names {
    /// A question in SQL.
    pub fn sql(&self, question: u8) -> String {
        let Names { did, kind, operation, collection, time_us, divided } = self;
        let created = format!("{kind} = 'commit' AND {operation} = 'create'");
        let posts = format!("FROM events WHERE {created} AND {collection} = '{POST}' GROUP BY name");
        let zero = "CAST(0 AS BIGINT)";
        let span = format!("max({time_us}) - min({time_us})");
        match question {
            1 => format!(
                "SELECT coalesce({collection}, '') AS name, count(*) AS n, {zero} FROM events GROUP BY name ORDER BY n \
                 DESC, name"
            ),
            2 => format!(
                "SELECT {collection} AS name, count(*) AS n, count(DISTINCT {did}) FROM events WHERE {created} GROUP \
                 BY name ORDER BY n DESC, name"
            ),
            3 => {
                let [one, two, three] = BY_HOUR;
                format!(
                    "SELECT {collection} AS name, ({time_us} {divided} {HOUR_US}) % 24 AS h, count(*) FROM events \
                     WHERE {created} AND {collection} IN ('{one}', '{two}', '{three}') GROUP BY name, h ORDER BY h, \
                     name"
                )
            }
            4 => format!("SELECT {did} AS name, min({time_us}) AS t, {zero} {posts} ORDER BY t LIMIT 3"),
            _ => format!(
                "SELECT {did} AS name, ({span}) {divided} 1000, {zero} {posts} ORDER BY {span} DESC, name LIMIT 3"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_as_the_real_ones_are_distributed() {
        let events: Vec<Event> = (0..50_000).map(|number| event(number, 50_000)).collect();
        let counts = answer(2, &events);
        let of = |name: &str| counts.iter().find(|(found, ..)| found == name).unwrap();
        for (name, _, creates, users) in COLLECTIONS.iter().take(5) {
            let (_, count, found) = of(name);
            let near = |found: u64, expected: u64, part: u64| found.abs_diff(expected) < expected / part + 60;
            assert!(near(*count, creates / 20, 20) && near(*found, users / 20, 4), "{name}: {count}, {found}");
        }
        assert_eq!(answer(1, &events).iter().map(|(_, count, _)| count).sum::<u64>(), 50_000);
        assert_eq!(answer(3, &events).len(), 72);
        let bytes: usize = events.iter().map(|event| event.document().len()).sum();
        assert!((400..560).contains(&(bytes / 50_000)), "{}", bytes / 50_000);
        for event in events.iter().take(300) {
            let document: serde_json::Value = serde_json::from_str(&event.document()).unwrap();
            assert_eq!(document["commit"]["collection"].as_str(), event.commit.map(|(_, name)| name));
        }
    }

    #[test]
    fn the_first_and_the_longest_are_found_by_hand() {
        let post =
            |user: &str, time_us| Event { user: user.to_owned(), time_us, commit: Some(("create", POST)), number: 0 };
        let other = Event { commit: Some(("delete", POST)), ..post("z", 1) };
        let events =
            [other, post("a", 5_000), post("b", 7_000), post("c", 9_000), post("b", 1_007_000), post("d", 9_500)];
        let named = |rows: &[(&str, u64)]| rows.iter().map(|(user, n)| ((*user).to_owned(), *n, 0)).collect::<Rows>();
        assert_eq!(answer(4, &events), named(&[("a", 5_000), ("b", 7_000), ("c", 9_000)]));
        assert_eq!(answer(5, &events), named(&[("b", 1_000), ("a", 0), ("c", 0)]));
    }
}
