//! An observation of a request from its head to the last byte of its answer, for the metrics and for the log of
//! requests. It is recorded when it is dropped, so that requests whose clients go away are recorded too.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use bytes::Bytes;
use http::request::Parts;
use http::{Response, StatusCode};
use http_body::{Body, Frame, SizeHint};

use crate::identity::Identity;
use crate::metrics::{Metrics, endpoint_label, method_label};
use crate::request_log::{Entry, Outcome, RequestLines};
use crate::settings::Settings;
use recension_wire::answer::{AnswerBody, BrokenOff};
use recension_wire::arriving::Address;
use recension_wire::connections::UnderWay;
use recension_wire::route::Target;

/// The status in the log if the client has gone before there was an answer. nginx uses it too.
const CLIENT_GONE: u16 = 499;

/// What notes how requests go.
#[derive(Debug)]
pub struct Observers {
    metrics: Arc<Metrics>,
    lines: Arc<RequestLines>,
    /// They say whether there is a log of requests, and its form.
    settings: Arc<Settings>,
}

impl Observers {
    /// The server's.
    pub fn new(metrics: &Arc<Metrics>, lines: &Arc<RequestLines>, settings: &Arc<Settings>) -> Self {
        Observers { metrics: Arc::clone(metrics), lines: Arc::clone(lines), settings: Arc::clone(settings) }
    }
}

/// A request that is under way.
pub struct Observed {
    observers: Arc<Observers>,
    started: Instant,
    method: &'static str,
    endpoint: &'static str,
    status: Option<StatusCode>,
    sent: u64,
    /// The entry for the log of requests, if there is one.
    entry: Option<Box<Entry>>,
}

impl Observed {
    /// Begins when a request's head has arrived.
    pub fn begin(observers: &Arc<Observers>, client: Address, head: &Parts) -> Self {
        let logged = observers.settings.live().log_requests.is_some() && observers.lines.is_open();
        Observed {
            observers: Arc::clone(observers),
            started: Instant::now(),
            method: method_label(&head.method),
            endpoint: "unknown",
            status: None,
            sent: 0,
            entry: logged.then(|| Box::new(Entry::of(client, head))),
        }
    }

    /// Notes the target, and counts the announced length of the body.
    pub fn is_for(&mut self, target: &Target<'_>, announced: Option<u64>) {
        self.endpoint = endpoint_label(target);
        if let Some(bytes) = announced.filter(|bytes| *bytes > 0) {
            self.observers.metrics.received(self.endpoint, bytes);
        }
    }

    /// Notes the identity.
    pub fn is_by(&mut self, identity: &Identity) {
        if let Some(entry) = &mut self.entry {
            entry.user.clone_from(&identity.name);
        }
    }

    /// Notes the answer. Its bytes are counted while they are sent.
    pub fn answered(mut self, answer: Response<AnswerBody>) -> Response<ObservedBody> {
        self.status = Some(answer.status());
        let seconds = self.started.elapsed().as_secs_f64();
        self.observers.metrics.answered(self.method, self.endpoint, answer.status(), seconds);
        answer.map(|body| ObservedBody { body, observed: self, _under_way: None })
    }
}

impl Drop for Observed {
    fn drop(&mut self) {
        if self.status.is_some() {
            self.observers.metrics.sent(self.endpoint, self.sent);
        }
        if let Some(entry) = &self.entry
            && let Some(format) = self.observers.settings.live().log_requests
        {
            let status = self.status.map_or(CLIENT_GONE, |status| status.as_u16());
            let outcome = Outcome { status, bytes: self.sent, seconds: self.started.elapsed().as_secs_f64() };
            if !self.observers.lines.push(format.line(entry, &outcome)) {
                self.observers.metrics.lines_lost.inc();
            }
        }
    }
}

/// An answer's body.
pub struct ObservedBody {
    body: AnswerBody,
    observed: Observed,
    _under_way: Option<UnderWay>,
}

impl ObservedBody {
    /// The body of the answer to a request that is under way until all of it was sent.
    #[must_use]
    pub fn of(self, request: Option<UnderWay>) -> Self {
        ObservedBody { _under_way: request, ..self }
    }
}

impl Body for ObservedBody {
    type Data = Bytes;
    type Error = BrokenOff;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BrokenOff>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        if let Poll::Ready(Some(Ok(frame))) = &polled {
            self.observed.sent += frame.data_ref().map_or(0, |data| data.len() as u64);
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
