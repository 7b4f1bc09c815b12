//! The stylesheet, the modules and the icon of the console. They are part of the program, and need no right to be read.
//! A hash of them all is in their path, so that browsers keep them for ever, and they are compressed once.

use std::io::Write as _;
use std::sync::LazyLock;

use bytes::Bytes;

use super::links::fnv;

const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// Name, type and text. `scripts/vendor` makes what is in `vendor/`.
const ALL: [(&str, &str, &str); 13] = [
    ("style.css", CSS, include_str!("assets/style.css")),
    ("console.js", SCRIPT, include_str!("assets/console.js")),
    ("send.js", SCRIPT, include_str!("assets/send.js")),
    ("forms.js", SCRIPT, include_str!("assets/forms.js")),
    ("live.js", SCRIPT, include_str!("assets/live.js")),
    ("rows.js", SCRIPT, include_str!("assets/rows.js")),
    ("import.js", SCRIPT, include_str!("assets/import.js")),
    ("plots.js", SCRIPT, include_str!("assets/plots.js")),
    ("icon.svg", "image/svg+xml", include_str!("assets/icon.svg")),
    ("editor.js", SCRIPT, include_str!("assets/vendor/editor.js")),
    ("uplot.js", SCRIPT, include_str!("assets/vendor/uplot.js")),
    ("uplot.css", CSS, include_str!("assets/vendor/uplot.css")),
    ("licences.txt", "text/plain; charset=utf-8", include_str!("assets/vendor/licences.txt")),
];

/// What tells the assets of one program from those of another.
static VERSION: LazyLock<String> =
    LazyLock::new(|| format!("{:x}", ALL.iter().fold(0, |all: u64, (.., text)| all.rotate_left(7) ^ fnv(text))));

/// The assets compressed, in their order; an empty one could not be.
static PACKED: LazyLock<Vec<Bytes>> = LazyLock::new(|| ALL.iter().map(|(.., text)| packed(text)).collect());

fn packed(text: &str) -> Bytes {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    packer.write_all(text.as_bytes()).and_then(|()| packer.finish()).unwrap_or_default().into()
}

/// The path of an asset.
pub fn path(name: &str) -> String {
    format!("/_utils/-/{}/{name}", *VERSION)
}

/// An asset: its type, its text, and the same compressed.
pub fn find(name: &str) -> Option<(&'static str, &'static str, Option<Bytes>)> {
    let number = ALL.iter().position(|(own, ..)| *own == name)?;
    let (_, kind, text) = ALL[number];
    Some((kind, text, PACKED.get(number).filter(|packed| !packed.is_empty()).cloned()))
}

/// The version in their paths.
pub fn version() -> &'static str {
    &VERSION
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a reader of all pages fetches without editing anything, as it is sent: at most 60 kB.
    #[test]
    fn the_console_is_small_without_the_editor() {
        let sizes: Vec<_> = ALL.iter().zip(&*PACKED).map(|((name, ..), packed)| (*name, packed.len())).collect();
        let read = sizes.iter().filter(|(name, _)| !matches!(*name, "editor.js" | "licences.txt"));
        let whole: usize = read.map(|(_, bytes)| bytes).sum();
        assert!(whole > 20_000 && whole <= 60_000, "{whole} bytes: {sizes:?}");
    }
}
