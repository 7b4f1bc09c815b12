//! A client's TLS connection in two halves: what is decrypted and what is encrypted share the keys for a moment, and
//! never while one of them waits for the network.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

use parking_lot::Mutex;
use rustls::ClientConnection;

use crate::wire::{Halves, Patient};

/// Bytes that are read from the network at once: more than the longest record.
const READ_BYTES: usize = 32 << 10;

/// The halves of a connection whose handshake is done.
pub(super) fn halves(connection: ClientConnection, stream: TcpStream) -> io::Result<Halves> {
    let tls = Arc::new(Mutex::new(connection));
    let reading = Reading {
        stream: stream.try_clone()?,
        tls: Arc::clone(&tls),
        encrypted: vec![0; READ_BYTES],
        from: 0,
        to: 0,
        at_end: false,
    };
    let waiting = stream.try_clone()?;
    let greeted = Box::new(move || waiting.set_read_timeout(None));
    let read = Box::new(Patient { from: reading, process: None });
    Ok(Halves { read, write: Box::new(Writing { stream, tls, encrypted: Vec::new() }), greeted })
}

struct Reading {
    stream: TcpStream,
    tls: Arc<Mutex<ClientConnection>>,
    encrypted: Vec<u8>,
    /// What was read and not yet decrypted.
    from: usize,
    to: usize,
    at_end: bool,
}

impl Read for Reading {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            {
                let mut tls = self.tls.lock();
                match tls.reader().read(out) {
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock && !self.at_end => {}
                    done => return done,
                }
                if self.from < self.to {
                    let mut encrypted = &self.encrypted[self.from..self.to];
                    tls.read_tls(&mut encrypted)?;
                    self.from = self.to - encrypted.len();
                    tls.process_new_packets().map_err(io::Error::other)?;
                    continue;
                }
            }
            // Nobody holds the keys while this waits.
            let read = match self.stream.read(&mut self.encrypted) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                read => read?,
            };
            (self.from, self.to) = (0, read);
            if read == 0 {
                self.at_end = true;
                let mut tls = self.tls.lock();
                tls.read_tls(&mut io::empty())?;
                tls.process_new_packets().map_err(io::Error::other)?;
            }
        }
    }
}

struct Writing {
    stream: TcpStream,
    tls: Arc<Mutex<ClientConnection>>,
    encrypted: Vec<u8>,
}

impl Write for Writing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = {
            let mut tls = self.tls.lock();
            let taken = tls.writer().write(bytes)?;
            while tls.wants_write() {
                tls.write_tls(&mut self.encrypted)?;
            }
            taken
        };
        let sent = self.stream.write_all(&self.encrypted);
        self.encrypted.clear();
        sent.map(|()| taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}
