//! The mark, and the icons of the pages of the server: lines of one path each on 24 by 24, drawn in the colour of their
//! text. They say nothing that the name beside them does not say.

use super::writer::Html;

/// The mark of Recension: revisions, of which the newest is marked.
pub(crate) fn mark(html: &mut Html) {
    html.tag(
        "<svg class=\"mark\" viewBox=\"0 0 32 32\" aria-hidden=\"true\"><rect width=\"32\" height=\"32\" rx=\"7\"/>",
    );
    html.tag("<path d=\"M8 9h16M8 16h16M8 23h9\"/><circle cx=\"23.5\" cy=\"23\" r=\"3\"/></svg>");
}

/// The icon of a page by its name; a page without one has none.
pub(crate) fn of(page: &str, html: &mut Html) {
    let path = match page {
        "Databases" => "M5 6c0-4 14-4 14 0s-14 4-14 0M5 6v12c0 4 14 4 14 0V6M5 12c0 4 14 4 14 0",
        "Server" => "M4 5h16v5H4zM4 14h16v5H4zM7 7.5h.01M7 16.5h.01",
        "Branches" => {
            "M5 5a2 2 0 1 0 4 0a2 2 0 1 0-4 0M5 19a2 2 0 1 0 4 0a2 2 0 1 0-4 0M15 8a2 2 0 1 0 4 0a2 2 0 1 0-4 0M7 \
             7v10M17 10c0 4-10 2-10 6"
        }
        "Users" => "M8 8a4 4 0 1 0 8 0a4 4 0 1 0-8 0M4 20c1-5 5-6 8-6s7 1 8 6",
        "Replications" => "M4 9h14l-4-4M20 15H6l4 4",
        "Tasks" => "M4 6l1.5 1.5L8 5M4 12l1.5 1.5L8 11M4 18l1.5 1.5L8 17M11 6h9M11 12h9M11 18h9",
        "Metrics" => "M4 4v16h16M8 16v-4M12 16V8M16 16v-6",
        "Logs" => "M6 3h9l4 4v14H6zM9 11h7M9 15h7",
        "Settings" => "M4 7h9M17 7h3M13 7a2 2 0 1 0 4 0a2 2 0 1 0-4 0M4 17h3M11 17h9M7 17a2 2 0 1 0 4 0a2 2 0 1 0-4 0",
        "Backups" => "M4 5h16v4H4zM5 9v10h14V9M10 13h4",
        "Laboratory" => "M10 3v6L5 19c-.5 1 0 2 1 2h12c1 0 1.5-1 1-2l-5-10V3M9 3h6M7.5 15h9",
        _ => return,
    };
    html.tag("<svg class=\"icon\" viewBox=\"0 0 24 24\" aria-hidden=\"true\"><path d=\"").tag(path).tag("\"/></svg>");
}
