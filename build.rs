//! Compiles `proto/` into prost types and into the field table that the codec scans frames with.
//!
//! protox parses the schema, so nothing but Rust is needed. Two files land in `OUT_DIR`:
//! `ag_ui.rs`, the types of the `wire` module, and `schema.rs`, the `Message` statics of
//! `codec::schema`.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::{env, error, fs};

use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{DescriptorProto, FieldDescriptorProto, FileDescriptorSet};

const INCLUDE: &str = "proto";
const ROOT: &str = "ag_ui/event.proto";
const FILES: [&str; 4] =
    ["ag_ui/event.proto", "ag_ui/message.proto", "ag_ui/patch.proto", "ag_ui/run.proto"];

fn main() -> Result<(), Box<dyn error::Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    for file in FILES {
        println!("cargo:rerun-if-changed={INCLUDE}/{file}");
    }
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let descriptors = protox::compile([ROOT], [INCLUDE])?;

    fs::write(out.join("schema.rs"), field_table(&descriptors))?;
    prost_build::Config::new()
        .out_dir(&out)
        .extern_path(".google.protobuf.Value", "crate::value::Slot")
        .extern_path(".google.protobuf.Struct", "crate::value::Object")
        .extern_path(".google.protobuf.ListValue", "crate::value::List")
        .compile_fds(descriptors)?;
    Ok(())
}

/// One `static` a message: its fields by number, with what stands behind each.
fn field_table(descriptors: &FileDescriptorSet) -> String {
    let mut messages = Vec::new();
    for file in descriptors.file.iter().filter(|file| file.package() == "ag_ui") {
        for message in &file.message_type {
            collect(message, &format!(".{}", file.package()), &mut messages);
        }
    }
    let idents: HashMap<&str, String> =
        messages.iter().map(|(path, _)| (path.as_str(), ident(path))).collect();

    let mut out = String::new();
    for (path, message) in &messages {
        let mut fields: Vec<_> = message.field.iter().collect();
        fields.sort_by_key(|field| field.number());
        let _ = writeln!(out, "/// `{}`.", message.name());
        let _ = writeln!(out, "pub(crate) static {}: Message = Message {{ fields: &[", ident(path));
        for field in fields {
            let _ = writeln!(
                out,
                "    Field {{ number: {}, name: {:?}, kind: {}, repeated: {}, arm: {} }},",
                field.number(),
                field.json_name(),
                kind(field, &idents),
                field.label() == Label::Repeated,
                field.oneof_index.is_some() && !field.proto3_optional(),
            );
        }
        let _ = writeln!(out, "] }};");
    }
    out
}

fn collect<'a>(
    message: &'a DescriptorProto,
    scope: &str,
    into: &mut Vec<(String, &'a DescriptorProto)>,
) {
    let path = format!("{scope}.{}", message.name());
    for nested in &message.nested_type {
        collect(nested, &path, into);
    }
    into.push((path, message));
}

fn ident(path: &str) -> String {
    path.trim_start_matches(".ag_ui.").replace('.', "_").chars().enumerate().fold(
        String::new(),
        |mut ident, (at, char)| {
            if char.is_uppercase() && at > 0 && !ident.ends_with('_') {
                ident.push('_');
            }
            ident.extend(char.to_uppercase());
            ident
        },
    )
}

fn kind(field: &FieldDescriptorProto, idents: &HashMap<&str, String>) -> String {
    match (field.r#type(), field.type_name()) {
        (Type::Message, ".google.protobuf.Value") => "Kind::Value".into(),
        (Type::Message, ".google.protobuf.Struct") => "Kind::Struct".into(),
        (Type::Message, name) => format!("Kind::Message(&{})", idents[name]),
        (Type::String, _) => "Kind::String".into(),
        (Type::Int64, _) => "Kind::Int64".into(),
        (Type::Enum | Type::Bool, _) => "Kind::Varint".into(),
        (other, _) => panic!("{}: no wire scan for {other:?}", field.name()),
    }
}
