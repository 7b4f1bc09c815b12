//! Recognises map functions: returns a program, or nothing. It accepts only a part of the language, in which every
//! engine gives a text the same meaning as this one. Each form that is not listed is refused, however harmless it
//! looks.

use std::collections::BTreeSet;

use super::lexer::{Kind, Token, tokens};
use super::names::{is_free, is_own};
use super::number;
use super::program::{Binary, Each, Expression, Program, Statement, Unary};

/// The longest function that is looked at, in bytes.
const CODE_BYTES_MAX: usize = 64 * 1024;

/// The greatest depth of nested expressions and blocks.
const DEPTH_MAX: usize = 100;

impl Program {
    /// The program of a map function, if it is surely understood.
    pub fn of(code: &str) -> Option<Program> {
        if code.len() > CODE_BYTES_MAX {
            return None;
        }
        // Functions are compiled without the semicolons at their ends.
        let code = code.trim_end_matches([' ', '\t', '\r', '\n']).trim_end_matches(';');
        let mut reader = Reader::new(tokens(code)?);
        let (_, body) = reader.function(&[Role::Document])?;
        if reader.at != reader.tokens.len() {
            return None;
        }
        let members = (!reader.whole).then_some(reader.members);
        Some(Program { body, variables: reader.variables, members })
    }
}

/// The value of a parameter.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Document,
    Element,
    Index,
}

/// The meaning of a name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Named {
    Document,
    Variable(usize),
    /// It may not be used.
    Unusable,
}

/// Whether a loop is being read, and if so the variable of its element.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    NoLoop,
    Unnamed,
    Element(usize),
}

struct Reader {
    tokens: Vec<Token>,
    at: usize,
    /// Visible names, innermost last.
    names: Vec<(String, Named)>,
    /// All names so far: none may be declared twice.
    taken: BTreeSet<String>,
    variables: usize,
    members: BTreeSet<String>,
    whole: bool,
    depth: usize,
    /// The variable of the innermost loop's element, if there is a loop.
    within: Within,
}

impl Reader {
    fn new(tokens: Vec<Token>) -> Self {
        let (names, taken, members) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
        Reader { tokens, at: 0, names, taken, variables: 0, members, whole: false, depth: 0, within: Within::NoLoop }
    }

    fn peek(&self) -> Option<&Kind> {
        self.tokens.get(self.at).map(|token| &token.kind)
    }

    fn is(&self, mark: &str) -> bool {
        matches!(self.peek(), Some(Kind::Mark(own)) if *own == mark)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Some(Kind::Word(own)) if own == word)
    }

    fn takes(&mut self, mark: &str) -> bool {
        let is = self.is(mark);
        self.at += usize::from(is);
        is
    }

    fn takes_word(&mut self, word: &str) -> bool {
        let is = self.is_word(word);
        self.at += usize::from(is);
        is
    }

    fn expect(&mut self, mark: &str) -> Option<()> {
        self.takes(mark).then_some(())
    }

    fn on_new_line(&self) -> bool {
        self.tokens.get(self.at).is_some_and(|token| token.on_new_line)
    }

    fn word(&mut self) -> Option<String> {
        let Some(Kind::Word(word)) = self.peek() else { return None };
        let word = word.clone();
        self.at += 1;
        Some(word)
    }

    /// Declares a name, which must not be declared already.
    fn name(&mut self, name: String, named: Named) -> Option<()> {
        if !is_free(&name) || !self.taken.insert(name.clone()) {
            return None;
        }
        self.names.push((name, named));
        Some(())
    }

    fn variable(&mut self) -> usize {
        self.variables += 1;
        self.variables - 1
    }

    /// Reads a function or an arrow function: the variables of its parameters, in the roles given, and its body.
    fn function(&mut self, roles: &[Role]) -> Option<([Option<usize>; 2], Vec<Statement>)> {
        let seen = self.names.len();
        let arrow = if self.takes_word("function") {
            if !self.is("(") {
                let name = self.word()?;
                self.name(name, Named::Unusable)?;
            }
            false
        } else {
            true
        };
        let mut parameters = Vec::new();
        if self.takes("(") {
            while !self.takes(")") {
                if !parameters.is_empty() {
                    self.expect(",")?;
                }
                parameters.push(self.word()?);
            }
        } else if arrow {
            parameters.push(self.word()?);
        } else {
            return None;
        }
        let mut given = [None; 2];
        for (at, name) in parameters.into_iter().enumerate() {
            let named = match roles.get(at) {
                Some(Role::Document) => Named::Document,
                Some(role) => {
                    let variable = self.variable();
                    given[usize::from(*role == Role::Index)] = Some(variable);
                    Named::Variable(variable)
                }
                None => Named::Unusable,
            };
            self.name(name, named)?;
        }
        let outer = self.within;
        if roles.contains(&Role::Element) {
            self.within = given[0].map_or(Within::Unnamed, Within::Element);
        }
        if arrow && (self.on_new_line() || !self.takes("=>")) {
            return None;
        }
        let body = if self.is("{") {
            self.block()?
        } else if arrow {
            self.arrow_body()?
        } else {
            return None;
        };
        self.within = outer;
        self.names.truncate(seen);
        Some((given, body))
    }

    fn arrow_body(&mut self) -> Option<Vec<Statement>> {
        Some(vec![Statement::Return(Some(self.expression()?))])
    }

    /// Reads statements in braces.
    fn block(&mut self) -> Option<Vec<Statement>> {
        self.expect("{")?;
        self.deeper()?;
        let seen = self.names.len();
        let mut statements = Vec::new();
        while !self.takes("}") {
            if let Some(declared) = self.declaration()? {
                statements.extend(declared);
            } else {
                statements.extend(self.statement()?);
            }
        }
        self.names.truncate(seen);
        self.depth -= 1;
        Some(statements)
    }

    fn deeper(&mut self) -> Option<()> {
        self.depth += 1;
        (self.depth <= DEPTH_MAX).then_some(())
    }

    /// Reads variables that never change: `var a = …, b = …`. `Some(None)`: it is no declaration.
    #[allow(clippy::option_option)]
    fn declaration(&mut self) -> Option<Option<Vec<Statement>>> {
        if !["var", "let", "const"].into_iter().any(|word| self.takes_word(word)) {
            return Some(None);
        }
        let mut declared = Vec::new();
        loop {
            let name = self.word()?;
            self.expect("=")?;
            let value = self.expression()?;
            let variable = self.variable();
            self.name(name, Named::Variable(variable))?;
            declared.push(Statement::Set(variable, value));
            if !self.takes(",") {
                break;
            }
        }
        self.end_of_statement()?;
        Some(Some(declared))
    }

    /// Reads a statement. Returns a list of one, or an empty one for an empty statement.
    fn statement(&mut self) -> Option<Vec<Statement>> {
        if self.takes(";") {
            return Some(Vec::new());
        }
        if self.is("{") {
            return Some(vec![Statement::Block(self.block()?)]);
        }
        if self.takes_word("if") {
            self.deeper()?;
            self.expect("(")?;
            let condition = self.expression()?;
            self.expect(")")?;
            let then = self.statement()?;
            let otherwise = if self.takes_word("else") { self.statement()? } else { Vec::new() };
            self.depth -= 1;
            return Some(vec![Statement::If(condition, then, otherwise)]);
        }
        if self.takes_word("return") {
            let value =
                if self.is(";") || self.is("}") || self.on_new_line() { None } else { Some(self.expression()?) };
            self.end_of_statement()?;
            return Some(vec![Statement::Return(value)]);
        }
        let expression = self.expression()?;
        self.end_of_statement()?;
        Some(vec![Statement::Expression(expression)])
    }

    /// Reads a semicolon. It may be left out before a closing brace, or before a new line that begins with a word.
    fn end_of_statement(&mut self) -> Option<()> {
        if self.takes(";") || self.is("}") {
            return Some(());
        }
        let next =
            matches!(self.peek(), Some(Kind::Word(word)) if !matches!(word.as_str(), "in" | "instanceof" | "of"));
        (next && self.on_new_line()).then_some(())
    }

    fn expression(&mut self) -> Option<Expression> {
        self.deeper()?;
        let condition = self.operators(0)?;
        let made = if self.takes("?") {
            let then = self.expression()?;
            self.expect(":")?;
            let otherwise = self.expression()?;
            Expression::Choice(Box::new([condition, then, otherwise]))
        } else {
            condition
        };
        self.depth -= 1;
        Some(made)
    }

    /// Reads operators of two operands, from a level on. Operators of one level group from left to right.
    fn operators(&mut self, level: usize) -> Option<Expression> {
        const LEVELS: [&[&str]; 6] =
            [&["||"], &["&&"], &["===", "!==", "==", "!="], &["<", ">", "<=", ">="], &["+", "-"], &["*", "/", "%"]];
        let Some(marks) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.operators(level + 1)?;
        // A tree that leans to the left is as deep as its number of operators.
        let depth = self.depth;
        while let Some(mark) = marks.iter().copied().find(|mark| self.is(mark)) {
            self.at += 1;
            self.deeper()?;
            let right = self.operators(level + 1)?;
            left = joined(mark, left, right);
        }
        self.depth = depth;
        Some(left)
    }

    fn unary(&mut self) -> Option<Expression> {
        let operator = if self.takes("!") {
            Unary::Not
        } else if self.takes("-") {
            Unary::Minus
        } else if self.takes("+") {
            Unary::Plus
        } else if self.takes_word("typeof") {
            Unary::TypeOf
        } else {
            return self.chain();
        };
        self.deeper()?;
        let of = self.unary()?;
        self.depth -= 1;
        Some(Expression::Unary(operator, Box::new(of)))
    }

    /// Reads a value, and members of it.
    fn chain(&mut self) -> Option<Expression> {
        let mut made = self.primary()?;
        let depth = self.depth;
        loop {
            self.deeper()?;
            let name = if self.takes(".") {
                self.word()?
            } else if self.takes("[") {
                let index = self.peek()?.clone();
                self.at += 1;
                self.expect("]")?;
                match index {
                    Kind::Text(name) => name,
                    Kind::Number(number) if (0.0..1e9).contains(&number) => {
                        let name = number::print(number);
                        let at = name.parse().ok()?;
                        self.reads(&made, &name);
                        made = Expression::Element(Box::new(made), at);
                        continue;
                    }
                    _ => return None,
                }
            } else {
                break;
            };
            if name == "forEach" && self.is("(") {
                made = self.each(made)?;
                continue;
            }
            if !is_own(&name, made == Expression::Document) {
                return None;
            }
            self.reads(&made, &name);
            made = Expression::Member(Box::new(made), name);
        }
        if made == Expression::Document {
            self.whole = true;
        }
        self.depth = depth;
        Some(made)
    }

    fn reads(&mut self, of: &Expression, name: &str) {
        if *of == Expression::Document {
            self.members.insert(name.to_owned());
        }
    }

    fn each(&mut self, over: Expression) -> Option<Expression> {
        // An inner loop goes over a part of the outer loop's element. All of its rounds together are therefore no more
        // than the document is long.
        if self.within != Within::NoLoop {
            let mut root = &over;
            while let Expression::Member(of, _) | Expression::Element(of, _) = root {
                root = of;
            }
            match self.within {
                Within::Element(element) if *root == Expression::Variable(element) && *root != over => {}
                _ => return None,
            }
        }
        if over == Expression::Document {
            self.whole = true;
        }
        self.expect("(")?;
        let ([element, index], body) = self.function(&[Role::Element, Role::Index])?;
        self.expect(")")?;
        Some(Expression::Each(Box::new(Each { over, element, index, body })))
    }

    fn primary(&mut self) -> Option<Expression> {
        let token = self.peek()?.clone();
        self.at += 1;
        match token {
            Kind::Text(text) => Some(Expression::Text(text)),
            Kind::Number(number) => Some(Expression::Number(number)),
            Kind::Mark("(") => {
                let made = self.expression()?;
                self.expect(")")?;
                Some(made)
            }
            Kind::Mark("[") => self.list("]").map(Expression::Array),
            Kind::Mark("{") => self.object(),
            Kind::Word(word) => self.named(&word),
            Kind::Mark(_) => None,
        }
    }

    fn named(&mut self, word: &str) -> Option<Expression> {
        Some(match word {
            "undefined" => Expression::Undefined,
            "null" => Expression::Null,
            "true" => Expression::Bool(true),
            "false" => Expression::Bool(false),
            "NaN" => Expression::Number(f64::NAN),
            "Infinity" => Expression::Number(f64::INFINITY),
            "emit" => {
                self.expect("(")?;
                let parts = self.list(")")?;
                if parts.len() > 2 {
                    return None;
                }
                Expression::Emit(parts)
            }
            "isArray" => self.is_array()?,
            "Array" => {
                self.expect(".")?;
                self.takes_word("isArray").then_some(())?;
                self.is_array()?
            }
            _ => match self.names.iter().rev().find(|(name, _)| name == word)?.1 {
                Named::Document => Expression::Document,
                Named::Variable(variable) => Expression::Variable(variable),
                Named::Unusable => return None,
            },
        })
    }

    fn is_array(&mut self) -> Option<Expression> {
        self.expect("(")?;
        let mut parts = self.list(")")?;
        if parts.len() != 1 {
            return None;
        }
        parts.pop().map(|part| Expression::IsArray(Box::new(part)))
    }

    /// Reads expressions up to a closing bracket.
    fn list(&mut self, close: &str) -> Option<Vec<Expression>> {
        let mut parts = Vec::new();
        while !self.takes(close) {
            if !parts.is_empty() {
                self.expect(",")?;
            }
            parts.push(self.expression()?);
        }
        Some(parts)
    }

    fn object(&mut self) -> Option<Expression> {
        let mut members = Vec::new();
        while !self.takes("}") {
            if !members.is_empty() {
                self.expect(",")?;
            }
            let (Kind::Word(name) | Kind::Text(name)) = self.peek()?.clone() else { return None };
            self.at += 1;
            self.expect(":")?;
            // These names would change what the object inherits, or how it is written as JSON.
            if matches!(name.as_str(), "__proto__" | "toJSON") {
                return None;
            }
            members.push((name, self.expression()?));
        }
        Some(Expression::Object(members))
    }
}

fn joined(mark: &str, left: Expression, right: Expression) -> Expression {
    let (left, right) = (Box::new(left), Box::new(right));
    let operator = match mark {
        "&&" => return Expression::And(left, right),
        "||" => return Expression::Or(left, right),
        "===" => Binary::Equal { strict: true, not: false },
        "!==" => Binary::Equal { strict: true, not: true },
        "==" => Binary::Equal { strict: false, not: false },
        "!=" => Binary::Equal { strict: false, not: true },
        "<" => Binary::Less { swapped: false, or_equal: false },
        ">" => Binary::Less { swapped: true, or_equal: false },
        "<=" => Binary::Less { swapped: false, or_equal: true },
        ">=" => Binary::Less { swapped: true, or_equal: true },
        "+" => Binary::Add,
        "-" => Binary::Subtract,
        "*" => Binary::Multiply,
        "/" => Binary::Divide,
        _ => Binary::Remainder,
    };
    Expression::Binary(operator, left, right)
}
