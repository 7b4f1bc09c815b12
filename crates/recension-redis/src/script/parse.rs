//! A script as statements. What is not understood is an error that names the word and its line.

use super::token::{Token, tokens};
use super::{Expr, Function, Operator, Statement};
use crate::limits::SCRIPT_DEPTH_MAX;

/// A script.
#[derive(Debug)]
pub(crate) struct Script {
    pub(super) body: Vec<Statement>,
    /// How many local variables it has.
    pub(super) variables: usize,
}

/// Reads a script.
pub(crate) fn parse(text: &[u8]) -> Result<Script, String> {
    let text = match text.strip_prefix(b"#!lua") {
        // Flags of a script are of no account here.
        Some(rest) => &rest[rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len())..],
        None => text,
    };
    let mut parser = Parser { tokens: tokens(text)?, at: 0, names: Vec::new(), variables: 0, depth: 0 };
    let body = parser.block(&[])?;
    match parser.peek() {
        None => Ok(Script { body, variables: parser.variables }),
        Some(_) => Err(parser.unexpected()),
    }
}

struct Parser {
    tokens: Vec<(Token, usize)>,
    at: usize,
    /// The local variables that are visible, and their places.
    names: Vec<(String, usize)>,
    variables: usize,
    depth: usize,
}

const KEYWORDS: [&str; 22] = [
    "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "goto", "if", "in", "local", "nil",
    "not", "or", "repeat", "return", "then", "true", "until", "while",
];

/// The operators that bind equally, from the loosest on.
const LEVELS: [&[(&str, Operator)]; 6] = [
    &[("or", Operator::Or)],
    &[("and", Operator::And)],
    &[
        ("<=", Operator::AtMost),
        (">=", Operator::AtLeast),
        ("<", Operator::Less),
        (">", Operator::More),
        ("==", Operator::Equal),
        ("~=", Operator::Differs),
    ],
    &[("..", Operator::Concat)],
    &[("+", Operator::Plus), ("-", Operator::Minus)],
    &[("*", Operator::Times), ("/", Operator::Divided), ("%", Operator::Remainder)],
];

impl Parser {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|(token, _)| token)
    }

    fn unexpected(&self) -> String {
        match self.tokens.get(self.at) {
            None => "the script ends too early".to_owned(),
            Some((token, line)) => {
                let word = match token {
                    Token::Name(name) => name.clone(),
                    Token::Number(number) => number.to_string(),
                    Token::Text(text) => format!("\"{}\"", text.escape_ascii()),
                    Token::Sign(sign) => (*sign).to_owned(),
                };
                format!("line {line}: '{word}' is not understood here")
            }
        }
    }

    /// Whether the next word is this one, which is passed over then.
    fn takes(&mut self, word: &str) -> bool {
        let is_it = match self.peek() {
            Some(Token::Name(name)) => name == word,
            Some(Token::Sign(sign)) => *sign == word,
            _ => false,
        };
        self.at += usize::from(is_it);
        is_it
    }

    fn expect(&mut self, word: &str) -> Result<(), String> {
        if self.takes(word) { Ok(()) } else { Err(self.unexpected()) }
    }

    fn name(&mut self) -> Result<String, String> {
        match self.peek() {
            Some(Token::Name(name)) if !KEYWORDS.contains(&name.as_str()) => {
                let name = name.clone();
                self.at += 1;
                Ok(name)
            }
            _ => Err(self.unexpected()),
        }
    }

    fn declare(&mut self, name: String) -> usize {
        self.names.push((name, self.variables));
        self.variables += 1;
        self.variables - 1
    }

    fn find(&self, name: &str) -> Option<usize> {
        self.names.iter().rev().find(|(known, _)| known == name).map(|(_, place)| *place)
    }

    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, String>) -> Result<T, String> {
        if self.depth >= SCRIPT_DEPTH_MAX {
            return Err("the script is nested too deeply".to_owned());
        }
        self.depth += 1;
        let read = read(self);
        self.depth -= 1;
        read
    }

    /// Statements up to one of these words, which is left.
    fn block(&mut self, ends: &[&str]) -> Result<Vec<Statement>, String> {
        let visible = self.names.len();
        let mut body = Vec::new();
        let is_end = |token: Option<&Token>| match token {
            None => true,
            Some(Token::Name(name)) => ends.contains(&name.as_str()),
            Some(_) => false,
        };
        while !is_end(self.peek()) {
            if self.takes(";") {
                continue;
            }
            let statement = self.deeper(Self::statement)?;
            let returns = matches!(statement, Statement::Return(_));
            body.push(statement);
            if returns {
                self.takes(";");
                break;
            }
        }
        self.names.truncate(visible);
        Ok(body)
    }

    fn statement(&mut self) -> Result<Statement, String> {
        if self.takes("local") {
            let name = self.name()?;
            let value = if self.takes("=") { self.expression()? } else { Expr::Nil };
            return Ok(Statement::Set(self.declare(name), value));
        }
        if self.takes("if") {
            return self.condition();
        }
        if self.takes("for") {
            return self.cycle();
        }
        if self.takes("return") {
            let ends = match self.peek() {
                None => true,
                Some(Token::Name(name)) => ["end", "else", "elseif"].contains(&name.as_str()),
                Some(token) => *token == Token::Sign(";"),
            };
            return Ok(Statement::Return(if ends { None } else { Some(self.expression()?) }));
        }
        if let (Some(Token::Name(name)), Some((Token::Sign("="), _))) = (self.peek(), self.tokens.get(self.at + 1))
            && let Some(place) = self.find(name)
        {
            self.at += 2;
            return Ok(Statement::Set(place, self.expression()?));
        }
        let start = self.at;
        match self.expression()? {
            call @ Expr::Call(..) => Ok(Statement::Do(call)),
            _ => {
                self.at = start;
                Err(self.unexpected())
            }
        }
    }

    fn condition(&mut self) -> Result<Statement, String> {
        let mut branches = Vec::new();
        loop {
            let condition = self.expression()?;
            self.expect("then")?;
            branches.push((condition, self.block(&["else", "elseif", "end"])?));
            if self.takes("elseif") {
                continue;
            }
            let otherwise = if self.takes("else") { self.block(&["end"])? } else { Vec::new() };
            self.expect("end")?;
            return Ok(Statement::If(branches, otherwise));
        }
    }

    fn cycle(&mut self) -> Result<Statement, String> {
        let first = self.name()?;
        let visible = self.names.len();
        let statement = if self.takes(",") {
            let second = self.name()?;
            self.expect("in")?;
            self.expect("ipairs")?;
            self.expect("(")?;
            let of = self.expression()?;
            self.expect(")")?;
            self.expect("do")?;
            let (index, value) = (self.declare(first), self.declare(second));
            Statement::Each { index, value, of, body: self.block(&["end"])? }
        } else {
            self.expect("=")?;
            let from = self.expression()?;
            self.expect(",")?;
            let to = self.expression()?;
            let step = if self.takes(",") { self.expression()? } else { Expr::Number(1.0) };
            self.expect("do")?;
            let variable = self.declare(first);
            Statement::Count { variable, from, to, step, body: self.block(&["end"])? }
        };
        self.names.truncate(visible);
        self.expect("end")?;
        Ok(statement)
    }

    fn expression(&mut self) -> Result<Expr, String> {
        self.deeper(|parser| parser.binary(0))
    }

    fn binary(&mut self, level: usize) -> Result<Expr, String> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        while let Some((_, operator)) = operators.iter().find(|(word, _)| self.takes(word)) {
            // `..` binds to the right; the text is the same.
            let right = self.binary(level + 1)?;
            left = Expr::Binary(*operator, Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Expr, String> {
        if self.takes("not") {
            return Ok(Expr::Not(Box::new(self.deeper(Self::unary)?)));
        }
        if self.takes("-") {
            return Ok(Expr::Minus(Box::new(self.deeper(Self::unary)?)));
        }
        if self.takes("#") {
            return Ok(Expr::Length(Box::new(self.deeper(Self::unary)?)));
        }
        let mut value = self.primary()?;
        while self.takes("[") {
            let index = self.expression()?;
            self.expect("]")?;
            value = Expr::Index(Box::new(value), Box::new(index));
        }
        Ok(value)
    }

    fn list(&mut self, end: &str) -> Result<Vec<Expr>, String> {
        let mut items = Vec::new();
        while !self.takes(end) {
            items.push(self.expression()?);
            if !self.takes(",") {
                self.expect(end)?;
                break;
            }
        }
        Ok(items)
    }

    fn primary(&mut self) -> Result<Expr, String> {
        let token = self.peek().cloned();
        let simple = match token {
            Some(Token::Number(number)) => Some(Expr::Number(number)),
            Some(Token::Text(text)) => Some(Expr::Text(text)),
            _ => None,
        };
        if let Some(simple) = simple {
            self.at += 1;
            return Ok(simple);
        }
        for (word, value) in [("nil", Expr::Nil), ("true", Expr::Bool(true)), ("false", Expr::Bool(false))] {
            if self.takes(word) {
                return Ok(value);
            }
        }
        if self.takes("(") {
            let inner = self.expression()?;
            self.expect(")")?;
            return Ok(inner);
        }
        if self.takes("{") {
            return Ok(Expr::Array(self.list("}")?));
        }
        let start = self.at;
        let mut name = self.name()?;
        if let Some(place) = self.find(&name) {
            return Ok(Expr::Local(place));
        }
        match name.as_str() {
            "KEYS" => return Ok(Expr::Keys),
            "ARGV" => return Ok(Expr::Args),
            _ => {}
        }
        if self.takes(".") {
            name = format!("{name}.{}", self.name()?);
        }
        let Some(function) = function(&name) else {
            self.at = start;
            return Err(format!("{} ({name})", self.unexpected()));
        };
        self.expect("(")?;
        Ok(Expr::Call(function, self.list(")")?))
    }
}

fn function(name: &str) -> Option<Function> {
    Some(match name {
        "redis.call" | "server.call" => Function::Call,
        "redis.pcall" | "server.pcall" => Function::Pcall,
        "redis.status_reply" => Function::StatusReply,
        "redis.error_reply" => Function::ErrorReply,
        "tonumber" => Function::ToNumber,
        "tostring" => Function::ToText,
        "math.floor" => Function::Floor,
        "math.ceil" => Function::Ceil,
        "math.min" => Function::Min,
        "math.max" => Function::Max,
        _ => return None,
    })
}
