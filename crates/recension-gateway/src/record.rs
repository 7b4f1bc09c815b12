//! Records of FastCGI: eight bytes of head, at most 65,535 of content, and padding.

/// Bytes of a record's head.
pub const HEAD_BYTES: usize = 8;

/// The longest content of a record.
pub const CONTENT_BYTES_MAX: usize = 65_535;

/// The version of the protocol that there is.
pub const VERSION: u8 = 1;

/// A request begins.
pub const BEGIN_REQUEST: u8 = 1;
/// The web server gives a request up.
pub const ABORT_REQUEST: u8 = 2;
/// A request is answered.
pub const END_REQUEST: u8 = 3;
/// Variables of a request; without content: all are there.
pub const PARAMS: u8 = 4;
/// Bytes of a request's body; without content: it is whole.
pub const STDIN: u8 = 5;
/// Bytes of an answer.
pub const STDOUT: u8 = 6;
/// What is asked of the application itself.
pub const GET_VALUES: u8 = 9;
/// The answer to that.
pub const GET_VALUES_RESULT: u8 = 10;
/// The answer to what is not known.
pub const UNKNOWN_TYPE: u8 = 11;

/// A record's head.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Head {
    /// What version of the protocol it is of.
    pub version: u8,
    /// What it is.
    pub kind: u8,
    /// Which request it is of; 0: none.
    pub id: u16,
    /// Bytes of content.
    pub content: u16,
    /// Bytes behind it that mean nothing.
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

/// Appends a record, or as many as the content needs; without content one that has none.
pub fn push(kind: u8, id: u16, content: &[u8], out: &mut Vec<u8>) {
    let mut rest = content;
    loop {
        let (part, after) = rest.split_at(rest.len().min(CONTENT_BYTES_MAX));
        let length = u16::try_from(part.len()).unwrap_or(u16::MAX);
        let ([id_high, id_low], [high, low]) = (id.to_be_bytes(), length.to_be_bytes());
        out.extend_from_slice(&[VERSION, kind, id_high, id_low, high, low, 0, 0]);
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
    /// There are too many of them.
    Overloaded = 2,
    /// It wants something that is not an answer.
    UnknownRole = 3,
}

/// Appends the record that ends a request.
pub fn push_end(id: u16, ended: Ended, out: &mut Vec<u8>) {
    push(END_REQUEST, id, &[0, 0, 0, 0, ended as u8, 0, 0, 0], out);
}
