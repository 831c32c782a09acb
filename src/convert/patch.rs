//! Patch operations: a name in JSON, a number on the wire.

use super::{ConvertError, ConvertReason, FromWire, FromWireCx, ToWire, ToWireCx};
use crate::model::path::At;
use crate::model::{Notice, NoticeKind, PatchOp, PatchOperation};
use crate::wire;
use crate::wire::JsonPatchOperationType as Number;

impl ToWire<wire::JsonPatchOperation> for PatchOperation {
    fn to_wire(
        &self,
        at: &At<'_>,
        cx: &mut ToWireCx,
    ) -> Result<wire::JsonPatchOperation, ConvertError> {
        let op = match &self.op {
            PatchOp::Add => Number::Add,
            PatchOp::Remove => Number::Remove,
            PatchOp::Replace => Number::Replace,
            PatchOp::Move => Number::Move,
            PatchOp::Copy => Number::Copy,
            PatchOp::Test => Number::Test,
            PatchOp::Unknown(op) => {
                let reason = ConvertReason::UnknownOperation(op.clone());
                return Err(ConvertError::new(&at.member("op"), reason));
            }
        };
        for (name, _) in self.extra.iter() {
            let path = at.member(name).to_path();
            cx.notices.push(Notice { path, kind: NoticeKind::PatchExtension });
        }
        Ok(wire::JsonPatchOperation {
            op: op.into(),
            path: self.path.clone(),
            from: self.from.clone(),
            value: self.value.to_wire(&at.member("value"), cx)?,
        })
    }
}

impl FromWire<wire::JsonPatchOperation> for PatchOperation {
    fn from_wire(
        wire: wire::JsonPatchOperation,
        at: &At<'_>,
        cx: &mut FromWireCx,
    ) -> Result<Self, ConvertError> {
        let op = match Number::try_from(wire.op) {
            Ok(Number::Add) => PatchOp::Add,
            Ok(Number::Remove) => PatchOp::Remove,
            Ok(Number::Replace) => PatchOp::Replace,
            Ok(Number::Move) => PatchOp::Move,
            Ok(Number::Copy) => PatchOp::Copy,
            Ok(Number::Test) => PatchOp::Test,
            // Its number is all the name there is; enforcement drops the operation.
            Err(_) => PatchOp::Unknown(wire.op.to_string()),
        };
        let mut operation = Self::new(op, wire.path);
        operation.from = wire.from;
        operation.value = FromWire::from_wire(wire.value, &at.member("value"), cx)?;
        Ok(operation)
    }
}
