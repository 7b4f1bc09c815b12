//! The report as one HTML file that needs no network and no script. Each operation has its own plot: a bar for each
//! subject with its interval and its rounds as dots, and a sentence that says what it measures.

use std::fmt::Write as _; // to a String, which cannot fail

use super::claims::claims;
use super::curve;
use super::losses::{losses, times};
use super::model::{OperationInfo, Report, Row, SubjectInfo};
use super::series::series;
use super::units::{bytes, digits, show};
use crate::subjects::OURS;

/// Style of the page: colours of a light and of a dark screen, one column on a phone.
const STYLE: &str = include_str!("report.css");

/// The width of a plot, in its own units; it is scaled to the screen.
const WIDTH: f64 = 360.0;
/// Height of one bar with the room around it.
const BAR: f64 = 22.0;

/// The whole page.
pub fn render(report: &Report) -> String {
    let title = format!("Suite {} of the laboratory", report.suite);
    let mut page = begun(&title);
    head(report, &title, &mut page);
    page.push_str("<main>\n");
    for tier in tiers(report) {
        plots(report, &tier, &mut page);
    }
    page.push_str("</main>\n");
    subjects(report, &mut page);
    page.push_str("</body></html>\n");
    page
}

/// A page with its head and style, up to its body.
pub(super) fn begun(title: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{}</title>\n<meta name=\"viewport\" \
         content=\"width=device-width,initial-scale=1\"><meta name=\"color-scheme\" content=\"light \
         dark\">\n<style>{STYLE}\
         </style></head><body>\n",
        text(title)
    )
}

fn head(report: &Report, title: &str, page: &mut String) {
    let machine = &report.calibration;
    let _ = write!(
        page,
        "<header><h1>{}</h1><p>{} run of {:.0} s, <code>{}</code></p><p>{}</p><p class=\"machine\">{} &times; {}, {} \
         of memory, {}, Linux {}. A sync takes {} (99 %: {}), a wait for memory {}, a round trip on loopback {}.</p>",
        text(title),
        text(&report.mode),
        report.took_seconds,
        text(&report.command),
        text(&report.sizes),
        machine.cores,
        text(&machine.cpu),
        bytes(machine.memory_bytes),
        text(&machine.filesystem),
        text(&machine.kernel),
        show(machine.sync_ns, "ns"),
        show(machine.sync_p99_ns, "ns"),
        show(machine.memory_latency_ns, "ns"),
        show(machine.loopback_ns, "ns"),
    );
    let early = report.interrupted.then_some("This run was ended early: operations are missing or have few rounds.");
    for warning in early.into_iter().chain(report.warnings.iter().map(String::as_str)) {
        let _ = write!(page, "<p class=\"warning\">{}</p>", text(warning));
    }
    page.push_str("<section><h2>Where we lose</h2>");
    let losses = losses(report);
    if losses.is_empty() {
        page.push_str("<p>In no operation was another subject ahead beyond the noise of this run.</p>");
    } else {
        page.push_str("<ul>");
        for loss in losses {
            let _ = write!(page, "<li>{}</li>", text(&loss.words.replace('`', "")));
        }
        page.push_str("</ul>");
    }
    page.push_str("</section>");
    published(report, page);
    page.push_str("</header>\n");
}

/// The article's published figures, and whether they hold. They are blocks rather than a table, so that a phone can
/// show them.
fn published(report: &Report, page: &mut String) {
    let Some(claims) = claims(report) else { return };
    page.push_str("<section><h2>What was published, and whether it holds</h2>");
    for sentence in &claims.head {
        let _ = write!(page, "<p class=\"machine\">{}</p>", text(sentence));
    }
    page.push_str("<div class=\"claims\">");
    for found in &claims.found {
        let or_none = |part: &str| if part.is_empty() { "-".to_owned() } else { text(part) };
        let _ = write!(
            page,
            "<div><h3>{}</h3><dl><dt>published</dt><dd>{}</dd><dt>ratio</dt><dd>{}</dd>\
             <dt>here</dt><dd>{}</dd><dt>ratio</dt><dd>{}</dd></dl>\
             <p>{}</p></div>",
            text(found.what),
            text(found.published),
            or_none(&found.claimed),
            or_none(&found.measured),
            or_none(&found.ratio),
            text(&found.sentence),
        );
    }
    page.push_str("</div></section>");
}

/// Subjects of the same durability share a plot. Returns the tiers that there are, best first.
fn tiers(report: &Report) -> Vec<String> {
    let mut tiers: Vec<String> = report.subjects.iter().map(|subject| subject.tier.clone()).collect();
    tiers.sort();
    tiers.dedup();
    tiers.reverse();
    tiers
}

fn plots(report: &Report, tier: &str, page: &mut String) {
    let (name, words) = match tier {
        "T2" => ("Survives loss of power", "What these acknowledge is on the disk."),
        "T1" => (
            "Survives the end of the process only",
            "What these acknowledge is lost with the power: not comparable with the \
                 durable ones where something is written.",
        ),
        _ => ("Keeps nothing", "Floors that the machine sets, stores in memory, makers of pages."),
    };
    let _ = write!(page, "<h2 id=\"{tier}\">{tier}: {name}</h2><p>{words} Less is better everywhere.</p>");
    curves(report, tier, page);
    page.push_str("<div class=\"plots\">");
    for operation in report.measured_operations() {
        let rows: Vec<(&SubjectInfo, &Row)> = report
            .subjects
            .iter()
            .filter(|subject| subject.tier == tier)
            .filter_map(|subject| Some((subject, report.row(&operation.name, &subject.name)?)))
            .collect();
        if !rows.is_empty() {
            plot(report, operation, &rows, page);
        }
    }
    page.push_str("</div>\n");
}

/// The growth of times with sizes and clients.
fn curves(report: &Report, tier: &str, page: &mut String) {
    let subjects: Vec<&SubjectInfo> = report.subjects.iter().filter(|subject| subject.tier == tier).collect();
    let figures: String = series(report).filter_map(|series| curve::figure(report, series, &subjects)).collect();
    if !figures.is_empty() {
        let _ = write!(
            page,
            "<h3 class=\"part\">How it scales</h3><div class=\"plots\">{figures}</div><h3 class=\"part\">Each \
             operation</h3>"
        );
    }
}

fn plot(report: &Report, operation: &OperationInfo, rows: &[(&SubjectInfo, &Row)], page: &mut String) {
    let _ = write!(page, "<figure><h3>{}</h3><p>{}.</p>", text(&operation.name), text(&operation.what));
    let most = rows.iter().filter_map(|(_, row)| row.high.or(row.median)).fold(0.0, f64::max);
    let height = BAR * 2.0 * f64::from(u32::try_from(rows.len()).unwrap_or(u32::MAX)) + 4.0;
    let _ =
        write!(page, "<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{}\">", text(&operation.name));
    for ((subject, row), at) in rows.iter().zip(0_u32..) {
        bar(report, subject, row, most, f64::from(at) * 2.0 * BAR, page);
    }
    page.push_str("</svg>");
    quantiles(rows, page);
    notes(rows, page);
    page.push_str("</figure>\n");
}

/// Notes for readers. A note that several subjects share is printed once.
fn notes(rows: &[(&SubjectInfo, &Row)], page: &mut String) {
    let mut said: Vec<(&str, Vec<&str>)> = Vec::new();
    for (subject, row) in rows {
        for why in row.note.iter().chain(row.reason.as_ref().filter(|_| row.median.is_some())) {
            match said.iter_mut().find(|(note, _)| note == why) {
                Some((_, names)) => names.push(&subject.name),
                None => said.push((why, vec![&subject.name])),
            }
        }
    }
    for (why, names) in said {
        let whose = if names.len() == rows.len() && names.len() > 1 { "all".to_owned() } else { names.join(", ") };
        let _ = write!(page, "<p class=\"note\">{}: {}</p>", text(&whose), text(why));
    }
}

/// A subject's line: name and figure above, the bar below with its interval and its rounds.
fn bar(report: &Report, subject: &SubjectInfo, row: &Row, most: f64, top: f64, page: &mut String) {
    let class = if subject.name == OURS {
        "ours"
    } else if subject.floor {
        "floor"
    } else {
        "theirs"
    };
    let Some(median) = row.median else {
        let why = row.reason.as_deref().unwrap_or("not measured");
        let why: String =
            if why.chars().count() > 60 { why.chars().take(57).chain("...".chars()).collect() } else { why.to_owned() };
        let _ = write!(
            page,
            "<text x=\"0\" y=\"{}\">{}</text><text class=\"reason\" x=\"0\" y=\"{}\">{}</text>",
            top + 15.0,
            text(&subject.name),
            top + BAR + 8.0,
            text(&why)
        );
        return;
    };
    let ratio = report.row(&row.operation, OURS).filter(|ours| ours.subject != row.subject);
    let ratio = ratio.and_then(|ours| times(ours, row)).filter(|(times, _)| *times > 0.0);
    let ratio = ratio.map_or_else(String::new, |(times, interval)| {
        let within = interval.filter(|(low, high)| *low > 0.0 && high > low);
        let within = within.map(|(low, high)| format!(" ({} to {})", digits(1.0 / high), digits(1.0 / low)));
        format!(", {}x ours{}", digits(1.0 / times), within.unwrap_or_default())
    });
    let at = |value: f64| if most > 0.0 { (value / most * WIDTH).clamp(0.0, WIDTH) } else { 0.0 };
    let (y, middle) = (top + BAR, top + BAR + 6.0);
    let _ = write!(
        page,
        "<text x=\"0\" y=\"{}\">{}</text><text class=\"figure\" x=\"{WIDTH}\" y=\"{}\">{}{}</text>\
         <rect class=\"{class}\" x=\"0\" y=\"{y}\" width=\"{:.1}\" height=\"12\" rx=\"2\"><title>{} \
         rounds</title></rect>",
        top + 15.0,
        text(&subject.name),
        top + 15.0,
        text(&show(median, &row.unit)),
        text(&ratio),
        at(median).max(1.0),
        row.n,
    );
    for sample in row.samples.iter().filter(|sample| **sample <= most) {
        let _ = write!(page, "<circle cx=\"{:.1}\" cy=\"{middle}\" r=\"1.6\"/>", at(*sample));
    }
    if let (Some(low), Some(high)) = (row.low, row.high) {
        let (low, high) = (at(low), at(high));
        let _ = write!(page, "<path d=\"M{low:.1} {middle}H{high:.1}M{low:.1} {y}v12M{high:.1} {y}v12\"/>");
    }
}

/// Latencies of single operations, if each was timed.
fn quantiles(rows: &[(&SubjectInfo, &Row)], page: &mut String) {
    if rows.iter().all(|(_, row)| row.quantiles.is_none()) {
        return;
    }
    page.push_str(
        "<div class=\"scroll\"><table><tr><th></th><th>50 %</th><th>90 %</th><th>99 %</th><th>99.9 \
        %</th><th>most</th></tr>",
    );
    for (subject, row) in rows {
        let Some(of) = row.quantiles else { continue };
        let _ = write!(page, "<tr><th>{}</th>", text(&subject.name));
        for nanoseconds in [of.p50, of.p90, of.p99, of.p999, of.max] {
            let value = crate::measure::stats::as_f64(usize::try_from(nanoseconds).unwrap_or(usize::MAX));
            let _ = write!(page, "<td>{}</td>", show(value, "ns"));
        }
        page.push_str("</tr>");
    }
    page.push_str("</table></div>");
}

fn subjects(report: &Report, page: &mut String) {
    page.push_str("<footer><h2>Subjects</h2><dl>");
    for subject in &report.subjects {
        let _ = write!(
            page,
            "<dt>{} <small>{} {}</small></dt><dd>{}. {}{}</dd>",
            text(&subject.name),
            text(&subject.version),
            text(&subject.tier),
            text(&subject.what),
            text(&subject.opened()),
            subject.tier_note.as_ref().map(|note| format!(". {}", text(note))).unwrap_or_default(),
        );
    }
    let _ = writeln!(
        page,
        "</dl><h2>How to read this</h2><p>Subjects took turns in rounds, in an order drawn anew each time. {} A bar (a \
         dot of a curve) is the figure, the whisker its 95 % interval, each dot a round. Ratios are taken round by \
         round. Every answer was compared with a model, and the final state after reopening. What the figures cannot \
         tell: how another machine, another disk or a busy network would change them. Times of two machines are not \
         comparable; ratios are, with care.</p></footer>",
        text(&report.how_taken()),
    );
}

/// Text as HTML.
pub(super) fn text(raw: &str) -> String {
    raw.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        let row = |subject: &str, tier: &str, median: Option<f64>, reason: Option<&str>| {
            serde_json::json!({
                "suite": "s", "operation": "get_1", "subject": subject, "unit": "ns", "median": median, "low": median,
                "high": median.map(|median| median * 1.5), "mean": median, "n": 3, "tier": tier, "reason": reason,
                "samples": median.map(|median| vec![median, median * 1.2]).unwrap_or_default(),
                "quantiles": median.map(|_| serde_json::json!({"p50": 1, "p90": 2, "p99": 3, "p999": 4, "max": 5000})),
            })
        };
        let subject = |name: &str, tier: &str| {
            serde_json::json!({"name": name, "what": "a <store> & \
            more", "version": "1", "tier": tier})
        };
        serde_json::from_value(serde_json::json!({
            "suite": "s", "mode": "quick", "command": "c", "started": 0, "took_seconds": 1.0, "interrupted": false,
            "warnings": ["it was <loud>"], "sizes": "small", "calibration_after": null,
            "calibration": {
                "cpu": "abacus", "cores": 1, "memory_bytes": 1, "kernel": "", "filesystem": "ext4", "sync_ns": 1.0,
                "sync_p99_ns": 1.0, "memcpy_bytes_per_second": 1.0, "memory_latency_ns": 1.0, "loopback_ns": 1.0,
                "load_average": 0.0,
            },
            "subjects": [subject(OURS, "T2"), subject("fast", "T2"), subject("weak", "T1"), subject("gone", "T2")],
            "operations": [{"name": "get_1", "unit": "ns", "what": "a get"}],
            "results": [
                row(OURS, "T2", Some(100.0), None), row("fast", "T2", Some(50.0), None), row("weak", "T1", Some(1.0),
                None),
                row("gone", "T2", None, Some("not <installed>")),
            ],
        }))
        .unwrap()
    }

    #[test]
    fn a_series_is_a_curve_of_its_tier_alone_and_needs_two_places_and_the_suites_own_sizes() {
        let mut report = report();
        report.suite = "apocrypha".to_owned();
        for (operation, subject, median) in [
            ("get_1_10k", OURS, 40e3),
            ("get_10", OURS, 20e3),
            ("get_1_10k", "weak", 30e3),
            ("get_20", "weak", 10e3),
            ("get_1_100k", OURS, 50e3),
            ("get_10", "fast", 5e3),
        ] {
            let mut row = report.row("get_1", OURS).unwrap().clone();
            (row.operation, row.subject) = (operation.to_owned(), subject.to_owned());
            (row.median, row.low, row.high) = (Some(median), Some(median * 0.9), Some(median * 1.1));
            report.results.push(row);
        }
        let of = |report: &Report, tier: &str| {
            let mut page = String::new();
            curves(report, tier, &mut page);
            page
        };
        let durable = of(&report, "T2");
        assert_eq!(durable.matches("<figure").count(), 2, "by clients and by members: {durable}");
        // One place makes no line, and another tier is another picture.
        assert!(
            durable.contains(">recension<") && !durable.contains(">fast<") && !durable.contains(">weak<"),
            "{durable}"
        );
        assert!(durable.contains("recension, 10: 20.0 us") && durable.contains("get, by members"), "{durable}");
        assert!(of(&report, "T1").contains(">weak<"));
        assert!(!durable.contains("NaN") && !durable.contains("inf"), "{durable}");
        report.mode = "custom".to_owned();
        let chosen = of(&report, "T2");
        assert!(chosen.contains("get, by clients") && !chosen.contains("get, by members"), "{chosen}");
    }

    #[test]
    fn the_page_is_whole_needs_nothing_else_and_mixes_no_tiers() {
        let page = render(&report());
        for part in
            ["it was &lt;loud&gt;", "not &lt;installed&gt;", "a &lt;store&gt; &amp; more", "0.50x ours", "5.00 us"]
        {
            assert!(page.contains(part), "{part} is missing: {page}");
        }
        for part in ["<script", "http://", "https://", "url(", "@import", "NaN", "inf"] {
            assert!(!page.contains(part), "the page has {part}");
        }
        for tag in ["figure", "svg", "table", "div", "main", "header", "footer", "dl", "ul"] {
            let (opened, closed) =
                (page.matches(&format!("<{tag}")).count(), page.matches(&format!("</{tag}>")).count());
            assert_eq!(opened, closed, "{tag}");
        }
        let durable = page.split("id=\"T1\"").next().unwrap();
        assert!(durable.contains(">fast<") && !durable.contains(">weak<"));
        assert!(page.find("Where we lose").unwrap() < page.find("<figure").unwrap());
    }
}
