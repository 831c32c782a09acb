//! The wire schema: one prost type for each message of `proto/`, generated and left alone.
//!
//! These types say what the bytes say and no more: an envelope may hold an event whose base
//! declares another type, a message may carry text and parts at once. [`Event`](crate::Event) is
//! the type to hold in a program; `convert` takes one to the other.
//!
//! `google.protobuf.Value`, `Struct` and `ListValue` are [`Slot`](crate::value::Slot),
//! [`Object`](crate::value::Object) and [`List`](crate::value::List) of [`crate::value`].

#![allow(missing_docs, clippy::pedantic, clippy::large_enum_variant)]

include!(concat!(env!("OUT_DIR"), "/ag_ui.rs"));
