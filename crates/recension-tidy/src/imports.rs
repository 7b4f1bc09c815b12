//! The imports between a crate's files: every path that starts at `crate` or `super`, followed through the modules that
//! export it again.

use std::collections::BTreeMap;

use crate::Source;
use crate::tokens::{Kind, Token, tokens, without_tests};

/// A module by its names, starting at the crate's root.
pub type Module = Vec<String>;

/// An import of one file from another.
#[derive(Clone, Debug)]
pub struct Import {
    /// The importing module.
    pub from: Module,
    /// The module that is imported from.
    pub to: Module,
    /// The line.
    pub line: usize,
}

/// The modules of a crate and what they import.
#[derive(Default)]
pub struct Crate {
    /// The files, by module.
    pub files: BTreeMap<Module, String>,
    /// The imports of the modules, except those in code that is compiled only for tests.
    pub imports: Vec<Import>,
}

/// A path as it is written, made absolute.
struct Path {
    names: Vec<String>,
    line: usize,
    /// The name under which it is exported again, if it is.
    exported_as: Option<String>,
}

/// The crate whose sources are in this folder, as `crates/x/src/`.
pub fn read(sources: &[Source], folder: &str) -> Crate {
    let mut found = Crate::default();
    let mut paths = BTreeMap::new();
    for source in sources {
        let Some(module) = source.path.strip_prefix(folder).and_then(module_of) else { continue };
        paths.insert(module.clone(), paths_in(&module, &without_tests(&tokens(&source.text))));
        found.files.insert(module, source.path.clone());
    }
    let mut exports = BTreeMap::new();
    for (module, paths) in &paths {
        for path in paths {
            if let Some(name) = &path.exported_as {
                exports.insert((module.clone(), name.clone()), path.names.clone());
            }
        }
    }
    for (module, paths) in &paths {
        for path in paths {
            let to = resolve(&path.names, &found.files, &exports, 0);
            if to != *module {
                found.imports.push(Import { from: module.clone(), to, line: path.line });
            }
        }
    }
    found
}

/// The module of a file, by its place. `None` for programs, and for files that are compiled only for tests.
fn module_of(path: &str) -> Option<Module> {
    let mut names: Vec<String> = path.strip_suffix(".rs")?.split('/').map(str::to_owned).collect();
    match names.last()?.as_str() {
        "lib" | "main" if names.len() == 1 => names.clear(),
        "mod" => drop(names.pop()),
        "tests" => return None,
        name if name.ends_with("_tests") => return None,
        _ => {}
    }
    (names.first().map(String::as_str) != Some("bin")).then_some(names)
}

fn paths_in(module: &[String], tokens: &[Token]) -> Vec<Path> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let before = at.checked_sub(1).and_then(|before| tokens.get(before));
        let inside_path = before.is_some_and(|token| token.kind == Kind::Path || token.is("in"));
        let is_use = token.is("use");
        let exported = is_use && before.is_some_and(|token| token.is("pub") || token.is_char(')'));
        let goes_on = tokens.get(at + 1).is_some_and(|token| token.kind == Kind::Path);
        let starts_path = goes_on && ["crate", "super", "self"].iter().any(|start| token.is(start));
        if is_use {
            let mut reader = Reader { tokens, at: at + 1, module, exported, found: &mut found };
            reader.tree(Vec::new());
            at = reader.at;
        } else if starts_path && !inside_path {
            let mut reader = Reader { tokens, at, module, exported: false, found: &mut found };
            reader.tree(Vec::new());
            at = reader.at.max(at + 1);
        } else {
            at += 1;
        }
    }
    found
}

/// Reads one path with its groups.
struct Reader<'t> {
    tokens: &'t [Token],
    at: usize,
    module: &'t [String],
    exported: bool,
    found: &'t mut Vec<Path>,
}

impl Reader<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn tree(&mut self, mut names: Vec<String>) {
        loop {
            let Some(Token { kind, line }) = self.peek().cloned() else { return };
            match kind {
                Kind::Name(name) => {
                    names.push(name);
                    self.at += 1;
                    if !self.peek().is_some_and(|token| token.kind == Kind::Path) {
                        let alias = self.alias();
                        return self.end(&names, line, alias);
                    }
                    self.at += 1;
                }
                Kind::Other('{') => {
                    self.at += 1;
                    return self.group(&names);
                }
                Kind::Other('*') => {
                    self.at += 1;
                    return self.end(&names, line, None);
                }
                _ => return self.end(&names, line, None),
            }
        }
    }

    fn group(&mut self, names: &[String]) {
        while let Some(token) = self.peek() {
            if token.is_char('}') {
                self.at += 1;
                return;
            }
            let before = self.at;
            self.tree(names.to_vec());
            if self.peek().is_some_and(|token| token.is_char(',')) || self.at == before {
                self.at += 1;
            }
        }
    }

    fn alias(&mut self) -> Option<String> {
        let [first, Token { kind: Kind::Name(alias), .. }, ..] = self.tokens.get(self.at..)? else { return None };
        if !first.is("as") {
            return None;
        }
        let alias = alias.clone();
        self.at += 2;
        Some(alias)
    }

    /// Keeps a path that lies in this crate.
    fn end(&mut self, names: &[String], line: usize, alias: Option<String>) {
        let mut absolute = self.module.to_vec();
        let mut rest = names;
        match names.first().map(String::as_str) {
            Some("crate") => absolute.clear(),
            Some("self") => {}
            Some("super") => drop(absolute.pop()),
            // If it is exported, it may be a module of this one. Otherwise it is another crate.
            Some(_) if self.exported => absolute.extend(names.first().cloned()),
            _ => return,
        }
        rest = rest.get(1..).unwrap_or_default();
        while rest.first().is_some_and(|name| name == "super") {
            absolute.pop();
            rest = rest.get(1..).unwrap_or_default();
        }
        if rest.last().is_some_and(|name| name == "self") {
            rest = rest.get(..rest.len() - 1).unwrap_or_default();
        }
        absolute.extend(rest.iter().cloned());
        let exported_as = if self.exported { alias.or_else(|| absolute.last().cloned()) } else { None };
        self.found.push(Path { names: absolute, line, exported_as });
    }
}

/// The exported names, and where they come from.
type Exports = BTreeMap<(Module, String), Vec<String>>;
/// How often an export is followed at most.
const FOLLOWED_MAX: usize = 8;

/// The module that contains what a path names.
fn resolve(names: &[String], files: &BTreeMap<Module, String>, exports: &Exports, followed: usize) -> Module {
    let mut module = Module::new();
    for (at, name) in names.iter().enumerate() {
        let mut inner = module.clone();
        inner.push(name.clone());
        if files.contains_key(&inner) {
            module = inner;
            continue;
        }
        return match exports.get(&(module.clone(), name.clone())) {
            Some(path) if followed < FOLLOWED_MAX && path.as_slice() != names => {
                let path: Vec<String> = path.iter().chain(names.get(at + 1..).unwrap_or_default()).cloned().collect();
                resolve(&path, files, exports, followed + 1)
            }
            _ => module,
        };
    }
    module
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_are_followed_through_groups_parents_and_what_is_exported_again() {
        let sources = [
            ("c/src/lib.rs", "pub mod a; mod b;"),
            ("c/src/a/mod.rs", "mod deep; pub use deep::Thing; pub(crate) use crate::b::Other as Renamed;"),
            ("c/src/a/deep.rs", "use super::super::b::{Other, inner::{X, Y as Z}}; fn f() { crate::b::g::<u8>() }"),
            ("c/src/b/mod.rs", "use crate::a::{self, Thing}; use std::fmt; pub(in crate::a) fn g() {}"),
            ("c/src/b/inner.rs", "use crate::a::Renamed; #[cfg(test)] mod tests { use crate::a::deep::T; }"),
        ];
        let sources = sources.map(|(path, text)| Source { path: path.to_owned(), text: text.to_owned() });
        let found = read(&sources, "c/src/");
        let mut arrows: Vec<String> = found
            .imports
            .iter()
            .map(|import| format!("{} -> {}", import.from.join("::"), import.to.join("::")))
            .collect();
        arrows.sort();
        arrows.dedup();
        assert_eq!(
            arrows,
            [
                "a -> a::deep",
                "a -> b",
                "a::deep -> b",
                "a::deep -> b::inner",
                "b -> a",
                "b -> a::deep",
                "b::inner -> b"
            ]
        );
    }
}
