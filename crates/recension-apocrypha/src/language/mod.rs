//! The command language: from words to a [`Command`], and the effect of a command on a tree of members. Nothing here
//! knows a store, a clock or a connection.

mod evaluate;
mod operate;
mod parse;
mod resolve;
mod root;
mod search;

use recension::At;

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
    /// `-c`: each line is prefixed with its path.
    pub context: bool,
    /// `--strict`: a missing value is an error.
    pub strict: bool,
    /// `--timing`: the reply has the time that it took.
    pub timing: bool,
    /// `--at`: the database as it was at a moment.
    pub at: Option<At>,
    /// `--if`: nothing is written unless the place has this value; the empty object stands for a missing value.
    pub expected: Option<Value>,
    /// `--history`: the values that were at the path, each with its first commit.
    pub history: bool,
    /// The path.
    pub steps: Vec<Step>,
    /// The operation at the path.
    pub operator: Operator,
}

/// A word of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A member.
    Key(String),
    /// `!name`: the values in the member of this name.
    Reference(String),
}

/// The operation at the end of a path.
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
    /// `--flush`: answers when all acknowledged writes are durable.
    Flush,
}

impl Operator {
    /// Whether it may write.
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
    /// The command without words, which reads the top level.
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

    /// The member that it reads, if it does nothing else.
    pub(crate) fn member_read(&self) -> Option<&str> {
        match (&self.operator, self.steps.as_slice()) {
            (Operator::Get, [Step::Key(name)]) => Some(name),
            _ => None,
        }
    }

    /// Whether it may take long: it may read or write more than single present members.
    pub fn is_large(&self) -> bool {
        self.history || self.at.is_some() || self.steps.is_empty() || matches!(self.operator, Operator::Search(_))
    }
}
