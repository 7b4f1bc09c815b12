//! Records of FastCGI: eight bytes of head, at most 65,535 of content, and padding.

/// Bytes of a record's head.
pub const HEAD_BYTES: usize = 8;

/// The longest content of a record.
pub const CONTENT_BYTES_MAX: usize = 65_535;

/// The only version of the protocol.
pub const VERSION: u8 = 1;

/// A request begins.
pub const BEGIN_REQUEST: u8 = 1;
/// The web server aborts a request.
pub const ABORT_REQUEST: u8 = 2;
/// A request is answered.
pub const END_REQUEST: u8 = 3;
/// Variables of a request. A record without content means that all were sent.
pub const PARAMS: u8 = 4;
/// Bytes of a request's body. A record without content means that the body is whole.
pub const STDIN: u8 = 5;
/// Bytes of an answer.
pub const STDOUT: u8 = 6;
/// A question about the application itself.
pub const GET_VALUES: u8 = 9;
/// The answer to that question.
pub const GET_VALUES_RESULT: u8 = 10;
/// The answer to a record of an unknown kind.
pub const UNKNOWN_TYPE: u8 = 11;

/// A record's head.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Head {
    /// The version of the protocol.
    pub version: u8,
    /// The kind of record.
    pub kind: u8,
    /// The number of its request; 0: none.
    pub id: u16,
    /// Bytes of content.
    pub content: u16,
    /// Bytes of padding after the content.
    pub padding: u8,
}

impl Head {
    /// Reads one.
    pub fn read(bytes: [u8; HEAD_BYTES]) -> Self {
        let [version, kind, id_high, id_low, content_high, content_low, padding, _] = bytes;
        Head {
            version,
            kind,
            id: u16::from_be_bytes([id_high, id_low]),
            content: u16::from_be_bytes([content_high, content_low]),
            padding,
        }
    }

    /// Bytes of the whole record.
    pub fn length(&self) -> usize {
        HEAD_BYTES + usize::from(self.content) + usize::from(self.padding)
    }
}

/// The head of a record with so much content, without padding.
pub fn head(kind: u8, id: u16, length: u16) -> [u8; HEAD_BYTES] {
    let ([id_high, id_low], [high, low]) = (id.to_be_bytes(), length.to_be_bytes());
    [VERSION, kind, id_high, id_low, high, low, 0, 0]
}

/// Appends a record, or as many as the content needs. Without content it appends one empty record.
pub fn push(kind: u8, id: u16, content: &[u8], out: &mut Vec<u8>) {
    let mut rest = content;
    loop {
        let (part, after) = rest.split_at(rest.len().min(CONTENT_BYTES_MAX));
        out.extend_from_slice(&head(kind, id, u16::try_from(part.len()).unwrap_or(u16::MAX)));
        out.extend_from_slice(part);
        rest = after;
        if rest.is_empty() {
            return;
        }
    }
}

/// How a request ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// It was answered.
    Complete = 0,
    /// The connection has too many requests.
    Overloaded = 2,
    /// The request asks for another role than to answer it.
    UnknownRole = 3,
}

/// Appends the record that ends a request.
pub fn push_end(id: u16, ended: Ended, out: &mut Vec<u8>) {
    push(END_REQUEST, id, &[0, 0, 0, 0, ended as u8, 0, 0, 0], out);
}
