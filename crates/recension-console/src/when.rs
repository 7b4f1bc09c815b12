//! Moments as people say them: how long ago, with the exact time behind it (on hover, and for programs).

use recension::engine::Timestamp;
use recension::format_time;

pub(super) use recension_pages::people::{ago, now, to_the_second};
use recension_pages::writer::Html;

/// Writes it.
pub(super) fn write(time: Timestamp, html: &mut Html) {
    html.tag("<time datetime=\"").text(format_time(time)).tag("\" title=\"").text(format_time(time)).tag("\">");
    html.text(ago(time, now())).tag("</time>");
}
