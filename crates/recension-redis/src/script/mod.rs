//! The part of Lua that short scripts use: locks, rate limits, compare and set. Values, `if`, `for`, calculations and
//! calls of commands; whatever else a script has is an error that names it, before anything runs. Pure: commands are
//! called through a function that is given. Every script ends: the steps of loops are counted.

mod parse;
mod run;
mod token;

pub(crate) use parse::{Script, parse};
pub(crate) use run::run;

/// An expression.
#[derive(Clone, PartialEq, Debug)]
enum Expr {
    Nil,
    Bool(bool),
    Number(f64),
    Text(Vec<u8>),
    /// A local variable, by its place.
    Local(usize),
    Keys,
    Args,
    Index(Box<Expr>, Box<Expr>),
    Array(Vec<Expr>),
    Call(Function, Vec<Expr>),
    Not(Box<Expr>),
    Minus(Box<Expr>),
    Length(Box<Expr>),
    Binary(Operator, Box<Expr>, Box<Expr>),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Operator {
    Or,
    And,
    Less,
    More,
    AtMost,
    AtLeast,
    Equal,
    Differs,
    Concat,
    Plus,
    Minus,
    Times,
    Divided,
    Remainder,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Function {
    Call,
    Pcall,
    StatusReply,
    ErrorReply,
    ToNumber,
    ToText,
    Floor,
    Ceil,
    Min,
    Max,
}

/// A statement.
#[derive(Clone, PartialEq, Debug)]
enum Statement {
    Set(usize, Expr),
    Do(Expr),
    If(Vec<(Expr, Vec<Statement>)>, Vec<Statement>),
    Count { variable: usize, from: Expr, to: Expr, step: Expr, body: Vec<Statement> },
    Each { index: usize, value: usize, of: Expr, body: Vec<Statement> },
    Return(Option<Expr>),
}
