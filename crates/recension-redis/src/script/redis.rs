//! What Redis gives a script: `KEYS`, `ARGV` and the table `redis`.

use sha1::{Digest as _, Sha1};

use super::library::{Builtin, LIBRARY};
use super::parse::Script;
use super::replies::{reply_of, value_of};
use super::run::{Running, Stop, Values};
use super::value::{Table, Value};
use crate::reply::Reply;

/// Calls a command: its reply, or the reply that ends the script whatever it says.
pub(crate) type Call<'c, E> = dyn FnMut(&[Vec<u8>]) -> Result<Reply, E> + 'c;

/// The hash by which a script is called.
pub(crate) fn hash_of(text: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut hex = String::with_capacity(40);
    for byte in Sha1::digest(text) {
        // Writing to a String cannot fail.
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}

/// Runs a script of this hash with keys and arguments.
pub(crate) fn run<E>(
    (script, hash): (&Script, &str),
    keys: &[&[u8]],
    args: &[&[u8]],
    call: &mut Call<'_, E>,
) -> Result<Reply, E> {
    let mut running = Running::new(call);
    let error = match prepared(&mut running, keys, args).and_then(|()| running.main(&script.main)) {
        Ok(values) => {
            let value = values.into_iter().next().unwrap_or(Value::Nil);
            return Ok(reply_of(&value, &running.tables, 0));
        }
        Err(Stop::Caller(error)) => return Err(error),
        Err(Stop::Bound(what)) => return Ok(Reply::error(format_args!("the script is ended: {what}"))),
        Err(Stop::Error(error)) => error,
    };
    let message = match &error {
        Value::Table(at) => match running.tables.get(*at).map(|table| table.named("err")) {
            Some(Value::Text(text)) => String::from_utf8_lossy(&text).into_owned(),
            _ => "ERR unknown error".to_owned(),
        },
        other => format!("ERR {}", String::from_utf8_lossy(&other.shown())),
    };
    Ok(Reply::Error(format!("{message} script: {hash}, on @user_script:{}.", running.line)))
}

/// Gives a script the tables that every one has.
fn prepared<E>(running: &mut Running<'_, '_, E>, keys: &[&[u8]], args: &[&[u8]]) -> Result<(), Stop<E>> {
    for (name, words) in [("KEYS", keys), ("ARGV", args)] {
        let mut items = Vec::with_capacity(words.len());
        for word in words {
            items.push(running.string(word.to_vec())?);
        }
        let table = running.table(Table::of_items(items))?;
        running.globals.push((name, table));
    }
    for (library, names) in LIBRARY {
        let mut table = Table::default();
        for name in names.split_whitespace() {
            let function = Builtin::named(library, name).map_or(Value::Nil, Value::Builtin);
            table.set(Value::text(name), function);
        }
        for (name, value) in constants(library) {
            table.set(Value::text(name), value);
        }
        table.fixed = true;
        let table = running.table(table)?;
        if *library == "redis" {
            running.globals.push(("server", table.clone()));
        }
        running.globals.push((library, table));
    }
    Ok(())
}

fn constants(library: &str) -> Vec<(&'static str, Value)> {
    let number = |(name, number)| (name, Value::Number(number));
    match library {
        "math" => [("pi", std::f64::consts::PI), ("huge", f64::INFINITY)].map(number).to_vec(),
        "cjson" => vec![("null", Value::Null)],
        "redis" => [
            ("LOG_DEBUG", 0.0),
            ("LOG_VERBOSE", 1.0),
            ("LOG_NOTICE", 2.0),
            ("LOG_WARNING", 3.0),
            ("REPL_NONE", 0.0),
            ("REPL_AOF", 1.0),
            ("REPL_SLAVE", 2.0),
            ("REPL_REPLICA", 2.0),
            ("REPL_ALL", 3.0),
        ]
        .map(number)
        .to_vec(),
        _ => Vec::new(),
    }
}

impl<E> Running<'_, '_, E> {
    /// A table with one member: an error or a status.
    fn of_field(&mut self, name: &str, text: impl AsRef<[u8]>) -> Result<Value, Stop<E>> {
        let mut table = Table::default();
        table.set(Value::text(name), Value::text(text));
        self.table(table)
    }

    /// An error as `redis.call` throws it.
    fn error_table(&mut self, message: &str) -> Result<Value, Stop<E>> {
        let table = self.of_field("err", message)?;
        for (name, value) in [("source", Value::text("@user_script")), ("line", Value::Number(f64::from(self.line)))] {
            self.set_member(&table, Value::text(name), value)?;
        }
        Ok(table)
    }

    pub(super) fn redis_function(&mut self, name: &str, arguments: &[Value]) -> Values<E> {
        let text = |number: usize| match arguments.get(number) {
            Some(Value::Text(text)) => Some(text.clone()),
            _ => None,
        };
        let one = match name {
            "call" | "pcall" => return self.command(arguments, name == "call"),
            "status_reply" | "error_reply" => match (text(0), arguments.len()) {
                (Some(text), 1) if name == "status_reply" => self.of_field("ok", text)?,
                (Some(text), 1) => {
                    let message = String::from_utf8_lossy(&text).into_owned();
                    let message = message.strip_prefix('-').unwrap_or(&message);
                    // An error has a word for its kind.
                    let message = if message.contains(' ') { message.to_owned() } else { format!("ERR {message}") };
                    self.of_field("err", message)?
                }
                _ => self.of_field("err", "ERR wrong number or type of arguments")?,
            },
            "sha1hex" => match (arguments.first(), arguments.len()) {
                (Some(value), 1) => Value::text(hash_of(&value.string().unwrap_or_default())),
                _ => return Err(self.thrown("ERR wrong number of arguments")?),
            },
            "log" if arguments.len() < 2 => return Err(self.thrown("ERR redis.log() requires two arguments or more.")?),
            "log" => match arguments.first() {
                Some(Value::Number(0.0..=3.0)) => return Ok(Vec::new()),
                Some(Value::Number(_)) => return Err(self.thrown("ERR Invalid log level.")?),
                _ => return Err(self.thrown("ERR First argument must be a number (log level).")?),
            },
            "setresp" => match arguments {
                [Value::Number(2.0 | 3.0)] => return Ok(Vec::new()),
                [_] => return Err(self.thrown("ERR RESP version must be 2 or 3.")?),
                _ => return Err(self.thrown("ERR redis.setresp() requires one argument.")?),
            },
            // Scripts are one commit here: there is nothing to choose.
            "replicate_commands" => Value::Bool(true),
            _ => return Ok(Vec::new()),
        };
        Ok(vec![one])
    }

    fn thrown(&mut self, message: &str) -> Result<Stop<E>, Stop<E>> {
        Ok(Stop::Error(self.error_table(message)?))
    }

    fn command(&mut self, arguments: &[Value], throws: bool) -> Values<E> {
        self.step(1)?;
        let word = |value: &Value| match value {
            #[expect(clippy::cast_possible_truncation, reason = "it was tested to be whole and small")]
            Value::Number(number) if number.fract() == 0.0 && number.abs() < 9e15 => {
                Some((*number as i64).to_string().into_bytes())
            }
            Value::Number(number) => Some(super::sprintf::general(*number, 17).into_bytes()),
            Value::Text(text) => Some(text.to_vec()),
            _ => None,
        };
        let words: Option<Vec<Vec<u8>>> = arguments.iter().map(word).collect();
        let reply = match words {
            None => Reply::error("Lua redis lib command arguments must be strings or integers"),
            Some(words) if words.is_empty() => {
                Reply::error("Please specify at least one argument for this redis lib call")
            }
            Some(words) => (self.call)(&words).map_err(Stop::Caller)?,
        };
        let value = match reply {
            Reply::Error(message) => {
                let error = self.error_table(&message)?;
                if throws {
                    return Err(Stop::Error(error));
                }
                error
            }
            reply => {
                self.make(reply.weight())?;
                let value = value_of(reply, &mut self.tables);
                self.look_after(&value);
                value
            }
        };
        Ok(vec![value])
    }
}
