//! Rows as a table. Its columns are those that are asked for, or the members of the first rows; a row that has others
//! has one more cell for them. Rows are held until the columns are known, and no longer.

use serde_json::value::RawValue;

use super::links::{Parameters, document};
use super::page_request::Kind;
use super::value::{cell, is_number};
use super::writer::Html;
use recension_wire::members::{Members, member, members_of};
use recension_wire::route::encode;

/// Rows, and bytes of them, that columns are found in.
const LOOKED_AT_ROWS: usize = 100;
const LOOKED_AT_BYTES: usize = 128 * 1024;
const COLUMNS_MAX: usize = 24;

/// A table under way.
#[derive(Debug)]
pub struct Table {
    kind: Kind,
    /// What links carry on: the moment.
    carried: Parameters,
    /// Where a document is.
    place: fn(&str, &str) -> String,
    /// The page that shows a document beside the list, and its parameters.
    beside: Option<(String, Parameters)>,
    /// The page that sorts by a column, and its parameters.
    sorting: Option<(String, Parameters)>,
    /// The form that a box in each row belongs to, which chooses it.
    chooses: Option<&'static str>,
    fields: Option<Vec<String>>,
    columns: Option<Vec<String>>,
    held: Vec<Vec<u8>>,
    held_bytes: usize,
    pub rows: u64,
    /// The id of the last row.
    pub last: Option<String>,
}

impl Table {
    /// A table without rows.
    pub fn new(kind: Kind, carried: Parameters, fields: Option<Vec<String>>) -> Self {
        let held = Vec::new();
        let (place, sorting): (fn(&str, &str) -> String, _) = (document, None);
        Table {
            kind,
            carried,
            place,
            sorting,
            beside: None,
            chooses: None,
            fields,
            columns: None,
            held,
            held_bytes: 0,
            rows: 0,
            last: None,
        }
    }

    /// With documents in another place.
    #[must_use]
    pub fn placed(self, place: fn(&str, &str) -> String) -> Self {
        Table { place, ..self }
    }

    /// With documents that open beside the list, on a page with its parameters.
    #[must_use]
    pub fn opened_beside(self, path: &str, parameters: &Parameters) -> Self {
        Table { beside: Some((path.to_owned(), parameters.clone())), ..self }
    }

    /// With a box in each row, of the form with this id.
    #[must_use]
    pub fn chosen_for(self, form: &'static str) -> Self {
        Table { chooses: Some(form), ..self }
    }

    /// With heads that sort by their columns.
    #[must_use]
    pub fn sorted_by(self, path: &str, parameters: &Parameters) -> Self {
        Table { sorting: Some((path.to_owned(), parameters.clone())), ..self }
    }

    /// One more row.
    pub fn row(&mut self, row: &[u8], html: &mut Html) {
        self.rows += 1;
        if self.columns.is_some() {
            return self.write(row, html);
        }
        self.held_bytes += row.len();
        self.held.push(row.to_vec());
        if self.fields.is_some() || self.held.len() >= LOOKED_AT_ROWS || self.held_bytes >= LOOKED_AT_BYTES {
            self.begin(html);
        }
    }

    /// Writes the head of the table, and the rows that waited for it.
    pub fn begin(&mut self, html: &mut Html) {
        if self.columns.is_some() {
            return;
        }
        let held = std::mem::take(&mut self.held);
        let columns = match &self.fields {
            Some(fields) => std::iter::once(self.id_name(&held)).flatten().chain(fields.iter().cloned()).collect(),
            None => Self::found(&held),
        };
        html.tag("<div class=\"wide\" role=\"region\" aria-label=\"Rows\" tabindex=\"0\"><table>\n<thead><tr>");
        if self.chooses.is_some() {
            html.tag("<th scope=\"col\" class=\"box\"><span class=\"unseen\">Chosen</span></th>");
        }
        let first: Vec<_> = held.first().and_then(|row| self.cells(row)).unwrap_or_default();
        for column in &columns {
            let of_numbers = first.iter().any(|(name, value)| name == column && is_number(value));
            html.tag(if of_numbers { "<th scope=\"col\" class=\"number\"><bdi>" } else { "<th scope=\"col\"><bdi>" });
            match &self.sorting {
                Some((path, parameters)) => {
                    let sorted = parameters.pairs().any(|(name, value)| name == "sort" && value == column);
                    let by = if sorted { format!("-{column}") } else { column.clone() };
                    html.link(&parameters.with("sort", &by).on(path), column.as_bytes());
                }
                None => {
                    html.text(column);
                }
            }
            html.tag("</bdi></th>");
        }
        html.tag("</tr></thead>\n<tbody>\n");
        self.columns = Some(columns);
        for row in held {
            self.write(&row, html);
        }
    }

    /// Writes the table's end.
    pub fn end(&mut self, html: &mut Html) {
        if self.rows == 0 {
            html.tag("<p>No rows.</p>\n");
            return;
        }
        self.begin(html);
        html.tag("</tbody></table></div>\n");
    }

    /// A row in whose place its text follows.
    pub(crate) fn long_begins(&mut self, html: &mut Html) {
        self.rows += 1;
        self.begin(html);
        let columns = self.columns.as_ref().map_or(1, Vec::len).max(1);
        html.tag("<tr><td colspan=\"").show(columns).tag("\"><pre tabindex=\"0\"><code>");
    }

    /// Ends it.
    pub(crate) fn long_ends(html: &mut Html) {
        html.tag("</code></pre></td></tr>\n");
    }

    /// The name under which rows have their id.
    fn id_name(&self, held: &[Vec<u8>]) -> Option<String> {
        let row = cells_of(held.first()?)?;
        let name = ["id", "_id", "rev"].into_iter().find(|name| row.iter().any(|(own, _)| own == name))?;
        matches!(self.kind, Kind::Special { .. } | Kind::OfDocument { .. }).then(|| name.to_owned())
    }

    fn found(held: &[Vec<u8>]) -> Vec<String> {
        let mut columns: Vec<String> = Vec::new();
        for row in held {
            for (name, _) in cells_of(row).unwrap_or_else(|| vec![("value".to_owned(), String::new())]) {
                if columns.len() < COLUMNS_MAX && !columns.contains(&name) {
                    columns.push(name);
                }
            }
        }
        columns
    }

    fn write(&mut self, row: &[u8], html: &mut Html) {
        let columns = self.columns.take().unwrap_or_default();
        html.tag("<tr>");
        let alone = || vec![("value".to_owned(), String::from_utf8_lossy(row).into_owned())];
        let cells = self.cells(row).unwrap_or_else(alone);
        if let Some(form) = self.chooses {
            let id = cells.iter().find(|(name, _)| name == "_id");
            let id: String = id.and_then(|(_, value)| serde_json::from_str(value).ok()).unwrap_or_default();
            html.tag("<td class=\"box\"><input type=\"checkbox\" name=\"id\" form=\"")
                .tag(form)
                .tag("\" value=\"")
                .text(&id);
            html.tag("\" aria-label=\"Choose ").text(&id).tag("\">");
            if let Some((path, parameters)) = self.beside.as_ref().filter(|(_, own)| own.get("at").is_empty()) {
                let to = parameters.with("doc", &id).with("edit", "form").on(path);
                html.tag(" <a class=\"edit\" href=\"").to(&to).tag("#doc\" title=\"Edit ");
                html.text(&id).tag("\">Edit</a>");
            }
            html.tag("</td>");
        }
        // Most rows have their members in one order: what comes next is looked for first.
        let mut next = 0;
        let mut written = 0;
        for column in &columns {
            let at = if cells.get(next).is_some_and(|(name, _)| name == column) {
                Some(next)
            } else {
                cells.iter().position(|(name, _)| name == column)
            };
            match at {
                Some(at) => {
                    self.cell(column, &cells[at].1, html);
                    next = at + 1;
                    written += 1;
                }
                None => {
                    html.tag("<td></td>");
                }
            }
        }
        if self.fields.is_none() && written < cells.len() {
            html.tag("<td>");
            for (name, value) in cells.iter().filter(|(name, _)| !columns.contains(name)) {
                html.tag("<bdi>").text(name).tag("</bdi>: ");
                cell(value, html);
                html.tag(" ");
            }
            html.tag("</td>");
        }
        html.tag("</tr>\n");
        self.columns = Some(columns);
    }

    /// A row's cells, those that are asked for among them.
    fn cells(&self, row: &[u8]) -> Option<Vec<(String, String)>> {
        let cells = cells_of(row)?;
        Some(match &self.fields {
            Some(fields) => with_fields(&String::from_utf8_lossy(row), cells, fields),
            None => cells,
        })
    }

    fn cell(&mut self, column: &str, value: &str, html: &mut Html) {
        let text = || serde_json::from_str::<String>(value).ok();
        let to = match (column, &self.kind) {
            ("id" | "_id", Kind::Special { db, .. } | Kind::OfDocument { db, .. }) => {
                let id = text();
                let to = id.as_ref().map(|id| match &self.beside {
                    Some((path, parameters)) => format!("{}#doc", parameters.with("doc", id).on(path)),
                    None => self.carried.on(&(self.place)(db, id)),
                });
                self.last = id;
                to
            }
            ("value" | "key", Kind::Server { name }) if name == "_all_dbs" || name == "_dbs_info" => {
                text().map(|db| format!("/{}", encode(&db)))
            }
            ("rev", Kind::OfDocument { db, id, .. }) => {
                text().map(|rev| Parameters::default().with("rev", &rev).on(&document(db, id)))
            }
            ("seq", Kind::OfDocument { db, id, name }) if name == "_history" => {
                Some(Parameters::default().with("at", value).on(&document(db, id)))
            }
            _ => None,
        };
        match to {
            Some(to) if is_number(value) => {
                html.tag("<td class=\"number\">").link(&to, value).tag("</td>");
            }
            Some(to) => {
                let shown = text().unwrap_or_else(|| value.to_owned());
                html.tag("<th scope=\"row\">")
                    .link(&to, if shown.is_empty() { "(empty)" } else { &shown })
                    .tag("</th>");
            }
            None if is_number(value) => {
                html.tag("<td class=\"number\">").text(value).tag("</td>");
            }
            None => {
                html.tag("<td>");
                cell(value, html);
                html.tag("</td>");
            }
        }
    }
}

/// A row's members, with those of its document among them; `None` where it is no object.
fn cells_of(row: &[u8]) -> Option<Vec<(String, String)>> {
    let members = members_of(row).ok()?;
    let mut cells: Vec<(String, String)> = Vec::with_capacity(members.len() + 8);
    let id = member(&members, "id").map(RawValue::get);
    for (name, value) in &members {
        match name.as_str() {
            // Of `_all_docs`: the key is the id, and the value is the revision.
            "key" if id == Some(value.get()) => {}
            "value" if id.is_some() => match members_of(value.get().as_bytes()) {
                Ok(inner) if inner.first().is_some_and(|(name, _)| name == "rev") => push(&mut cells, inner, ""),
                _ => cells.push((name.clone(), value.get().to_owned())),
            },
            "doc" => match members_of(value.get().as_bytes()) {
                Ok(inner) => push(&mut cells, inner, "doc."),
                Err(_) => cells.push((name.clone(), value.get().to_owned())),
            },
            _ => cells.push((name.clone(), value.get().to_owned())),
        }
    }
    Some(cells)
}

/// Members of what is within a row. Those whose names the row has already are told apart.
fn push(cells: &mut Vec<(String, String)>, inner: Members<'_>, prefix: &str) {
    let own = cells.len();
    for (name, value) in inner {
        // The row says these already.
        if own > 0 && (name == "_id" || name == "_rev") {
            continue;
        }
        let taken = cells[..own].iter().any(|(other, _)| *other == name);
        let name = if taken { format!("{prefix}{name}") } else { name };
        cells.push((name, value.get().to_owned()));
    }
}

/// The cells of the columns that are asked for: what the document, or the row, says at the paths.
fn with_fields(row: &str, cells: Vec<(String, String)>, fields: &[String]) -> Vec<(String, String)> {
    let mut out: Vec<(String, String)> = Vec::with_capacity(fields.len() + 1);
    out.extend(cells.into_iter().filter(|(name, _)| matches!(name.as_str(), "id" | "_id" | "rev")));
    let Ok(members) = members_of(row.as_bytes()) else { return out };
    let doc = member(&members, "doc").and_then(|doc| members_of(doc.get().as_bytes()).ok());
    let members = doc.unwrap_or(members);
    for field in fields {
        if let Some(value) = at_path(&members, field) {
            out.retain(|(name, _)| name != field);
            out.push((field.clone(), value));
        }
    }
    out
}

/// What a document says at a path of members.
pub fn at(document: &str, path: &str) -> Option<String> {
    at_path(&members_of(document.as_bytes()).ok()?, path)
}

fn at_path(members: &Members<'_>, path: &str) -> Option<String> {
    let (first, rest) = path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
    let value = member(members, first)?;
    match rest {
        None => Some(value.get().to_owned()),
        Some(rest) => at_path(&members_of(value.get().as_bytes()).ok()?, rest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(fields: Option<&str>, rows: &[&str]) -> String {
        let kind = Kind::Special { db: "a/b".into(), name: "_all_docs".into() };
        let fields = fields.map(|fields| fields.split(',').map(str::to_owned).collect());
        let mut table = Table::new(kind, Parameters::default().with("at", "7"), fields);
        let mut html = Html::default();
        for row in rows {
            table.row(row.as_bytes(), &mut html);
        }
        table.end(&mut html);
        assert_eq!(table.rows, rows.len() as u64);
        String::from_utf8(html.take()).unwrap()
    }

    #[test]
    fn columns_are_the_members_of_the_rows_and_of_their_documents() {
        let html = table(
            None,
            &[
                r#"{"id":"x<y","key":"x<y","value":{"rev":"1-a"},"doc":{"_id":"x<y","_rev":"1-a","n":1,"id":"own"}}"#,
                r#"{"key":"none","error":"not_found"}"#,
            ],
        );
        for expected in [
            "<th scope=\"col\"><bdi>id</bdi></th><th scope=\"col\"><bdi>rev</bdi></th>",
            "<th scope=\"row\"><a href=\"/a%2Fb/x%3Cy?at=7\">x&lt;y</a></th><td><bdi>1-a</bdi></td>",
            "<td class=\"number\">1</td>",
            "<bdi>doc.id</bdi>",
            "<bdi>not_found</bdi>",
        ] {
            assert!(html.contains(expected), "{expected}: {html}");
        }
    }

    #[test]
    fn columns_may_be_asked_for() {
        let html = table(
            Some("name,pos.lat"),
            &[r#"{"id":"x","key":"x","value":{"rev":"1-a"},"doc":{"name":"N","pos":{"lat":1.5},"other":2}}"#],
        );
        let plain = html.replace(" class=\"number\"", "");
        let heads = plain.split("<th scope=\"col\"><bdi>").skip(1).map(|head| head.split('<').next().unwrap());
        let heads: Vec<_> = heads.collect();
        assert_eq!(heads, ["id", "name", "pos.lat"]);
        assert!(html.contains("<td><bdi>N</bdi></td><td class=\"number\">1.5</td></tr>"), "{html}");
    }

    #[test]
    fn later_members_have_a_cell_of_their_own() {
        let mut rows = vec![r#"{"_id":"a","n":1}"#; LOOKED_AT_ROWS];
        rows.push(r#"{"_id":"b","late":"<i>"}"#);
        let html = table(None, &rows);
        assert!(html.contains("<td></td><td><bdi>late</bdi>: <bdi>&lt;i&gt;</bdi> </td></tr>"), "{html}");
        assert!(table(None, &[]).contains("No rows."));
        assert!(table(None, &["7", "\"x\""]).contains("<td class=\"number\">7</td></tr>\n<tr><td><bdi>x</bdi></td>"));
    }
}
