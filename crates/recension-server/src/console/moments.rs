//! The slider over the commits that a database has seen, below a picture of how many documents it had at each.

use recension::engine::Seq;
use recension::{At, Collection, CollectionAt};

use super::frame::grouped;
use crate::databases::Database;
use crate::error::Result;
use crate::html::links::Parameters;
use crate::html::writer::Html;
use crate::request::Request;

/// Moments that are looked at for the picture.
const POINTS: u64 = 40;
const WIDTH: u64 = 400;
const HEIGHT: u64 = 36;

/// What the slider shows.
pub(super) struct Moments {
    made: Seq,
    newest: Seq,
    shown: Seq,
    /// The moment before the last change that is shown.
    earlier: Option<Seq>,
    /// Commits, with how many documents there were.
    growth: Vec<(u64, u64)>,
}

/// What is to be shown of a database; `None`: it has no past.
pub(super) async fn of(request: &Request, database: &Database) -> Result<Option<Moments>> {
    let Some(made) = database.collection().made()? else { return Ok(None) };
    let (newest, shown) = (database.now()?.seq(), database.opened().seq());
    if newest <= made.seq {
        return Ok(None);
    }
    let (collection, at) = (database.share(), database.opened().clone());
    let looked = move || Ok((growth(&collection, made.seq, newest), earlier(&collection, &at, made.seq)?));
    let (growth, earlier) = request.app.streams.read(looked).await?;
    Ok(Some(Moments { made: made.seq, newest, shown, earlier, growth }))
}

/// The moment before the last change, if it is not before all changes and was not given up.
fn earlier(collection: &Collection, at: &CollectionAt, made: Seq) -> Result<Option<Seq>> {
    let Some(last) = at.changes_backward().next().transpose()? else { return Ok(None) };
    let before = Seq(last.seq.0.saturating_sub(1));
    Ok(Some(before).filter(|before| *before >= made && collection.at(At::Seq(*before)).is_ok()))
}

/// How many documents there were. Moments that were given up are left out.
pub(super) fn growth(collection: &Collection, from: Seq, to: Seq) -> Vec<(u64, u64)> {
    let all = to.0 - from.0;
    let points = POINTS.min(all).max(1);
    let at = |point: u64| from.0 + u64::try_from(u128::from(all) * u128::from(point) / u128::from(points)).unwrap_or(0);
    let count = |seq: u64| Some((seq, collection.at(At::Seq(Seq(seq))).ok()?.count().ok()?));
    (0..=points).map(at).filter_map(count).collect()
}

impl Moments {
    /// Writes the slider. Without a script it has a button.
    pub(super) fn write(&self, path: &str, parameters: &Parameters, html: &mut Html) {
        let Moments { made, newest, shown, earlier, growth } = self;
        html.tag("<form class=\"slider\" method=\"get\" action=\"").to(path).tag("\">");
        for (name, value) in parameters.without(&["at", "after", "before"]).pairs() {
            html.tag("<input type=\"hidden\" name=\"").text(name).tag("\" value=\"").text(value).tag("\">");
        }
        html.tag("<div class=\"past-line\">");
        picture(growth, (made.0, newest.0), html);
        html.tag("<label><span class=\"unseen\">Time</span> <input type=\"range\" name=\"at\" data-moment min=\"");
        html.show(made).tag("\" max=\"").show(newest).tag("\" value=\"").show(shown);
        html.tag("\"></label></div> <output>commit ").show(shown).tag(" of ").show(newest);
        html.tag("</output> <button>Go there</button>");
        if let Some(earlier) = earlier {
            let then = parameters.without(&["after", "before"]).with("at", &earlier.to_string());
            html.tag(" ").link(&then.on(path), "Before the last change");
        }
        html.tag("</form>\n");
    }
}

/// A line of numbers over commits.
pub(super) fn picture(points: &[(u64, u64)], (from, to): (u64, u64), html: &mut Html) {
    let most = points.iter().map(|(_, count)| *count).max().unwrap_or(0);
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return };
    if most == 0 || to <= from {
        return;
    }
    let scaled = |part: u64, whole: u64, size: u64| u128::from(part) * u128::from(size) / u128::from(whole.max(1));
    html.tag("<svg class=\"growth\" viewBox=\"0 0 400 36\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"");
    html.text(grouped(first.1)).tag(" documents at commit ").show(first.0).tag(", ");
    html.text(grouped(last.1)).tag(" at commit ").show(last.0).tag("\"><polygon points=\"");
    html.show(scaled(first.0 - from, to - from, WIDTH)).tag(",").show(HEIGHT);
    for (seq, count) in points {
        html.tag(" ").show(scaled(seq - from, to - from, WIDTH)).tag(",");
        html.show(u128::from(HEIGHT) - scaled(*count, most, HEIGHT - 2));
    }
    html.tag(" ").show(scaled(last.0 - from, to - from, WIDTH)).tag(",").show(HEIGHT).tag("\"/></svg>");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_counted_at_few_moments() {
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
        let points = growth(&notes, first, last);
        assert_eq!((points[0], points.len()), ((first.0, 1), 41));
        assert_eq!(points.last(), Some(&(last.0, 100)));
        let mut html = Html::default();
        picture(&points, (first.0, last.0), &mut html);
        let html = String::from_utf8(html.take()).unwrap();
        assert!(html.contains("points=\"0,36 0,36 7,") && html.contains(" 400,2 400,36\""), "{html}");
    }
}
