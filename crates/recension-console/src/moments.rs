//! The slider over the time of a database: dates, marks where it has changed, and above them how many documents there
//! were.

use minijinja::{Value, context};
use recension::engine::{Seq, Timestamp};
use recension::{At, Collection, CollectionAt};

use super::when;
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
        let then = parameters.without(&["after", "before", "page"]);
        let values = context! {
            path, carried => &parameters.without(&["at", "after", "before", "page", "doc"]),
            picture => self.picture(), made => self.made, now => self.now, shown => self.shown, dates => self.dates(),
            past => self.is_past.then_some(self.shown * SECOND),
            earlier => self.earlier.map(|earlier| then.with("at", &earlier.to_string()).on(path)),
        };
        html.fill("slider", values);
    }

    /// The dates below the slider: days, or times of a day if it is short.
    fn dates(&self) -> Vec<(String, String)> {
        let length = self.now - self.made;
        let date = |part: u64| {
            let whole = when::to_the_second(Timestamp((self.made + length / (DATES - 1) * part) * SECOND));
            let (day, time) = whole.split_once('T').unwrap_or((&whole, ""));
            let short = if length > 3 * DAY { day } else { time.get(..5).unwrap_or(time) }.to_owned();
            (whole, short)
        };
        (0..DATES).map(date).collect()
    }

    /// A line of numbers over time, with marks below it.
    fn picture(&self) -> Option<Value> {
        let (from, to) = (self.made, self.now);
        let most = self.growth.iter().map(|(_, count)| *count).max().filter(|most| *most > 0 && to > from)?;
        let (first, last) = (self.growth.first()?, self.growth.last()?);
        let scaled = |part: u64, whole: u64, size: u64| u128::from(part) * u128::from(size) / u128::from(whole.max(1));
        let across = |seconds: u64| scaled(seconds - from, to - from, WIDTH);
        let mut points = vec![format!("{},{HEIGHT}", across(first.0))];
        for (seconds, count) in &self.growth {
            points.push(format!("{},{}", across(*seconds), u128::from(HEIGHT) - scaled(*count, most, HEIGHT - 8)));
        }
        points.push(format!("{},{HEIGHT}", across(last.0)));
        let marks = self.marks.iter().filter(|seconds| (from..=to).contains(seconds));
        let marks: Vec<String> = marks.map(|seconds| format!("M{} 0v6", across(*seconds))).collect();
        let changes = self.marks.len();
        Some(
            context! { first => first.1, last => last.1, changes, points => points.join(" "), marks => marks.concat() },
        )
    }
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
        let written = |now: u64, growth: &[(u64, u64)], marks: &[u64]| {
            let (growth, marks) = (growth.to_vec(), marks.to_vec());
            let moments = Moments { made: 0, now, shown: 0, is_past: false, earlier: None, growth, marks };
            let mut html = Html::default();
            moments.write("/_utils/notes", &Parameters::default(), &mut html);
            String::from_utf8(html.take()).unwrap()
        };
        let html = written(100, &[(0, 0), (50, 100), (100, 100)], &[50, 100, 300]);
        assert!(
            html.contains("points=\"0,36 0,36 200,8 400,8 400,36\"") && html.contains("M200 0v6M400 0v6"),
            "{html}"
        );
        let html = written(86_400 * 30, &[], &[]);
        assert!(html.contains(">1970-01-01</li>") && html.contains(">1970-01-31</li>"), "{html}");
    }
}
