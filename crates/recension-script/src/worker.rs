//! A worker: reads requests from standard input, runs them in JavaScript, and writes answers to standard output. It can
//! open no file and no socket, and its memory is bounded. The functions that it runs may be hostile: it trusts nothing
//! and holds nothing of value.

use std::collections::HashMap;
use std::io::{self, BufReader, BufWriter};

use rquickjs::{CatchResultExt as _, Context, Function, Runtime};

use crate::confine;
use crate::frame;
use crate::limits::{SCRIPT_MEMORY_BYTES_MAX, SCRIPT_STACK_BYTES_MAX};

const PRELUDE: &str = include_str!("prelude.js");

/// Runs until the standard input ends. Must be called before anything else, in a process that was started for it.
///
/// # Errors
/// If the process cannot be confined, or the server is gone.
pub fn run() -> io::Result<()> {
    let runtime = Runtime::new().map_err(|error| io::Error::other(error.to_string()))?;
    runtime.set_memory_limit(SCRIPT_MEMORY_BYTES_MAX);
    runtime.set_max_stack_size(SCRIPT_STACK_BYTES_MAX);
    let (mut input, mut output) = (BufReader::new(io::stdin()), BufWriter::new(io::stdout()));
    confine::watch_parent()?;
    confine::confine()?;
    let mut worlds: HashMap<Vec<u8>, Context> = HashMap::new();
    while let Some(name) = frame::read(&mut input)? {
        let Some(request) = frame::read(&mut input)? else { break };
        // An empty request removes a world.
        if request.is_empty() {
            worlds.remove(&name);
            runtime.run_gc();
            continue;
        }
        let answer = match world(&runtime, &mut worlds, name) {
            Ok(context) => answer(context, &request),
            Err(error) => failure(&error.to_string()),
        };
        frame::write(&mut output, answer.as_bytes())
            .or_else(|_| frame::write(&mut output, failure("the answer of the function is too long").as_bytes()))?;
    }
    Ok(())
}

/// The world of a design document: a global object of its own.
fn world<'w>(
    runtime: &Runtime,
    worlds: &'w mut HashMap<Vec<u8>, Context>,
    name: Vec<u8>,
) -> rquickjs::Result<&'w Context> {
    use std::collections::hash_map::Entry;
    match worlds.entry(name) {
        Entry::Occupied(world) => Ok(world.into_mut()),
        Entry::Vacant(place) => {
            let context = Context::full(runtime)?;
            context.with(|ctx| ctx.eval::<(), _>(PRELUDE))?;
            Ok(place.insert(context))
        }
    }
}

fn answer(context: &Context, request: &[u8]) -> String {
    let Ok(request) = std::str::from_utf8(request) else { return failure("the request is not UTF-8") };
    context.with(|ctx| {
        let run = || -> rquickjs::Result<String> {
            let run: Function<'_> = ctx.globals().get("__run")?;
            run.call((request,))
        };
        run().catch(&ctx).unwrap_or_else(|error| failure(&error.to_string()))
    })
}

fn failure(reason: &str) -> String {
    serde_json::json!({ "error": "os_process_error", "reason": reason }).to_string()
}
