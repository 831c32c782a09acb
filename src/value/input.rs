//! Protobuf's own syntax: tags, varints, lengths, and what may be skipped.
//!
//! Rule: wire.md D2 and D18 to D21, after the protobuf encoding guide.

use super::ValueError;

/// The field of `google.protobuf.Value` in which this crate lets the exact decimal text of a number
/// travel, if it is asked to. See WIRE-EXTENSIONS.md.
pub(crate) const EXACT_NUMBER: u32 = 53_053;

pub(crate) const VARINT: u8 = 0;
pub(crate) const FIXED64: u8 = 1;
pub(crate) const LEN: u8 = 2;
pub(crate) const GROUP: u8 = 3;
pub(crate) const END_GROUP: u8 = 4;
pub(crate) const FIXED32: u8 = 5;

/// The payload and how far it has been read. Every read stays before the `end` it is given, which
/// is never past the end of the payload.
pub(crate) struct Input<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Input<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// How far the payload has been read.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// The bytes of a length-delimited field; any other field is skipped.
    pub(crate) fn field(
        &mut self,
        field: u32,
        wire_type: u8,
        end: usize,
    ) -> Result<Option<&'a [u8]>, ValueError> {
        if wire_type != LEN {
            self.skip(field, wire_type, end)?;
            return Ok(None);
        }
        let len = self.len(end)?;
        let body = self.bytes.get(self.at..self.at + len).unwrap_or_default();
        self.at += len;
        Ok(Some(body))
    }

    /// Reads a length-delimited field if `read` can make something of its bytes; otherwise nothing
    /// has been read.
    #[inline]
    pub(super) fn try_field<T>(
        &mut self,
        end: usize,
        read: impl FnOnce(&'a [u8]) -> Option<T>,
    ) -> Option<T> {
        let rest = self.bytes.get(self.at..end)?;
        let [len @ ..0x80, rest @ ..] = rest else { return None };
        let len = usize::from(*len);
        let found = read(rest.get(..len)?)?;
        self.at += 1 + len;
        Some(found)
    }

    fn fail<T>(at: usize, reason: &'static str) -> Result<T, ValueError> {
        Err(ValueError::Malformed { at, reason })
    }

    /// A field number and a wire type.
    #[inline]
    pub(crate) fn tag(&mut self, end: usize) -> Result<(u32, u8), ValueError> {
        let at = self.at;
        let tag = self.varint(end)?;
        let Ok(tag) = u32::try_from(tag) else {
            return Self::fail(at, "tag exceeds 32 bits");
        };
        if self.at - at > 5 {
            return Self::fail(at, "tag longer than 5 bytes");
        }
        if tag < 8 {
            return Self::fail(at, "field number 0");
        }
        let [low, ..] = tag.to_le_bytes();
        Ok((tag >> 3, low & 7))
    }

    /// A varint of at most 10 bytes and 64 bits; it need not be minimal.
    #[inline]
    pub(crate) fn varint(&mut self, end: usize) -> Result<u64, ValueError> {
        let rest = self.bytes.get(self.at..end).unwrap_or_default();
        if let [byte @ ..0x80, ..] = rest {
            self.at += 1;
            return Ok(u64::from(*byte));
        }
        let mut value = 0;
        for (index, byte) in rest.iter().take(10).enumerate() {
            if index == 9 && *byte > 1 {
                return Self::fail(self.at, "varint exceeds 64 bits");
            }
            value |= u64::from(byte & 0x7f) << (7 * index);
            if *byte < 0x80 {
                self.at += index + 1;
                return Ok(value);
            }
        }
        Self::fail(self.at, "varint runs past the end of its message")
    }

    /// A length that fits into what is left.
    #[inline]
    pub(crate) fn len(&mut self, end: usize) -> Result<usize, ValueError> {
        let at = self.at;
        let len = self.varint(end)?;
        let Some(len) = u32::try_from(len).ok().and_then(|len| usize::try_from(len).ok()) else {
            return Self::fail(at, "length exceeds 32 bits");
        };
        if len > end - self.at {
            return Self::fail(at, "length runs past the end of its message");
        }
        Ok(len)
    }

    pub(crate) fn text(&mut self, end: usize) -> Result<&'a str, ValueError> {
        let len = self.len(end)?;
        let at = self.at;
        let bytes = self.bytes.get(at..at + len).unwrap_or_default();
        self.at += len;
        str::from_utf8(bytes).map_err(|_| ValueError::Utf8 { at })
    }

    pub(crate) fn double(&mut self, end: usize) -> Result<f64, ValueError> {
        let at = self.at;
        let rest = self.bytes.get(at..end).unwrap_or_default();
        let Some(bytes) = rest.first_chunk() else {
            return Self::fail(at, "number runs past the end of its message");
        };
        self.at += bytes.len();
        let double = f64::from_le_bytes(*bytes);
        if double.is_finite() { Ok(double) } else { Err(ValueError::NotFinite { at }) }
    }

    /// Skips the contents of a field that is not known. Groups must be balanced.
    pub(crate) fn skip(&mut self, field: u32, wire_type: u8, end: usize) -> Result<(), ValueError> {
        let start = self.at;
        let mut groups = Vec::new();
        let (mut field, mut wire_type) = (field, wire_type);
        loop {
            let at = self.at;
            let len = match wire_type {
                VARINT => {
                    self.varint(end)?;
                    0
                }
                FIXED64 => 8,
                FIXED32 => 4,
                LEN => self.len(end)?,
                GROUP => {
                    groups.push(field);
                    0
                }
                END_GROUP if groups.pop() == Some(field) => 0,
                END_GROUP => return Self::fail(at, "end of a group that is not open"),
                _ => return Self::fail(at, "unknown wire type"),
            };
            if len > end - self.at {
                return Self::fail(at, "field runs past the end of its message");
            }
            self.at += len;
            if groups.is_empty() {
                return Ok(());
            }
            if self.at >= end {
                return Self::fail(start, "group does not end");
            }
            (field, wire_type) = self.tag(end)?;
        }
    }
}
