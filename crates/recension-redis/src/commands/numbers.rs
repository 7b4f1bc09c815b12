//! Numbers in strings.

use recension::SetOptions;

use crate::data::{Args, Data, Outcome, Refusal, integer, refuse};
use crate::decimal::Decimal;
use crate::reply::Reply;

fn add(data: &Data<'_>, key: &[u8], by: i64) -> Outcome {
    let number = match data.string(key)? {
        None => 0,
        Some(entry) => entry.value.as_integer().ok_or_else(|| refuse("value is not an integer or out of range"))?,
    };
    // The store's own counters saturate; Redis refuses an overflow.
    let sum = number.checked_add(by).ok_or_else(|| refuse("increment or decrement would overflow"))?;
    data.keys.set_with(key, sum, &SetOptions::new().keep_existing())?;
    Ok(Reply::Integer(sum))
}

pub(super) fn incr(data: &Data<'_>, args: Args<'_>) -> Outcome {
    add(data, args[1], 1)
}

pub(super) fn decr(data: &Data<'_>, args: Args<'_>) -> Outcome {
    add(data, args[1], -1)
}

pub(super) fn incrby(data: &Data<'_>, args: Args<'_>) -> Outcome {
    add(data, args[1], integer(args[2])?)
}

pub(super) fn decrby(data: &Data<'_>, args: Args<'_>) -> Outcome {
    let by = integer(args[2])?.checked_neg().ok_or_else(|| refuse("decrement would overflow"))?;
    add(data, args[1], by)
}

/// What Redis says of a sum that is no number.
const ENDLESS: &str = "increment would produce NaN or Infinity";

/// The sum of two decimal numbers as Redis prints it. `wrong` refuses what is there, `endless_by` an endless addend.
pub(super) fn float_sum(number: &[u8], by: &[u8], wrong: &str, endless_by: &str) -> Result<String, Refusal> {
    let is_infinite = |text: &[u8]| std::str::from_utf8(text).is_ok_and(|text| text.parse() == Ok(f64::INFINITY));
    let endless = || refuse(ENDLESS);
    if is_infinite(by.strip_prefix(b"-").unwrap_or(by)) {
        return Err(refuse(endless_by));
    }
    let by = Decimal::parse(by).ok_or_else(|| refuse("value is not a valid float"))?;
    let number = Decimal::parse(number).ok_or_else(|| refuse(wrong))?;
    Ok(number.add(&by).ok_or_else(endless)?.text())
}

pub(super) fn incrbyfloat(data: &Data<'_>, args: Args<'_>) -> Outcome {
    let number = data.string(args[1])?.map_or_else(|| b"0".to_vec(), |entry| entry.value.into_bytes());
    let text = float_sum(&number, args[2], "value is not a valid float", ENDLESS)?;
    data.keys.set_with(args[1], text.as_str(), &SetOptions::new().keep_existing())?;
    Ok(Reply::text(text))
}
