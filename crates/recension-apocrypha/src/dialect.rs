//! The two dialects: a value for each, with a field for every difference between the existing servers. Nothing else in
//! this crate asks which dialect it is.

use std::fmt;
use std::str::FromStr;

/// The properties in which the existing servers differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
// Each is a difference of its own, and two values have them all.
#[allow(clippy::struct_excessive_bools)]
pub struct Dialect {
    /// Its name.
    pub name: &'static str,
    /// The end of an array from which `--pop` takes.
    pub pop_takes: End,
    /// Whether `--pop` also takes whole values that are no arrays.
    pub pop_takes_anything: bool,
    /// Whether `-` removes all occurrences and ignores missing values. Otherwise it removes the first, and a missing
    /// one is an error.
    pub remove_all: bool,
    /// Whether `-` removes members of objects.
    pub remove_members: bool,
    /// Whether `+` makes a number or a boolean the first element of an array.
    pub append_to_scalars: bool,
    /// Whether `=` without values deletes.
    pub assign_nothing_deletes: bool,
    /// The empty values that vanish after a write.
    pub normal: Normal,
    /// How values are printed.
    pub print: Print,
    /// Whether replies end with a newline.
    pub newline_at_end: bool,
    /// Whether a leading `-s` means `--strict` (otherwise `--set`), and whether `-c` is only allowed before the path.
    pub flags_lead: bool,
    /// Whether a reference's target of several words is a path if no key has that name. Also whether references are
    /// looked up in their own object (otherwise at the top), and whether an object's keys are references.
    pub references_are_paths: bool,
    /// Whether strings that begin with `!` are followed.
    pub symlinks: bool,
    /// Whether `-c` also prefixes objects.
    pub context_on_objects: bool,
    /// Whether `-c` also prefixes the output of `--pop`.
    pub context_on_pop: bool,
    /// The texts of errors.
    pub errors: Errors,
}

/// An end of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Its first element.
    First,
    /// Its last one.
    Last,
}

/// The empty values that vanish after a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Normal {
    /// `null`, `""`, `[]` and `{}` in the objects along the path.
    AlongThePath,
    /// Every falsy value in the whole member of the top level; and an array of one element becomes that element.
    Everywhere,
}

/// How values are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Print {
    /// Objects as indented JSON.
    Json,
    /// Objects as Python writes them; JSON in ASCII.
    Python,
}

/// The texts of errors in which the existing servers differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Errors {
    /// Short ones.
    Plain,
    /// With keys and types.
    Detailed,
}

impl Dialect {
    /// As the server in Haskell has it.
    pub const HASKELL: Dialect = Dialect {
        name: "haskell",
        pop_takes: End::First,
        pop_takes_anything: false,
        remove_all: true,
        remove_members: false,
        append_to_scalars: false,
        assign_nothing_deletes: false,
        normal: Normal::AlongThePath,
        print: Print::Json,
        newline_at_end: false,
        flags_lead: false,
        references_are_paths: false,
        symlinks: false,
        context_on_objects: false,
        context_on_pop: true,
        errors: Errors::Plain,
    };

    /// As the server in Python has it.
    pub const PYTHON: Dialect = Dialect {
        name: "python",
        pop_takes: End::Last,
        pop_takes_anything: true,
        remove_all: false,
        remove_members: true,
        append_to_scalars: true,
        assign_nothing_deletes: true,
        normal: Normal::Everywhere,
        print: Print::Python,
        newline_at_end: true,
        flags_lead: true,
        references_are_paths: true,
        symlinks: true,
        context_on_objects: true,
        context_on_pop: false,
        errors: Errors::Detailed,
    };

    /// Both.
    pub const ALL: [Dialect; 2] = [Dialect::HASKELL, Dialect::PYTHON];
}

impl Default for Dialect {
    fn default() -> Self {
        Dialect::HASKELL
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl FromStr for Dialect {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Dialect::ALL.into_iter().find(|dialect| dialect.name == text);
        known.ok_or_else(|| format!("there are the dialects haskell and python, and none is called {text:?}"))
    }
}
