//! A scaling curve as SVG: time against size or clients, both logarithmic. Each subject has a line, with its name at
//! the end.

use std::fmt::Write as _; // to a String, which cannot fail

use super::html::text;
use super::model::{Report, Row, SubjectInfo};
use super::series::Series;
use super::units::{digits, show};
use crate::subjects::OURS;

/// The picture, in its own units; it is scaled to the screen.
const WIDTH: f64 = 360.0;
const HEIGHT: f64 = 250.0;
/// The left edge of the lines. Figures and names are outside of them.
const LEFT: f64 = 46.0;
const RIGHT: f64 = 248.0;
const TOP: f64 = 8.0;
const BOTTOM: f64 = 212.0;
/// Names are so far from each other at least.
const LEADING: f64 = 14.0;
/// Colours in `report.css`, `c0` and on.
const COLOURS: usize = 9;

/// A subject's line.
struct Line<'r> {
    subject: &'r SubjectInfo,
    colour: String,
    points: Vec<(f64, &'r Row)>,
}

/// The figure, if at least one of these subjects has two points of the series.
pub fn figure(report: &Report, series: &Series, subjects: &[&SubjectInfo]) -> Option<String> {
    let lines: Vec<Line<'_>> = subjects
        .iter()
        .map(|subject| Line { subject, colour: colour(report, subject), points: series.of(report, &subject.name) })
        .filter(|line| line.points.len() > 1)
        .collect();
    let values = |part: fn(&Row) -> Option<f64>| {
        let rows = lines.iter().flat_map(|line| &line.points);
        rows.filter_map(move |(_, row)| part(row).or(row.median)).filter(|value| *value > 0.0).collect::<Vec<_>>()
    };
    let places = lines.iter().flat_map(|line| &line.points).map(|(at, _)| *at).collect::<Vec<_>>();
    let across = Scale::over(&places, LEFT, RIGHT)?;
    let up = Scale::over(&[values(|row| row.low), values(|row| row.high)].concat(), BOTTOM, TOP)?;
    let mut svg = format!(
        "<figure class=\"curve\"><h3>{}</h3><p>{}. {}.</p><svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
         aria-label=\"{}\">",
        text(series.name),
        text(series.what),
        text(series.cannot),
        text(series.name)
    );
    axes(series, &places, &across, &up, &mut svg);
    // Ours last, so that nothing is drawn over it.
    for line in lines
        .iter()
        .filter(|line| line.subject.name != OURS)
        .chain(lines.iter().filter(|line| line.subject.name == OURS))
    {
        draw(line, &across, &up, &mut svg);
    }
    names(&lines, &across, &up, &mut svg);
    svg.push_str("</svg></figure>\n");
    Some(svg)
}

/// A subject has one colour in all curves of a report.
fn colour(report: &Report, subject: &SubjectInfo) -> String {
    if subject.name == OURS {
        return "ours".to_owned();
    }
    let others = report.subjects.iter().filter(|other| other.name != OURS);
    let at = others.take_while(|other| other.name != subject.name).count();
    let again = if at >= COLOURS { " again" } else { "" };
    format!("c{}{again}", at % COLOURS)
}

/// A logarithmic axis from one place of the picture to another.
struct Scale {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Scale {
    /// Over values above zero, with some room; none of none.
    fn over(values: &[f64], from: f64, to: f64) -> Option<Self> {
        let low = values.iter().copied().reduce(f64::min)?.log10();
        let high = values.iter().copied().reduce(f64::max)?.log10();
        let room = if high - low < 0.1 { 0.3 } else { (high - low) * 0.06 };
        Some(Scale { low: low - room, high: high + room, from, to })
    }

    fn place(&self, value: f64) -> f64 {
        self.from + (value.log10() - self.low) / (self.high - self.low) * (self.to - self.from)
    }

    /// Round values within, this many that they can be told apart.
    fn ticks(&self) -> Vec<f64> {
        let span = self.high - self.low;
        let steps: &[f64] = if span > 2.2 {
            &[1.0]
        } else if span > 1.1 {
            &[1.0, 3.0]
        } else {
            &[1.0, 2.0, 5.0]
        };
        let mut found = Vec::new();
        let mut decade = self.low.floor();
        while decade <= self.high {
            found.extend(steps.iter().map(|step| step * 10_f64.powf(decade)));
            decade += 1.0;
        }
        found.retain(|value| (self.low..=self.high).contains(&value.log10()));
        found
    }
}

fn axes(series: &Series, places: &[f64], across: &Scale, up: &Scale, svg: &mut String) {
    for value in up.ticks() {
        let y = up.place(value);
        let _ = write!(
            svg,
            "<path class=\"grid\" d=\"M{LEFT} {y:.1}H{RIGHT}\"/><text class=\"tick end\" x=\"{}\" \
             y=\"{:.1}\">{}</text>",
            LEFT - 5.0,
            y + 3.5,
            round(&show(value, "ns"))
        );
    }
    let mut ticks = places.to_vec();
    ticks.sort_by(f64::total_cmp);
    ticks.dedup();
    for value in ticks {
        let x = across.place(value);
        let _ = write!(
            svg,
            "<path class=\"grid\" d=\"M{x:.1} {TOP}V{BOTTOM}\"/><text class=\"tick middle\" x=\"{x:.1}\" \
             y=\"{}\">{}</text>",
            BOTTOM + 14.0,
            count(value)
        );
    }
    let _ = write!(
        svg,
        "<text class=\"tick middle\" x=\"{}\" y=\"{}\">{}</text>",
        f64::midpoint(LEFT, RIGHT),
        BOTTOM + 31.0,
        text(series.axis)
    );
}

fn draw(line: &Line<'_>, across: &Scale, up: &Scale, svg: &mut String) {
    let mut path = String::new();
    let mut whiskers = String::new();
    let mut dots = String::new();
    for (at, row) in &line.points {
        let Some(median) = row.median else { continue };
        let (x, y) = (across.place(*at), up.place(median));
        let _ = write!(path, "{}{x:.1} {y:.1}", if path.is_empty() { "M" } else { "L" });
        if let (Some(low), Some(high)) = (row.low.filter(|low| *low > 0.0), row.high) {
            let _ = write!(whiskers, "M{x:.1} {:.1}V{:.1}", up.place(low), up.place(high));
        }
        let _ = write!(
            dots,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\"><title>{}, {}: {}</title></circle>",
            text(&line.subject.name),
            count(*at),
            show(median, &row.unit)
        );
    }
    let _ = write!(
        svg,
        "<g class=\"line {}\"><path d=\"{path}\"/><path class=\"whisker\" d=\"{whiskers}\"/>{dots}</g>",
        line.colour
    );
}

/// The names at the right, as near to the ends of their lines as they can be without lying on each other.
fn names(lines: &[Line<'_>], across: &Scale, up: &Scale, svg: &mut String) {
    let mut ends: Vec<(f64, f64, &Line<'_>)> = lines
        .iter()
        .filter_map(|line| {
            let (at, row) = line.points.last()?;
            Some((up.place(row.median?), across.place(*at), line))
        })
        .collect();
    ends.sort_by(|a, b| a.0.total_cmp(&b.0));
    let wanted: Vec<f64> = ends.iter().map(|(y, ..)| *y).collect();
    for ((y, x, line), place) in ends.into_iter().zip(spread(&wanted, LEADING, TOP + 4.0, BOTTOM)) {
        let _ = write!(
            svg,
            "<path class=\"leader\" d=\"M{:.1} {y:.1}L{:.1} {place:.1}\"/><g class=\"line {}\"><circle cx=\"{}\" \
             cy=\"{place:.1}\" r=\"3\"/></g><text class=\"name\" x=\"{}\" y=\"{:.1}\">{}</text>",
            x + 4.0,
            RIGHT + 8.0,
            line.colour,
            RIGHT + 12.0,
            RIGHT + 19.0,
            place + 4.0,
            text(&line.subject.name)
        );
    }
}

/// Places in ascending order that are at least `apart` from each other and within the bounds, each near to the one
/// wanted.
fn spread(wanted: &[f64], apart: f64, top: f64, bottom: f64) -> Vec<f64> {
    let mut places = Vec::with_capacity(wanted.len());
    let mut next = top;
    for want in wanted {
        let place = want.max(next);
        places.push(place);
        next = place + apart;
    }
    let mut most = bottom;
    for place in places.iter_mut().rev() {
        *place = place.min(most);
        most = *place - apart;
    }
    places
}

/// A count in as few signs as it can have: 20, 50k, 1.6M.
fn count(value: f64) -> String {
    let (scaled, unit) = match value {
        v if v >= 1e6 => (v / 1e6, "M"),
        v if v >= 1e3 => (v / 1e3, "k"),
        v => (v, ""),
    };
    format!("{}{unit}", round(&digits(scaled)))
}

/// A figure of an axis: without zeros behind the point.
fn round(figure: &str) -> String {
    let (number, unit) = figure.split_once(' ').map_or((figure, ""), |(number, unit)| (number, unit));
    let number = if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number };
    format!("{number} {unit}").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn figures_of_an_axis_are_short() {
        for (value, expected) in
            [(1.0, "1"), (20.0, "20"), (1e3, "1k"), (5e4, "50k"), (1_572_864.0, "1.57M"), (1024.0, "1.02k")]
        {
            assert_eq!(count(value), expected);
        }
        for (figure, expected) in
            [("10.0 us", "10 us"), ("100 us", "100 us"), ("1.00 ms", "1 ms"), ("2.50 s", "2.5 s"), ("30", "30")]
        {
            assert_eq!(round(figure), expected);
        }
    }

    #[test]
    fn an_axis_has_two_round_values_at_least_and_not_too_many() {
        for (low, high) in [(1.0, 2.5), (100.0, 90_000.0), (3.0, 3.1), (1.0, 1e9), (0.5, 70.0)] {
            let ticks = Scale::over(&[low, high], BOTTOM, TOP).unwrap().ticks();
            assert!((1..12).contains(&ticks.len()), "{low} to {high}: {ticks:?}");
        }
        assert!(Scale::over(&[], 0.0, 1.0).is_none());
    }

    proptest! {
        #[test]
        fn names_do_not_lie_on_each_other_and_keep_their_order(mut wanted in prop::collection::vec(0.0..200.0, 1..14)) {
            wanted.sort_by(f64::total_cmp);
            let places = spread(&wanted, 13.0, 0.0, 200.0);
            for pair in places.windows(2) {
                prop_assert!(pair[1] - pair[0] >= 13.0 - 1e-9, "{places:?}");
            }
            prop_assert!(places.iter().all(|place| (0.0..=200.0).contains(place)), "{places:?}");
        }
    }
}
