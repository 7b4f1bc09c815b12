//! The text of a message of a topic, made once for all listeners that are told it, and paid for once. It must not
//! outlive them: a text that nobody sends any more takes no memory.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use parking_lot::Mutex;
use recension::engine::budget::{FREE_BYTES, Share};
use recension::json::quote;
use recension::{Message, Received};

use recension_wire::error::Result;
use recension_wire::streams::Streams;

/// Texts that are found again. Listeners are at different messages if some read slowly.
const TEXTS_MAX: usize = 128;

/// The texts of the messages that were said last, as long as somebody sends them: many listeners are told the same.
#[derive(Debug, Default)]
pub struct Spoken(Mutex<VecDeque<Said>>);

#[derive(Debug)]
struct Said {
    message: Weak<Message>,
    prefix: usize,
    text: Weak<Text>,
}

/// A text, with its part of what may wait to be sent.
#[derive(Debug)]
pub struct Text {
    json: String,
    _room: Option<Share>,
}

impl std::ops::Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        &self.json
    }
}

impl Spoken {
    /// The text of what was received, once there is room for it.
    ///
    /// # Errors
    /// 503 if there was none for as long as a reader may take.
    pub async fn text_of(&self, received: &Received, prefix: usize, streams: &Streams) -> Result<Arc<Text>> {
        let Received::Message(message, _) = received else {
            return Ok(Arc::new(Text { json: json_of(received, prefix), _room: None }));
        };
        if let Some(text) = self.said(message, prefix) {
            return Ok(text);
        }
        let length = message.payload.len();
        let mut room = if length > FREE_BYTES { Some(streams.room(length).await?) } else { None };
        // Others may have made it meanwhile.
        if let Some(text) = self.said(message, prefix) {
            return Ok(text);
        }
        let json = json_of(received, prefix);
        if let Some(room) = &mut room {
            room.settle(json.capacity());
        }
        let text = Arc::new(Text { json, _room: room });
        let mut all = self.0.lock();
        if all.len() >= TEXTS_MAX {
            all.pop_front();
        }
        all.push_back(Said { message: Arc::downgrade(message), prefix, text: Arc::downgrade(&text) });
        Ok(text)
    }

    fn said(&self, message: &Arc<Message>, prefix: usize) -> Option<Arc<Text>> {
        let is_same = |said: &&Said| said.prefix == prefix && std::ptr::eq(said.message.as_ptr(), Arc::as_ptr(message));
        self.0.lock().iter().rev().find(is_same).and_then(|said| said.text.upgrade())
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
