//! `table`: its functions.

use std::cmp::Ordering;

use super::run::{Running, Stop, Values};
use super::value::{Table, Value};

impl<E> Running<'_, '_, E> {
    fn table_of(&self, arguments: &[Value], name: &str) -> Result<usize, Stop<E>> {
        match arguments.first() {
            Some(Value::Table(at)) => Ok(*at),
            other => {
                let kind = other.map_or("no value", Value::kind);
                Err(self.wrong(format_args!("bad argument #1 to '{name}' (table expected, got {kind})")))
            }
        }
    }

    /// A number among arguments, or another one if it is not there.
    pub(super) fn whole_or(&self, arguments: &[Value], number: usize, name: &str, or: i64) -> Result<i64, Stop<E>> {
        match arguments.get(number) {
            None | Some(Value::Nil) => Ok(or),
            Some(value) => match value.number() {
                #[expect(clippy::cast_possible_truncation, reason = "as in C")]
                Some(number) => Ok(number as i64),
                None => Err(self.unfit_argument(arguments, number, name, "number")),
            },
        }
    }

    pub(super) fn unfit_argument(&self, arguments: &[Value], number: usize, name: &str, wanted: &str) -> Stop<E> {
        let kind = arguments.get(number).map_or("no value", Value::kind);
        self.wrong(format_args!("bad argument #{} to '{name}' ({wanted} expected, got {kind})", number + 1))
    }

    pub(super) fn table_function(&mut self, name: &str, arguments: &[Value]) -> Values<E> {
        let at = self.table_of(arguments, name)?;
        self.step(1 + self.tables[at].items.len() / 16)?;
        match name {
            "concat" => self.concat(at, arguments).map(|text| vec![text]),
            "insert" => {
                self.make(size_of::<Value>())?;
                let len = self.tables[at].items.len();
                match arguments {
                    [_, value] => self.set_member(&arguments[0], Value::count(len + 1), value.clone())?,
                    [_, _, value] => {
                        let wanted = self.whole_or(arguments, 1, name, 0)?;
                        match usize::try_from(wanted.saturating_sub(1)) {
                            Ok(place) if place < len => self.tables[at].items.insert(place, value.clone()),
                            _ => self.set_member(&arguments[0], arguments[1].clone(), value.clone())?,
                        }
                    }
                    _ => return Err(self.wrong("wrong number of arguments to 'insert'")),
                }
                Ok(Vec::new())
            }
            "remove" => {
                let len = self.tables[at].items.len();
                let wanted = self.whole_or(arguments, 1, name, i64::try_from(len).unwrap_or(0))?;
                let items = &mut self.tables[at].items;
                Ok(match usize::try_from(wanted.saturating_sub(1)) {
                    Ok(place) if place < len => vec![items.remove(place)],
                    _ => vec![Value::Nil],
                })
            }
            "getn" => Ok(vec![Value::count(self.tables[at].items.len())]),
            "maxn" => {
                let table = &self.tables[at];
                let others =
                    table.others().filter_map(|(key, _)| if let Value::Number(key) = key { Some(*key) } else { None });
                let items = if let Value::Number(len) = Value::count(table.items.len()) { len } else { 0.0 };
                Ok(vec![Value::Number(others.fold(items, f64::max))])
            }
            "unpack" => self.unpack(arguments),
            _ => self.sort(at, arguments.get(1).filter(|by| **by != Value::Nil)),
        }
    }

    fn concat(&mut self, at: usize, arguments: &[Value]) -> Result<Value, Stop<E>> {
        let between = arguments.get(1).filter(|value| **value != Value::Nil);
        let between = between.map_or(Some([].into()), Value::string);
        let between = between.ok_or_else(|| self.unfit_argument(arguments, 1, "concat", "string"))?;
        let from = self.whole_or(arguments, 2, "concat", 1)?;
        let to = self.whole_or(arguments, 3, "concat", i64::try_from(self.tables[at].items.len()).unwrap_or(0))?;
        let mut text = Vec::new();
        for number in from..=to {
            self.step(1)?;
            #[expect(clippy::cast_precision_loss, reason = "numbers of scripts are doubles")]
            let item = self.tables[at].get(&Value::Number(number as f64));
            let Some(item) = item.string() else {
                let what = format!("invalid value ({}) at index {number} in table for 'concat'", item.kind());
                return Err(self.wrong(what));
            };
            if number > from {
                text.extend_from_slice(&between);
            }
            self.make(item.len() + between.len())?;
            text.extend_from_slice(&item);
        }
        self.string(text)
    }

    pub(super) fn unpack(&mut self, arguments: &[Value]) -> Values<E> {
        let at = self.table_of(arguments, "unpack")?;
        let from = self.whole_or(arguments, 1, "unpack", 1)?;
        let to = self.whole_or(arguments, 2, "unpack", i64::try_from(self.tables[at].items.len()).unwrap_or(0))?;
        if to.saturating_sub(from) >= 8000 {
            return Err(self.wrong("too many results to unpack"));
        }
        #[expect(clippy::cast_precision_loss, reason = "numbers of scripts are doubles")]
        let item = |number: i64| self.tables[at].get(&Value::Number(number as f64));
        Ok((from..=to).map(item).collect())
    }

    /// A merge sort: an order that contradicts itself harms nothing.
    fn sort(&mut self, at: usize, by: Option<&Value>) -> Values<E> {
        let items = std::mem::take(&mut self.tables[at].items);
        let sorted = self.sorted(items, by)?;
        // The order may have changed the table; what it added stays behind what was sorted.
        let added = std::mem::replace(&mut self.tables[at].items, sorted);
        self.tables[at].items.extend(added);
        Ok(Vec::new())
    }

    fn sorted(&mut self, mut items: Vec<Value>, by: Option<&Value>) -> Values<E> {
        if items.len() < 2 {
            return Ok(items);
        }
        let right = items.split_off(items.len() / 2);
        let (left, right) = (self.sorted(items, by)?, self.sorted(right, by)?);
        let mut all = Vec::with_capacity(left.len() + right.len());
        let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
        while let (Some(one), Some(other)) = (left.peek(), right.peek()) {
            self.step(1)?;
            let other_first = match by {
                Some(by) => {
                    let answer = self.apply(by, vec![other.clone(), one.clone()])?;
                    answer.first().is_some_and(Value::is_true)
                }
                None => self.order(other, one)? == Some(Ordering::Less),
            };
            all.extend(if other_first { right.next() } else { left.next() });
        }
        all.extend(left.chain(right));
        Ok(all)
    }

    /// The order of two numbers or strings.
    pub(super) fn order(&self, left: &Value, right: &Value) -> Result<Option<Ordering>, Stop<E>> {
        match (left, right) {
            (Value::Number(left), Value::Number(right)) => Ok(left.partial_cmp(right)),
            (Value::Text(left), Value::Text(right)) => Ok(Some(left.cmp(right))),
            _ if left.kind() == right.kind() => {
                Err(self.wrong(format_args!("attempt to compare two {} values", left.kind())))
            }
            _ => Err(self.wrong(format_args!("attempt to compare {} with {}", left.kind(), right.kind()))),
        }
    }

    /// A new table of items.
    pub(super) fn array(&mut self, items: Vec<Value>) -> Result<Value, Stop<E>> {
        self.table(Table::of_items(items))
    }
}
