//! Numbers in strings.

use recension::SetOptions;

use crate::data::{Args, Data, Outcome, float, integer, refuse};
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

pub(super) fn incrbyfloat(data: &Data<'_>, args: Args<'_>) -> Outcome {
    let by = float(args[2])?;
    let number = match data.string(args[1])? {
        None => 0.0,
        Some(entry) => entry.value.as_float().ok_or_else(|| refuse("value is not a valid float"))?,
    };
    let sum = number + by;
    if !sum.is_finite() {
        return Err(refuse("increment would produce NaN or Infinity"));
    }
    let text = sum.to_string();
    data.keys.set_with(args[1], text.as_str(), &SetOptions::new().keep_existing())?;
    Ok(Reply::text(text))
}
