//! A user's workload: a TOML file, which is checked strictly, and the documents that it describes. Pure except for
//! reading the corpus.

use std::fmt::Write as _; // to a String, which cannot fail
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::data::Random;
use crate::error::{LabError, Result};
use crate::subjects::Tier;

/// Documents at most.
const DOCUMENTS_MAX: u64 = 100_000_000;
/// Threads at most.
const CLIENTS_MAX: u64 = 256;
/// Characters of a text, and texts of a list, at most.
const LENGTH_MAX: u64 = 1 << 20;
/// Bytes of a corpus at most.
const CORPUS_BYTES_MAX: u64 = 1 << 30;

/// A workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// Its name.
    pub name: String,
    /// Documents before anything is timed.
    pub documents: u64,
    /// Threads.
    pub clients: u64,
    /// Operations a second, of all of them; without it each begins when the one before has ended.
    pub rate: Option<u64>,
    /// The durability of commits.
    pub durability: Tier,
    /// The length of a round in seconds.
    #[serde(default = "two")]
    pub seconds: u64,
    /// For stores with a cache of their own.
    #[serde(default = "sixty_four")]
    pub cache_mib: u64,
    /// A file of documents, one a line.
    pub corpus: Option<String>,
    /// The proportions of operations.
    pub mix: Mix,
    /// The sizes of operations.
    #[serde(default)]
    pub limits: Limits,
    /// The members of a document.
    #[serde(default, rename = "member")]
    pub members: Vec<Member>,
    /// The corpus, read.
    #[serde(default, rename = "corpus-lines")]
    pub lines: Vec<String>,
}

fn two() -> u64 {
    2
}

fn sixty_four() -> u64 {
    64
}

/// Operations in proportion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mix {
    /// One document by its id.
    #[serde(default)]
    pub get: u64,
    /// Reads one and commits its next version.
    #[serde(default)]
    pub update: u64,
    /// Commits a new one.
    #[serde(default)]
    pub insert: u64,
    /// Reads a range.
    #[serde(default)]
    pub scan: u64,
}

/// The sizes of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Documents of a range.
    pub scan_documents: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { scan_documents: 100 }
    }
}

/// A member of a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Member {
    /// Letters.
    Text {
        /// Its name.
        name: String,
        /// From, to.
        length: [u64; 2],
    },
    /// A whole number.
    Number {
        /// Its name.
        name: String,
        /// From, to.
        range: [i64; 2],
    },
    /// True or false.
    Flag {
        /// Its name.
        name: String,
    },
    /// Texts.
    List {
        /// Its name.
        name: String,
        /// How many: from, to.
        count: [u64; 2],
        /// The length of each text: from, to.
        length: [u64; 2],
    },
}

/// A kind of operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Action {
    /// One document by its id.
    Get,
    /// Reads one and commits its next version.
    Update,
    /// Commits a new one.
    Insert,
    /// Reads a range.
    Scan,
}

impl Action {
    /// All, in the order of reports.
    pub const ALL: [Action; 4] = [Action::Get, Action::Update, Action::Insert, Action::Scan];
}

impl Mix {
    /// The share of one.
    pub fn of(&self, action: Action) -> u64 {
        match action {
            Action::Get => self.get,
            Action::Update => self.update,
            Action::Insert => self.insert,
            Action::Scan => self.scan,
        }
    }

    /// One that is drawn.
    pub fn draw(&self, random: &mut Random) -> Action {
        let mut at = random.below(Action::ALL.iter().map(|action| self.of(*action)).sum::<u64>().max(1));
        for action in Action::ALL {
            let share = self.of(action);
            if at < share {
                return action;
            }
            at -= share;
        }
        Action::Get
    }
}

impl Workload {
    /// Reads one, and the corpus that it names.
    pub fn read(file: &Path) -> Result<Self> {
        let shown = file.display();
        let text = std::fs::read_to_string(file).map_err(LabError::io(format!("reading {shown}")))?;
        let mut workload = Self::parse(&text).map_err(|why| LabError::Usage { what: format!("{shown}: {why}") })?;
        if let Some(corpus) = &workload.corpus {
            let path = file.parent().unwrap_or(Path::new(".")).join(corpus);
            let failed = || LabError::io(format!("reading {}", path.display()));
            let bytes = std::fs::metadata(&path).map_err(failed())?.len();
            let refused = |what: String| LabError::Usage { what: format!("{}: {what}", path.display()) };
            if bytes > CORPUS_BYTES_MAX {
                return Err(refused(format!("{bytes} bytes; a corpus has at most {CORPUS_BYTES_MAX}")));
            }
            let text = std::fs::read_to_string(&path).map_err(failed())?;
            workload.lines = text.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect();
            for (at, line) in workload.lines.iter().enumerate() {
                let object = serde_json::from_str::<serde_json::Value>(line).is_ok_and(|value| value.is_object());
                if !object {
                    return Err(refused(format!("line {} is no JSON object", at + 1)));
                }
            }
            if workload.lines.is_empty() {
                return Err(refused("has no documents".to_owned()));
            }
        }
        Ok(workload)
    }

    /// Out of a text.
    fn parse(text: &str) -> std::result::Result<Self, String> {
        let workload: Workload = toml::from_str(text).map_err(|error| error.to_string().trim().to_owned())?;
        workload.check()?;
        Ok(workload)
    }

    fn check(&self) -> std::result::Result<(), String> {
        let within = |what: &str, value: u64, least: u64, most: u64| {
            let fine = (least..=most).contains(&value);
            if fine { Ok(()) } else { Err(format!("{what} = {value}: it has to be from {least} to {most}")) }
        };
        within("documents", self.documents, 1, DOCUMENTS_MAX)?;
        within("clients", self.clients, 1, CLIENTS_MAX.min(self.documents))?;
        within("seconds", self.seconds, 1, 3600)?;
        within("cache_mib", self.cache_mib, 1, 1 << 20)?;
        within("limits.scan_documents", self.limits.scan_documents, 1, 1_000_000)?;
        if let Some(rate) = self.rate {
            within("rate", rate, 1, 10_000_000)?;
        }
        for action in Action::ALL {
            within(&format!("mix: {action:?}").to_lowercase(), self.mix.of(action), 0, 1_000_000)?;
        }
        if Action::ALL.iter().all(|action| self.mix.of(*action) == 0) {
            return Err("[mix] has no operation: give get, update, insert or scan a share above 0".to_owned());
        }
        if !self.lines.is_empty() {
            return Err("corpus-lines is not for files: name a file with corpus".to_owned());
        }
        match (&self.corpus, self.members.is_empty()) {
            (None, true) => {
                return Err("no [[member]] and no corpus: nothing says what a document looks like".to_owned());
            }
            (Some(_), false) => return Err("both [[member]] and corpus: give one of them".to_owned()),
            _ => {}
        }
        let mut names: Vec<&str> = self.members.iter().map(Member::name).collect();
        names.sort_unstable();
        if let Some([twice, _]) = names.windows(2).find(|two| matches!(two, [one, other] if one == other)) {
            return Err(format!("two members have the name \"{twice}\""));
        }
        for member in &self.members {
            member.check()?;
        }
        Ok(())
    }

    /// Document `n` at a version.
    pub fn document(&self, n: u64, version: u32) -> String {
        if !self.lines.is_empty() {
            let at = (n as usize).wrapping_add(version as usize * 7) % self.lines.len();
            return self.lines.get(at).cloned().unwrap_or_default();
        }
        let mut random = Random::new(n.wrapping_mul(0x5851_f42d_4c95_7f2d) ^ u64::from(version) << 40);
        let mut text = String::from("{");
        for (at, member) in self.members.iter().enumerate() {
            let name = serde_json::Value::from(member.name());
            let _ = write!(text, "{}{name}:", if at == 0 { "" } else { "," });
            member.write(&mut random, &mut text);
        }
        text + "}"
    }
}

/// One of a range, both ends within.
fn draw(random: &mut Random, [from, to]: [u64; 2]) -> u64 {
    from + random.below(to.saturating_sub(from).saturating_add(1))
}

fn letters(random: &mut Random, length: [u64; 2], text: &mut String) {
    text.push('"');
    for _ in 0..draw(random, length) {
        text.push(char::from(b'a' + u8::try_from(random.below(26)).unwrap_or_default()));
    }
    text.push('"');
}

impl Member {
    fn name(&self) -> &str {
        match self {
            Member::Text { name, .. }
            | Member::Number { name, .. }
            | Member::Flag { name }
            | Member::List { name, .. } => name,
        }
    }

    fn check(&self) -> std::result::Result<(), String> {
        let name = self.name();
        let ordered = |what: &str, [from, to]: [u64; 2]| {
            if from <= to && to <= LENGTH_MAX {
                return Ok(());
            }
            Err(format!(
                "member {name}: {what} = [{from}, {to}]: the first may not be above the second, nor that above \
                 {LENGTH_MAX}"
            ))
        };
        match self {
            Member::Text { length, .. } => ordered("length", *length),
            Member::List { count, length, .. } => ordered("count", *count).and_then(|()| ordered("length", *length)),
            Member::Number { range: [from, to], .. } if from > to => {
                Err(format!("member {name}: range = [{from}, {to}]: the first may not be above the second"))
            }
            Member::Number { .. } | Member::Flag { .. } => Ok(()),
        }
    }

    fn write(&self, random: &mut Random, text: &mut String) {
        match self {
            Member::Text { length, .. } => letters(random, *length, text),
            Member::Number { range: [from, to], .. } => {
                let drawn = random.below(to.abs_diff(*from).saturating_add(1));
                let _ = write!(text, "{}", from.saturating_add_unsigned(drawn));
            }
            Member::Flag { .. } => text.push_str(if random.below(2) == 0 { "false" } else { "true" }),
            Member::List { count, length, .. } => {
                text.push('[');
                for at in 0..draw(random, *count) {
                    if at > 0 {
                        text.push(',');
                    }
                    letters(random, *length, text);
                }
                text.push(']');
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORDERS: &str = include_str!("../workloads/orders.toml");
    const READINGS: &str = include_str!("../workloads/readings.toml");

    #[test]
    fn the_examples_are_read_and_their_documents_are_as_they_say() {
        let orders = Workload::parse(ORDERS).unwrap();
        let mut seen = [false; 2];
        for n in 0..200 {
            let document: serde_json::Value = serde_json::from_str(&orders.document(n, 0)).unwrap();
            assert!((8..=30).contains(&document["customer"].as_str().unwrap().len()), "{document}");
            assert!((1..=100_000).contains(&document["total"].as_i64().unwrap()), "{document}");
            assert!((1..=8).contains(&document["items"].as_array().unwrap().len()), "{document}");
            seen[usize::from(document["paid"].as_bool().unwrap())] = true;
            assert_ne!(orders.document(n, 0), orders.document(n, 1));
            assert_eq!(orders.document(n, 1), orders.document(n, 1));
        }
        assert_eq!(seen, [true; 2]);
        let readings = Workload::parse(READINGS).unwrap();
        assert_eq!((readings.rate, readings.durability, readings.mix.get), (Some(400), Tier::T1, 0));
    }

    #[test]
    fn operations_come_as_often_as_the_mix_says() {
        let mix = Mix { get: 8, update: 0, insert: 1, scan: 1 };
        let mut random = Random::new(1);
        let drawn: Vec<Action> = (0..10_000).map(|_| mix.draw(&mut random)).collect();
        let count = |action| drawn.iter().filter(|one| **one == action).count();
        assert_eq!(count(Action::Update), 0);
        assert!((7_700..8_300).contains(&count(Action::Get)) && (800..1_200).contains(&count(Action::Scan)));
    }

    #[test]
    fn mistakes_are_refused_with_what_to_do() {
        for (of, to, part) in [
            ("clients = 4", "clients = 0", "clients = 0: it has to be from 1 to"),
            ("clients = 4", "client = 4", "unknown field `client`"),
            ("clients = 4 ", "", "missing field `clients`"),
            ("durability = \"T2\"", "durability = \"T7\"", "unknown variant `T7`"),
            ("get = 80", "gets = 80", "unknown field `gets`"),
            ("length = [8, 30]", "length = [30, 8]", "member customer: length = [30, 8]"),
            ("range = [1, 100_000]", "range = [5, 1]", "member total: range = [5, 1]"),
            ("name = \"total\"", "name = \"paid\"", "two members have the name \"paid\""),
            ("kind = \"flag\"", "kind = \"date\"", "unknown variant `date`"),
            ("seconds = 2", "seconds = 2\ncorpus = \"x\"", "both [[member]] and corpus"),
            ("scan_documents = 50", "scan_documents = 0", "limits.scan_documents = 0"),
            ("documents = 20_000", "documents = -1", "invalid value"),
        ] {
            let text = ORDERS.replacen(of, to, 1);
            assert_ne!(text, ORDERS, "{of}");
            let error = Workload::parse(&text).unwrap_err();
            assert!(error.contains(part), "{to}: {error}");
        }
        let none = ORDERS
            .replace("get = 80", "get = 0")
            .replace("update = 12", "")
            .replace("insert = 5", "")
            .replace("scan = 3", "");
        assert!(Workload::parse(&none).unwrap_err().contains("[mix] has no operation"));
    }

    #[test]
    fn a_corpus_is_taken_in_turns_and_a_broken_one_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("own.toml");
        let (head, _) = READINGS.split_once("[[member]]").unwrap();
        std::fs::write(&file, head.replace("# corpus =", "corpus =")).unwrap();
        let corpus = dir.path().join("readings.jsonl");
        std::fs::write(&corpus, "{\"n\":1}\n\n{\"n\":2}\n").unwrap();
        let own = Workload::read(&file).unwrap();
        assert_eq!(
            (own.document(0, 0), own.document(1, 0), own.document(2, 0)),
            ("{\"n\":1}".into(), "{\"n\":2}".into(), "{\"n\":1}".into())
        );
        std::fs::write(&corpus, "{\"n\":1}\n7\n").unwrap();
        assert!(Workload::read(&file).unwrap_err().to_string().contains("line 2 is no JSON object"));
        std::fs::write(&corpus, "").unwrap();
        assert!(Workload::read(&file).unwrap_err().to_string().contains("has no documents"));
    }
}
