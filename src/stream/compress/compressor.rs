//! Bytes of events in, compressed bytes out, all of them at every event.

use std::fmt;
use std::io::{self, Write};

use brotli::CompressorWriter;
use bytes::{Bytes, BytesMut};
#[cfg(feature = "zstd")]
use zstd::stream::raw::{CParameter, Encoder, Operation, OutBuffer};

use super::UnknownCoding;
use super::gzip::GzipWriter;
use crate::negotiate::Coding;

const BROTLI_QUALITY: u32 = 5;
const BROTLI_WINDOW_LOG: u32 = 18;
#[cfg(feature = "zstd")]
const ZSTD_LEVEL: i32 = 3;
#[cfg(feature = "zstd")]
const ZSTD_WINDOW_LOG: u32 = 18;

/// Bytes that are made at a time.
const PART_LEN: usize = 4 * 1024;

/// Compresses one stream, so that its reader has every event as soon as it has its bytes.
///
/// # Examples
///
/// ```
/// use ag_ui_proto::negotiate::Coding;
/// use ag_ui_proto::stream::{Compressor, Decompressor, InflateLimits};
/// use bytes::BytesMut;
///
/// let mut compressor = Compressor::new(Coding::Gzip)?;
/// let mut decompressor = Decompressor::new(Coding::Gzip, InflateLimits::new())?;
/// let (mut link, mut out) = (BytesMut::new(), BytesMut::new());
/// compressor.push(b"one event", &mut link)?;
/// while decompressor.step(&mut link, &mut out)? {}
/// assert_eq!(out, "one event");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Compressor {
    coding: Coding,
    engine: Engine,
}

enum Engine {
    Gzip(Box<GzipWriter>),
    Brotli(Box<CompressorWriter<Vec<u8>>>),
    #[cfg(feature = "zstd")]
    Zstd(Encoder<'static>),
    Ended,
}

impl Compressor {
    /// Makes one for the beginning of a stream.
    ///
    /// # Errors
    ///
    /// [`UnknownCoding`] for zstd without the feature `zstd`, or if there is no memory for it.
    pub fn new(coding: Coding) -> Result<Self, UnknownCoding> {
        let engine = match coding {
            Coding::Gzip => Engine::Gzip(Box::new(GzipWriter::new())),
            Coding::Brotli => Engine::Brotli(Box::new(CompressorWriter::new(
                Vec::new(),
                PART_LEN,
                BROTLI_QUALITY,
                BROTLI_WINDOW_LOG,
            ))),
            #[cfg(feature = "zstd")]
            Coding::Zstd => Engine::Zstd(zstd_encoder().map_err(|_| UnknownCoding { coding })?),
            #[cfg(not(feature = "zstd"))]
            Coding::Zstd => return Err(UnknownCoding { coding }),
        };
        Ok(Self { coding, engine })
    }

    /// The coding.
    #[must_use]
    pub fn coding(&self) -> Coding {
        self.coding
    }

    /// Appends `bytes`, compressed, and all that a reader needs to have them whole.
    ///
    /// A flush costs a few bytes: give all the bytes that are there at once. Without any, nothing
    /// is appended. After [`Compressor::finish`] nothing is either.
    ///
    /// # Errors
    ///
    /// What the library says; it is not expected to. The stream is then broken.
    pub fn push(&mut self, bytes: &[u8], dst: &mut BytesMut) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        match &mut self.engine {
            Engine::Gzip(gzip) => gzip.push(bytes, dst),
            Engine::Brotli(brotli) => {
                brotli.write_all(bytes)?;
                brotli.flush()?;
                put(brotli.get_mut(), dst);
                Ok(())
            }
            #[cfg(feature = "zstd")]
            Engine::Zstd(zstd) => push_zstd(zstd, bytes, dst),
            Engine::Ended => Ok(()),
        }
    }

    /// Appends what ends the stream.
    ///
    /// # Errors
    ///
    /// As [`Compressor::push`].
    pub fn finish(&mut self, dst: &mut BytesMut) -> io::Result<()> {
        match std::mem::replace(&mut self.engine, Engine::Ended) {
            Engine::Gzip(mut gzip) => gzip.finish(dst),
            Engine::Brotli(brotli) => {
                dst.extend_from_slice(&brotli.into_inner());
                Ok(())
            }
            #[cfg(feature = "zstd")]
            Engine::Zstd(mut zstd) => finish_zstd(&mut zstd, dst),
            Engine::Ended => Ok(()),
        }
    }

    /// As [`Compressor::push`], of bytes that are gone with it.
    pub(crate) fn compressed(&mut self, bytes: &mut BytesMut) -> io::Result<Bytes> {
        let mut out = BytesMut::new();
        self.push(bytes, &mut out)?;
        bytes.clear();
        Ok(out.freeze())
    }
}

impl fmt::Debug for Compressor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Compressor").field("coding", &self.coding).finish_non_exhaustive()
    }
}

fn put(made: &mut Vec<u8>, dst: &mut BytesMut) {
    dst.extend_from_slice(made);
    made.clear();
    made.shrink_to(PART_LEN);
}

#[cfg(feature = "zstd")]
fn zstd_encoder() -> io::Result<Encoder<'static>> {
    let mut encoder = Encoder::new(ZSTD_LEVEL)?;
    encoder.set_parameter(CParameter::WindowLog(ZSTD_WINDOW_LOG))?;
    Ok(encoder)
}

#[cfg(feature = "zstd")]
fn push_zstd(zstd: &mut Encoder<'_>, mut bytes: &[u8], dst: &mut BytesMut) -> io::Result<()> {
    let mut part = [0; PART_LEN];
    while !bytes.is_empty() {
        let status = zstd.run_on_buffers(bytes, &mut part)?;
        dst.extend_from_slice(part.get(..status.bytes_written).unwrap_or_default());
        bytes = bytes.get(status.bytes_read..).unwrap_or_default();
    }
    put_all(&mut part, dst, |output| zstd.flush(output))
}

#[cfg(feature = "zstd")]
fn finish_zstd(zstd: &mut Encoder<'_>, dst: &mut BytesMut) -> io::Result<()> {
    put_all(&mut [0; PART_LEN], dst, |output| zstd.finish(output, true))
}

/// Appends what `more` gives, until it says that nothing is left.
#[cfg(feature = "zstd")]
fn put_all(
    part: &mut [u8; PART_LEN],
    dst: &mut BytesMut,
    mut more: impl FnMut(&mut OutBuffer<'_, [u8]>) -> io::Result<usize>,
) -> io::Result<()> {
    loop {
        let mut output = OutBuffer::around(&mut part[..]);
        let left = more(&mut output)?;
        dst.extend_from_slice(output.as_slice());
        if left == 0 {
            return Ok(());
        }
    }
}
