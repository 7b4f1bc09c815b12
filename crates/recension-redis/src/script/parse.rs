//! A script as statements. What is not understood is an error that names the word and its line.

use std::sync::Arc;

use super::token::{Token, tokens};
use super::{Called, Expr, Operator, Outer, Proto, Statement};
use crate::limits::SCRIPT_DEPTH_MAX;

/// A script.
#[derive(Debug)]
pub(crate) struct Script {
    pub(super) main: Arc<Proto>,
}

/// Reads a script.
pub(crate) fn parse(text: &[u8]) -> Result<Script, String> {
    let text = match text.strip_prefix(b"#!lua") {
        // Flags of a script are of no account here.
        Some(rest) => &rest[rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len())..],
        None => text,
    };
    let mut parser = Parser { tokens: tokens(text)?, at: 0, functions: Vec::new(), depth: 0 };
    let main = parser.function(Vec::new(), true, |parser| match parser.peek() {
        None => Ok(()),
        Some(_) => Err(parser.unexpected()),
    })?;
    Ok(Script { main })
}

/// A function that is being read.
#[derive(Default)]
struct Reading {
    proto: Proto,
    /// The local variables that are visible, and their slots.
    visible: Vec<(String, usize)>,
    /// The names of `proto.outer`.
    outer: Vec<String>,
    loops: usize,
}

struct Parser {
    tokens: Vec<(Token, u32)>,
    at: usize,
    /// The innermost function is the last.
    functions: Vec<Reading>,
    depth: usize,
}

const KEYWORDS: [&str; 21] = [
    "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "if", "in", "local", "nil", "not", "or",
    "repeat", "return", "then", "true", "until", "while",
];

/// How strongly an operator binds to its left and to its right.
fn strength(token: &Token) -> Option<(&'static str, u8, u8)> {
    let word = match token {
        Token::Name(name) => name.as_str(),
        Token::Sign(sign) => sign,
        _ => return None,
    };
    Some(match word {
        "or" => ("or", 1, 1),
        "and" => ("and", 2, 2),
        "<" => ("<", 3, 3),
        ">" => (">", 3, 3),
        "<=" => ("<=", 3, 3),
        ">=" => (">=", 3, 3),
        "==" => ("==", 3, 3),
        "~=" => ("~=", 3, 3),
        ".." => ("..", 5, 4),
        "+" => ("+", 6, 6),
        "-" => ("-", 6, 6),
        "*" => ("*", 7, 7),
        "/" => ("/", 7, 7),
        "%" => ("%", 7, 7),
        "^" => ("^", 10, 9),
        _ => return None,
    })
}

/// How strongly `not`, `-` and `#` bind.
const UNARY: u8 = 8;

fn binary(word: &str, left: Expr, right: Expr, line: u32) -> Expr {
    let (left, right) = (Box::new(left), Box::new(right));
    let operator = match word {
        "or" => return Expr::Or(left, right),
        "and" => return Expr::And(left, right),
        "<" => Operator::Less,
        ">" => Operator::More,
        "<=" => Operator::AtMost,
        ">=" => Operator::AtLeast,
        "==" => Operator::Equal,
        "~=" => Operator::Differs,
        ".." => Operator::Concat,
        "+" => Operator::Plus,
        "-" => Operator::Minus,
        "*" => Operator::Times,
        "/" => Operator::Divided,
        "%" => Operator::Remainder,
        _ => Operator::Power,
    };
    Expr::Binary(operator, left, right, line)
}

impl Parser {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|(token, _)| token)
    }

    fn line(&self) -> u32 {
        self.tokens.get(self.at).or(self.tokens.last()).map_or(1, |(_, line)| *line)
    }

    fn unexpected(&self) -> String {
        let line = self.line();
        let word = match self.peek() {
            None => return format!("user_script:{line}: unexpected symbol near '<eof>'"),
            Some(Token::Name(name)) => name.clone(),
            Some(Token::Number(number)) => number.to_string(),
            Some(Token::Text(text)) => text.escape_ascii().to_string(),
            Some(Token::Sign(sign)) => (*sign).to_owned(),
        };
        format!("user_script:{line}: unexpected symbol near '{word}'")
    }

    fn is(&self, word: &str) -> bool {
        match self.peek() {
            Some(Token::Name(name)) => name == word,
            Some(Token::Sign(sign)) => *sign == word,
            _ => false,
        }
    }

    /// Whether the next word is this one, which is passed over then.
    fn takes(&mut self, word: &str) -> bool {
        let is_it = self.is(word);
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

    fn names(&mut self) -> Result<Vec<String>, String> {
        let mut names = vec![self.name()?];
        while self.takes(",") {
            names.push(self.name()?);
        }
        Ok(names)
    }

    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, String>) -> Result<T, String> {
        if self.depth >= SCRIPT_DEPTH_MAX {
            return Err(format!("user_script:{}: the script is nested too deeply", self.line()));
        }
        self.depth += 1;
        let read = read(self);
        self.depth -= 1;
        read
    }

    /// The innermost function. There always is one while something is read.
    fn own(&mut self) -> &mut Reading {
        if self.functions.is_empty() {
            self.functions.push(Reading::default());
        }
        let last = self.functions.len() - 1;
        &mut self.functions[last]
    }

    fn declare(&mut self, name: String) -> usize {
        let own = self.own();
        own.proto.captured.push(false);
        own.visible.push((name, own.proto.captured.len() - 1));
        own.proto.captured.len() - 1
    }

    /// A variable by its name, as seen in the function of this number.
    fn find(&mut self, function: usize, name: &str) -> Option<Outer> {
        let own = self.functions.get(function)?;
        if let Some((_, slot)) = own.visible.iter().rev().find(|(known, _)| known == name) {
            return Some(Outer::Local(*slot));
        }
        if let Some(known) = own.outer.iter().position(|known| known == name) {
            return Some(Outer::Further(known));
        }
        let found = self.find(function.checked_sub(1)?, name)?;
        if let Outer::Local(slot) = found {
            self.functions[function - 1].proto.captured[slot] = true;
        }
        let own = &mut self.functions[function];
        own.outer.push(name.to_owned());
        own.proto.outer.push(found);
        Some(Outer::Further(own.outer.len() - 1))
    }

    fn variable(&mut self, name: &str, line: u32) -> Expr {
        match self.find(self.functions.len() - 1, name) {
            Some(Outer::Local(slot)) => Expr::Local(slot),
            Some(Outer::Further(place)) => Expr::Outer(place),
            None => Expr::Global(name.into(), line),
        }
    }

    /// A function from its parameters on; `end` reads what stands behind its statements.
    fn function(
        &mut self,
        parameters: Vec<String>,
        variadic: bool,
        end: impl FnOnce(&mut Self) -> Result<(), String>,
    ) -> Result<Arc<Proto>, String> {
        self.functions.push(Reading::default());
        self.own().proto.parameters = parameters.len();
        self.own().proto.variadic = variadic;
        for name in parameters {
            self.declare(name);
        }
        let body = self.block()?;
        end(self)?;
        let mut proto = self.functions.pop().unwrap_or_default().proto;
        proto.body = body;
        Ok(Arc::new(proto))
    }

    /// A function behind the word.
    fn rest_of_function(&mut self, method: bool) -> Result<Arc<Proto>, String> {
        self.expect("(")?;
        let mut parameters = if method { vec!["self".to_owned()] } else { Vec::new() };
        let mut variadic = false;
        while !self.takes(")") {
            if self.takes("...") {
                variadic = true;
                self.expect(")")?;
                break;
            }
            parameters.push(self.name()?);
            if !self.takes(",") {
                self.expect(")")?;
                break;
            }
        }
        self.deeper(|parser| parser.function(parameters, variadic, |parser| parser.expect("end")))
    }

    /// Statements up to a word that ends them, which is left.
    fn block(&mut self) -> Result<Vec<Statement>, String> {
        let visible = self.own().visible.len();
        let body = self.statements()?;
        self.own().visible.truncate(visible);
        Ok(body)
    }

    fn ends(&self) -> bool {
        match self.peek() {
            None => true,
            Some(Token::Name(name)) => ["end", "else", "elseif", "until"].contains(&name.as_str()),
            Some(_) => false,
        }
    }

    fn statements(&mut self) -> Result<Vec<Statement>, String> {
        let mut body = Vec::new();
        while !self.ends() {
            if self.takes(";") {
                continue;
            }
            let statement = self.deeper(Self::statement)?;
            let is_last = matches!(statement, Statement::Return(..) | Statement::Break);
            body.push(statement);
            if is_last {
                self.takes(";");
                if !self.ends() {
                    return Err(self.unexpected());
                }
            }
        }
        Ok(body)
    }

    /// The statements of a loop, and the word behind them.
    fn body(&mut self) -> Result<Vec<Statement>, String> {
        self.own().loops += 1;
        let body = self.block()?;
        self.own().loops -= 1;
        self.expect("end")?;
        Ok(body)
    }

    fn statement(&mut self) -> Result<Statement, String> {
        let line = self.line();
        if self.takes("local") {
            return self.local();
        }
        if self.takes("if") {
            return self.condition();
        }
        if self.takes("for") {
            return self.cycle(line);
        }
        if self.takes("while") {
            let condition = self.expression()?;
            self.expect("do")?;
            return Ok(Statement::While(condition, self.body()?));
        }
        if self.takes("repeat") {
            // The condition sees the variables of the body.
            let visible = self.own().visible.len();
            self.own().loops += 1;
            let body = self.statements()?;
            self.own().loops -= 1;
            self.expect("until")?;
            let condition = self.expression()?;
            self.own().visible.truncate(visible);
            return Ok(Statement::Repeat(body, condition));
        }
        if self.takes("do") {
            let body = self.block()?;
            self.expect("end")?;
            return Ok(Statement::Do(body));
        }
        if self.takes("break") {
            if self.own().loops == 0 {
                let near = self.peek().map_or("<eof>".to_owned(), |_| "break".to_owned());
                return Err(format!("user_script:{line}: no loop to break near '{near}'"));
            }
            return Ok(Statement::Break);
        }
        if self.takes("return") {
            let none = self.ends() || self.is(";");
            return Ok(Statement::Return(if none { Vec::new() } else { self.expressions()? }, line));
        }
        if self.takes("function") {
            return self.named_function(line);
        }
        let start = self.at;
        match self.suffixed()? {
            Expr::Call(call) => Ok(Statement::Call(*call)),
            target @ (Expr::Local(_) | Expr::Outer(_) | Expr::Global(..) | Expr::Index(..)) => {
                let mut targets = vec![target];
                while self.takes(",") {
                    targets.push(self.suffixed()?);
                }
                self.expect("=")?;
                Ok(Statement::Set(targets, self.expressions()?))
            }
            _ => {
                self.at = start;
                Err(self.unexpected())
            }
        }
    }

    fn local(&mut self) -> Result<Statement, String> {
        if self.takes("function") {
            let name = self.name()?;
            let slot = self.declare(name);
            return Ok(Statement::Function(slot, self.rest_of_function(false)?));
        }
        let names = self.names()?;
        // The values do not see the new variables.
        let values = if self.takes("=") { self.expressions()? } else { Vec::new() };
        Ok(Statement::Local(names.into_iter().map(|name| self.declare(name)).collect(), values))
    }

    fn named_function(&mut self, line: u32) -> Result<Statement, String> {
        let name = self.name()?;
        let mut target = self.variable(&name, line);
        let mut method = false;
        while !method && (self.is(".") || self.is(":")) {
            method = self.is(":");
            self.at += 1;
            let member = Expr::Text(self.name()?.into_bytes().into());
            target = Expr::Index(Box::new(target), Box::new(member), line);
        }
        let function = Expr::Function(self.rest_of_function(method)?);
        Ok(Statement::Set(vec![target], vec![function]))
    }

    fn condition(&mut self) -> Result<Statement, String> {
        let mut branches = Vec::new();
        loop {
            let condition = self.expression()?;
            self.expect("then")?;
            branches.push((condition, self.block()?));
            if self.takes("elseif") {
                continue;
            }
            let otherwise = if self.takes("else") { self.block()? } else { Vec::new() };
            self.expect("end")?;
            return Ok(Statement::If(branches, otherwise));
        }
    }

    fn cycle(&mut self, line: u32) -> Result<Statement, String> {
        let visible = self.own().visible.len();
        let mut names = self.names()?;
        let statement = if names.len() == 1 && self.takes("=") {
            let from = self.expression()?;
            self.expect(",")?;
            let to = self.expression()?;
            let step = if self.takes(",") { Some(self.expression()?) } else { None };
            self.expect("do")?;
            let variable = self.declare(names.remove(0));
            Statement::Count { variable, from, to, step, body: self.body()?, line }
        } else {
            self.expect("in")?;
            let of = self.expressions()?;
            self.expect("do")?;
            let variables = names.into_iter().map(|name| self.declare(name)).collect();
            Statement::Each { variables, of, body: self.body()?, line }
        };
        self.own().visible.truncate(visible);
        Ok(statement)
    }

    fn expressions(&mut self) -> Result<Vec<Expr>, String> {
        let mut all = vec![self.expression()?];
        while self.takes(",") {
            all.push(self.expression()?);
        }
        Ok(all)
    }

    fn expression(&mut self) -> Result<Expr, String> {
        self.operators(0)
    }

    /// An expression of operators that bind more strongly than `least`.
    fn operators(&mut self, least: u8) -> Result<Expr, String> {
        self.deeper(|parser| {
            let line = parser.line();
            let mut left = if parser.takes("not") {
                Expr::Not(Box::new(parser.operators(UNARY)?))
            } else if parser.takes("-") {
                Expr::Minus(Box::new(parser.operators(UNARY)?), line)
            } else if parser.takes("#") {
                Expr::Length(Box::new(parser.operators(UNARY)?), line)
            } else {
                parser.simple()?
            };
            while let Some((word, _, right)) = parser.peek().and_then(strength).filter(|(_, left, _)| *left > least) {
                let line = parser.line();
                parser.at += 1;
                left = binary(word, left, parser.operators(right)?, line);
            }
            Ok(left)
        })
    }

    fn simple(&mut self) -> Result<Expr, String> {
        let value = match self.peek() {
            Some(Token::Number(number)) => Expr::Number(*number),
            Some(Token::Text(text)) => Expr::Text(text.as_slice().into()),
            Some(Token::Name(word)) if word == "nil" => Expr::Nil,
            Some(Token::Name(word)) if word == "true" || word == "false" => Expr::Bool(word == "true"),
            Some(Token::Sign("...")) => {
                if !self.own().proto.variadic {
                    return Err(format!("user_script:{}: cannot use '...' outside a vararg function", self.line()));
                }
                Expr::Further
            }
            Some(Token::Sign("{")) => return self.table(),
            Some(Token::Name(word)) if word == "function" => {
                self.at += 1;
                return Ok(Expr::Function(self.rest_of_function(false)?));
            }
            _ => return self.suffixed(),
        };
        self.at += 1;
        Ok(value)
    }

    /// A variable or an expression in parentheses, with members and calls behind it.
    fn suffixed(&mut self) -> Result<Expr, String> {
        let line = self.line();
        let mut value = if self.takes("(") {
            let inner = self.expression()?;
            self.expect(")")?;
            Expr::Single(Box::new(inner))
        } else {
            let name = self.name()?;
            self.variable(&name, line)
        };
        loop {
            let line = self.line();
            if self.takes(".") {
                let name = Expr::Text(self.name()?.into_bytes().into());
                value = Expr::Index(Box::new(value), Box::new(name), line);
            } else if self.takes("[") {
                let index = self.expression()?;
                self.expect("]")?;
                value = Expr::Index(Box::new(value), Box::new(index), line);
            } else if self.takes(":") {
                let method = Some(self.name()?.into_bytes().into());
                let arguments = self.arguments()?.ok_or_else(|| self.unexpected())?;
                value = Expr::Call(Box::new(Called { function: value, method, arguments, line }));
            } else {
                let Some(arguments) = self.arguments()? else { return Ok(value) };
                value = Expr::Call(Box::new(Called { function: value, method: None, arguments, line }));
            }
        }
    }

    /// The arguments of a call, if one follows.
    fn arguments(&mut self) -> Result<Option<Vec<Expr>>, String> {
        Ok(match self.peek() {
            Some(Token::Text(text)) => {
                let text = Expr::Text(text.as_slice().into());
                self.at += 1;
                Some(vec![text])
            }
            Some(Token::Sign("{")) => Some(vec![self.table()?]),
            Some(Token::Sign("(")) => {
                self.at += 1;
                if self.takes(")") {
                    return Ok(Some(Vec::new()));
                }
                let arguments = self.expressions()?;
                self.expect(")")?;
                Some(arguments)
            }
            _ => None,
        })
    }

    fn table(&mut self) -> Result<Expr, String> {
        self.expect("{")?;
        let mut members = Vec::new();
        while !self.takes("}") {
            let is_named = matches!(self.tokens.get(self.at + 1), Some((Token::Sign("="), _)));
            let key = if self.takes("[") {
                let key = self.expression()?;
                self.expect("]")?;
                self.expect("=")?;
                Some(key)
            } else if is_named && matches!(self.peek(), Some(Token::Name(_))) {
                let name = self.name()?;
                self.expect("=")?;
                Some(Expr::Text(name.into_bytes().into()))
            } else {
                None
            };
            members.push((key, self.expression()?));
            if !self.takes(",") && !self.takes(";") {
                self.expect("}")?;
                break;
            }
        }
        Ok(Expr::Table(members))
    }
}
