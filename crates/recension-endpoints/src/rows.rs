//! The rows of a list, in whatever form: an endpoint reads them, and a sink writes each as JSON, as a line (NDJSON), as
//! a line of a table (CSV), or as a form that somebody else brought has it.

use std::borrow::Cow;
use std::sync::Arc;

use super::streaming;
use recension_app::state::App;
use recension_pages::form::{Form, ListRow};
use recension_wire::answer::Answer;
use recension_wire::error::Result;
use recension_wire::format::{Format, check_columns, csv_line};

/// What reads rows, one after the other.
pub trait Rows: Send + 'static {
    /// Tells the next row; returns whether there was one.
    fn next(&mut self, tell: &mut dyn FnMut(&dyn ListRow) -> Result<()>) -> Result<bool>;

    /// The columns of a table of them, whose cells are [`ListRow::cells`].
    fn columns(&self) -> Vec<String>;

    /// All rows were told: returns the text that follows them in JSON.
    fn end(&mut self) -> String {
        "\n]}".to_owned()
    }

    /// The next row may be asked for minutes later. Gives up whatever is held for speed only.
    fn rest(&mut self) {}
}

/// Rows that an iterator reads.
pub(crate) struct Each<I> {
    pub rows: I,
    pub columns: Vec<String>,
}

impl<T: ListRow, I: Iterator<Item = Result<T>> + Send + 'static> Rows for Each<I> {
    fn next(&mut self, tell: &mut dyn FnMut(&dyn ListRow) -> Result<()>) -> Result<bool> {
        let Some(row) = self.rows.next() else { return Ok(false) };
        tell(&row?)?;
        Ok(true)
    }

    fn columns(&self) -> Vec<String> {
        self.columns.clone()
    }
}

/// A row whose JSON is there.
pub(crate) struct TextRow<'c> {
    pub text: String,
    /// The cells that the text has in a table.
    pub cells: &'c (dyn Fn(&str) -> Vec<String> + Send + Sync),
}

impl ListRow for TextRow<'_> {
    fn write_json(&self, out: &mut Vec<u8>) -> Result<()> {
        out.extend_from_slice(self.text.as_bytes());
        Ok(())
    }

    fn cells(&self) -> Result<Vec<String>> {
        Ok((self.cells)(&self.text))
    }
}

/// Rows whose JSON an iterator makes.
pub struct Texts<I> {
    pub rows: I,
    pub columns: Vec<String>,
    /// The cells of a row at the columns.
    pub cells: fn(&str, &[String]) -> Vec<String>,
}

impl<I: Iterator<Item = Result<String>> + Send + 'static> Rows for Texts<I> {
    fn next(&mut self, tell: &mut dyn FnMut(&dyn ListRow) -> Result<()>) -> Result<bool> {
        let Some(text) = self.rows.next().transpose()? else { return Ok(false) };
        let Texts { columns, cells, .. } = self;
        tell(&TextRow { text, cells: &|text| cells(text, columns) })?;
        Ok(true)
    }

    fn columns(&self) -> Vec<String> {
        self.columns.clone()
    }
}

/// The answer in a form: what stands before the rows in JSON, and the rows, which `open` begins to read.
pub async fn answer<R: Rows>(
    app: &Arc<App>,
    format: Format,
    open: impl FnOnce() -> Result<(String, R)> + Send + 'static,
) -> Result<Answer> {
    let sink = match format {
        Format::Lines => Sink::Lines,
        Format::Csv => Sink::Table,
        Format::Json | Format::Html => Sink::Json { first: true },
    };
    told(app, format, sink, open).await
}

/// The same in a form that somebody else brought: a page.
pub(crate) async fn formed<R: Rows>(
    app: &Arc<App>,
    form: Box<dyn Form>,
    open: impl FnOnce() -> Result<(String, R)> + Send + 'static,
) -> Result<Answer> {
    told(app, Format::Html, Sink::Form(form), open).await
}

async fn told<R: Rows>(
    app: &Arc<App>,
    format: Format,
    sink: Sink,
    open: impl FnOnce() -> Result<(String, R)> + Send + 'static,
) -> Result<Answer> {
    let after = if matches!(sink, Sink::Json { .. }) { "\n" } else { "" };
    let open = move || {
        let (head, rows) = open()?;
        if format == Format::Csv {
            check_columns(&rows.columns())?;
        }
        Ok((Vec::new(), Told::of((head, rows), sink)))
    };
    streaming::opened(app, format.content_type(), open, after).await
}

/// Several lists in one answer in JSON, one after the other. `open` begins each.
pub async fn several<Q: Send + 'static, R: Rows>(
    app: &Arc<App>,
    asked: impl Iterator<Item = Q> + Send + 'static,
    open: impl FnMut(Q) -> Result<(String, R)> + Send + 'static,
) -> Result<Answer> {
    let lists = Lists { asked, open, begun: false, under_way: None };
    streaming::json(app, "{\"results\":[\n".to_owned(), lists, "\n]}\n").await
}

/// What rows are written as.
enum Sink {
    Json { first: bool },
    Lines,
    Table,
    Form(Box<dyn Form>),
}

impl Sink {
    fn begin(&mut self, head: &str, rows: &impl Rows, out: &mut Vec<u8>) -> Result<()> {
        match self {
            Sink::Json { .. } => out.extend_from_slice(head.as_bytes()),
            Sink::Lines => {}
            Sink::Table => write_line(&rows.columns(), out),
            Sink::Form(form) => form.begin(head, out)?,
        }
        Ok(())
    }

    fn row(&mut self, row: &dyn ListRow, out: &mut Vec<u8>) -> Result<()> {
        match self {
            Sink::Json { first } => {
                out.extend_from_slice(if std::mem::take(first) { b"\n" } else { b",\n" });
                row.write_json(out)?;
            }
            Sink::Lines => {
                row.write_json(out)?;
                out.push(b'\n');
            }
            Sink::Table => write_line(&row.cells()?, out),
            Sink::Form(form) => form.row(row, out)?,
        }
        Ok(())
    }

    fn end(&mut self, tail: &str, out: &mut Vec<u8>) -> Result<()> {
        match self {
            Sink::Json { .. } => out.extend_from_slice(tail.as_bytes()),
            Sink::Lines | Sink::Table => {}
            Sink::Form(form) => form.end(out)?,
        }
        Ok(())
    }
}

fn write_line(cells: &[String], out: &mut Vec<u8>) {
    out.extend_from_slice(csv_line(cells.iter().map(Cow::from)).as_bytes());
}

/// Rows that are told to a sink.
struct Told<R> {
    rows: R,
    sink: Sink,
    /// What stands before the rows in JSON, until it is written.
    head: Option<String>,
    ended: bool,
}

impl<R: Rows> Told<R> {
    fn of((head, rows): (String, R), sink: Sink) -> Self {
        Told { rows, sink, head: Some(head), ended: false }
    }
}

impl<R: Rows> streaming::Rows for Told<R> {
    fn write_next(&mut self, out: &mut Vec<u8>) -> Result<bool> {
        let Told { rows, sink, head, ended } = self;
        if *ended {
            return Ok(false);
        }
        if let Some(head) = head.take() {
            sink.begin(&head, rows, out)?;
        }
        if !rows.next(&mut |row| sink.row(row, out))? {
            *ended = true;
            sink.end(&rows.end(), out)?;
        }
        Ok(true)
    }

    fn rest(&mut self) {
        self.rows.rest();
    }
}

/// Lists, one after the other.
struct Lists<I, O, R> {
    asked: I,
    open: O,
    /// Whether one was begun.
    begun: bool,
    under_way: Option<Told<R>>,
}

impl<I, O, R> streaming::Rows for Lists<I, O, R>
where
    I: Iterator + Send + 'static,
    O: FnMut(I::Item) -> Result<(String, R)> + Send + 'static,
    R: Rows,
{
    fn write_next(&mut self, out: &mut Vec<u8>) -> Result<bool> {
        if let Some(list) = &mut self.under_way {
            if !list.write_next(out)? {
                self.under_way = None;
            }
            return Ok(true);
        }
        let Some(asked) = self.asked.next() else { return Ok(false) };
        out.extend_from_slice(if std::mem::replace(&mut self.begun, true) { b",\n" } else { b"" });
        self.under_way = Some(Told::of((self.open)(asked)?, Sink::Json { first: true }));
        Ok(true)
    }

    fn rest(&mut self) {
        if let Some(list) = &mut self.under_way {
            streaming::Rows::rest(list);
        }
    }
}
