//! A report for the tests of this module.

use super::Report;

/// A report of a suite with one operation, `o`: subject, tier, figure, each with rounds of a hundredth around it.
pub(super) fn report(suite: &str, rows: &[(&str, &str, f64)]) -> Report {
    let rows = rows.iter().map(|(subject, tier, median)| {
        serde_json::json!({
            "suite": suite, "operation": "o", "subject": subject, "unit": "ns", "median": median, "low": median * 0.99,
            "high": median * 1.01, "mean": median, "n": 9, "tier": tier,
        })
    });
    let calibration = serde_json::json!({
        "cpu": "abacus", "cores": 1, "memory_bytes": 1, "kernel": "0", "filesystem": "ext4", "sync_ns": 1.0,
        "sync_p99_ns": 1.0, "memcpy_bytes_per_second": 1.0, "memory_latency_ns": 1.0, "loopback_ns": 1.0,
        "load_average": 0.0,
    });
    let text = serde_json::json!({
        "suite": suite, "mode": "quick", "command": "make bench", "started": 0, "took_seconds": 1.0,
        "interrupted": false, "warnings": [], "sizes": "", "calibration": calibration, "calibration_after": null,
        "subjects": [{"name": "raw", "what": "", "version": "", "tier": "T2", "floor": true}],
        "operations": [{"name": "o", "unit": "ns", "what": "an operation"}], "results": rows.collect::<Vec<_>>(),
    });
    serde_json::from_value(text).unwrap()
}
