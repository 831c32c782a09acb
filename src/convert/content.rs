//! Content parts and their sources: a `type` in JSON, an arm on the wire.

use super::{
    ConvertError, ElementFromWire, ElementToWire, FromWire, FromWireCx, ToWire, ToWireCx, leave_out,
};
use crate::model::node::Node as _;
use crate::model::path::At;
use crate::model::{
    DataSource, Extra, FileSource, MediaPart, Notice, NoticeKind, Part, PartSource, TextPart,
    UrlSource,
};
use crate::wire;
use crate::wire::input_content::Part as PartArm;
use crate::wire::input_content_source::Source as SourceArm;

/// The four media parts have the same fields on the wire, in four messages.
macro_rules! media {
    ($part:expr, $at:expr, $cx:expr, $wire:ident) => {{
        leave_out(&$part.extra, $at, $cx);
        wire::$wire {
            source: $part.source.to_wire(&$at.member("source"), $cx)?,
            metadata: $part.metadata.to_wire(&$at.member("metadata"), $cx)?,
            id: $part.id.clone(),
        }
    }};
}

/// A part without an arm, or whose source has none, is left out.
impl ElementToWire<wire::InputContent> for Part {
    fn element_to_wire(
        &self,
        at: &At<'_>,
        cx: &mut ToWireCx,
    ) -> Result<Option<wire::InputContent>, ConvertError> {
        if let Some(what) = self.unrecognised() {
            let kind = NoticeKind::NotOnWire(what);
            cx.notices.push(Notice { path: at.to_path(), kind });
            return Ok(None);
        }
        let arm = match self {
            Self::Text(part) => {
                leave_out(&part.extra, at, cx);
                Some(PartArm::Text(wire::TextInputPart {
                    text: part.text.clone(),
                    id: part.id.clone(),
                    metadata: part.metadata.to_wire(&at.member("metadata"), cx)?,
                }))
            }
            Self::Image(part) => Some(PartArm::Image(media!(part, at, cx, ImageInputPart))),
            Self::Audio(part) => Some(PartArm::Audio(media!(part, at, cx, AudioInputPart))),
            Self::Video(part) => Some(PartArm::Video(media!(part, at, cx, VideoInputPart))),
            Self::Document(part) => {
                Some(PartArm::Document(media!(part, at, cx, DocumentInputPart)))
            }
            Self::Unknown(_) => None,
        };
        Ok(arm.map(|part| wire::InputContent { part: Some(part) }))
    }
}

impl ToWire<wire::InputContentSource> for PartSource {
    fn to_wire(
        &self,
        at: &At<'_>,
        cx: &mut ToWireCx,
    ) -> Result<wire::InputContentSource, ConvertError> {
        let source = match self {
            Self::Data(source) => {
                leave_out(&source.extra, at, cx);
                Some(SourceArm::Data(wire::InputContentDataSource {
                    value: source.value.clone(),
                    mime_type: source.mime_type.clone(),
                }))
            }
            Self::Url(source) => {
                leave_out(&source.extra, at, cx);
                Some(SourceArm::Url(wire::InputContentUrlSource {
                    value: source.value.clone(),
                    mime_type: source.mime_type.clone(),
                }))
            }
            Self::File(source) => {
                leave_out(&source.extra, at, cx);
                Some(SourceArm::File(wire::InputContentFileSource {
                    value: source.value.clone(),
                    provider: source.provider.clone(),
                    mime_type: source.mime_type.clone(),
                }))
            }
            Self::Unknown(_) => None,
        };
        Ok(wire::InputContentSource { source })
    }
}

/// A part in no arm of this version is dropped here, since nothing later could tell that there was
/// one; so is a media part whose source is in no arm. A media part without any source is handed on.
impl ElementFromWire<wire::InputContent> for Part {
    fn element_from_wire(
        wire: wire::InputContent,
        at: &At<'_>,
        cx: &mut FromWireCx,
    ) -> Result<Option<Self>, ConvertError> {
        macro_rules! media {
            ($variant:ident, $part:expr) => {
                media_part($part.source, $part.metadata, $part.id, at, cx)?.map(Self::$variant)
            };
        }
        let part = match wire.part {
            Some(PartArm::Text(part)) => {
                let mut text = TextPart::new(part.text);
                text.id = part.id;
                text.metadata = FromWire::from_wire(part.metadata, &at.member("metadata"), cx)?;
                Some(Self::Text(text))
            }
            Some(PartArm::Image(part)) => media!(Image, part),
            Some(PartArm::Audio(part)) => media!(Audio, part),
            Some(PartArm::Video(part)) => media!(Video, part),
            Some(PartArm::Document(part)) => media!(Document, part),
            None => None,
        };
        if part.is_none() {
            cx.notices.push(Notice { path: at.to_path(), kind: NoticeKind::UnknownPartArm });
        }
        Ok(part)
    }
}

fn media_part(
    source: Option<wire::InputContentSource>,
    metadata: Option<crate::value::Slot>,
    id: Option<String>,
    at: &At<'_>,
    cx: &mut FromWireCx,
) -> Result<Option<MediaPart>, ConvertError> {
    let source = match source.map(|source| source.source) {
        None => None,
        Some(None) => return Ok(None),
        Some(Some(arm)) => Some(part_source(arm)),
    };
    let metadata = FromWire::from_wire(metadata, &at.member("metadata"), cx)?;
    Ok(Some(MediaPart { source, id, metadata, extra: Extra::default() }))
}

fn part_source(arm: SourceArm) -> PartSource {
    match arm {
        SourceArm::Data(wire) => DataSource::new(wire.value, wire.mime_type).into(),
        SourceArm::Url(wire) => {
            let mut source = UrlSource::new(wire.value);
            source.mime_type = wire.mime_type;
            source.into()
        }
        SourceArm::File(wire) => {
            let mut source = FileSource::new(wire.value);
            source.provider = wire.provider;
            source.mime_type = wire.mime_type;
            source.into()
        }
    }
}
