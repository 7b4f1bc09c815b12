//! Findings that are older than their rule: `allowed.txt` has one `RULE SUBJECT: REASON` in each line. The list can
//! only shrink: an entry that is no longer needed is a finding as well.

use std::collections::BTreeMap;

use crate::Finding;

/// The allow list.
#[derive(Default)]
pub struct Allowed(BTreeMap<(String, String), (usize, String)>);

impl Allowed {
    /// Reads the list. Blank lines and lines that start with `#` are not entries.
    ///
    /// # Errors
    /// The first line that is not an entry, or that is there twice.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut found = Allowed::default();
        for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
            let wrong = |what: &str| format!("allowed.txt:{}: {what}: {line}", at + 1);
            let (entry, reason) = line.split_once(": ").ok_or_else(|| wrong("no `: REASON`"))?;
            let (rule, subject) = entry.split_once(' ').ok_or_else(|| wrong("no `RULE SUBJECT`"))?;
            let key = (rule.to_owned(), subject.to_owned());
            if reason.trim().is_empty() {
                return Err(wrong("the reason is missing"));
            }
            if found.0.insert(key, (at + 1, reason.to_owned())).is_some() {
                return Err(wrong("there is one already"));
            }
        }
        Ok(found)
    }

    /// Whether a finding of this rule about this subject is allowed.
    pub fn contains(&self, rule: &str, subject: &str) -> bool {
        self.0.contains_key(&(rule.to_owned(), subject.to_owned()))
    }

    /// The findings that are not allowed, and the entries that are not needed.
    pub fn judge(&self, found: &[Finding]) -> Vec<String> {
        let needed = |rule: &str, subject: &str| found.iter().any(|one| one.rule == rule && one.subject == subject);
        let new = found.iter().filter(|one| !self.contains(one.rule, &one.subject)).map(ToString::to_string);
        let old =
            self.0.iter().filter(|((rule, subject), _)| !needed(rule, subject)).map(|((rule, subject), (line, _))| {
                format!("allowed.txt:{line}: nothing needs `{rule} {subject}` any more; delete the line")
            });
        new.chain(old).collect()
    }

    /// The list as it would be if it allowed exactly the findings. Existing entries keep their reasons.
    pub fn rewritten(&self, found: &[Finding], reason: &str) -> String {
        let mut entries: Vec<String> = found
            .iter()
            .map(|one| {
                let key = (one.rule.to_owned(), one.subject.clone());
                format!("{} {}: {}\n", one.rule, one.subject, self.0.get(&key).map_or(reason, |(_, reason)| reason))
            })
            .collect();
        entries.sort();
        entries.dedup();
        entries.concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_new_and_what_is_no_longer_needed_is_said() {
        let allowed = Allowed::parse("# head\n\nline-length a.rs: old\nfile-length b.rs: old\n").unwrap();
        let found = [
            Finding::at("line-length", "a.rs", 7, "long"),
            Finding::at("line-length", "a.rs", 9, "long"),
            Finding::at("line-length", "c.rs", 2, "long"),
        ];
        assert_eq!(
            allowed.judge(&found),
            ["c.rs:2: line-length: long", "allowed.txt:4: nothing needs `file-length b.rs` any more; delete the line"]
        );
        assert_eq!(allowed.rewritten(&found, "new"), "line-length a.rs: old\nline-length c.rs: new\n");
    }

    #[test]
    fn an_entry_has_a_reason_and_stands_there_once() {
        for (text, expected) in [
            ("x a.rs", "allowed.txt:1: no `: REASON`: x a.rs"),
            ("x: y", "allowed.txt:1: no `RULE SUBJECT`: x: y"),
            ("x a: ", "allowed.txt:1: the reason is missing: x a: "),
            ("x a: y\nx a: z", "allowed.txt:2: there is one already: x a: z"),
        ] {
            assert_eq!(Allowed::parse(text).err().as_deref(), Some(expected));
        }
    }
}
