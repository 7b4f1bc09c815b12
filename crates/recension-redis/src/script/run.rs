//! Runs a script. Replies of commands become values as in Redis, and the value of the script becomes its reply.

use super::parse::Script;
use super::{Expr, Function, Operator, Statement};
use crate::limits::{REPLY_BYTES_MAX, SCRIPT_STEPS_MAX};
use crate::reply::{Reply, digits};

/// A value.
#[derive(Clone, PartialEq, Debug)]
enum Value {
    Nil,
    Bool(bool),
    Number(f64),
    Text(Vec<u8>),
    Array(Vec<Value>),
    /// A word such as OK, or an error that `pcall` has caught.
    Status(Reply),
}

impl Value {
    /// About how many bytes it takes.
    fn bytes(&self) -> usize {
        match self {
            Value::Text(text) => text.len(),
            Value::Array(items) => items.iter().map(|item| size_of::<Value>() + item.bytes()).sum(),
            _ => 0,
        }
    }
}

/// Calls a command: its reply, or the reply that ends the script whatever it says.
pub(crate) type Call<'c, E> = dyn FnMut(&[Vec<u8>]) -> Result<Reply, E> + 'c;

/// The end of a script before its end: an error to reply, or the caller's own.
enum Stop<E> {
    Error(String),
    Caller(E),
}

impl<E> From<String> for Stop<E> {
    fn from(message: String) -> Self {
        Stop::Error(message)
    }
}

/// Runs a script with keys and arguments.
pub(crate) fn run<E>(script: &Script, keys: &[&[u8]], args: &[&[u8]], call: &mut Call<'_, E>) -> Result<Reply, E> {
    let texts = |words: &[&[u8]]| Value::Array(words.iter().map(|word| Value::Text(word.to_vec())).collect());
    let variables = vec![Value::Nil; script.variables];
    let mut running = Running { keys: texts(keys), args: texts(args), variables, steps: 0, held: 0, call };
    match running.block(&script.body) {
        Ok(value) => Ok(reply(value.unwrap_or(Value::Nil))),
        Err(Stop::Error(message)) => Ok(Reply::Error(message)),
        Err(Stop::Caller(error)) => Err(error),
    }
}

struct Running<'r, 'c, E> {
    keys: Value,
    args: Value,
    variables: Vec<Value>,
    steps: usize,
    /// About how many bytes the variables hold.
    held: usize,
    call: &'r mut Call<'c, E>,
}

fn wrong(what: &str) -> String {
    format!("ERR the script fails: {what}")
}

impl<E> Running<'_, '_, E> {
    fn step(&mut self) -> Result<(), Stop<E>> {
        self.steps += 1;
        if self.steps > SCRIPT_STEPS_MAX {
            return Err(wrong("it takes more than 100000 steps").into());
        }
        Ok(())
    }

    /// Counts what variables hold.
    fn hold(&mut self, bytes: usize) -> Result<(), Stop<E>> {
        self.held += bytes;
        if self.held > REPLY_BYTES_MAX {
            return Err(wrong("its variables hold more than 64 MiB").into());
        }
        Ok(())
    }

    /// Runs statements; a value if one of them returns.
    fn block(&mut self, body: &[Statement]) -> Result<Option<Value>, Stop<E>> {
        for statement in body {
            self.step()?;
            if let Some(value) = self.statement(statement)? {
                return Ok(Some(value));
            }
        }
        Ok(None)
    }

    fn statement(&mut self, statement: &Statement) -> Result<Option<Value>, Stop<E>> {
        match statement {
            Statement::Set(place, value) => {
                let value = self.value(value)?;
                self.hold(value.bytes())?;
                self.held -= self.variables[*place].bytes();
                self.variables[*place] = value;
            }
            Statement::Do(call) => drop(self.value(call)?),
            Statement::If(branches, otherwise) => {
                for (condition, body) in branches {
                    if is_true(&self.value(condition)?) {
                        return self.block(body);
                    }
                }
                return self.block(otherwise);
            }
            Statement::Count { variable, from, to, step, body } => {
                let (mut at, to, step) = (self.number(from)?, self.number(to)?, self.number(step)?);
                while if step < 0.0 { at >= to } else { at <= to } {
                    self.step()?;
                    self.variables[*variable] = Value::Number(at);
                    if let Some(value) = self.block(body)? {
                        return Ok(Some(value));
                    }
                    at += step;
                }
            }
            Statement::Each { index, value, of, body } => {
                let of = self.value(of)?;
                let bytes = of.bytes();
                self.hold(2 * bytes)?;
                let Value::Array(items) = of else { return Err(wrong("ipairs of no array").into()) };
                for (place, item) in (1_u32..).zip(items) {
                    self.step()?;
                    if item == Value::Nil {
                        break;
                    }
                    self.variables[*index] = Value::Number(f64::from(place));
                    self.variables[*value] = item;
                    if let Some(value) = self.block(body)? {
                        return Ok(Some(value));
                    }
                }
                self.held -= 2 * bytes;
            }
            Statement::Return(None) => return Ok(Some(Value::Nil)),
            Statement::Return(Some(value)) => return self.value(value).map(Some),
        }
        Ok(None)
    }

    fn value(&mut self, expr: &Expr) -> Result<Value, Stop<E>> {
        Ok(match expr {
            Expr::Nil => Value::Nil,
            Expr::Bool(flag) => Value::Bool(*flag),
            Expr::Number(number) => Value::Number(*number),
            Expr::Text(text) => Value::Text(text.clone()),
            Expr::Local(place) => self.variables[*place].clone(),
            Expr::Keys => self.keys.clone(),
            Expr::Args => self.args.clone(),
            Expr::Index(of, index) => {
                let index = self.number(index)?;
                let item = |items: &[Value]| items.get(place(index)?).cloned();
                match &**of {
                    // These are not copied for one of their items.
                    Expr::Keys => one_of(&self.keys, item),
                    Expr::Args => one_of(&self.args, item),
                    of => one_of(&self.value(of)?, item),
                }
                .ok_or_else(|| wrong("only arrays have items"))?
            }
            Expr::Array(items) => {
                Value::Array(items.iter().map(|item| self.value(item)).collect::<Result<_, Stop<E>>>()?)
            }
            Expr::Call(function, args) => {
                let args = args.iter().map(|arg| self.value(arg)).collect::<Result<Vec<_>, Stop<E>>>()?;
                self.function(*function, &args)?
            }
            Expr::Not(of) => Value::Bool(!is_true(&self.value(of)?)),
            Expr::Minus(of) => Value::Number(-self.number(of)?),
            Expr::Length(of) => {
                let len = match self.value(of)? {
                    Value::Array(items) => items.len(),
                    Value::Text(text) => text.len(),
                    _ => return Err(wrong("only arrays and strings have a length").into()),
                };
                Value::Number(u32::try_from(len).map_or(f64::MAX, f64::from))
            }
            Expr::Binary(operator, left, right) => self.binary(*operator, left, right)?,
        })
    }

    fn number(&mut self, expr: &Expr) -> Result<f64, Stop<E>> {
        let value = self.value(expr)?;
        Ok(number_of(&value).ok_or_else(|| wrong("a number is needed"))?)
    }

    fn binary(&mut self, operator: Operator, left: &Expr, right: &Expr) -> Result<Value, Stop<E>> {
        let left = self.value(left)?;
        match operator {
            Operator::Or if is_true(&left) => return Ok(left),
            Operator::And if !is_true(&left) => return Ok(left),
            _ => {}
        }
        let right = self.value(right)?;
        let numbers = || match (number_of(&left), number_of(&right)) {
            (Some(left), Some(right)) => Ok((left, right)),
            _ => Err(wrong("numbers are needed to calculate")),
        };
        let order = || match (&left, &right) {
            (Value::Number(left), Value::Number(right)) => Ok(left.partial_cmp(right)),
            (Value::Text(left), Value::Text(right)) => Ok(Some(left.cmp(right))),
            _ => Err(wrong("values of different types are compared")),
        };
        Ok(match operator {
            Operator::Or | Operator::And => right,
            Operator::Equal => Value::Bool(left == right),
            Operator::Differs => Value::Bool(left != right),
            Operator::Less => Value::Bool(order()?.is_some_and(std::cmp::Ordering::is_lt)),
            Operator::More => Value::Bool(order()?.is_some_and(std::cmp::Ordering::is_gt)),
            Operator::AtMost => Value::Bool(order()?.is_some_and(std::cmp::Ordering::is_le)),
            Operator::AtLeast => Value::Bool(order()?.is_some_and(std::cmp::Ordering::is_ge)),
            Operator::Concat => match (text_of(&left), text_of(&right)) {
                (Some(left), Some(right)) if left.len() + right.len() <= REPLY_BYTES_MAX => {
                    Value::Text([left, right].concat())
                }
                _ => return Err(wrong("strings or numbers are needed for '..'").into()),
            },
            Operator::Plus => numbers().map(|(left, right)| Value::Number(left + right))?,
            Operator::Minus => numbers().map(|(left, right)| Value::Number(left - right))?,
            Operator::Times => numbers().map(|(left, right)| Value::Number(left * right))?,
            Operator::Divided => numbers().map(|(left, right)| Value::Number(left / right))?,
            Operator::Remainder => {
                numbers().map(|(left, right)| Value::Number(left - (left / right).floor() * right))?
            }
        })
    }

    fn function(&mut self, function: Function, args: &[Value]) -> Result<Value, Stop<E>> {
        let numbers = || args.iter().map(|arg| number_of(arg).ok_or_else(|| wrong("numbers are needed")));
        let only = || if args.len() == 1 { Ok(&args[0]) } else { Err(wrong("a function has one argument")) };
        Ok(match function {
            Function::Call | Function::Pcall => {
                self.step()?;
                let words = args.iter().map(text_of).collect::<Option<Vec<_>>>().filter(|words| !words.is_empty());
                let words = words.ok_or_else(|| wrong("a command is called with strings or numbers"))?;
                match (self.call)(&words).map_err(Stop::Caller)? {
                    Reply::Error(message) if function == Function::Call => return Err(Stop::Error(message)),
                    reply => value_of(reply),
                }
            }
            Function::StatusReply => match text_of(only()?) {
                Some(text) if text == b"OK" => Value::Status(Reply::Ok),
                Some(text) => Value::Text(text),
                None => return Err(wrong("status_reply of no string").into()),
            },
            Function::ErrorReply => {
                let text = text_of(only()?).ok_or_else(|| wrong("error_reply of no string"))?;
                Value::Status(Reply::Error(String::from_utf8_lossy(&text).into_owned()))
            }
            Function::ToNumber => number_of(only()?).map_or(Value::Nil, Value::Number),
            Function::ToText => match only()? {
                Value::Nil => Value::Text(b"nil".to_vec()),
                Value::Bool(flag) => Value::Text(flag.to_string().into_bytes()),
                other => Value::Text(text_of(other).ok_or_else(|| wrong("tostring of an array"))?),
            },
            Function::Floor => {
                Value::Number(numbers().next().unwrap_or_else(|| Err(wrong("floor of nothing")))?.floor())
            }
            Function::Ceil => Value::Number(numbers().next().unwrap_or_else(|| Err(wrong("ceil of nothing")))?.ceil()),
            Function::Min | Function::Max => {
                let all = numbers().collect::<Result<Vec<_>, _>>()?;
                let pick = if function == Function::Min { f64::min } else { f64::max };
                Value::Number(all.into_iter().reduce(pick).ok_or_else(|| wrong("numbers are needed"))?)
            }
        })
    }
}

fn one_of(of: &Value, item: impl Fn(&[Value]) -> Option<Value>) -> Option<Value> {
    let Value::Array(items) = of else { return None };
    Some(item(items).unwrap_or(Value::Nil))
}

/// Indexes begin with 1.
fn place(index: f64) -> Option<usize> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it was tested to fit")]
    ((1.0..1e9).contains(&index) && index.fract() == 0.0).then(|| index as usize - 1)
}

fn is_true(value: &Value) -> bool {
    !matches!(value, Value::Nil | Value::Bool(false))
}

fn number_of(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => Some(*number),
        Value::Text(text) => std::str::from_utf8(text).ok()?.trim().parse().ok(),
        _ => None,
    }
}

fn text_of(value: &Value) -> Option<Vec<u8>> {
    match value {
        Value::Text(text) => Some(text.clone()),
        Value::Number(number) => Some(digits(*number).into_bytes()),
        _ => None,
    }
}

/// A command's reply as a value; nothing is false, as in Redis.
fn value_of(reply: Reply) -> Value {
    let all = |replies: Vec<Reply>| Value::Array(replies.into_iter().map(value_of).collect());
    let flat = |pairs: Vec<(Reply, Reply)>| {
        Value::Array(pairs.into_iter().flat_map(|(first, second)| [value_of(first), value_of(second)]).collect())
    };
    match reply {
        Reply::Null | Reply::NullArray => Value::Bool(false),
        #[expect(clippy::cast_precision_loss, reason = "numbers of scripts are doubles")]
        Reply::Integer(number) => Value::Number(number as f64),
        Reply::Double(number) => Value::Text(digits(number).into_bytes()),
        Reply::Bulk(bytes) => Value::Text(bytes),
        Reply::Array(items) | Reply::Set(items) | Reply::Push(items) => all(items),
        Reply::Map(pairs) | Reply::Pairs(pairs) => flat(pairs),
        status @ (Reply::Ok | Reply::Simple(_) | Reply::Error(_)) => Value::Status(status),
    }
}

/// A value as a reply: numbers lose their fraction, an array ends at the first nil.
fn reply(value: Value) -> Reply {
    match value {
        Value::Nil | Value::Bool(false) => Reply::Null,
        Value::Bool(true) => Reply::Integer(1),
        #[expect(clippy::cast_possible_truncation, reason = "as in Redis")]
        Value::Number(number) => Reply::Integer(number as i64),
        Value::Text(text) => Reply::Bulk(text),
        Value::Array(items) => {
            Reply::Array(items.into_iter().take_while(|item| *item != Value::Nil).map(reply).collect())
        }
        Value::Status(reply) => reply,
    }
}
