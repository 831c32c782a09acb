//! Objects that are the same on both sides, member by member, written from the model's tables.

use super::{ConvertError, FromWire, FromWireCx, ToWire, ToWireCx, leave_out};
use crate::model::path::At;
use crate::model::{
    Extra, RunAgentInput, activity_objects, input_objects, reasoning_objects, run_input,
    run_objects, special_objects, state_objects, subagent_objects, text_objects, tool_objects,
};
use crate::wire;

/// Splits a table into its objects; `$base` is the field that event messages have on top.
macro_rules! each {
    ($write:ident $base:tt $($(#[$meta:meta])* $name:ident: $wire:ident { $($body:tt)* })*) => {
        $( $write! { $base $name $wire { $($body)* } } )*
    };
}

macro_rules! to_wire {
    ([$($base:ident)?] $name:ident $wire:ident {
        $(required { $( $(#[$rmeta:meta])* $req:ident: $rty:ty = $rjson:literal; )* })?
        $(expected { $( $(#[$emeta:meta])* $exp:ident: $ety:ty = $ejson:literal; )* })?
        $(optional { $( $(#[$ometa:meta])* $opt:ident: $oty:ty = $ojson:literal, $with:ident; )* })?
        $(check $check:path;)?
    }) => {
        impl ToWire<wire::$wire> for crate::model::$name {
            fn to_wire(
                &self,
                at: &At<'_>,
                cx: &mut ToWireCx,
            ) -> Result<wire::$wire, ConvertError> {
                leave_out(&self.extra, at, cx);
                Ok(wire::$wire {
                    $( $base: cx.base.take(), )?
                    $($( $req: self.$req.to_wire(&at.member($rjson), cx)?, )*)?
                    $($( $exp: self.$exp.to_wire(&at.member($ejson), cx)?, )*)?
                    $($( $opt: self.$opt.to_wire(&at.member($ojson), cx)?, )*)?
                })
            }
        }
    };
}

macro_rules! from_wire {
    ([$($base:ident)?] $name:ident $wire:ident {
        $(required { $( $(#[$rmeta:meta])* $req:ident: $rty:ty = $rjson:literal; )* })?
        $(expected { $( $(#[$emeta:meta])* $exp:ident: $ety:ty = $ejson:literal; )* })?
        $(optional { $( $(#[$ometa:meta])* $opt:ident: $oty:ty = $ojson:literal, $with:ident; )* })?
        $(check $check:path;)?
    }) => {
        impl FromWire<wire::$wire> for crate::model::$name {
            fn from_wire(
                wire: wire::$wire,
                at: &At<'_>,
                cx: &mut FromWireCx,
            ) -> Result<Self, ConvertError> {
                let wire::$wire { $($base,)? $($($req,)*)? $($($exp,)*)? $($($opt,)*)? } = wire;
                $( cx.base = $base; )?
                Ok(Self {
                    $($( $req: FromWire::from_wire($req, &at.member($rjson), cx)?, )*)?
                    $($( $exp: FromWire::from_wire($exp, &at.member($ejson), cx)?, )*)?
                    $($( $opt: FromWire::from_wire($opt, &at.member($ojson), cx)?, )*)?
                    extra: Extra::default(),
                })
            }
        }
    };
}

macro_rules! events {
    ($($table:tt)*) => {
        each! { to_wire [base_event] $($table)* }
        each! { from_wire [base_event] $($table)* }
    };
}

macro_rules! objects {
    ($($table:tt)*) => {
        each! { to_wire [] $($table)* }
        each! { from_wire [] $($table)* }
    };
}

macro_rules! objects_to_wire {
    ($($table:tt)*) => {
        each! { to_wire [] $($table)* }
    };
}

activity_objects!(events);
reasoning_objects!(events);
run_objects!(events);
special_objects!(events);
state_objects!(events);
subagent_objects!(events);
text_objects!(events);
tool_objects!(events);

input_objects!(objects);
run_input!(objects_to_wire);

/// The lists of an echoed input are always there, empty ones included.
impl FromWire<wire::RunAgentInput> for RunAgentInput {
    fn from_wire(
        wire: wire::RunAgentInput,
        at: &At<'_>,
        cx: &mut FromWireCx,
    ) -> Result<Self, ConvertError> {
        let wire::RunAgentInput {
            thread_id,
            run_id,
            parent_run_id,
            state,
            messages,
            tools,
            context,
            forwarded_props,
            resume,
            protocol_version,
        } = wire;
        Ok(Self {
            thread_id,
            run_id,
            messages: FromWire::from_wire(messages, &at.member("messages"), cx)?,
            protocol_version,
            parent_run_id,
            state: FromWire::from_wire(state, &at.member("state"), cx)?,
            tools: Some(FromWire::from_wire(tools, &at.member("tools"), cx)?),
            context: Some(FromWire::from_wire(context, &at.member("context"), cx)?),
            forwarded_props: FromWire::from_wire(
                forwarded_props,
                &at.member("forwardedProps"),
                cx,
            )?,
            resume: Some(FromWire::from_wire(resume, &at.member("resume"), cx)?),
            extra: Extra::default(),
        })
    }
}
