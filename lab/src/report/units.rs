//! Figures for people: three digits and a unit.

use crate::measure::stats::as_f64;

/// A figure of a unit: `47.1 us`, `370 MB`, `1.00`.
pub fn show(value: f64, unit: &str) -> String {
    let scales: &[(f64, &str)] = match unit {
        "ns" => &[(1e9, " s"), (1e6, " ms"), (1e3, " us"), (1.0, " ns")],
        "bytes" => &[(1e9, " GB"), (1e6, " MB"), (1e3, " kB"), (1.0, " B")],
        _ => &[(1.0, "")],
    };
    let (scale, name) = scales.iter().find(|(scale, _)| value.abs() >= *scale).or(scales.last()).unwrap_or(&(1.0, ""));
    format!("{}{name}", digits(value / scale))
}

/// Three digits, without an exponent; of a figure below a tenth two that are not zero, down to a millionth.
pub fn digits(value: f64) -> String {
    let places = match value.abs() {
        v if v >= 99.95 => 0,
        v if v >= 9.995 => 1,
        v if !(5e-7..0.095).contains(&v) => 2,
        v => (3..=7).find(|places| v >= 0.95 * 0.1_f64.powi(places - 1)).map_or(7, i32::unsigned_abs) as usize,
    };
    format!("{value:.places$}")
}

/// A count of bytes.
pub fn bytes(count: u64) -> String {
    show(as_f64(usize::try_from(count).unwrap_or(usize::MAX)), "bytes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_digits_and_the_right_unit() {
        for (value, unit, expected) in [
            (47_123.0, "ns", "47.1 us"),
            (999.6, "ns", "1000 ns"),
            (0.37, "ns", "0.37 ns"),
            (2_900.0, "ns", "2.90 us"),
            (3.7e6, "ns", "3.70 ms"),
            (6.0e10, "ns", "60.0 s"),
            (370e6, "bytes", "370 MB"),
            (4096.0, "bytes", "4.10 kB"),
            (1.0, "count", "1.00"),
            (0.37, "count", "0.37"),
            (0.095, "count", "0.10"),
            (0.0712, "count", "0.071"),
            (0.0042, "count", "0.0042"),
            (0.000_001_2, "count", "0.0000012"),
            (0.0, "ns", "0.00 ns"),
        ] {
            assert_eq!(show(value, unit), expected);
        }
    }
}
