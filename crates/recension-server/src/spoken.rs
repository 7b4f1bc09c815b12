//! The text of a message of a topic, made once for all listeners that are told it. It must not outlive them: a text
//! that nobody sends any more takes no memory.

use std::sync::{Arc, Weak};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use parking_lot::Mutex;
use recension::json::quote;
use recension::{Message, Received};

/// The text of the message that was said last, as long as somebody sends it: many listeners are told the same.
#[derive(Debug, Default)]
pub(crate) struct Spoken(Mutex<Option<Said>>);

#[derive(Debug)]
struct Said {
    message: Weak<Message>,
    prefix: usize,
    text: Weak<str>,
}

impl Spoken {
    /// The text of what was received.
    pub(crate) fn text_of(&self, received: &Received, prefix: usize) -> Arc<str> {
        let Received::Message(message, _) = received else { return json_of(received, prefix).into() };
        let said = |said: &Said| {
            let same = said.prefix == prefix && std::ptr::eq(said.message.as_ptr(), Arc::as_ptr(message));
            same.then(|| said.text.upgrade()).flatten()
        };
        if let Some(text) = self.0.lock().as_ref().and_then(said) {
            return text;
        }
        let text: Arc<str> = json_of(received, prefix).into();
        *self.0.lock() = Some(Said { message: Arc::downgrade(message), prefix, text: Arc::downgrade(&text) });
        text
    }
}

/// The topic and the message, as text if it is text; or how many were missed.
fn json_of(received: &Received, prefix: usize) -> String {
    match received {
        Received::Missed(missed) => format!("{{\"missed\":{missed}}}"),
        Received::Message(message, _) => {
            let topic = quote(&String::from_utf8_lossy(message.topic.get(prefix..).unwrap_or_default()));
            match std::str::from_utf8(&message.payload) {
                Ok(text) => format!("{{\"topic\":{topic},\"message\":{}}}", quote(text)),
                Err(_) => format!("{{\"topic\":{topic},\"base64\":\"{}\"}}", BASE64_STANDARD.encode(&message.payload)),
            }
        }
    }
}
