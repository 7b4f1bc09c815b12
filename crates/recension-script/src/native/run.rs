//! Running a program for one document.

// JavaScript counts in doubles.
#![allow(clippy::cast_precision_loss)]

use std::borrow::Cow;
use std::rc::Rc;

use recension::Emitted;
use recension::limits::{VIEW_ROW_BYTES_MAX, VIEW_ROWS_PER_DOCUMENT_MAX};

use super::coerce::{Failure, Result, binary, number_of, truthy, type_of};
use super::program::{Each, Expression, Program, Statement, Unary};
use super::value::{Json, Value, read};

impl Program {
    /// The rows that the function emits for a document, as JSON.
    ///
    /// # Errors
    /// The function throws, or the document cannot be read.
    pub fn map(&self, document: &str) -> std::result::Result<Vec<Emitted>, String> {
        let document = read(document, self.members.as_ref()).map_err(|error| error.to_string())?;
        run(self, &document)
    }
}

/// The rows that a program emits for a document, or the error that it would have thrown.
pub(super) fn run(program: &Program, document: &Json<'_>) -> std::result::Result<Vec<Emitted>, String> {
    let variables = vec![Value::Undefined; program.variables];
    let mut run = Run { document: Value::of(document), variables, rows: Vec::new(), bytes: 0 };
    match run.block(&program.body) {
        Ok(_) => Ok(run.rows),
        Err(Failure::Type(what)) => Err(format!("TypeError: {what}")),
        Err(Failure::TooMuch) => Err("RangeError: the document emits too much".to_owned()),
    }
}

struct Run<'v> {
    document: Value<'v>,
    variables: Vec<Value<'v>>,
    rows: Vec<Emitted>,
    bytes: usize,
}

/// Whether a function goes on after a statement.
#[derive(PartialEq, Eq)]
enum Flow {
    On,
    Returned,
}

impl<'v> Run<'v> {
    fn block(&mut self, statements: &'v [Statement]) -> Result<Flow> {
        for statement in statements {
            let flow = match statement {
                Statement::Expression(expression) => self.value(expression).map(|_| Flow::On)?,
                Statement::Set(variable, expression) => {
                    let value = self.value(expression)?;
                    self.set(Some(*variable), value);
                    Flow::On
                }
                Statement::If(condition, then, otherwise) => {
                    let holds = truthy(&self.value(condition)?);
                    self.block(if holds { then } else { otherwise })?
                }
                Statement::Block(statements) => self.block(statements)?,
                Statement::Return(value) => {
                    value.as_ref().map(|value| self.value(value)).transpose()?;
                    Flow::Returned
                }
            };
            if flow == Flow::Returned {
                return Ok(flow);
            }
        }
        Ok(Flow::On)
    }

    fn set(&mut self, variable: Option<usize>, value: Value<'v>) {
        if let Some(own) = variable.and_then(|variable| self.variables.get_mut(variable)) {
            *own = value;
        }
    }

    fn value(&mut self, expression: &'v Expression) -> Result<Value<'v>> {
        Ok(match expression {
            Expression::Undefined => Value::Undefined,
            Expression::Null => Value::Null,
            Expression::Bool(bool) => Value::Bool(*bool),
            Expression::Number(number) => Value::Number(*number),
            Expression::Text(text) => Value::Text(Cow::Borrowed(text)),
            Expression::Document => self.document.clone(),
            Expression::Variable(variable) => self.variables.get(*variable).cloned().unwrap_or(Value::Undefined),
            Expression::Member(of, name) => member(&self.value(of)?, name)?,
            Expression::Element(of, at) => element(&self.value(of)?, *at)?,
            Expression::Unary(operator, of) => {
                let value = self.value(of)?;
                match operator {
                    Unary::Not => Value::Bool(!truthy(&value)),
                    Unary::Minus => Value::Number(-number_of(&value)?),
                    Unary::Plus => Value::Number(number_of(&value)?),
                    Unary::TypeOf => Value::Text(Cow::Borrowed(type_of(&value))),
                }
            }
            Expression::Binary(operator, a, b) => {
                let a = self.value(a)?;
                let b = self.value(b)?;
                binary(*operator, &a, &b)?
            }
            Expression::And(a, b) => {
                let a = self.value(a)?;
                if truthy(&a) { self.value(b)? } else { a }
            }
            Expression::Or(a, b) => {
                let a = self.value(a)?;
                if truthy(&a) { a } else { self.value(b)? }
            }
            Expression::Choice(parts) => {
                let [condition, then, otherwise] = &**parts;
                let holds = truthy(&self.value(condition)?);
                self.value(if holds { then } else { otherwise })?
            }
            Expression::Array(elements) => Value::Array(Rc::new(self.values(elements)?)),
            Expression::Object(members) => {
                let mut made: Vec<(&'v str, Value<'v>)> = Vec::with_capacity(members.len());
                for (name, value) in members {
                    let value = self.value(value)?;
                    match made.iter_mut().find(|(own, _)| own == name) {
                        Some(own) => own.1 = value,
                        None => made.push((name, value)),
                    }
                }
                Value::Object(Rc::new(made))
            }
            Expression::IsArray(of) => Value::Bool(self.value(of)?.elements().is_some()),
            Expression::Emit(parts) => {
                let parts = self.values(parts)?;
                self.emit(parts.first(), parts.get(1))?;
                Value::Undefined
            }
            Expression::Each(each) => {
                self.each(each)?;
                Value::Undefined
            }
        })
    }

    fn values(&mut self, expressions: &'v [Expression]) -> Result<Vec<Value<'v>>> {
        expressions.iter().map(|expression| self.value(expression)).collect()
    }

    fn each(&mut self, each: &'v Each) -> Result<()> {
        let over = self.value(&each.over)?;
        let count = match (&over, over.elements()) {
            (_, Some(count)) => count,
            (Value::Undefined | Value::Null, None) => return Err(no_member(&over, "forEach")),
            (_, None) => return Err(Failure::Type("not a function".to_owned())),
        };
        for at in 0..count {
            let element = over.element(at).unwrap_or(Value::Undefined);
            self.set(each.element, element);
            self.set(each.index, Value::Number(at as f64));
            self.block(&each.body)?;
        }
        Ok(())
    }

    fn emit(&mut self, key: Option<&Value<'v>>, value: Option<&Value<'v>>) -> Result<()> {
        let text = |value: Option<&Value<'v>>| {
            let mut out = String::new();
            if !value.unwrap_or(&Value::Null).write(&mut out) {
                out.push_str("null");
            }
            out
        };
        let row = Emitted { key: text(key), value: text(value) };
        self.bytes += row.key.len() + row.value.len();
        if self.bytes > VIEW_ROW_BYTES_MAX || self.rows.len() >= VIEW_ROWS_PER_DOCUMENT_MAX {
            return Err(Failure::TooMuch);
        }
        self.rows.push(row);
        Ok(())
    }
}

fn no_member(of: &Value<'_>, name: &str) -> Failure {
    let of = if matches!(of, Value::Null) { "null" } else { "undefined" };
    Failure::Type(format!("cannot read property '{name}' of {of}"))
}

fn member<'v>(of: &Value<'v>, name: &str) -> Result<Value<'v>> {
    match of {
        Value::Undefined | Value::Null => return Err(no_member(of, name)),
        Value::Text(text) if name == "length" => return Ok(Value::Number(text.encode_utf16().count() as f64)),
        _ => {}
    }
    match of.elements().filter(|_| name == "length") {
        Some(count) => Ok(Value::Number(count as f64)),
        None => Ok(of.own(name).unwrap_or(Value::Undefined)),
    }
}

fn element<'v>(of: &Value<'v>, at: u32) -> Result<Value<'v>> {
    match of {
        Value::Undefined | Value::Null => Err(no_member(of, &at.to_string())),
        Value::Part(Json::Object(_)) | Value::Object(_) => Ok(of.own(&at.to_string()).unwrap_or(Value::Undefined)),
        Value::Text(text) => match text.encode_utf16().nth(at as usize) {
            None => Ok(Value::Undefined),
            Some(unit) => match char::from_u32(u32::from(unit)) {
                Some(letter) => Ok(Value::Text(Cow::Owned(letter.into()))),
                // Half of a surrogate pair cannot be written as JSON.
                None => Err(Failure::Type("half of a character".to_owned())),
            },
        },
        _ => Ok(of.element(at as usize).unwrap_or(Value::Undefined)),
    }
}
