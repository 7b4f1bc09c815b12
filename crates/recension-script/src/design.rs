//! Design documents: their views as views of the library, and their other functions. Reading one runs nothing.

use std::sync::Arc;
use std::time::Duration;

use recension::conditions::similar;
use recension::engine::BranchId;
use recension::{
    BuiltIn, Collation, Emitted, Error, MapInput, Mapper, Reducer, Reduction, Result, Signature, View, ViewOptions,
};
use serde_json::{Map, Value};

use crate::error::ScriptError;
use crate::native::{NativeMapper, Program, Projection, whole_text};
use crate::pool::Pool;
use crate::script::Script;

/// The workers that run functions, and the deadline.
#[derive(Clone, Debug)]
pub struct Functions {
    /// The workers.
    pub pool: Pool,
    /// The deadline of a request.
    pub deadline: Duration,
    /// Called with each line that functions log.
    pub log: fn(&str),
}

impl Functions {
    /// The same for functions of a collection: its requests wait behind each other, and its functions see no others'
    /// world. The number is one that no other collection of the branch has.
    #[must_use]
    pub fn of(&self, branch: BranchId, number: u32) -> Self {
        Functions { pool: self.pool.of(&format!("{}:{number}", branch.0)), ..self.clone() }
    }
}

/// A design document.
#[derive(Clone, Debug)]
pub struct Design {
    id: String,
    rev: String,
    members: Map<String, Value>,
}

/// A view of a design document.
#[derive(Clone)]
pub struct DesignView {
    /// The view.
    pub view: View,
    /// The reduction of its rows, if it has one.
    pub reduction: Option<Reduction>,
}

/// A view's definition in a design document.
struct Spec {
    code: String,
    /// The code, and everything else that its rows depend on.
    function: String,
    options: ViewOptions,
    local_seq: bool,
    reduce: Option<String>,
}

impl Design {
    /// A design document with this body.
    pub fn of(id: &str, rev: impl std::fmt::Display, body: &str) -> Self {
        let members = serde_json::from_str(body).unwrap_or_default();
        Design { id: id.to_owned(), rev: rev.to_string(), members }
    }

    /// Its id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Its revision.
    pub fn rev(&self) -> &str {
        &self.rev
    }

    /// Whether its functions are in the language that is run here.
    pub fn is_javascript(&self) -> bool {
        matches!(self.members.get("language"), None | Some(Value::Null))
            || self.members.get("language").and_then(Value::as_str) == Some("javascript")
    }

    /// Refuses functions of a language that is not run here: they would be passed over in silence.
    ///
    /// # Errors
    /// [`Error::Function`], with CouchDB's word.
    pub fn check_language(&self) -> Result<()> {
        if self.is_javascript() {
            return Ok(());
        }
        let language = self.members.get("language").and_then(Value::as_str).unwrap_or("unknown");
        let reason = format!("The functions of {} are in {language}, and only javascript is run here.", self.id);
        Err(function_error("unknown_query_language", reason))
    }

    /// A member.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.members.get(name)
    }

    /// All of its members.
    pub fn members(&self) -> &Map<String, Value> {
        &self.members
    }

    /// An option.
    pub fn option(&self, name: &str) -> Option<bool> {
        self.members.get("options")?.get(name)?.as_bool()
    }

    /// The names of its views.
    pub fn view_names(&self) -> Vec<&str> {
        let views = self.members.get("views").and_then(Value::as_object);
        views
            .into_iter()
            .flatten()
            .filter(|(_, view)| view.get("map").is_some())
            .map(|(name, _)| name.as_str())
            .collect()
    }

    /// A view of this design document; `None` if it has none of that name.
    pub fn view(&self, name: &str, partitioned: bool, functions: &Functions) -> Option<DesignView> {
        let spec = self.spec(name, partitioned)?;
        let world = serde_json::json!({ "views": { "lib": self.lib() } }).to_string();
        let signature = format!("map:{}", Signature::of(&spec.function, spec.options));
        let script = Script::new(functions.pool.clone(), signature, world, functions.deadline);
        let Spec { code, local_seq, .. } = spec;
        let log = functions.log;
        let mapper: Arc<dyn Mapper> = match Program::of(&code) {
            Some(program) => Arc::new(NativeMapper::new(program, local_seq, log)),
            None => {
                let projection = Projection::of(&code);
                Arc::new(JsMapper { script: script.clone(), code, local_seq, log, projection })
            }
        };
        let reduction = spec.reduce.map(|code| match BuiltIn::named(&code) {
            Some(built_in) => Reduction::BuiltIn(built_in),
            None => Reduction::Own(Arc::new(JsReducer { script, code, log: functions.log })),
        });
        let view = View::new(&spec.function, spec.options, mapper).named(format!("{}/{name}", self.id));
        Some(DesignView { view, reduction })
    }

    /// The key that the rows of one of its views are stored under.
    pub fn signature(&self, name: &str, partitioned: bool) -> Option<Signature> {
        self.spec(name, partitioned).map(|spec| Signature::of(&spec.function, spec.options))
    }

    /// The modules that its views can require.
    fn lib(&self) -> Value {
        self.members.get("views").and_then(|views| views.get("lib")).cloned().unwrap_or(Value::Null)
    }

    fn spec(&self, name: &str, partitioned: bool) -> Option<Spec> {
        let own = self.members.get("views")?.get(name)?;
        let code = own.get("map")?.as_str().filter(|_| self.is_javascript())?.to_owned();
        let option = |name: &str| own.get("options").and_then(|options| options.get(name));
        let raw = option("collation").and_then(Value::as_str) == Some("raw");
        let options = ViewOptions {
            collation: if raw { Collation::Raw } else { Collation::Unicode },
            partitioned: partitioned && self.option("partitioned") != Some(false),
            design_documents: self.option("include_design") == Some(true),
        };
        let local_seq = self.option("local_seq") == Some(true);
        let function = serde_json::json!(["javascript", code, self.lib(), local_seq]).to_string();
        // CouchDB takes built-in reductions with white space behind them.
        let reduce = own.get("reduce").and_then(Value::as_str);
        let reduce =
            reduce.map(|code| if code.starts_with('_') { first_word(code) } else { code.trim_end() }.to_owned());
        Some(Spec { code, function, options, local_seq, reduce })
    }

    /// Its functions, ready to run.
    pub fn script(&self, functions: &Functions) -> Script {
        let mut whole = self.members.clone();
        whole.insert("_id".to_owned(), self.id.clone().into());
        whole.insert("_rev".to_owned(), self.rev.clone().into());
        let text = Value::Object(whole).to_string();
        // By what it is: a revision may have another body on a branch, or after a purge.
        let name = named(&self.id, &text);
        Script::new(functions.pool.clone(), name, text, functions.deadline)
    }

    /// Checks the types of its members, as CouchDB does when a design document is written; it runs nothing.
    /// `partitioned`: whether documents of its database are in partitions.
    ///
    /// # Errors
    /// [`Error::Function`], with CouchDB's words.
    pub fn check_form(&self, partitioned: bool) -> Result<()> {
        let refused = |reason: String| function_error("invalid_design_doc", reason);
        let map = if self.get("language").and_then(Value::as_str) == Some("query") { "object" } else { "string" };
        for (path, types) in [
            (&["filters", "*"][..], &["string", "object"][..]),
            (&["language"], &["string"]),
            (&["lists", "*"], &["string", "object"]),
            (&["options", "include_design"], &["boolean"]),
            (&["options", "local_seq"], &["boolean"]),
            (&["options", "partitioned"], &["boolean"]),
            (&["rewrites"], &["array", "string"]),
            (&["shows", "*"], &["string", "object"]),
            (&["updates", "*"], &["string", "object"]),
            (&["validate_doc_update"], &["string"]),
            (&["views", "lib"], &["object"]),
            (&["views", "*", "map"], &[map]),
            (&["views", "*", "reduce"], &["string"]),
        ] {
            check_types(&self.members, path, types, &mut Vec::new())?;
        }
        for (name, view) in self.members.get("views").and_then(Value::as_object).into_iter().flatten() {
            if name != "lib" && view.get("map").is_none() {
                return Err(refused(format!("View `{name}` must contain map function")));
            }
        }
        if !partitioned && self.option("partitioned") == Some(true) {
            let reason = "partitioned option cannot be true in a non-partitioned database.";
            return Err(refused(reason.to_owned()));
        }
        Ok(())
    }

    /// Members that do nothing, and whose names are nearly those of members that do: `validate_doc_updates` and the
    /// name that may be meant. CouchDB takes them too, and programs keep members of their own there, so that they are
    /// told and not refused.
    pub fn misspelt(&self) -> Vec<(String, &'static str)> {
        let views = self.members.get("views").and_then(Value::as_object);
        let views = views.into_iter().flatten().filter(|(name, _)| *name != "lib");
        let mut found = nearly(&self.members, "", &MEMBERS);
        for (name, view) in views {
            found.extend(
                view.as_object().into_iter().flat_map(|view| nearly(view, &format!("views.{name}."), &OF_A_VIEW)),
            );
        }
        let options = self.members.get("options").and_then(Value::as_object);
        found.extend(options.into_iter().flat_map(|options| nearly(options, "options.", &OPTIONS)));
        found
    }

    /// Checks that its functions compile, as CouchDB does when a design document is written.
    pub fn check(&self, functions: &Functions) -> Result<()> {
        // Whether a database has partitions is for the program that has databases.
        self.check_form(true)?;
        if !self.is_javascript() {
            return Ok(());
        }
        let mut checked = Vec::new();
        for (name, view) in self.members.get("views").and_then(Value::as_object).into_iter().flatten() {
            if name == "lib" {
                continue;
            }
            checked.extend(view.get("map").and_then(Value::as_str).map(|code| (name, code)));
            match view.get("reduce").and_then(Value::as_str) {
                Some(code) if BuiltIn::named(first_word(code)).is_some() => {}
                Some(code) if code.starts_with('_') => {
                    let reason = format!("`{code}` is not a supported reduce function.");
                    return Err(function_error("invalid_design_doc", reason));
                }
                code => checked.extend(code.map(|code| (name, code))),
            }
        }
        if checked.is_empty() {
            return Ok(());
        }
        let list = serde_json::json!(checked).to_string();
        // To compile a function runs what is around it: no other's code is in the same world.
        let script = Script::new(functions.pool.clone(), named("check", &list), "{}", functions.deadline);
        script.ask("check", &[("functions", &list)]).map(|_| ()).map_err(error_of)
    }
}

/// Members that mean something here or in CouchDB.
const MEMBERS: [&str; 14] = [
    "_id",
    "_rev",
    "_attachments",
    "language",
    "views",
    "shows",
    "lists",
    "updates",
    "filters",
    "validate_doc_update",
    "rewrites",
    "options",
    "autoupdate",
    "templates",
];
const OF_A_VIEW: [&str; 3] = ["map", "reduce", "options"];
const OPTIONS: [&str; 3] = ["include_design", "local_seq", "partitioned"];

/// The members of an object that are not known, but nearly.
fn nearly(object: &Map<String, Value>, before: &str, known: &'static [&'static str]) -> Vec<(String, &'static str)> {
    let unknown = object.keys().filter(|name| !known.contains(&name.as_str()));
    let meant = |name: &String| Some((format!("{before}{name}"), similar(name, known.iter().copied())?));
    unknown.filter_map(meant).collect()
}

/// The name of a world, which no other text has.
fn named(kind: &str, text: &str) -> String {
    format!("{kind}:{}", Signature::of(text, ViewOptions::default()))
}

/// The name of a built-in reduction. What stands behind it is nothing, as in CouchDB.
fn first_word(code: &str) -> &str {
    code.split(char::is_whitespace).next().unwrap_or_default()
}

/// Refuses a member whose value has none of some types. `*` in the path is every member of an object; all before the
/// last are objects.
fn check_types<'d>(
    object: &'d Map<String, Value>,
    path: &[&str],
    types: &[&str],
    above: &mut Vec<&'d str>,
) -> Result<()> {
    let [name, below @ ..] = path else { return Ok(()) };
    let all = object.iter().filter(|(own, _)| *name == "*" || own == name);
    for (own, value) in all {
        above.push(own);
        let here = if below.is_empty() { types } else { &["object"] };
        if !here.contains(&type_of(value)) {
            let reason = format!("`{}` field must have {} type", above.join("."), here.join(" or "));
            return Err(function_error("invalid_design_doc", reason));
        }
        if let Some(object) = value.as_object() {
            check_types(object, below, types, above)?;
        }
        above.pop();
    }
    Ok(())
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

struct JsMapper {
    script: Script,
    code: String,
    local_seq: bool,
    log: fn(&str),
    /// The members that the function is given; `None`: all.
    projection: Option<Projection>,
}

impl Mapper for JsMapper {
    fn map(&self, documents: &[MapInput]) -> Result<Vec<Vec<Emitted>>> {
        let json = |input: &MapInput| match &self.projection {
            Some(projection) => projection.of_document(input, self.local_seq),
            None => Ok(whole_text(input, self.local_seq)),
        };
        let docs: Vec<String> = documents.iter().map(json).collect::<Result<_>>()?;
        let (rows, log) = self.script.map(&self.code, &docs).map_err(error_of)?;
        for line in &log {
            (self.log)(line);
        }
        let emitted = |(key, value)| Emitted { key, value };
        Ok(rows.into_iter().map(|rows| rows.into_iter().map(emitted).collect()).collect())
    }

    fn parallel(&self) -> usize {
        self.script.parallel()
    }
}

struct JsReducer {
    script: Script,
    code: String,
    log: fn(&str),
}

impl JsReducer {
    fn ask(&self, keys: &str, values: &str, rereduce: bool) -> Result<String> {
        let code = Value::from(self.code.as_str()).to_string();
        let bytes = values.len().to_string();
        let members = [
            ("code", code.as_str()),
            ("keys", keys),
            ("values", values),
            ("rereduce", if rereduce { "true" } else { "false" }),
            ("bytes", &bytes),
        ];
        let answer = match self.script.ask("reduce", &members) {
            // The row says so, as in CouchDB; the others have their values.
            Err(ScriptError::Failed { error, reason }) if error == "reduce_overflow_error" => {
                return Ok(serde_json::json!({ error: reason }).to_string());
            }
            answer => answer.map_err(error_of)?,
        };
        for line in &answer.log {
            (self.log)(line);
        }
        serde_json::from_str(answer.value.get()).map_err(|_| unreadable())
    }
}

/// The first two arguments of a reduce function.
fn keys_and_values(rows: &[(String, String, String)]) -> (String, String) {
    let keys: Vec<String> = rows.iter().map(|(key, id, _)| format!("[{key},{}]", Value::from(id.as_str()))).collect();
    let values: Vec<&str> = rows.iter().map(|(_, _, value)| value.as_str()).collect();
    (format!("[{}]", keys.join(",")), format!("[{}]", values.join(",")))
}

fn unreadable() -> Error {
    function_error("os_process_error", "the answer of the reduce function does not read".into())
}

impl Reducer for JsReducer {
    fn reduce(&self, rows: &[(String, String, String)]) -> Result<String> {
        let (keys, values) = keys_and_values(rows);
        self.ask(&keys, &values, false)
    }

    fn reduce_groups(&self, groups: &[Vec<(String, String, String)>]) -> Result<Vec<String>> {
        let mut told = String::from("[");
        for rows in groups {
            if told.len() > 1 {
                told.push(',');
            }
            let (keys, values) = keys_and_values(rows);
            let bytes = values.len().to_string();
            told.extend(["{\"keys\":", &keys, ",\"values\":", &values, ",\"bytes\":", &bytes, "}"]);
        }
        told.push(']');
        let code = Value::from(self.code.as_str()).to_string();
        let answer = self.script.ask("reduce_groups", &[("code", &code), ("groups", &told)]).map_err(error_of)?;
        answer.log.iter().for_each(|line| (self.log)(line));
        serde_json::from_str(answer.value.get()).map_err(|_| unreadable())
    }

    fn signature(&self) -> Option<String> {
        Some(format!("javascript:{}", self.code))
    }

    fn rereduce(&self, values: &[String]) -> Result<String> {
        self.ask("null", &format!("[{}]", values.join(",")), true)
    }
}

/// The library's error for a script's error.
pub fn error_of(error: ScriptError) -> Error {
    match error {
        ScriptError::Failed { error, reason } => function_error(&error, reason),
        other => function_error("os_process_error", other.to_string()),
    }
}

fn function_error(error: &str, reason: String) -> Error {
    Error::Function { error: error.to_owned(), reason }
}
