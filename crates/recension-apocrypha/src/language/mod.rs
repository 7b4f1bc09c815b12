//! The command language: words in, a [`Command`] out, and what it does to a tree of members. Nothing here knows a
//! store, a clock or a connection.

mod evaluate;
mod operate;
mod parse;
mod resolve;
mod root;
mod search;

use recension::document::At;

use crate::value::Value;

pub use evaluate::{CHANGED, Effect, evaluate};
pub use parse::{parse, plain_member};
pub(crate) use root::check_name;
pub use root::{Fault, MemoryRoot, Part, Root};

/// A command.
#[derive(Clone, Debug, PartialEq, Eq)]
// They are flags.
#[allow(clippy::struct_excessive_bools)]
pub struct Command {
    /// `-c`: each line says where it is from.
    pub context: bool,
    /// `--strict`: what is missing is an error.
    pub strict: bool,
    /// `--timing`: the reply says how long it took.
    pub timing: bool,
    /// `--at`: the database as it was at a moment.
    pub at: Option<At>,
    /// `--if`: nothing is written unless the place says this; the empty object is what is missing.
    pub expected: Option<Value>,
    /// `--history`: what was at the path, and since when.
    pub history: bool,
    /// The path.
    pub steps: Vec<Step>,
    /// What is done there.
    pub operator: Operator,
}

/// A word of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A member.
    Key(String),
    /// `!name`: the values that a member names.
    Reference(String),
}

/// What is done at the end of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operator {
    /// Print it.
    Get,
    /// `--keys`
    Keys,
    /// `--edit`
    Edit,
    /// `--set JSON`
    Set(Option<String>),
    /// `= VALUES`
    Assign(Vec<String>),
    /// `+ VALUES`
    Append(Vec<String>),
    /// `- VALUES`
    Remove(Vec<String>),
    /// `--del`
    Delete,
    /// `--pop`
    Pop,
    /// `@ VALUE`
    Search(Option<String>),
    /// `--flush`: answered when all that was acknowledged is durable.
    Flush,
}

impl Operator {
    /// Whether it may change something.
    pub fn writes(&self) -> bool {
        match self {
            Operator::Get | Operator::Keys | Operator::Edit | Operator::Search(_) | Operator::Flush => false,
            Operator::Set(_)
            | Operator::Assign(_)
            | Operator::Append(_)
            | Operator::Remove(_)
            | Operator::Delete
            | Operator::Pop => true,
        }
    }
}

impl Command {
    /// Nothing but a path, and that is the top level.
    pub(crate) fn top() -> Self {
        Command {
            context: false,
            strict: false,
            timing: false,
            at: None,
            expected: None,
            history: false,
            steps: Vec::new(),
            operator: Operator::Get,
        }
    }

    /// The read of a member.
    pub(crate) fn read_of(name: &str) -> Self {
        Command { steps: vec![Step::Key(name.to_owned())], ..Command::top() }
    }

    /// The member that is read and nothing else, if it is one.
    pub(crate) fn member_read(&self) -> Option<&str> {
        match (&self.operator, self.steps.as_slice()) {
            (Operator::Get, [Step::Key(name)]) => Some(name),
            _ => None,
        }
    }

    /// Whether it may take long: it may read or write more than single members as they are now.
    pub fn is_large(&self) -> bool {
        self.history || self.at.is_some() || self.steps.is_empty() || matches!(self.operator, Operator::Search(_))
    }
}
