//! Forms that change something. They say in their attributes which request they are; `assets/forms.js` makes it.

use crate::html::writer::Html;

/// What a form is, beside its method and where it is sent.
#[derive(Clone, Copy)]
pub(super) enum About<'a> {
    /// The page that comes next.
    Then(&'a str),
    /// What is told there.
    Said(&'a str),
    /// What is asked before.
    Sure(&'a str),
    /// What the fields are put into.
    Base(&'a str),
    /// The page that shows what is sent beside what another has written meanwhile.
    Conflict(&'a str),
    /// Only fields whose value was changed are put into it.
    Touched,
}

/// Begins a form.
pub(super) fn begin(method: &'static str, to: &str, about: &[About<'_>], html: &mut Html) {
    html.tag("<form data-send=\"").tag(method).tag("\" data-to=\"").to(to).tag("\"");
    for about in about {
        match about {
            About::Then(path) => html.tag(" data-then=\"").to(path),
            About::Said(text) => html.tag(" data-said=\"").text(text),
            About::Sure(text) => html.tag(" data-sure=\"").text(text),
            About::Base(json) => html.tag(" data-base=\"").text(json),
            About::Conflict(path) => html.tag(" data-conflict=\"").to(path),
            About::Touched => html.tag(" data-touched=\""),
        };
        html.tag("\"");
    }
    html.tag(">");
}

/// A form of one button.
pub(super) fn button(method: &'static str, to: &str, about: &[About<'_>], text: (&'static str, &str), html: &mut Html) {
    begin(method, to, about, html);
    let (class, text) = text;
    html.tag("<button class=\"").tag(class).tag("\">").text(text).tag("</button></form> ");
}

/// A field. `markup` are attributes of it.
pub(super) fn field(label: &str, markup: &'static str, value: &str, html: &mut Html) {
    html.tag("<label>").text(label).tag(" <input ").tag(markup).tag(" value=\"").text(value).tag("\"></label> ");
}

/// A field for JSON. With a script it becomes an editor.
pub(super) fn json(label: &'static str, rows: u8, text: &str, html: &mut Html) {
    html.tag("<label>").tag(label).tag(" <textarea name=\"body\" data-edit=\"").tag(label).tag("\" rows=\"");
    // A parser drops the first line feed.
    html.show(rows).tag("\" spellcheck=\"false\">\n").text(text).tag("</textarea></label>");
}

/// The end of a form, with its button.
pub(super) fn end(text: &'static str, html: &mut Html) {
    html.tag("<p><button class=\"primary\">").tag(text).tag("</button></p>");
    html.tag("<noscript><p>This needs JavaScript.</p></noscript></form>");
}
