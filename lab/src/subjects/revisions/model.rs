//! What the suite `versions` keeps: one long document with thousands of versions, and many accounts with a few each.
//! Every version is a function of its number: pure.

use serde_json::{Value, json};

use crate::data::Random;

/// The number of the long document. Accounts begin at 1.
pub const LONG: u64 = 0;
/// States of accounts: an account has another one in each round.
const STATES: u64 = 1_000;
/// Lines of the long document. A version changes one of them.
const LINES: u64 = 40;

/// A version of the long document: about 2.4 kB.
pub fn long(version: u64) -> Value {
    let lines: Vec<String> = (0..LINES).map(|line| line_of(line, version)).collect();
    json!({"version": version, "balance": balance(LONG, version), "lines": lines})
}

/// The text that a line has at a version: that of the last version which changed it.
fn line_of(line: u64, version: u64) -> String {
    let behind = (version % LINES + LINES - line) % LINES;
    let changed = version.saturating_sub(behind);
    Random::new(line.wrapping_mul(1 << 32) ^ changed).words(8).chars().take(50).collect()
}

/// The version of an account in a round: about 400 bytes.
pub fn account(number: u64, round: u64) -> Value {
    let words = Random::new(number).words(45);
    json!({
        "number": number,
        "round": round,
        "state": state(number, round),
        "balance": balance(number, round),
        "note": words,
    })
}

/// The state of an account in a round.
pub fn state(number: u64, round: u64) -> String {
    format!("s{}", number.wrapping_add(round * 7) % STATES)
}

/// A member that changes with every version.
pub fn balance(number: u64, version: u64) -> i64 {
    (number.wrapping_mul(31).wrapping_add(version.wrapping_mul(17)) % 100_000).cast_signed()
}

/// The accounts of a state in a round, in their order.
pub fn in_state(name: &str, round: u64, accounts: u64) -> Vec<u64> {
    (1..=accounts).filter(|number| state(*number, round) == name).collect()
}

/// A document's id in stores whose keys are texts.
pub fn id(number: u64) -> String {
    format!("{number:08}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_differ_a_little_and_have_their_size() {
        let (before, after) = (long(100), long(101));
        let lines = |body: &Value| body["lines"].as_array().unwrap().clone();
        let changed = lines(&before).iter().zip(lines(&after)).filter(|(old, new)| **old != *new).count();
        assert_eq!(changed, 1);
        assert!((2_000..2_800).contains(&after.to_string().len()), "{}", after.to_string().len());
        assert!((250..500).contains(&account(5, 3).to_string().len()), "{}", account(5, 3).to_string().len());
        assert_ne!(account(5, 3), account(5, 4));
    }

    #[test]
    fn accounts_change_their_state_in_each_round() {
        let found = in_state("s9", 1, 3_000);
        assert_eq!(found, [2, 1_002, 2_002]);
        assert!(found.iter().all(|number| account(*number, 1)["state"] == "s9"));
    }
}
