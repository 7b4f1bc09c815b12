//! Following many paths through a text at once: every value is passed once, however many paths there are. A text that
//! is not minified JSON gives fewer values or wrong ones, but never a panic.

use super::path::{Cursor, Path, Step, is_number};

/// Paths, each with a number, by which its values are found.
#[derive(Clone, Debug, Default)]
pub struct PathSet {
    paths: Vec<Path>,
    /// The first one is the text itself.
    nodes: Vec<Node>,
}

/// A place that some of the paths lead to or through.
#[derive(Clone, Debug, Default)]
struct Node {
    /// The paths that end here.
    ends: Vec<usize>,
    names: Vec<(String, usize)>,
    items: Vec<(usize, usize)>,
    each: Option<usize>,
}

impl PathSet {
    /// The number of a path, which is added if it is new.
    pub fn add(&mut self, path: &Path) -> usize {
        if let Some(known) = self.number(path) {
            return known;
        }
        if self.nodes.is_empty() {
            self.nodes.push(Node::default());
        }
        let mut at = 0;
        for step in path.steps() {
            let next = self.nodes.len();
            let Some(node) = self.nodes.get_mut(at) else { break };
            at = match step {
                Step::Name(name) => match node.names.iter().find(|(known, _)| known == name) {
                    Some((_, known)) => *known,
                    None => {
                        node.names.push((name.clone(), next));
                        if is_number(name)
                            && let Ok(item) = name.parse()
                        {
                            node.items.push((item, next));
                        }
                        next
                    }
                },
                // It is not shared with a name, which leads into objects, too.
                Step::Item(item) => {
                    node.items.push((*item, next));
                    next
                }
                Step::Each => *node.each.get_or_insert(next),
            };
            if at == self.nodes.len() {
                self.nodes.push(Node::default());
            }
        }
        let number = self.paths.len();
        if let Some(node) = self.nodes.get_mut(at) {
            node.ends.push(number);
        }
        self.paths.push(path.clone());
        number
    }

    /// The number of a path that is never followed: it has no values.
    pub fn add_unlooked(&mut self, path: &Path) -> usize {
        self.number(path).unwrap_or_else(|| {
            self.paths.push(path.clone());
            self.paths.len() - 1
        })
    }

    pub fn len(&self) -> usize {
        self.paths.len()
    }

    pub fn paths(&self) -> &[Path] {
        &self.paths
    }

    /// The number of a path in the set.
    pub fn number(&self, path: &Path) -> Option<usize> {
        self.paths.iter().position(|known| known == path)
    }

    /// The texts of the values at the paths in a minified text, by the paths' numbers.
    pub fn values<'t>(&self, text: &'t str) -> Vec<Vec<&'t str>> {
        let mut values = Vec::new();
        self.fill(text, &mut values);
        values
    }

    /// The same, in place of the values of another text.
    pub fn fill<'t>(&self, text: &'t str, values: &mut Vec<Vec<&'t str>>) {
        values.iter_mut().for_each(Vec::clear);
        values.resize_with(self.paths.len(), Vec::new);
        if !self.nodes.is_empty() {
            self.walk(0, &mut Cursor::new(text), values);
        }
    }

    /// The same for the value at a cursor, which moves behind it; returns its text.
    pub fn fill_at<'t>(&self, cursor: &mut Cursor<'t>, values: &mut Vec<Vec<&'t str>>) -> Option<&'t str> {
        values.iter_mut().for_each(Vec::clear);
        values.resize_with(self.paths.len(), Vec::new);
        let start = cursor.at;
        if self.nodes.is_empty() {
            cursor.skip_value()?;
        } else {
            self.walk(0, cursor, values)?;
        }
        cursor.text.get(start..cursor.at)
    }

    fn walk<'t>(&self, at: usize, cursor: &mut Cursor<'t>, values: &mut [Vec<&'t str>]) -> Option<()> {
        let node = self.nodes.get(at)?;
        let start = cursor.at;
        match cursor.peek()? {
            b'{' if !node.names.is_empty() => self.walk_object(node, cursor, values)?,
            b'[' if !node.items.is_empty() || node.each.is_some() => self.walk_array(node, cursor, values)?,
            _ => cursor.skip_value()?,
        }
        let value = cursor.text.get(start..cursor.at)?;
        for end in &node.ends {
            values.get_mut(*end)?.push(value);
        }
        Some(())
    }

    fn walk_object<'t>(&self, node: &Node, cursor: &mut Cursor<'t>, values: &mut [Vec<&'t str>]) -> Option<()> {
        // Nobody needs the end of the whole text: the walk ends as soon as nothing more can be found. An object has
        // each name once.
        let mut left = if cursor.at == 0 { node.names.len() } else { usize::MAX };
        cursor.at += 1;
        while cursor.peek()? != b'}' {
            let name = cursor.string()?;
            cursor.at += 1;
            match node.names.iter().find(|(known, _)| name.is(known)) {
                Some((_, next)) => {
                    self.walk(*next, cursor, values)?;
                    left -= 1;
                    if left == 0 {
                        return None;
                    }
                }
                None => cursor.skip_value()?,
            }
            cursor.skip_comma()?;
        }
        cursor.at += 1;
        Some(())
    }

    fn walk_array<'t>(&self, node: &Node, cursor: &mut Cursor<'t>, values: &mut [Vec<&'t str>]) -> Option<()> {
        cursor.at += 1;
        let mut item = 0;
        while cursor.peek()? != b']' {
            let start = cursor.at;
            let mut passed = false;
            let named = node.items.iter().filter(|(known, _)| *known == item).map(|(_, next)| *next);
            for next in named.chain(node.each) {
                cursor.at = start;
                self.walk(next, cursor, values)?;
                passed = true;
            }
            if !passed {
                cursor.skip_value()?;
            }
            cursor.skip_comma()?;
            item += 1;
        }
        cursor.at += 1;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"{"a":{"b":[1,{"c":"x,]}\"y"},[],null],"":0},"t":[{"s":1,"u":[2,3]},{"s":[4]},5,[]],"k\u0065y":1,"0":"z","e":[]}"#;

    fn set(paths: &[&str]) -> PathSet {
        let mut set = PathSet::default();
        for path in paths {
            set.add(&path.parse().unwrap());
        }
        set
    }

    #[test]
    fn many_paths_find_at_once_what_each_finds_alone() {
        let paths = ["a", "a.b", "a.b[0]", "a.b.0", "a.b[1].c", "a.b.1.c", "a.b[4]", "key", "0", "t", "t[0].s", "no"];
        for (found, path) in set(&paths).values(TEXT).iter().zip(paths) {
            let alone: Vec<&str> = path.parse::<Path>().unwrap().find(TEXT).into_iter().collect();
            assert_eq!(*found, alone, "{path}");
        }
    }

    #[test]
    fn empty_brackets_lead_to_every_element() {
        let expected: [(&str, &[&str]); 6] = [
            ("t[].s", &["1", "[4]"]),
            ("t[].u[]", &["2", "3"]),
            ("t[]", &[r#"{"s":1,"u":[2,3]}"#, r#"{"s":[4]}"#, "5", "[]"]),
            ("e[]", &[]),
            ("a[]", &[]),
            ("t[].s[]", &["4"]),
        ];
        let paths: Vec<&str> = expected.iter().map(|(path, _)| *path).collect();
        assert_eq!(set(&paths).values(TEXT), expected.map(|(_, values)| values.to_vec()));
    }

    #[test]
    fn a_cut_or_senseless_text_never_panics() {
        let set = set(&["a.b[1].c", "key", "t[].u[]", "t[0]"]);
        for cut in 0..TEXT.len() {
            set.values(&TEXT[..cut]);
            set.values(&TEXT[cut..]);
        }
    }
}
