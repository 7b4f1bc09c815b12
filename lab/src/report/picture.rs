//! The summary as a picture (SVG): users' questions with a bar for each. The bar goes to the left if we are ahead, and
//! to the right if we are behind. On its scale twice is as far as half.

use std::fmt::Write as _; // to a String, which cannot fail

use super::summary::Recorded;
use super::units::digits;

/// The beginning of the bars. A bar of no length means that nobody is ahead.
const MIDDLE: f64 = 560.0;
/// The length of a bar that means twice, or half.
const DOUBLE: f64 = 36.0;
/// Beyond that many times a bar ends.
const TIMES_MAX: f64 = 32.0;
const WIDTH: f64 = 790.0;
const LINE: f64 = 15.0;

/// The picture.
pub fn render(recorded: &[Recorded<'_>]) -> String {
    let mut bars = String::new();
    let mut y = LINE;
    for (headline, digest) in recorded {
        let found = headline.asked.iter().filter_map(|(operation, words)| {
            let best = digest.row(operation)?.best.as_ref()?;
            Some((*words, best, best.times?))
        });
        for (at, (words, best, times)) in found.enumerate() {
            if at == 0 {
                y += 1.5 * LINE;
                let _ = writeln!(bars, "<text x=\"8\" y=\"{y}\" class=\"s\">{}</text>", escaped(headline.suite));
            }
            y += LINE;
            bar(&mut bars, y, words, times, &best.subject, best.ahead);
        }
    }
    let height = y + LINE;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
         viewBox=\"0 0 {WIDTH} {height}\" role=\"img\">\n\
         <title>Recension's figures by those of its best peer; less is better</title>\n\
         <style>text{{font:11px sans-serif;fill:#222}}.s{{font-weight:bold}}.e{{text-anchor:end}}.a{{fill:#2a7f62}}\
         .l{{fill:#b5443c}}.n{{fill:#8a8f98}}</style>\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#fff\"/>\n\
         <text x=\"{left}\" y=\"{LINE}\" class=\"e\">Recension takes less</text>\n\
         <text x=\"{right}\" y=\"{LINE}\">its best peer takes less</text>\n\
         <path d=\"M{MIDDLE} {LINE}V{y}\" stroke=\"#222\"/>\n{bars}</svg>\n",
        left = MIDDLE - 8.0,
        right = MIDDLE + 8.0,
    )
}

fn bar(bars: &mut String, y: f64, words: &str, times: f64, peer: &str, ahead: bool) {
    let length = times.clamp(1.0 / TIMES_MAX, TIMES_MAX).log2() * DOUBLE;
    let (x, width) = if length < 0.0 { (MIDDLE + length, -length) } else { (MIDDLE, length) };
    let class = match (ahead, length < 0.0) {
        (true, _) => "l",
        (false, true) => "a",
        (false, false) => "n",
    };
    let top = y - LINE + 5.0;
    let _ = writeln!(bars, "<text x=\"20\" y=\"{y}\">{}</text>", escaped(words));
    let _ = writeln!(
        bars,
        "<rect x=\"{x:.1}\" y=\"{top}\" width=\"{width:.1}\" height=\"{}\" class=\"{class}\"/>",
        LINE - 4.0
    );
    let (at, class) = if length < 0.0 { (MIDDLE + 5.0, "") } else { (MIDDLE - 5.0, " class=\"e\"") };
    let _ = writeln!(bars, "<text x=\"{at}\" y=\"{y}\"{class}>{} {}</text>", digits(times), escaped(peer));
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::digest::Digest;
    use crate::report::summary::in_order;

    #[test]
    fn bars_go_to_the_side_of_who_takes_less() {
        let digest: Digest = serde_json::from_value(serde_json::json!({
            "suite": "engine", "mode": "full", "command": "", "machine": "", "sittings": 1, "rows": [
                {"operation": "get_1", "unit": "ns", "what": "", "ours": 1.0,
                 "best": {"subject": "a<b", "figure": 2.0, "times": 0.5, "ahead": false}},
                {"operation": "load", "unit": "ns", "what": "", "ours": 4.0,
                 "best": {"subject": "c", "figure": 1.0, "times": 4.0, "ahead": true}},
                {"operation": "memory", "unit": "bytes", "what": "", "ours": 4.0},
            ],
        }))
        .unwrap();
        let svg = render(&in_order(&[digest]));
        let bars: Vec<&str> = svg.lines().filter(|line| line.starts_with("<rect x")).collect();
        assert_eq!(bars.len(), 2, "{svg}");
        assert!(bars[0].contains("x=\"560.0\"") && bars[0].contains("width=\"72.0\"") && bars[0].contains("\"l\""));
        assert!(bars[1].contains("x=\"524.0\"") && bars[1].contains("width=\"36.0\"") && bars[1].contains("\"a\""));
        assert!(svg.contains("0.50 a&lt;b") && svg.ends_with("</svg>\n"), "{svg}");
    }
}
