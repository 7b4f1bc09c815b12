//! The functions that every script has: which there are, and the general and mathematical ones.

use super::run::{Running, Stop, Values};
use super::value::{Table, Value, whole};

/// The tables of functions. What a table of these does not have is nil, as in Lua.
pub(super) const LIBRARY: &[(&str, &str)] = &[
    ("string", "byte char find format gmatch gsub len lower match rep reverse sub upper"),
    ("table", "concat getn insert maxn remove sort"),
    (
        "math",
        "abs acos asin atan atan2 ceil cos cosh deg exp floor fmod log log10 max min modf pow rad random randomseed \
         sin sinh sqrt tan tanh",
    ),
    ("cjson", "decode encode"),
    ("bit", "arshift band bnot bor bxor lshift rshift tobit tohex"),
    ("redis", "call error_reply log pcall replicate_commands set_repl setresp sha1hex status_reply"),
];

/// Functions without a table.
const GLOBAL: &str = "assert error ipairs next pairs pcall rawequal rawget rawset select tonumber tostring type unpack \
    xpcall";

/// A function of these: the number of its table, and its number there. Tables begin with 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Builtin(u8, u8);

impl Builtin {
    fn within(names: &str, table: usize, name: &str) -> Option<Self> {
        let at = names.split_whitespace().position(|own| own == name)?;
        Some(Builtin(u8::try_from(table).ok()?, u8::try_from(at).ok()?))
    }

    pub(super) fn global(name: &str) -> Option<Self> {
        Builtin::within(GLOBAL, 0, name)
    }

    pub(super) fn named(table: &str, name: &str) -> Option<Self> {
        let at = LIBRARY.iter().position(|(own, _)| *own == table)?;
        Builtin::within(LIBRARY.get(at)?.1, at + 1, name)
    }

    pub(super) fn number(self) -> usize {
        usize::from(self.0) << 8 | usize::from(self.1)
    }

    pub(super) fn name(self) -> &'static str {
        let names = match usize::from(self.0) {
            0 => GLOBAL,
            table => LIBRARY.get(table - 1).map_or("", |(_, names)| names),
        };
        names.split_whitespace().nth(usize::from(self.1)).unwrap_or_default()
    }

    fn table(self) -> &'static str {
        usize::from(self.0).checked_sub(1).and_then(|at| LIBRARY.get(at)).map_or("", |(name, _)| name)
    }
}

impl<E> Running<'_, '_, E> {
    pub(super) fn builtin(&mut self, builtin: Builtin, arguments: Vec<Value>) -> Values<E> {
        let name = builtin.name();
        match builtin.table() {
            "string" => self.string_function(name, &arguments),
            "table" => self.table_function(name, &arguments),
            "math" => self.math(name, &arguments).map(|value| with_second(name, &arguments, value)),
            "cjson" => self.json_function(name, &arguments).map(|value| vec![value]),
            "bit" => self.bits(name, &arguments).map(|value| vec![value]),
            "redis" => self.redis_function(name, &arguments),
            _ => self.general(name, arguments),
        }
    }

    fn general(&mut self, name: &str, mut arguments: Vec<Value>) -> Values<E> {
        let first = arguments.first().cloned().unwrap_or(Value::Nil);
        if arguments.is_empty() && !matches!(name, "error" | "select") {
            return Err(self.wrong(format_args!("bad argument #1 to '{name}' (value expected)")));
        }
        let one = match name {
            "type" => Value::text(first.kind()),
            "tostring" => Value::Text(first.shown()),
            "tonumber" => match self.whole_or(&arguments, 1, name, 10)? {
                10 => first.number().map_or(Value::Nil, Value::Number),
                base @ 2..=36 => {
                    let text = first.string().unwrap_or_default();
                    let base = u32::try_from(base).unwrap_or(10);
                    whole(text.trim_ascii(), base).map_or(Value::Nil, Value::Number)
                }
                _ => return Err(self.wrong("bad argument #2 to 'tonumber' (base out of range)")),
            },
            "assert" if first.is_true() => return Ok(arguments),
            "assert" => {
                let message = arguments.get(1).cloned();
                return Err(match message {
                    None => self.wrong("assertion failed!"),
                    Some(Value::Text(text)) => self.wrong(String::from_utf8_lossy(&text)),
                    Some(other) => Stop::Error(other),
                });
            }
            "error" => return Err(self.raised(first, &arguments)?),
            "pcall" | "xpcall" => {
                let function = arguments.remove(0);
                let handler = (name == "xpcall" && !arguments.is_empty()).then(|| arguments.remove(0));
                return match (self.apply(&function, arguments), handler) {
                    (Ok(values), _) => Ok(std::iter::once(Value::Bool(true)).chain(values).collect()),
                    (Err(Stop::Error(error)), None) => Ok(vec![Value::Bool(false), error]),
                    (Err(Stop::Error(error)), Some(handler)) => {
                        let values = self.apply(&handler, vec![error])?;
                        Ok(std::iter::once(Value::Bool(false)).chain(values).collect())
                    }
                    (Err(stop), _) => Err(stop),
                };
            }
            "select" => return self.select(arguments),
            "unpack" => return self.unpack(&arguments),
            "rawequal" => Value::Bool(arguments.get(1) == Some(&first)),
            _ => return self.of_tables(name, &arguments),
        };
        Ok(vec![one])
    }

    fn raised(&mut self, error: Value, arguments: &[Value]) -> Result<Stop<E>, Stop<E>> {
        let level = self.whole_or(arguments, 1, "error", 1)?;
        Ok(match error {
            Value::Text(text) if level > 0 => self.wrong(String::from_utf8_lossy(&text)),
            error => Stop::Error(error),
        })
    }

    fn select(&mut self, mut arguments: Vec<Value>) -> Values<E> {
        let len = arguments.len().saturating_sub(1);
        if matches!(arguments.first(), Some(Value::Text(text)) if &**text == b"#") {
            return Ok(vec![Value::count(len)]);
        }
        let wanted = self.whole_or(&arguments, 0, "select", 0)?;
        let from = if wanted < 0 { i64::try_from(len).unwrap_or(0) + wanted + 1 } else { wanted };
        match usize::try_from(from) {
            Ok(from @ 1..) => Ok(arguments.split_off(from.min(arguments.len()))),
            _ => Err(self.wrong("bad argument #1 to 'select' (index out of range)")),
        }
    }

    fn of_tables(&mut self, name: &str, arguments: &[Value]) -> Values<E> {
        let Some(Value::Table(at)) = arguments.first() else {
            return Err(self.unfit_argument(arguments, 0, name, "table"));
        };
        let index = arguments.get(1).cloned().unwrap_or(Value::Nil);
        match name {
            // `for k, v in pairs(t)` calls what is returned first with the others.
            "pairs" => {
                Ok(vec![Builtin::global("next").map_or(Value::Nil, Value::Builtin), arguments[0].clone(), Value::Nil])
            }
            "ipairs" if index == Value::Nil => {
                let own = Builtin::global("ipairs").map_or(Value::Nil, Value::Builtin);
                Ok(vec![own, arguments[0].clone(), Value::Number(0.0)])
            }
            "ipairs" => {
                let next = Value::Number(index.number().unwrap_or(0.0) + 1.0);
                let value = self.tables[*at].get(&next);
                Ok(if value == Value::Nil { vec![Value::Nil] } else { vec![next, value] })
            }
            "rawget" => Ok(vec![self.tables[*at].get(&index)]),
            "rawset" => {
                self.set_member(&arguments[0], index, arguments.get(2).cloned().unwrap_or(Value::Nil))?;
                Ok(vec![arguments[0].clone()])
            }
            _ => match self.tables[*at].next(&index) {
                Some(Some((key, value))) => Ok(vec![key, value]),
                Some(None) => Ok(vec![Value::Nil]),
                None => Err(self.wrong("invalid key to 'next'")),
            },
        }
    }

    fn math(&mut self, name: &str, arguments: &[Value]) -> Result<Value, Stop<E>> {
        let number = |running: &Self, at: usize| {
            let value = arguments.get(at).and_then(Value::number);
            value.ok_or_else(|| running.unfit_argument(arguments, at, name, "number"))
        };
        if name == "random" {
            return self.random(arguments);
        }
        let first = number(self, 0)?;
        Ok(Value::Number(match name {
            "abs" => first.abs(),
            "acos" => first.acos(),
            "asin" => first.asin(),
            "atan" => first.atan(),
            "atan2" => first.atan2(number(self, 1)?),
            "ceil" => first.ceil(),
            "cos" => first.cos(),
            "cosh" => first.cosh(),
            "deg" => first.to_degrees(),
            "exp" => first.exp(),
            "floor" => first.floor(),
            "fmod" => first % number(self, 1)?,
            "log" => first.ln(),
            "log10" => first.log10(),
            "max" | "min" => {
                let pick = if name == "max" { f64::max } else { f64::min };
                let mut picked = first;
                for at in 1..arguments.len() {
                    picked = pick(picked, number(self, at)?);
                }
                picked
            }
            "modf" => first.trunc(),
            "pow" => first.powf(number(self, 1)?),
            "rad" => first.to_radians(),
            "randomseed" => {
                self.seed = first.to_bits();
                return Ok(Value::Nil);
            }
            "sin" => first.sin(),
            "sinh" => first.sinh(),
            "sqrt" => first.sqrt(),
            "tan" => first.tan(),
            _ => first.tanh(),
        }))
    }

    /// The same numbers in every run that sets no other seed, as in Redis.
    fn random(&mut self, arguments: &[Value]) -> Result<Value, Stop<E>> {
        self.seed = self.seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (self.seed ^ (self.seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        #[expect(clippy::cast_precision_loss, reason = "53 bits are kept")]
        let share = ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64;
        if arguments.is_empty() {
            return Ok(Value::Number(share));
        }
        let first = self.whole_or(arguments, 0, "random", 1)?;
        let (low, high) =
            if arguments.len() == 1 { (1, first) } else { (first, self.whole_or(arguments, 1, "random", 1)?) };
        if low > high {
            return Err(
                self.wrong(format_args!("bad argument #{} to 'random' (interval is empty)", arguments.len().min(2)))
            );
        }
        #[expect(clippy::cast_precision_loss, reason = "numbers of scripts are doubles")]
        let (low, high) = (low as f64, high as f64);
        Ok(Value::Number((low + share * (high - low + 1.0)).floor()))
    }

    fn bits(&mut self, name: &str, arguments: &[Value]) -> Result<Value, Stop<E>> {
        let word = |running: &Self, at: usize| {
            let number = arguments.get(at).and_then(Value::number);
            let number = number.ok_or_else(|| running.unfit_argument(arguments, at, name, "number"))?;
            #[expect(clippy::cast_possible_truncation, reason = "the lowest 32 bits are meant")]
            Ok::<i32, Stop<E>>(number.round_ties_even().rem_euclid(4_294_967_296.0) as i64 as i32)
        };
        let first = word(self, 0)?;
        let shift = |running: &Self| Ok::<u32, Stop<E>>(word(running, 1)?.cast_unsigned() & 31);
        if name == "tohex" {
            return self.string(format!("{first:08x}").into_bytes());
        }
        Ok(Value::Number(f64::from(match name {
            "arshift" => first >> shift(self)?,
            "lshift" => first << shift(self)?,
            "rshift" => (first.cast_unsigned() >> shift(self)?).cast_signed(),
            "bnot" => !first,
            "tobit" => first,
            _ => {
                let mut all = first;
                for at in 1..arguments.len() {
                    let next = word(self, at)?;
                    all = match name {
                        "band" => all & next,
                        "bor" => all | next,
                        _ => all ^ next,
                    };
                }
                all
            }
        })))
    }

    /// A new table, empty.
    pub(super) fn empty(&mut self) -> Result<Value, Stop<E>> {
        self.table(Table::default())
    }
}

/// The values of a function of `math`: `modf` has two, and `randomseed` none.
fn with_second(name: &str, arguments: &[Value], value: Value) -> Vec<Value> {
    match (name, arguments.first().and_then(Value::number)) {
        ("modf", Some(number)) => {
            vec![value, Value::Number(if number.is_infinite() { 0.0 } else { number.fract() })]
        }
        ("randomseed", _) => Vec::new(),
        _ => vec![value],
    }
}
