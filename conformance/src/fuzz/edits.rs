//! Reads an input as a list of edits to a file. A fuzzer that had to invent whole files would hardly get past the first
//! checksum. Every input is a valid list of edits.

/// Takes values from the beginning of an input. Returns zeros when it is used up.
pub(super) struct Source<'i>(pub(super) &'i [u8]);

impl<'i> Source<'i> {
    pub(super) fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    pub(super) fn number(&mut self) -> usize {
        usize::from(self.byte()) << 8 | usize::from(self.byte())
    }

    pub(super) fn take(&mut self, len: usize) -> &'i [u8] {
        let (taken, rest) = self.0.split_at(len.min(self.0.len()));
        self.0 = rest;
        taken
    }
}

/// Most bytes that an edited file may have.
const LEN_MAX: usize = 64 << 10;

/// The file after the edits.
pub(super) fn edited(file: &[u8], source: &mut Source<'_>) -> Vec<u8> {
    let mut file = file.to_vec();
    while !source.0.is_empty() {
        let kind = source.byte();
        let at = source.number() % (file.len() + 1);
        match kind % 8 {
            // Other bytes in place of some.
            0..=2 => {
                let len = 1 + usize::from(source.byte() % 16);
                let bytes = source.take(len);
                let end = (at + bytes.len()).min(file.len());
                file[at..end].copy_from_slice(&bytes[..end - at]);
            }
            // One bit.
            3 => {
                let bit = source.byte() % 8;
                if let Some(byte) = file.get_mut(at) {
                    *byte ^= 1 << bit;
                }
            }
            // A part of the file copied to another place.
            4 => {
                let from = source.number() % (file.len() + 1);
                let end = (from + source.number() % 2048).min(file.len());
                let part = file[from..end].to_vec();
                let end = (at + part.len()).min(file.len());
                file[at..end].copy_from_slice(&part[..end - at]);
            }
            // Cut, extended, removed, inserted.
            5 => file.truncate(at),
            6 => {
                let len = (file.len() + source.number() % 5000).min(LEN_MAX);
                let fill = source.byte();
                file.resize(len, fill);
            }
            _ => {
                let end = (at + usize::from(source.byte())).min(file.len());
                let len = usize::from(source.byte() % 32);
                file.splice(at..end, source.take(len).iter().copied());
            }
        }
    }
    file
}
