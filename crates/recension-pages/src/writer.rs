//! What pages are written with. Markup is of this source (`&'static str`), all else is text and is escaped:
//! there is no third way in but templates (`markup.rs`), which escape too, and no document can write a tag.

use super::escape;

/// A page, or a piece of one.
#[derive(Debug, Default)]
pub struct Html {
    out: Vec<u8>,
    /// What stands before the paths of this server in addresses: where a web server has put it.
    base: String,
}

impl Html {
    /// For a server whose paths are below `base`, which is empty or begins with `/` and ends with none.
    pub fn below(base: &str) -> Self {
        Html { out: Vec::new(), base: base.to_owned() }
    }

    /// Nothing yet, for the same server.
    #[must_use]
    pub fn piece(&self) -> Self {
        Html::below(&self.base)
    }

    /// Markup.
    pub fn tag(&mut self, markup: &'static str) -> &mut Self {
        self.out.extend_from_slice(markup.as_bytes());
        self
    }

    /// Text, between tags or between an attribute's quotes.
    pub fn text(&mut self, text: impl AsRef<[u8]>) -> &mut Self {
        escape::push(text.as_ref(), &mut self.out);
        self
    }

    /// A number, or what else prints as text.
    pub fn show(&mut self, value: impl std::fmt::Display) -> &mut Self {
        self.text(value.to_string())
    }

    /// An address within an attribute's quotes: a path of this server, or what follows `?` or `#`.
    pub fn to(&mut self, path: &str) -> &mut Self {
        if path.starts_with('/') {
            escape::push(self.base.as_bytes(), &mut self.out);
        }
        self.text(path)
    }

    /// A link: to a path of this server that begins with `/`, `?` or `#`, or to a URL of http or https. Another
    /// address is written as text.
    pub fn link(&mut self, to: &str, text: impl AsRef<[u8]>) -> &mut Self {
        let own = to.starts_with(['/', '?', '#']) && !to.starts_with("//");
        let far = to.starts_with("https://") || to.starts_with("http://");
        if own {
            self.tag("<a href=\"").to(to).tag("\">").text(text).tag("</a>")
        } else if far {
            self.tag("<a rel=\"noopener noreferrer nofollow\" href=\"").text(to).tag("\">").text(text).tag("</a>")
        } else {
            self.text(text)
        }
    }

    /// Markup that a template of this source has made; `markup.rs` alone brings some.
    pub(super) fn rendered(&mut self, markup: &str) -> &mut Self {
        self.out.extend_from_slice(markup.as_bytes());
        self
    }

    /// What stands before the paths of this server.
    pub(super) fn base(&self) -> &str {
        &self.base
    }

    /// What was written since the last call.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_pages_and_to_nothing_that_runs() {
        for (to, expected) in [
            ("/db/a%20b?at=1&x=2", "<a href=\"/db/a%20b?at=1&amp;x=2\">x</a>"),
            ("javascript:alert(1)", "x"),
            ("//evil.example", "x"),
            ("data:text/html,x", "x"),
            ("https://e.org/\"", "<a rel=\"noopener noreferrer nofollow\" href=\"https://e.org/&#34;\">x</a>"),
        ] {
            let mut html = Html::default();
            html.link(to, "x");
            assert_eq!(String::from_utf8(html.take()).unwrap(), expected);
        }
        let mut below = Html::below("/a&b");
        below.link("/db", "x").link("?at=1", "y");
        let expected = "<a href=\"/a&amp;b/db\">x</a><a href=\"?at=1\">y</a>";
        assert_eq!(String::from_utf8(below.take()).unwrap(), expected);
    }
}
