//! The slider over the time of a database: dates, marks where it has changed, and above them how many documents there
//! were.

use recension::engine::{Seq, Timestamp};
use recension::{At, Collection, CollectionAt};

use super::frame::grouped;
use super::{search, when};
use recension_app::auth::databases::Database;
use recension_app::request::Request;
use recension_pages::links::Parameters;
use recension_pages::writer::Html;
use recension_wire::error::Result;

/// Moments that are looked at for the picture, and changes that are marked.
const POINTS: u64 = 40;
const MARKS_MAX: usize = 200;
/// Changes that are looked at for these.
const CHANGES_MAX: usize = 2000;
const WIDTH: u64 = 400;
const HEIGHT: u64 = 36;
const SECOND: u64 = 1_000_000;
const DAY: u64 = 86_400;
const DATES: u64 = 4;

/// What the slider shows. Moments are seconds since 1970.
pub(super) struct Moments {
    made: u64,
    now: u64,
    shown: u64,
    is_past: bool,
    /// The moment before the last change that is shown.
    earlier: Option<Seq>,
    /// How many documents there were.
    growth: Vec<(u64, u64)>,
    marks: Vec<u64>,
}

/// What is to be shown of a database; `None`: it has no past.
pub(super) async fn of(request: &Request, database: &Database) -> Result<Option<Moments>> {
    let Some(made) = database.collection().settings().made()? else { return Ok(None) };
    if database.now()?.seq() <= made.seq {
        return Ok(None);
    }
    let is_past = request.query.get("at").is_some();
    let (collection, at) = (database.share(), database.opened().clone());
    let read = move || {
        let (made_at, now) = (made.time.0 / SECOND, (when::now().0 / SECOND).max(made.time.0 / SECOND + 1));
        let shown = if is_past { at.time()?.0 / SECOND } else { now };
        let (growth, marks) = (growth(&collection, made_at, now), marks(&collection)?);
        let earlier = earlier(&collection, &at, made.seq)?;
        Ok(Some(Moments { made: made_at, now, shown: shown.clamp(made_at, now), is_past, earlier, growth, marks }))
    };
    request.app.streams.read(read).await
}

/// The moment before the last change, if it is not before all changes and was not given up.
fn earlier(collection: &Collection, at: &CollectionAt, made: Seq) -> Result<Option<Seq>> {
    let Some(last) = at.changes_backward().next().transpose()? else { return Ok(None) };
    let before = Seq(last.seq.0.saturating_sub(1));
    Ok(Some(before).filter(|before| *before >= made && collection.at(At::Seq(*before)).is_ok()))
}

/// How many documents there were. Moments that were given up are left out.
fn growth(collection: &Collection, from: u64, to: u64) -> Vec<(u64, u64)> {
    let all = to - from;
    let points = POINTS.min(all).max(1);
    let at = |point: u64| from + u64::try_from(u128::from(all) * u128::from(point) / u128::from(points)).unwrap_or(0);
    let end = |seconds: u64| At::Time(Timestamp(seconds.saturating_add(1).saturating_mul(SECOND) - 1));
    let count = |seconds: u64| Some((seconds, collection.at(end(seconds)).ok()?.count().ok()?));
    (0..=points).map(at).filter_map(count).collect()
}

/// When the newest changes were made, each second once.
fn marks(collection: &Collection) -> Result<Vec<u64>> {
    let mut marks = Vec::new();
    let mut before = None;
    for change in collection.at(At::Now)?.changes_backward().take(CHANGES_MAX) {
        let seq = change?.seq;
        if before.replace(seq) == Some(seq) {
            continue;
        }
        // A past that was given up ends the marks.
        let Ok(then) = collection.at(At::Seq(seq)) else { break };
        let seconds = then.time()?.0 / SECOND;
        if marks.last() != Some(&seconds) {
            marks.push(seconds);
        }
        if marks.len() == MARKS_MAX {
            break;
        }
    }
    Ok(marks)
}

impl Moments {
    /// Writes the slider. Without a script it has a button.
    pub(super) fn write(&self, path: &str, parameters: &Parameters, html: &mut Html) {
        html.tag("<form class=\"slider\" method=\"get\" action=\"").to(path).tag("\">");
        search::hidden(&parameters.without(&["at", "after", "before", "page", "doc"]), html);
        html.tag("<div class=\"past-line\">");
        picture(&self.growth, &self.marks, (self.made, self.now), html);
        html.tag("<label><span class=\"unseen\">Time</span> <input type=\"range\" name=\"moment\" data-moment min=\"");
        html.show(self.made).tag("\" max=\"").show(self.now).tag("\" value=\"").show(self.shown);
        html.tag("\"></label>");
        dates((self.made, self.now), html);
        html.tag("</div> <output>");
        if self.is_past {
            when::write(Timestamp(self.shown * SECOND), html);
        } else {
            html.tag("now");
        }
        html.tag("</output> <button>Go</button>");
        if let Some(earlier) = self.earlier {
            let then = parameters.without(&["after", "before", "page"]).with("at", &earlier.to_string());
            html.tag(" ").link(&then.on(path), "Before the last change");
        }
        html.tag("</form>\n");
    }
}

/// The dates below the slider: days, or times of a day if it is short.
fn dates((from, to): (u64, u64), html: &mut Html) {
    html.tag("<ol class=\"dates\" aria-hidden=\"true\">");
    for part in 0..DATES {
        let seconds = from + (to - from) / (DATES - 1) * part;
        let text = when::to_the_second(Timestamp(seconds * SECOND));
        let (day, time) = text.split_once('T').unwrap_or((&text, ""));
        let shown = if to - from > 3 * DAY { day } else { time.get(..5).unwrap_or(time) };
        html.tag("<li title=\"").text(&text).tag("\">").text(shown).tag("</li>");
    }
    html.tag("</ol>");
}

/// A line of numbers over time, with marks below it.
fn picture(points: &[(u64, u64)], marks: &[u64], (from, to): (u64, u64), html: &mut Html) {
    let most = points.iter().map(|(_, count)| *count).max().unwrap_or(0);
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return };
    if most == 0 || to <= from {
        return;
    }
    let scaled = |part: u64, whole: u64, size: u64| u128::from(part) * u128::from(size) / u128::from(whole.max(1));
    html.tag("<svg class=\"growth\" viewBox=\"0 0 400 36\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"");
    html.text(grouped(first.1)).tag(" documents at first, ").text(grouped(last.1)).tag(" at last, ");
    html.text(grouped(marks.len() as u64)).tag(" changes marked\"><polygon points=\"");
    html.show(scaled(first.0 - from, to - from, WIDTH)).tag(",").show(HEIGHT);
    for (seconds, count) in points {
        html.tag(" ").show(scaled(seconds - from, to - from, WIDTH)).tag(",");
        html.show(u128::from(HEIGHT) - scaled(*count, most, HEIGHT - 8));
    }
    html.tag(" ").show(scaled(last.0 - from, to - from, WIDTH)).tag(",").show(HEIGHT).tag("\"/><path d=\"");
    for seconds in marks.iter().filter(|seconds| (from..=to).contains(seconds)) {
        html.tag("M").show(scaled(seconds - from, to - from, WIDTH)).tag(" 0v6");
    }
    html.tag("\"/></svg>");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_and_changes_are_shown_in_time() {
        let store = recension::Store::memory().unwrap();
        let notes = store.collection("notes").unwrap();
        let first = notes.put("n", "{}").unwrap().seq;
        for n in 0..100 {
            notes.put(&format!("n{n}"), "{}").unwrap();
        }
        let rev = notes.get("n3").unwrap().unwrap().rev;
        let last = notes.delete("n3", &rev).unwrap().seq;
        let now = |at: At| earlier(&notes, &notes.at(at).unwrap(), first).unwrap();
        assert_eq!(now(At::Now), Some(Seq(last.0 - 1)));
        assert_eq!(now(At::Seq(Seq(last.0 - 1))), Some(Seq(last.0 - 2)), "one goes on from there");
        assert_eq!(now(At::Seq(first)), None, "there was nothing before");
        let made = notes.settings().made().unwrap().unwrap().time.0 / SECOND;
        let points = growth(&notes, made - 10, made + 10);
        assert_eq!((points[0].1, points.last().unwrap().1, points.len()), (0, 100, 21));
        let marks = marks(&notes).unwrap();
        assert!(!marks.is_empty() && marks.iter().all(|mark| (made..made + 60).contains(mark)), "{marks:?}");
        let mut html = Html::default();
        picture(&[(0, 0), (50, 100), (100, 100)], &[50, 100, 300], (0, 100), &mut html);
        dates((0, 86_400 * 30), &mut html);
        let html = String::from_utf8(html.take()).unwrap();
        assert!(
            html.contains("points=\"0,36 0,36 200,8 400,8 400,36\"") && html.contains("M200 0v6M400 0v6"),
            "{html}"
        );
        assert!(html.contains(">1970-01-01</li>") && html.contains(">1970-01-31</li>"), "{html}");
    }
}
