//! The stylesheet, the module and the icon of the console. They are part of the program, and need no right to be
//! read.

use http::StatusCode;
use http::header::{CACHE_CONTROL, ETAG, X_CONTENT_TYPE_OPTIONS};

use crate::answer::Answer;
use crate::error::{ApiError, Result};
use crate::html::links::fnv;
use crate::http::writing::not_modified;
use crate::request::Request;

const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// Name, type and text. `scripts/vendor` makes what is in `vendor/`.
const ALL: [(&str, &str, &str); 11] = [
    ("style.css", CSS, include_str!("assets/style.css")),
    ("console.js", SCRIPT, include_str!("assets/console.js")),
    ("send.js", SCRIPT, include_str!("assets/send.js")),
    ("forms.js", SCRIPT, include_str!("assets/forms.js")),
    ("live.js", SCRIPT, include_str!("assets/live.js")),
    ("plots.js", SCRIPT, include_str!("assets/plots.js")),
    ("icon.svg", "image/svg+xml", include_str!("assets/icon.svg")),
    ("editor.js", SCRIPT, include_str!("assets/vendor/editor.js")),
    ("uplot.js", SCRIPT, include_str!("assets/vendor/uplot.js")),
    ("uplot.css", CSS, include_str!("assets/vendor/uplot.css")),
    ("licences.txt", "text/plain; charset=utf-8", include_str!("assets/vendor/licences.txt")),
];

/// `/_utils/-/{name}`
pub(super) fn get(request: &Request, name: &str) -> Result<Answer> {
    crate::request::only(request, "GET,HEAD")?;
    let (_, kind, text) = ALL.iter().find(|(own, ..)| *own == name).ok_or_else(ApiError::missing)?;
    // They change with the program, and with nothing else.
    let tag = format!("{:x}", fnv(text));
    if not_modified(request, &tag) {
        return Ok(Answer::empty(StatusCode::NOT_MODIFIED).with(ETAG, format!("\"{tag}\"")));
    }
    let answer = Answer::of(StatusCode::OK, kind, *text).etag(tag);
    Ok(answer.with(CACHE_CONTROL, "no-cache").with(X_CONTENT_TYPE_OPTIONS, "nosniff"))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    /// What a reader of all pages fetches without editing anything, as it is sent: at most 60 kB.
    #[test]
    fn the_console_is_small_without_the_editor() {
        let packed = |text: &str| {
            let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
            packer.write_all(text.as_bytes()).unwrap();
            packer.finish().unwrap().len()
        };
        let sizes: Vec<_> = ALL.iter().map(|(name, _, text)| (*name, packed(text))).collect();
        let read = sizes.iter().filter(|(name, _)| !matches!(*name, "editor.js" | "licences.txt"));
        let whole: usize = read.map(|(_, bytes)| bytes).sum();
        assert!(whole > 20_000 && whole <= 60_000, "{whole} bytes: {sizes:?}");
    }
}
