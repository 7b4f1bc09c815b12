//! Work on a thread of Node's pool, as a promise; refusals as errors whose message is JSON.

use napi::bindgen_prelude::{AsyncTask, Task, ToNapiValue, TypeName};
use napi::{Env, Status};
use recension::Error;
use recension::json::quote;
use recension_bindings::{Refused, Result};

type Work<T> = Box<dyn FnOnce() -> Result<T> + Send>;

/// A call that is under way.
pub struct Job<T> {
    work: Option<Work<T>>,
}

/// Runs `work` on another thread.
pub(crate) fn promise<T: Send>(work: impl FnOnce() -> Result<T> + Send + 'static) -> AsyncTask<Job<T>>
where
    Job<T>: Task,
{
    AsyncTask::new(Job { work: Some(Box::new(work)) })
}

impl<T: ToNapiValue + TypeName + Send + 'static> Task for Job<T> {
    type Output = T;
    type JsValue = T;

    fn compute(&mut self) -> napi::Result<T> {
        match self.work.take() {
            Some(work) => work().map_err(|refused| thrown(&refused)),
            None => Err(napi::Error::from_reason("the call has been made already")),
        }
    }

    fn resolve(&mut self, _env: Env, output: T) -> napi::Result<T> {
        Ok(output)
    }
}

/// A refusal as an error, whose message `index.js` reads.
pub(crate) fn thrown(refused: &Refused) -> napi::Error {
    napi::Error::new(Status::GenericFailure, told(refused))
}

/// A refusal as JSON.
pub(crate) fn told(refused: &Refused) -> String {
    let mut members = vec![("code", refused.kind().name().to_owned()), ("message", refused.to_string())];
    let error = match refused {
        Refused::Store(error) => Some(error.cause()),
        _ => None,
    };
    match error {
        Some(Error::Conflict { id, expected, found, .. }) => {
            members.push(("id", id.clone()));
            members.extend(expected.as_ref().map(|rev| ("expected", rev.to_string())));
            members.extend(found.as_ref().map(|rev| ("found", rev.to_string())));
        }
        Some(Error::NotUnique { index, id, holder, .. }) => {
            members.extend([("id", id.clone()), ("index", index.clone())]);
            members.extend(holder.clone().map(|holder| ("holder", holder)));
        }
        _ => {}
    }
    let members: Vec<_> = members.iter().map(|(name, value)| format!("\"{name}\":{}", quote(value))).collect();
    format!("{{{}}}", members.join(","))
}
