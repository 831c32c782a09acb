//! Compressors that hand over every event at once.
//!
//! A server that compresses a stream must flush after each event, or the event waits in the
//! compressor until others fill its block. A flush costs bytes, which is why compressing a file
//! says little about compressing a stream. Here one compressor serves one session, as one would
//! serve a response body.
//!
//! | coding | settings | library |
//! |---|---|---|
//! | gzip | level 6, window 32 KiB, `Z_SYNC_FLUSH` | `flate2` over `miniz_oxide` |
//! | br | quality 5, window 256 KiB | `brotli` |
//! | zstd | level 3, window 2 MiB | `zstd`, the C library |
//!
//! These are what servers use for streams: the window of brotli is the one of them that is not the
//! library's own, which would take 10 MB of memory for each stream.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use brotli::enc::writer::CompressorWriterCustomAlloc;
use brotli::enc::{BrotliAlloc, StandardAlloc};
use brotli::{Allocator, SliceWrapper};
use flate2::write::GzEncoder;
use zstd::zstd_safe::zstd_sys::ZSTD_EndDirective as End;
use zstd::zstd_safe::{CCtx, CParameter, InBuffer, OutBuffer, get_error_name};

use super::histogram::Histogram;

const GZIP_LEVEL: u32 = 6;
const BROTLI_QUALITY: u32 = 5;
const BROTLI_WINDOW_LOG: u32 = 18;
const ZSTD_LEVEL: i32 = 3;
const ZSTD_WINDOW_LOG: u32 = 21;

/// What a gzip compressor holds: the library does not say, an allocator that counts does
/// (`tests/bounds`).
const GZIP_MEMORY: u64 = 352_104;

/// Bytes that a compressor may write at once before it is asked again.
const OUT_LEN: usize = 16 * 1024;

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
        match self {
            Self::Gzip => "gzip",
            Self::Brotli => "br",
            Self::Zstd => "zstd",
        }
    }

    pub(crate) fn settings(self) -> &'static str {
        match self {
            Self::Gzip => "level 6, window 32 KiB",
            Self::Brotli => "quality 5, window 256 KiB",
            Self::Zstd => "level 3, window 2 MiB",
        }
    }
}

/// One compressor, at work on one stream.
pub(crate) struct Compressor {
    engine: Engine,
    out: Vec<u8>,
    /// Time that an event takes.
    pub(crate) times: Histogram,
    /// Most memory that the compressor held, in bytes.
    pub(crate) memory: u64,
}

enum Engine {
    Gzip(GzEncoder<Vec<u8>>),
    Brotli(Box<Brotli>, Meter),
    Zstd(CCtx<'static>),
    /// The stream has ended.
    Ended,
}

type Brotli =
    CompressorWriterCustomAlloc<Vec<u8>, <StandardAlloc as Allocator<u8>>::AllocatedMemory, Meter>;

impl Compressor {
    pub(crate) fn new(coding: Coding) -> io::Result<Self> {
        let engine = match coding {
            Coding::Gzip => {
                Engine::Gzip(GzEncoder::new(Vec::new(), flate2::Compression::new(GZIP_LEVEL)))
            }
            Coding::Brotli => {
                let mut meter = Meter::default();
                let buffer = Allocator::<u8>::alloc_cell(&mut meter, OUT_LEN);
                let brotli = CompressorWriterCustomAlloc::new(
                    Vec::new(),
                    buffer,
                    meter.clone(),
                    BROTLI_QUALITY,
                    BROTLI_WINDOW_LOG,
                );
                Engine::Brotli(Box::new(brotli), meter)
            }
            Coding::Zstd => {
                let mut context = CCtx::create();
                context
                    .set_parameter(CParameter::CompressionLevel(ZSTD_LEVEL))
                    .and_then(|_| context.set_parameter(CParameter::WindowLog(ZSTD_WINDOW_LOG)))
                    .map_err(zstd_error)?;
                Engine::Zstd(context)
            }
        };
        Ok(Self { engine, out: Vec::new(), times: Histogram::default(), memory: 0 })
    }

    /// Compresses the bytes of an event, and gives all that a reader needs to have them whole.
    ///
    /// # Errors
    ///
    /// What the compressor says; it is not expected to.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> io::Result<&[u8]> {
        let start = Instant::now();
        self.out.clear();
        match &mut self.engine {
            Engine::Gzip(gzip) => {
                gzip.write_all(bytes)?;
                gzip.flush()?;
                self.out.append(gzip.get_mut());
                self.memory = GZIP_MEMORY;
            }
            Engine::Brotli(brotli, meter) => {
                brotli.write_all(bytes)?;
                brotli.flush()?;
                self.out.append(brotli.get_mut());
                self.memory = self.memory.max(meter.held());
            }
            Engine::Zstd(context) => {
                run_zstd(context, bytes, End::ZSTD_e_flush, &mut self.out)?;
                let held = u64::try_from(context.sizeof()).unwrap_or(u64::MAX);
                self.memory = self.memory.max(held);
            }
            Engine::Ended => {}
        }
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
        match std::mem::replace(&mut self.engine, Engine::Ended) {
            Engine::Gzip(gzip) => self.out = gzip.finish()?,
            Engine::Brotli(brotli, _) => self.out = brotli.into_inner(),
            Engine::Zstd(mut context) => {
                run_zstd(&mut context, &[], End::ZSTD_e_end, &mut self.out)?;
            }
            Engine::Ended => {}
        }
        Ok(&self.out)
    }
}

/// Runs the compressor until it has taken `bytes` and holds nothing back.
fn run_zstd(context: &mut CCtx, bytes: &[u8], end: End, out: &mut Vec<u8>) -> io::Result<()> {
    let mut input = InBuffer::around(bytes);
    let mut part = [0; OUT_LEN];
    loop {
        let mut output = OutBuffer::around(&mut part[..]);
        let left = context.compress_stream2(&mut output, &mut input, end).map_err(zstd_error)?;
        out.extend_from_slice(output.as_slice());
        if left == 0 && input.pos() == bytes.len() {
            return Ok(());
        }
    }
}

fn zstd_error(code: usize) -> io::Error {
    io::Error::other(get_error_name(code))
}

/// Counts what brotli allocates.
#[derive(Clone, Default)]
struct Meter(Arc<AtomicU64>);

impl Meter {
    fn held(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

fn bytes_of<T>(cells: usize) -> u64 {
    u64::try_from(cells.saturating_mul(size_of::<T>())).unwrap_or(u64::MAX)
}

impl<T: Clone + Default> Allocator<T> for Meter {
    type AllocatedMemory = <StandardAlloc as Allocator<T>>::AllocatedMemory;

    fn alloc_cell(&mut self, len: usize) -> Self::AllocatedMemory {
        self.0.fetch_add(bytes_of::<T>(len), Ordering::Relaxed);
        StandardAlloc::default().alloc_cell(len)
    }

    fn free_cell(&mut self, cell: Self::AllocatedMemory) {
        self.0.fetch_sub(bytes_of::<T>(cell.slice().len()), Ordering::Relaxed);
    }
}

impl BrotliAlloc for Meter {}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::collections::VecDeque;
    use std::io::Read;
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

    #[test]
    fn the_settings_are_the_ones_that_are_told() {
        assert_eq!(Coding::Gzip.settings(), format!("level {GZIP_LEVEL}, window 32 KiB"));
        let window = 1 << BROTLI_WINDOW_LOG >> 10;
        let told = format!("quality {BROTLI_QUALITY}, window {window} KiB");
        assert_eq!(Coding::Brotli.settings(), told);
        let window = 1 << ZSTD_WINDOW_LOG >> 20;
        assert_eq!(Coding::Zstd.settings(), format!("level {ZSTD_LEVEL}, window {window} MiB"));
    }

    #[test]
    fn a_compressor_says_what_it_holds() {
        for (coding, least) in
            [(Coding::Gzip, 300_000), (Coding::Brotli, 1 << 18), (Coding::Zstd, 2 << 20)]
        {
            let mut compressor = Compressor::new(coding).unwrap();
            compressor.push(b"data: {}\n\n").unwrap();
            let memory = compressor.memory;
            assert!((least..16 << 20).contains(&memory), "{}: {memory}", coding.as_str());
        }
    }
}
