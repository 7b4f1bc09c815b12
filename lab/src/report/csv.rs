//! The figures as CSV (RFC 4180), one on each line, for drawing them with other programs.

use super::model::Report;

/// The report's figures.
pub fn render(report: &Report) -> String {
    let mut text =
        "suite,operation,subject,tier,unit,median,low,high,mean,n,cpu_median,cpu_low,cpu_high,reason,note\r\n"
            .to_owned();
    for row in &report.results {
        let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
        let fields = [
            row.suite.clone(),
            row.operation.clone(),
            row.subject.clone(),
            row.tier.clone(),
            row.unit.clone(),
            number(row.median),
            number(row.low),
            number(row.high),
            number(row.mean),
            row.n.to_string(),
            number(row.cpu_median),
            number(row.cpu_low),
            number(row.cpu_high),
            row.reason.clone().unwrap_or_default(),
            row.note.clone().unwrap_or_default(),
        ];
        text.push_str(&fields.map(|field| quote(&field)).join(","));
        text.push_str("\r\n");
    }
    text
}

fn quote(field: &str) -> String {
    if field.contains([',', '"', '\r', '\n']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}
