//! Lua 5.1 as Redis's scripts use it, without metatables, coroutines and `goto`. What a script has beside that is an
//! error that names it, before anything runs. Pure: commands are called through a function that is given. Every script
//! ends: its steps and the bytes that it makes are counted. Whatever it makes lives in its own arena, and goes with it.

mod cjson;
mod library;
mod parse;
mod pattern;
mod redis;
mod replies;
mod run;
mod sprintf;
mod strings;
mod tables;
mod token;
mod value;

use std::sync::Arc;

pub(crate) use parse::{Script, parse};
pub(crate) use redis::{hash_of, run};

/// A function's text: what a closure of it shares.
#[derive(PartialEq, Debug, Default)]
struct Proto {
    /// The first slots are its parameters.
    parameters: usize,
    /// Whether it takes further arguments: `...`.
    variadic: bool,
    /// For each local variable, whether a function within refers to it, so that it lives on its own.
    captured: Vec<bool>,
    /// The variables of functions around it that it refers to.
    outer: Vec<Outer>,
    body: Vec<Statement>,
}

/// A variable of a function around another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Outer {
    /// A local variable of the function directly around.
    Local(usize),
    /// One that that function itself has from around it.
    Further(usize),
}

/// An expression. Lines are those of the script.
#[derive(PartialEq, Debug)]
enum Expr {
    Nil,
    Bool(bool),
    Number(f64),
    Text(Arc<[u8]>),
    Further,
    Local(usize),
    Outer(usize),
    Global(Arc<str>, u32),
    Index(Box<Expr>, Box<Expr>, u32),
    Call(Box<Called>),
    Function(Arc<Proto>),
    Table(Vec<(Option<Expr>, Expr)>),
    /// In parentheses: of several values the first one.
    Single(Box<Expr>),
    Not(Box<Expr>),
    Minus(Box<Expr>, u32),
    Length(Box<Expr>, u32),
    Or(Box<Expr>, Box<Expr>),
    And(Box<Expr>, Box<Expr>),
    Binary(Operator, Box<Expr>, Box<Expr>, u32),
}

/// A call of a function, or with a name of a method.
#[derive(PartialEq, Debug)]
struct Called {
    function: Expr,
    method: Option<Arc<[u8]>>,
    arguments: Vec<Expr>,
    line: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Operator {
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
    Power,
}

/// A statement.
#[derive(PartialEq, Debug)]
enum Statement {
    Local(Vec<usize>, Vec<Expr>),
    Set(Vec<Expr>, Vec<Expr>),
    Call(Called),
    Do(Vec<Statement>),
    While(Expr, Vec<Statement>),
    Repeat(Vec<Statement>, Expr),
    If(Vec<(Expr, Vec<Statement>)>, Vec<Statement>),
    Count {
        variable: usize,
        from: Expr,
        to: Expr,
        step: Option<Expr>,
        body: Vec<Statement>,
        line: u32,
    },
    Each {
        variables: Vec<usize>,
        of: Vec<Expr>,
        body: Vec<Statement>,
        line: u32,
    },
    /// A local function, which may call itself.
    Function(usize, Arc<Proto>),
    Return(Vec<Expr>, u32),
    Break,
}
