//! Replies of commands as values, and the value of a script as its reply, as in Redis. Pure.

use super::value::{Table, Value};
use crate::limits::SCRIPT_DEPTH_MAX;
use crate::reply::{Reply, digits};

fn of_items(items: Vec<Value>, tables: &mut Vec<Table>) -> Value {
    tables.push(Table::of_items(items));
    Value::Table(tables.len() - 1)
}

fn of_field(name: &str, text: &str, tables: &mut Vec<Table>) -> Value {
    let mut table = Table::default();
    table.set(Value::text(name), Value::text(text));
    tables.push(table);
    Value::Table(tables.len() - 1)
}

/// A command's reply as a value; nothing is false.
pub(super) fn value_of(reply: Reply, tables: &mut Vec<Table>) -> Value {
    let flat = |pairs: Vec<(Reply, Reply)>| pairs.into_iter().flat_map(|(first, second)| [first, second]).collect();
    let items: Vec<Reply> = match reply {
        Reply::Null | Reply::NullArray => return Value::Bool(false),
        #[expect(clippy::cast_precision_loss, reason = "numbers of scripts are doubles")]
        Reply::Integer(number) => return Value::Number(number as f64),
        Reply::Double(number) => return Value::text(digits(number)),
        Reply::Bulk(bytes) => return Value::Text(bytes.into()),
        Reply::Ok => return of_field("ok", "OK", tables),
        Reply::Simple(word) => return of_field("ok", word, tables),
        Reply::Status(text) => return of_field("ok", &text, tables),
        Reply::Error(message) => return of_field("err", &message, tables),
        Reply::Array(items) | Reply::Set(items) | Reply::Push(items) => items,
        Reply::Map(pairs) | Reply::Pairs(pairs) => flat(pairs),
    };
    let items = items.into_iter().map(|item| value_of(item, tables)).collect();
    of_items(items, tables)
}

/// A value as a reply: numbers lose their fraction, an array ends at the first nil.
pub(super) fn reply_of(value: &Value, tables: &[Table], depth: usize) -> Reply {
    match value {
        Value::Nil | Value::Bool(false) | Value::Function(_) | Value::Builtin(_) | Value::Null => Reply::Null,
        Value::Bool(true) => Reply::Integer(1),
        #[expect(clippy::cast_possible_truncation, reason = "as in Redis")]
        Value::Number(number) => Reply::Integer(*number as i64),
        Value::Text(text) => Reply::Bulk(text.to_vec()),
        Value::Table(_) if depth >= SCRIPT_DEPTH_MAX => Reply::error("reached lua stack limit"),
        Value::Table(at) => {
            let Some(table) = tables.get(*at) else { return Reply::Null };
            if let Value::Text(message) = table.named("err") {
                let message = String::from_utf8_lossy(&message).into_owned();
                return Reply::Error(message.strip_prefix('-').map_or(message.clone(), str::to_owned));
            }
            if let Value::Text(status) = table.named("ok") {
                return if &*status == b"OK" {
                    Reply::Ok
                } else {
                    Reply::Status(String::from_utf8_lossy(&status).into())
                };
            }
            if let Value::Number(number) = table.named("double") {
                return Reply::Double(number);
            }
            let items = table.items.iter().take_while(|item| **item != Value::Nil);
            Reply::Array(items.map(|item| reply_of(item, tables, depth + 1)).collect())
        }
    }
}
