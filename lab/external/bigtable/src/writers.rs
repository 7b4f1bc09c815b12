//! The table by writers of templates: cells are numbers, or texts that each escapes.

use std::fmt::Display;

/// Rows of the table, and columns.
const ROWS: usize = 1000;
const COLUMNS: usize = 50;

/// A writer of templates.
#[derive(Clone, Copy, Debug)]
pub enum Writer {
    /// sailfish, a template in a file.
    Sailfish,
    /// maud, a macro.
    Maud,
    /// askama, a template in a file.
    Askama,
}

/// What is written.
#[derive(Debug)]
pub struct Tables {
    numbers: Vec<Vec<u64>>,
    texts: Vec<Vec<String>>,
}

#[derive(sailfish::TemplateSimple)]
#[template(path = "page.stpl")]
struct SailfishPage<'t, T: sailfish::runtime::Render> {
    rows: &'t [Vec<T>],
}

#[derive(askama::Template)]
#[template(path = "page.html")]
struct AskamaPage<'t, T: Display> {
    rows: &'t [Vec<T>],
}

impl Writer {
    /// The one of a name.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "sailfish" => Some(Writer::Sailfish),
            "maud" => Some(Writer::Maud),
            "askama" => Some(Writer::Askama),
            _ => None,
        }
    }

    fn table<T>(self, rows: &[Vec<T>]) -> String
    where
        T: sailfish::runtime::Render + maud::Render + Display,
    {
        match self {
            Writer::Sailfish => sailfish::TemplateSimple::render_once(SailfishPage { rows }).unwrap_or_default(),
            Writer::Askama => askama::Template::render(&AskamaPage { rows }).unwrap_or_default(),
            Writer::Maud => maud::html! {
                table {
                    @for row in rows {
                        tr { @for cell in row { td { (cell) } } }
                    }
                }
            }
            .into_string(),
        }
    }
}

impl Tables {
    /// Those of the suite.
    pub fn new() -> Self {
        let text = |row: usize| (0..COLUMNS).map(|column| format!("{row}, <b>&\"{column}\"</b>")).collect();
        Tables { numbers: vec![(1..=COLUMNS as u64).collect(); ROWS], texts: (0..ROWS).map(text).collect() }
    }

    /// The page of a path.
    pub fn page(&self, writer: Writer, path: &str) -> String {
        if path == "/escaped" { writer.table(&self.texts) } else { writer.table(&self.numbers) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_writer_writes_the_table_and_escapes_texts() {
        let tables = Tables::new();
        for writer in [Writer::Sailfish, Writer::Maud, Writer::Askama] {
            let page = tables.page(writer, "/page");
            assert_eq!(page.len(), 550_015, "{writer:?}");
            assert!(page.starts_with("<table><tr><td>1</td><td>2</td>"), "{writer:?}");
            let escaped = tables.page(writer, "/escaped");
            assert!(
                escaped.starts_with("<table><tr><td>0, &lt;b&gt;&amp;&") || escaped.contains("&#60;b"),
                "{escaped:.80}"
            );
        }
    }
}
