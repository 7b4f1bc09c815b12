//! gzip for attachments: zlib, whose output revisions depend on. In a build without `attachments-compression` its place
//! is taken by a coder that refuses every byte, so that nothing is stored or read otherwise than with it.

#[cfg(feature = "attachments-compression")]
pub use flate2::{bufread::GzDecoder as Reader, write::GzDecoder as Decoder, write::GzEncoder as Encoder};

/// The encoder. Equal input gives equal output for ever: no time, and flags and level as zlib itself writes them.
#[cfg(feature = "attachments-compression")]
pub fn encoder() -> Encoder<Vec<u8>> {
    /// CouchDB's `compression_level`.
    const LEVEL: u32 = 8;
    /// The operating system in zlib's header on Unix, used on every system: revisions depend on it.
    const OPERATING_SYSTEM: u8 = 3;
    let builder = flate2::GzBuilder::new().mtime(0).operating_system(OPERATING_SYSTEM);
    builder.write(Vec::new(), flate2::Compression::new(LEVEL))
}

#[cfg(not(feature = "attachments-compression"))]
pub use self::absent::{Coder as Decoder, Coder as Encoder, Coder as Reader, encoder};

#[cfg(not(feature = "attachments-compression"))]
mod absent {
    use std::io;

    use recension_engine::EngineError;

    fn refused<T>() -> io::Result<T> {
        let what = "an attachment that is stored compressed";
        Err(io::Error::other(EngineError::not_built_in(what, "attachments-compression")))
    }

    pub fn encoder() -> Coder<Vec<u8>> {
        Coder(Vec::new())
    }

    /// Refuses whatever it is to read or to write.
    pub struct Coder<T>(T);

    impl<T> Coder<T> {
        pub fn new(inner: T) -> Self {
            Coder(inner)
        }

        pub fn get_mut(&mut self) -> &mut T {
            &mut self.0
        }

        pub fn into_inner(self) -> T {
            self.0
        }

        pub fn finish(self) -> io::Result<T> {
            refused()
        }
    }

    impl<T> io::Write for Coder<T> {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            refused()
        }

        fn flush(&mut self) -> io::Result<()> {
            refused()
        }
    }

    impl<T> io::Read for Coder<T> {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            refused()
        }
    }
}
