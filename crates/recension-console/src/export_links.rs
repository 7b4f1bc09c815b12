//! Links from a page of the console to what it lists, in the forms that other programs read. They know addresses, and
//! nothing of what is behind them.

use minijinja::context;

use recension_pages::links::Parameters;
use recension_pages::writer::Html;

/// Links to the forms of what parameters ask for.
pub(super) fn of_rows(db: &str, parameters: &Parameters, before: &str, html: &mut Html) {
    html.fill("exports", context! { db, before, carried => parameters });
}
