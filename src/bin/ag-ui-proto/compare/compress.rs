//! Compressors that hand over every event at once: those of the library, which serve a body.
//!
//! A server that compresses a stream must flush after each event, or the event waits in the
//! compressor until others fill its block. A flush costs bytes, which is why compressing a file
//! says little about compressing a stream. Here one compressor serves one session, as one would
//! serve a response body.

use std::io;
use std::time::Instant;

use ag_ui_proto::{negotiate, stream};
use bytes::BytesMut;

use super::histogram::Histogram;

/// A content coding of HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coding {
    Gzip,
    Brotli,
    Zstd,
}

impl Coding {
    pub(crate) const ALL: [Self; 3] = [Self::Gzip, Self::Brotli, Self::Zstd];

    /// The name in HTTP.
    pub(crate) fn as_str(self) -> &'static str {
        negotiate::Coding::from(self).as_str()
    }

    pub(crate) fn settings(self) -> &'static str {
        match self {
            Self::Gzip => "level 6, window 32 KiB",
            Self::Brotli => "quality 5, window 256 KiB",
            Self::Zstd => "level 3, window 256 KiB",
        }
    }

    /// Bytes that a compressor holds, most of them from its first event on. The libraries do not
    /// say: for gzip and br an allocator does that counts (`tests/bounds`), for zstd a test below.
    pub(crate) fn memory(self) -> u64 {
        match self {
            Self::Gzip => 352_104,
            Self::Brotli => 1_682_278,
            Self::Zstd => 1_828_377,
        }
    }
}

impl From<Coding> for negotiate::Coding {
    fn from(coding: Coding) -> Self {
        match coding {
            Coding::Gzip => Self::Gzip,
            Coding::Brotli => Self::Brotli,
            Coding::Zstd => Self::Zstd,
        }
    }
}

/// One compressor, at work on one stream.
pub(crate) struct Compressor {
    engine: stream::Compressor,
    out: BytesMut,
    /// Time that an event takes.
    pub(crate) times: Histogram,
}

impl Compressor {
    pub(crate) fn new(coding: Coding) -> io::Result<Self> {
        let engine = stream::Compressor::new(coding.into()).map_err(io::Error::other)?;
        Ok(Self { engine, out: BytesMut::new(), times: Histogram::default() })
    }

    /// Compresses the bytes of an event, and gives all that a reader needs to have them whole.
    ///
    /// # Errors
    ///
    /// What the compressor says; it is not expected to.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> io::Result<&[u8]> {
        let start = Instant::now();
        self.out.clear();
        self.engine.push(bytes, &mut self.out)?;
        self.times.add(u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX));
        Ok(&self.out)
    }

    /// Ends the stream, and gives its last bytes.
    ///
    /// # Errors
    ///
    /// As [`Compressor::push`].
    pub(crate) fn finish(&mut self) -> io::Result<&[u8]> {
        self.out.clear();
        self.engine.finish(&mut self.out)?;
        Ok(&self.out)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::collections::VecDeque;
    use std::io::{Read, Write};
    use std::rc::Rc;

    use super::*;

    /// Bytes as they arrived; behind the last of them a reader would have to wait.
    #[derive(Clone, Default)]
    struct Arrived(Rc<RefCell<VecDeque<u8>>>);

    impl Read for Arrived {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            match self.0.borrow_mut().read(buffer)? {
                0 => Err(io::ErrorKind::WouldBlock.into()),
                len => Ok(len),
            }
        }
    }

    /// What a reader has more of the stream, once more bytes arrived.
    type Reader = Box<dyn FnMut(&[u8]) -> Vec<u8>>;

    fn reader(coding: Coding) -> Reader {
        match coding {
            Coding::Gzip => {
                let mut reader = flate2::write::GzDecoder::new(Vec::new());
                Box::new(move |bytes| {
                    reader.write_all(bytes).unwrap();
                    reader.flush().unwrap();
                    std::mem::take(reader.get_mut())
                })
            }
            Coding::Zstd => {
                let mut reader = zstd::stream::write::Decoder::new(Vec::new()).unwrap();
                Box::new(move |bytes| {
                    reader.write_all(bytes).unwrap();
                    reader.flush().unwrap();
                    std::mem::take(reader.get_mut())
                })
            }
            // Its writing decoder holds back what it has read.
            Coding::Brotli => {
                let arrived = Arrived::default();
                let mut reader = brotli::Decompressor::new(arrived.clone(), 4096);
                Box::new(move |bytes| {
                    arrived.0.borrow_mut().extend(bytes);
                    all_there_is(&mut reader)
                })
            }
        }
    }

    /// Reads until the reader would have to wait, or the stream ends.
    fn all_there_is(reader: &mut impl Read) -> Vec<u8> {
        let (mut all, mut part) = (Vec::new(), [0; 4096]);
        loop {
            match reader.read(&mut part) {
                Ok(0) => return all,
                Ok(len) => all.extend_from_slice(&part[..len]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return all,
                Err(error) => panic!("{error}"),
            }
        }
    }

    #[test]
    fn every_flush_makes_the_event_whole_for_a_reader() {
        let events = [
            b"data: {\"type\":\"TEXT_MESSAGE_END\",\"messageId\":\"m\"}\n\n".to_vec(),
            b"\0\0\0\x09\x1a\x07\x0a\x02\x08\x02\x12\x01m".to_vec(),
            b"x".to_vec(),
            // Longer than every buffer, and not to be compressed much.
            (0..200_000_u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect(),
            b"data: {\"type\":\"TEXT_MESSAGE_END\",\"messageId\":\"m\"}\n\n".to_vec(),
        ];
        for coding in Coding::ALL {
            let (mut compressor, mut reader) = (Compressor::new(coding).unwrap(), reader(coding));
            for event in &events {
                let flushed = compressor.push(event).unwrap();
                assert!(reader(flushed) == *event, "{}", coding.as_str());
            }
            let end = compressor.finish().unwrap();
            assert!(!end.is_empty() && reader(end).is_empty(), "{}", coding.as_str());
        }
    }

    #[test]
    fn a_body_of_whole_streams_reads_back() {
        for coding in Coding::ALL {
            let mut compressor = Compressor::new(coding).unwrap();
            let mut body = compressor.push(b"data: {}\n\n").unwrap().to_vec();
            body.extend_from_slice(compressor.push(b"data: []\n\n").unwrap());
            body.extend_from_slice(compressor.finish().unwrap());
            let text = match coding {
                Coding::Gzip => io::read_to_string(flate2::read::GzDecoder::new(&body[..])),
                Coding::Brotli => io::read_to_string(brotli::Decompressor::new(&body[..], 4096)),
                Coding::Zstd => {
                    io::read_to_string(zstd::stream::read::Decoder::new(&body[..]).unwrap())
                }
            };
            assert_eq!(text.unwrap(), "data: {}\n\ndata: []\n\n", "{}", coding.as_str());
        }
    }

    /// The windows that the streams announce: a reader needs as much.
    #[test]
    fn the_windows_are_the_ones_that_are_told() {
        let first = |coding| {
            let mut compressor = Compressor::new(coding).unwrap();
            compressor.push(&[b'x'; 1000]).unwrap().to_vec()
        };
        // RFC 7932, 9.1: the lowest bits, of which 1011 stand for 2^18 less 16.
        assert_eq!(first(Coding::Brotli)[0] & 0xf, 0b0011);
        assert!(Coding::Brotli.settings().ends_with("window 256 KiB"));
        // RFC 8878, 3.1.1.1.2: an exponent above 10, and eighths of its power of two.
        assert_eq!(first(Coding::Zstd)[5], (18 - 10) << 3);
        assert!(Coding::Zstd.settings().ends_with("window 256 KiB"));
    }

    #[test]
    fn zstd_holds_what_is_told() {
        let mut context = zstd::zstd_safe::CCtx::create();
        context.set_parameter(zstd::zstd_safe::CParameter::CompressionLevel(3)).unwrap();
        context.set_parameter(zstd::zstd_safe::CParameter::WindowLog(18)).unwrap();
        let mut out = [0; 4096];
        let mut out = zstd::zstd_safe::OutBuffer::around(&mut out[..]);
        let mut input = zstd::zstd_safe::InBuffer::around(b"data: {}\n\n");
        let end = zstd::zstd_safe::zstd_sys::ZSTD_EndDirective::ZSTD_e_flush;
        context.compress_stream2(&mut out, &mut input, end).unwrap();
        let held = context.sizeof() as u64;
        assert!(held.abs_diff(Coding::Zstd.memory()) < 64 * 1024, "{held}");
    }
}
