//! A recorded run again, of its digest in docs/benchmarks: each operation with our figure and that of the best peer.
//! The digest has no more; the run's page beside it does.

use std::fmt::Write as _; // to a String, which cannot fail

use comfy_table::presets::{ASCII_MARKDOWN, UTF8_HORIZONTAL_ONLY};
use comfy_table::{Table, TableStyle};

use super::digest::{Digest, DigestRow};
use super::html;
use super::summary::ratio;
use super::units::show;

const HEADER: [&str; 5] = ["operation", "what", "ours", "best peer", "ours / theirs"];

/// As a table for a terminal.
pub fn table(digest: &Digest) -> String {
    format!("{}\n{}\n", head(digest), filled(digest, UTF8_HORIZONTAL_ONLY))
}

/// As a table of Markdown.
pub fn markdown(digest: &Digest) -> String {
    format!("{}\n\n{}\n", head(digest), filled(digest, ASCII_MARKDOWN))
}

/// As a page of HTML.
pub fn page(digest: &Digest) -> String {
    let mut page = html::begun(&format!("Suite {} of the laboratory, as it was recorded", digest.suite));
    let _ = write!(page, "<header><p>{}</p></header><main><table><tr>", html::text(&head(digest)));
    for name in HEADER {
        let _ = write!(page, "<th>{name}</th>");
    }
    for row in &digest.rows {
        page.push_str("</tr>\n<tr>");
        for cell in cells(row) {
            let _ = write!(page, "<td>{}</td>", html::text(&cell.replace("**", "")));
        }
    }
    page.push_str("</tr></table></main></body></html>\n");
    page
}

fn head(digest: &Digest) -> String {
    format!(
        "Suite {} ({}), recorded by `{}` in {} sittings on {}. Less is better in every row.",
        digest.suite, digest.mode, digest.command, digest.sittings, digest.machine
    )
}

fn filled(digest: &Digest, style: TableStyle) -> Table {
    let mut table = Table::new();
    table.load_style(style);
    table.set_header(HEADER);
    for row in &digest.rows {
        table.add_row(cells(row));
    }
    table
}

fn cells(row: &DigestRow) -> [String; 5] {
    let peer = row.best.as_ref().map_or_else(String::new, |best| {
        let weaker = best.weaker.as_ref().map_or_else(String::new, |tier| format!(" ({tier})"));
        format!("{} {}{weaker}", best.subject, show(best.figure, &row.unit))
    });
    let ratio = row.best.as_ref().map(ratio).unwrap_or_default();
    [row.operation.clone(), row.what.clone(), show(row.ours, &row.unit), peer, ratio]
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::report::headlines::{HEADLINES, Headline};

    #[test]
    fn what_this_repository_has_recorded_is_printed_in_every_form() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/benchmarks");
        for Headline { suite, .. } in HEADLINES {
            let file = root.join(format!("{suite}.json"));
            if !file.is_file() {
                continue; // a suite that has not been recorded yet
            }
            let digest = Digest::read(&file).unwrap();
            for text in [table(&digest), markdown(&digest), page(&digest)] {
                assert!(digest.rows.iter().all(|row| text.contains(&row.operation)), "{suite}: {text}");
                assert!(text.contains(&digest.command), "{suite}: {text}");
            }
        }
    }
}
