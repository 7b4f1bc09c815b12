//! Runs a script: statements, expressions and calls.

use std::cmp::Ordering;
use std::sync::{Arc, Weak};

use super::library::Builtin;
use super::redis::Call;
use super::value::{Table, Value};
use super::{Called, Expr, Operator, Outer, Proto, Statement};
use crate::limits::{REPLY_BYTES_MAX, SCRIPT_CALLS_MAX, SCRIPT_STEPS_MAX};

/// The end of a script before its end.
pub(super) enum Stop<E> {
    /// An error of the script, which it may catch.
    Error(Value),
    /// A bound of all scripts: nothing catches it.
    Bound(&'static str),
    /// The caller's own.
    Caller(E),
}

/// What a block leaves behind.
enum Flow {
    Next,
    Break,
    Return(Vec<Value>),
}

/// A local variable: its value, or the place of one that functions within share.
#[derive(Clone)]
enum Slot {
    Own(Value),
    Shared(usize),
}

/// A function that was made.
enum Closure {
    /// Its text, and the places of the variables from around it.
    Made { proto: Arc<Proto>, outer: Vec<usize> },
    /// It hands out the items of a table, the last one first, as several values each.
    Iterator(usize),
}

/// A function that runs.
struct Frame {
    slots: Vec<Slot>,
    outer: Vec<usize>,
    further: Vec<Value>,
}

/// A script that runs. Everything that it makes is here, and goes with it.
pub(super) struct Running<'r, 'c, E> {
    pub(super) tables: Vec<Table>,
    closures: Vec<Closure>,
    shared: Vec<Value>,
    steps: usize,
    made: usize,
    /// Long strings that were made: they are given back when nothing has them any more.
    long: Vec<(usize, Weak<[u8]>)>,
    depth: usize,
    /// Where it is.
    pub(super) line: u32,
    pub(super) seed: u64,
    pub(super) call: &'r mut Call<'c, E>,
    /// The tables that every script has, by their names.
    pub(super) globals: Vec<(&'static str, Value)>,
}

/// Bytes of a string that is looked after by itself.
const LONG_BYTES: usize = 1024;

/// About how many bytes a value takes.
const VALUE_BYTES: usize = size_of::<Value>();

pub(super) type Values<E> = Result<Vec<Value>, Stop<E>>;

impl<'r, 'c, E> Running<'r, 'c, E> {
    pub(super) fn new(call: &'r mut Call<'c, E>) -> Self {
        let (tables, closures, shared, globals) = Default::default();
        Running {
            tables,
            closures,
            shared,
            steps: 0,
            made: 0,
            long: Vec::new(),
            depth: 0,
            line: 0,
            seed: 0,
            call,
            globals,
        }
    }

    /// Runs the main function.
    pub(super) fn main(&mut self, proto: &Arc<Proto>) -> Values<E> {
        self.closures.push(Closure::Made { proto: Arc::clone(proto), outer: Vec::new() });
        self.apply(&Value::Function(self.closures.len() - 1), Vec::new())
    }

    /// An error that says where it is, as Lua's are.
    pub(super) fn wrong(&self, what: impl std::fmt::Display) -> Stop<E> {
        Stop::Error(Value::text(format!("user_script:{}: {what}", self.line)))
    }

    /// Counts work.
    pub(super) fn step(&mut self, steps: usize) -> Result<(), Stop<E>> {
        self.steps += steps;
        if self.steps > SCRIPT_STEPS_MAX {
            return Err(Stop::Bound("it takes more than a million steps"));
        }
        Ok(())
    }

    /// Counts what is made.
    pub(super) fn make(&mut self, bytes: usize) -> Result<(), Stop<E>> {
        self.made += bytes;
        if self.made > REPLY_BYTES_MAX {
            let mut gone = 0;
            self.long.retain(|(bytes, text)| {
                let lives = text.strong_count() > 0;
                gone += if lives { 0 } else { *bytes };
                lives
            });
            self.made = self.made.saturating_sub(gone);
        }
        if self.made > REPLY_BYTES_MAX {
            return Err(Stop::Bound("its values take more than 64 MiB"));
        }
        Ok(())
    }

    /// Looks after a string that was counted, if it is long.
    pub(super) fn look_after(&mut self, value: &Value) {
        if let Value::Text(text) = value
            && text.len() >= LONG_BYTES
        {
            self.long.push((text.len(), Arc::downgrade(text)));
        }
    }

    /// A string that was made.
    pub(super) fn string(&mut self, text: Vec<u8>) -> Result<Value, Stop<E>> {
        self.make(text.len() + VALUE_BYTES)?;
        let text = Value::Text(text.into());
        self.look_after(&text);
        Ok(text)
    }

    /// A new table.
    pub(super) fn table(&mut self, table: Table) -> Result<Value, Stop<E>> {
        self.make((table.items.len() + 4) * VALUE_BYTES)?;
        self.tables.push(table);
        Ok(Value::Table(self.tables.len() - 1))
    }

    fn deeper<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, Stop<E>>) -> Result<T, Stop<E>> {
        if self.depth >= SCRIPT_CALLS_MAX {
            return Err(self.wrong("stack overflow"));
        }
        self.depth += 1;
        let done = work(self);
        self.depth -= 1;
        done
    }

    /// Calls a function.
    pub(super) fn apply(&mut self, function: &Value, mut arguments: Vec<Value>) -> Values<E> {
        self.step(1)?;
        match function {
            Value::Builtin(builtin) => {
                let builtin = *builtin;
                self.deeper(|running| running.builtin(builtin, arguments))
            }
            Value::Function(at) => {
                let (proto, outer) = match self.closures.get(*at) {
                    Some(Closure::Made { proto, outer }) => (Arc::clone(proto), outer.clone()),
                    Some(Closure::Iterator(rows)) => {
                        return Ok(match self.tables[*rows].items.pop() {
                            Some(Value::Table(row)) => self.tables[row].items.clone(),
                            _ => vec![Value::Nil],
                        });
                    }
                    None => return Ok(Vec::new()),
                };
                let further = arguments.split_off(proto.parameters.min(arguments.len()));
                let further = if proto.variadic { further } else { Vec::new() };
                let mut frame = Frame { slots: vec![Slot::Own(Value::Nil); proto.captured.len()], outer, further };
                arguments.resize(proto.parameters, Value::Nil);
                for (slot, value) in arguments.into_iter().enumerate() {
                    self.declare(&proto, &mut frame, slot, value)?;
                }
                let flow = self.deeper(|running| running.block(&proto, &mut frame, &proto.body))?;
                Ok(if let Flow::Return(values) = flow { values } else { Vec::new() })
            }
            other => Err(self.wrong(format_args!("attempt to call a {} value", other.kind()))),
        }
    }

    /// Gives a local variable its first value.
    fn declare(&mut self, proto: &Proto, frame: &mut Frame, slot: usize, value: Value) -> Result<(), Stop<E>> {
        frame.slots[slot] = if proto.captured[slot] {
            self.make(VALUE_BYTES)?;
            self.shared.push(value);
            Slot::Shared(self.shared.len() - 1)
        } else {
            Slot::Own(value)
        };
        Ok(())
    }

    fn closure(&mut self, proto: &Arc<Proto>, frame: &Frame) -> Result<Value, Stop<E>> {
        let place = |outer: &Outer| match *outer {
            Outer::Further(place) => frame.outer.get(place).copied(),
            Outer::Local(slot) => match frame.slots.get(slot) {
                Some(Slot::Shared(place)) => Some(*place),
                _ => None,
            },
        };
        let outer: Vec<usize> = proto.outer.iter().filter_map(place).collect();
        self.make((outer.len() + 4) * VALUE_BYTES)?;
        self.closures.push(Closure::Made { proto: Arc::clone(proto), outer });
        Ok(Value::Function(self.closures.len() - 1))
    }

    /// A function that hands out rows, each a table of values.
    pub(super) fn iterator(&mut self, mut rows: Vec<Value>) -> Result<Value, Stop<E>> {
        rows.reverse();
        self.make(4 * VALUE_BYTES)?;
        self.tables.push(Table::of_items(rows));
        self.closures.push(Closure::Iterator(self.tables.len() - 1));
        Ok(Value::Function(self.closures.len() - 1))
    }

    fn block(&mut self, proto: &Arc<Proto>, frame: &mut Frame, body: &[Statement]) -> Result<Flow, Stop<E>> {
        for statement in body {
            self.step(1)?;
            match self.statement(proto, frame, statement)? {
                Flow::Next => {}
                flow => return Ok(flow),
            }
        }
        Ok(Flow::Next)
    }

    /// A block within another statement.
    fn inner(&mut self, proto: &Arc<Proto>, frame: &mut Frame, body: &[Statement]) -> Result<Flow, Stop<E>> {
        self.deeper(|running| running.block(proto, frame, body))
    }

    fn statement(&mut self, proto: &Arc<Proto>, frame: &mut Frame, statement: &Statement) -> Result<Flow, Stop<E>> {
        match statement {
            Statement::Local(slots, values) => {
                let mut values = self.values(frame, values)?;
                values.resize(slots.len(), Value::Nil);
                for (slot, value) in slots.iter().zip(values) {
                    self.declare(proto, frame, *slot, value)?;
                }
            }
            Statement::Set(targets, values) => self.set_all(frame, targets, values)?,
            Statement::Call(call) => drop(self.called(frame, call)?),
            Statement::Do(body) => return self.inner(proto, frame, body),
            Statement::While(condition, body) => {
                while self.value(frame, condition)?.is_true() {
                    self.step(1)?;
                    match self.inner(proto, frame, body)? {
                        Flow::Next => {}
                        Flow::Break => break,
                        flow @ Flow::Return(_) => return Ok(flow),
                    }
                }
            }
            Statement::Repeat(body, condition) => loop {
                self.step(1)?;
                match self.inner(proto, frame, body)? {
                    Flow::Next => {}
                    Flow::Break => break,
                    flow @ Flow::Return(_) => return Ok(flow),
                }
                if self.value(frame, condition)?.is_true() {
                    break;
                }
            },
            Statement::If(branches, otherwise) => {
                for (condition, body) in branches {
                    if self.value(frame, condition)?.is_true() {
                        return self.inner(proto, frame, body);
                    }
                }
                return self.inner(proto, frame, otherwise);
            }
            Statement::Count { .. } => return self.count(proto, frame, statement),
            Statement::Each { .. } => return self.each(proto, frame, statement),
            Statement::Function(slot, function) => {
                // The function sees its own name.
                self.declare(proto, frame, *slot, Value::Nil)?;
                let function = self.closure(function, frame)?;
                self.set_slot(frame, *slot, function);
            }
            Statement::Return(values, line) => {
                self.line = *line;
                return Ok(Flow::Return(self.values(frame, values)?));
            }
            Statement::Break => return Ok(Flow::Break),
        }
        Ok(Flow::Next)
    }

    fn set_slot(&mut self, frame: &mut Frame, slot: usize, value: Value) {
        match frame.slots.get(slot) {
            Some(Slot::Shared(place)) => self.shared[*place] = value,
            _ => frame.slots[slot] = Slot::Own(value),
        }
    }

    fn count(&mut self, proto: &Arc<Proto>, frame: &mut Frame, statement: &Statement) -> Result<Flow, Stop<E>> {
        let Statement::Count { variable, from, to, step, body, line } = statement else { return Ok(Flow::Next) };
        let mut bound = |of: &Expr, what: &str| {
            let value = self.value(frame, of)?.number();
            self.line = *line;
            value.ok_or_else(|| self.wrong(format_args!("'for' {what} must be a number")))
        };
        let (mut at, to) = (bound(from, "initial value")?, bound(to, "limit")?);
        let step = step.as_ref().map_or(Ok(1.0), |step| bound(step, "step"))?;
        while if step > 0.0 { at <= to } else { at >= to } {
            self.step(1)?;
            self.declare(proto, frame, *variable, Value::Number(at))?;
            match self.inner(proto, frame, body)? {
                Flow::Next => {}
                Flow::Break => break,
                flow @ Flow::Return(_) => return Ok(flow),
            }
            at += step;
        }
        Ok(Flow::Next)
    }

    fn each(&mut self, proto: &Arc<Proto>, frame: &mut Frame, statement: &Statement) -> Result<Flow, Stop<E>> {
        let Statement::Each { variables, of, body, line } = statement else { return Ok(Flow::Next) };
        let mut of = self.values(frame, of)?.into_iter();
        let mut next = || of.next().unwrap_or(Value::Nil);
        let (function, state, mut control) = (next(), next(), next());
        loop {
            self.step(1)?;
            self.line = *line;
            let mut values = self.apply(&function, vec![state.clone(), control])?;
            values.resize(variables.len(), Value::Nil);
            control = values.first().cloned().unwrap_or(Value::Nil);
            if control == Value::Nil {
                return Ok(Flow::Next);
            }
            for (slot, value) in variables.iter().zip(values) {
                self.declare(proto, frame, *slot, value)?;
            }
            match self.inner(proto, frame, body)? {
                Flow::Next => {}
                Flow::Break => return Ok(Flow::Next),
                flow @ Flow::Return(_) => return Ok(flow),
            }
        }
    }

    fn set_all(&mut self, frame: &mut Frame, targets: &[Expr], values: &[Expr]) -> Result<(), Stop<E>> {
        // What the targets are is decided before any of them is set.
        let mut places = Vec::with_capacity(targets.len());
        for target in targets {
            places.push(match target {
                Expr::Index(of, index, _) => Some((self.value(frame, of)?, self.value(frame, index)?)),
                _ => None,
            });
        }
        let mut values = self.values(frame, values)?;
        values.resize(targets.len(), Value::Nil);
        for ((target, place), value) in targets.iter().zip(places).zip(values) {
            match (target, place) {
                (Expr::Local(slot), _) => self.set_slot(frame, *slot, value),
                (Expr::Outer(place), _) => {
                    if let Some(shared) = frame.outer.get(*place) {
                        self.shared[*shared] = value;
                    }
                }
                (Expr::Index(_, _, line), Some((of, index))) => {
                    self.line = *line;
                    self.set_member(&of, index, value)?;
                }
                (Expr::Global(_, line), _) => {
                    self.line = *line;
                    return Err(self.wrong("Attempt to modify a readonly table"));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Sets a member of a table.
    pub(super) fn set_member(&mut self, of: &Value, index: Value, value: Value) -> Result<(), Stop<E>> {
        let Value::Table(at) = of else {
            return Err(self.wrong(format_args!("attempt to index a {} value", of.kind())));
        };
        if self.tables[*at].fixed {
            return Err(self.wrong("Attempt to modify a readonly table"));
        }
        self.make(2 * VALUE_BYTES)?;
        let kind = if index == Value::Nil { "nil" } else { "NaN" };
        if self.tables[*at].set(index, value) { Ok(()) } else { Err(self.wrong(format_args!("table index is {kind}"))) }
    }

    /// The values of several expressions; those of the last one are all taken.
    fn values(&mut self, frame: &mut Frame, exprs: &[Expr]) -> Values<E> {
        let mut values = Vec::with_capacity(exprs.len());
        for (number, expr) in exprs.iter().enumerate() {
            match expr {
                Expr::Call(call) if number + 1 == exprs.len() => values.extend(self.called(frame, call)?),
                Expr::Further if number + 1 == exprs.len() => values.extend(frame.further.iter().cloned()),
                expr => values.push(self.value(frame, expr)?),
            }
        }
        Ok(values)
    }

    fn called(&mut self, frame: &mut Frame, call: &Called) -> Values<E> {
        self.deeper(|running| {
            let mut function = running.value(frame, &call.function)?;
            let mut arguments = Vec::new();
            if let Some(method) = &call.method {
                running.line = call.line;
                let own = running.member(&function, &Value::Text(method.clone()))?;
                arguments.push(std::mem::replace(&mut function, own));
            }
            arguments.extend(running.values(frame, &call.arguments)?);
            running.line = call.line;
            let name = match &call.function {
                Expr::Index(_, name, _) => name,
                other => other,
            };
            if let (Value::Nil, Expr::Text(name)) = (&function, name) {
                let name = String::from_utf8_lossy(name);
                return Err(running.wrong(format_args!("attempt to call field '{name}' (a nil value)")));
            }
            let values = running.apply(&function, arguments);
            running.line = call.line;
            values
        })
    }

    /// A member of a table, or a function of strings.
    pub(super) fn member(&mut self, of: &Value, index: &Value) -> Result<Value, Stop<E>> {
        match of {
            Value::Table(at) => Ok(self.tables[*at].get(index)),
            Value::Text(_) => match self.global("string") {
                Some(Value::Table(at)) => Ok(self.tables[at].get(index)),
                _ => Ok(Value::Nil),
            },
            other => Err(self.wrong(format_args!("attempt to index a {} value", other.kind()))),
        }
    }

    pub(super) fn global(&self, name: &str) -> Option<Value> {
        let own = self.globals.iter().find(|(own, _)| *own == name).map(|(_, value)| value.clone());
        own.or_else(|| Builtin::global(name).map(Value::Builtin))
    }

    /// The value of an expression.
    fn value(&mut self, frame: &mut Frame, expr: &Expr) -> Result<Value, Stop<E>> {
        match expr {
            Expr::Nil => Ok(Value::Nil),
            Expr::Bool(flag) => Ok(Value::Bool(*flag)),
            Expr::Number(number) => Ok(Value::Number(*number)),
            Expr::Text(text) => Ok(Value::Text(text.clone())),
            Expr::Further => Ok(frame.further.first().cloned().unwrap_or(Value::Nil)),
            Expr::Local(slot) => Ok(match frame.slots.get(*slot) {
                Some(Slot::Own(value)) => value.clone(),
                Some(Slot::Shared(place)) => self.shared[*place].clone(),
                None => Value::Nil,
            }),
            Expr::Outer(place) => Ok(frame.outer.get(*place).map_or(Value::Nil, |place| self.shared[*place].clone())),
            Expr::Global(name, line) => self.global(name).ok_or_else(|| {
                self.line = *line;
                self.wrong(format_args!("Script attempted to access nonexistent global variable '{name}'"))
            }),
            Expr::Call(call) => Ok(self.called(frame, call)?.into_iter().next().unwrap_or(Value::Nil)),
            Expr::Function(proto) => self.closure(proto, frame),
            composed => self.deeper(|running| running.composed(frame, composed)),
        }
    }

    /// The value of an expression with others in it.
    fn composed(&mut self, frame: &mut Frame, expr: &Expr) -> Result<Value, Stop<E>> {
        self.step(1)?;
        Ok(match expr {
            Expr::Single(inner) => self.value(frame, inner)?,
            Expr::Index(of, index, line) => {
                let (of, index) = (self.value(frame, of)?, self.value(frame, index)?);
                self.line = *line;
                self.member(&of, &index)?
            }
            Expr::Table(members) => self.constructed(frame, members)?,
            Expr::Not(of) => Value::Bool(!self.value(frame, of)?.is_true()),
            Expr::Minus(of, line) => {
                let of = self.value(frame, of)?;
                self.line = *line;
                Value::Number(-of.number().ok_or_else(|| self.unfit("perform arithmetic on", &of))?)
            }
            Expr::Length(of, line) => {
                let of = self.value(frame, of)?;
                self.line = *line;
                match &of {
                    Value::Text(text) => Value::count(text.len()),
                    Value::Table(at) => Value::count(self.tables[*at].items.len()),
                    other => return Err(self.unfit("get length of", other)),
                }
            }
            Expr::Or(left, right) => match self.value(frame, left)? {
                left if left.is_true() => left,
                _ => self.value(frame, right)?,
            },
            Expr::And(left, right) => match self.value(frame, left)? {
                left if left.is_true() => self.value(frame, right)?,
                left => left,
            },
            Expr::Binary(operator, left, right, line) => {
                let (left, right) = (self.value(frame, left)?, self.value(frame, right)?);
                self.line = *line;
                self.binary(*operator, &left, &right)?
            }
            simple => self.value(frame, simple)?,
        })
    }

    fn constructed(&mut self, frame: &mut Frame, members: &[(Option<Expr>, Expr)]) -> Result<Value, Stop<E>> {
        let table = self.table(Table::default())?;
        let mut next = 1;
        for (number, (key, value)) in members.iter().enumerate() {
            let is_last = number + 1 == members.len();
            let values = match (key, value) {
                (None, Expr::Call(_) | Expr::Further) if is_last => self.values(frame, std::slice::from_ref(value))?,
                _ => vec![self.value(frame, value)?],
            };
            match key {
                Some(key) => {
                    let key = self.value(frame, key)?;
                    let value = values.into_iter().next().unwrap_or(Value::Nil);
                    self.set_member(&table, key, value)?;
                }
                None => {
                    for value in values {
                        self.set_member(&table, Value::count(next), value)?;
                        next += 1;
                    }
                }
            }
        }
        Ok(table)
    }

    fn unfit(&self, what: &str, value: &Value) -> Stop<E> {
        self.wrong(format_args!("attempt to {what} a {} value", value.kind()))
    }

    fn binary(&mut self, operator: Operator, left: &Value, right: &Value) -> Result<Value, Stop<E>> {
        let calculated: fn(f64, f64) -> f64 = match operator {
            Operator::Equal => return Ok(Value::Bool(left == right)),
            Operator::Differs => return Ok(Value::Bool(left != right)),
            Operator::Less => return Ok(Value::Bool(self.order(left, right)?.is_some_and(Ordering::is_lt))),
            Operator::More => return Ok(Value::Bool(self.order(left, right)?.is_some_and(Ordering::is_gt))),
            Operator::AtMost => return Ok(Value::Bool(self.order(left, right)?.is_some_and(Ordering::is_le))),
            Operator::AtLeast => return Ok(Value::Bool(self.order(left, right)?.is_some_and(Ordering::is_ge))),
            Operator::Concat => {
                let unfit = if left.string().is_none() { left } else { right };
                let (Some(left), Some(right)) = (left.string(), right.string()) else {
                    return Err(self.unfit("concatenate", unfit));
                };
                // What is too long is not made first.
                self.make(left.len() + right.len())?;
                let text = Value::text([&*left, &*right].concat());
                self.look_after(&text);
                return Ok(text);
            }
            Operator::Plus => |left, right| left + right,
            Operator::Minus => |left, right| left - right,
            Operator::Times => |left, right| left * right,
            Operator::Divided => |left, right| left / right,
            Operator::Remainder => |left, right| left - (left / right).floor() * right,
            Operator::Power => f64::powf,
        };
        let unfit = if left.number().is_none() { left } else { right };
        match (left.number(), right.number()) {
            (Some(left), Some(right)) => Ok(Value::Number(calculated(left, right))),
            _ => Err(self.unfit("perform arithmetic on", unfit)),
        }
    }
}
