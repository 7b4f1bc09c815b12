//! A recognised map function: a tree of tests, members and emitted values. Every program ends soon, because loops go
//! only over arrays of the document, and each inner loop over a member of the outer loop's element.

use std::collections::BTreeSet;

/// A map function that runs without JavaScript.
#[derive(Clone, PartialEq, Debug)]
pub struct Program {
    pub(super) body: Vec<Statement>,
    /// The number of its variables.
    pub(super) variables: usize,
    /// The members of the document that it reads; `None`: all.
    pub(super) members: Option<BTreeSet<String>>,
}

#[derive(Clone, PartialEq, Debug)]
pub(super) enum Statement {
    Expression(Expression),
    Set(usize, Expression),
    If(Expression, Vec<Statement>, Vec<Statement>),
    Block(Vec<Statement>),
    Return(Option<Expression>),
}

#[derive(Clone, PartialEq, Debug)]
pub(super) enum Expression {
    Undefined,
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    Document,
    Variable(usize),
    Member(Box<Expression>, String),
    Element(Box<Expression>, u32),
    Unary(Unary, Box<Expression>),
    Binary(Binary, Box<Expression>, Box<Expression>),
    And(Box<Expression>, Box<Expression>),
    Or(Box<Expression>, Box<Expression>),
    Choice(Box<[Expression; 3]>),
    Array(Vec<Expression>),
    Object(Vec<(String, Expression)>),
    IsArray(Box<Expression>),
    Emit(Vec<Expression>),
    Each(Box<Each>),
}

/// `over.forEach(function (element, index) { body })`
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Each {
    pub(super) over: Expression,
    pub(super) element: Option<usize>,
    pub(super) index: Option<usize>,
    pub(super) body: Vec<Statement>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Unary {
    Not,
    Minus,
    Plus,
    TypeOf,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Binary {
    Equal { strict: bool, not: bool },
    Less { swapped: bool, or_equal: bool },
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}
