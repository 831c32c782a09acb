//! Compiles `proto/` into prost types and into the tables that the codec works from.
//!
//! protox parses the schema, so nothing but Rust is needed. Three files land in `OUT_DIR`:
//! `ag_ui.rs`, the types of the `wire` module; `schema.rs`, the `Message` statics of
//! `codec::schema`; and `layout.rs`, the fields of the model's objects in the order of their bytes,
//! for the macros of `codec::direct`.

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

    fs::write(out.join("schema.rs"), field_table(&descriptors)?)?;
    fs::write(out.join("layout.rs"), layout(&descriptors)?)?;
    prost_build::Config::new()
        .out_dir(&out)
        .extern_path(".google.protobuf.Value", "crate::value::Slot")
        .extern_path(".google.protobuf.Struct", "crate::value::Object")
        .extern_path(".google.protobuf.ListValue", "crate::value::List")
        .compile_fds(descriptors)?;
    Ok(())
}

/// One `static` a message: its fields by number, with what stands behind each; and the events.
fn field_table(descriptors: &FileDescriptorSet) -> Result<String, Box<dyn error::Error>> {
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
                "    Field {{ number: {}, tag: {}, name: {:?}, kind: {}, repeated: {}, arm: {} }},",
                field.number(),
                tag(field),
                field.json_name(),
                kind(field, &idents),
                field.label() == Label::Repeated,
                field.oneof_index.is_some() && !field.proto3_optional(),
            );
        }
        let _ = writeln!(out, "] }};");
    }
    out.push_str(&arms(descriptors, &messages, &idents)?);
    Ok(out)
}

/// The events in the order of their arms.
fn arms(
    descriptors: &FileDescriptorSet,
    messages: &[(String, &DescriptorProto)],
    idents: &HashMap<&str, String>,
) -> Result<String, Box<dyn error::Error>> {
    let find = |path: &str| {
        let found = messages.iter().find(|(of, _)| of == path).map(|(_, message)| *message);
        found.ok_or_else(|| format!("no message {path}"))
    };
    let arms = &find(".ag_ui.Event")?.field;
    let mut out = format!("pub(crate) static ARMS: [Arm; {}] = [\n", arms.len());
    for (arm, place) in arms.iter().zip(1..) {
        if arm.number() != place {
            return Err(format!("arm {} is not in its place", arm.number()).into());
        }
        let message = find(arm.type_name())?;
        let _ = write!(
            out,
            "    Arm {{ event_type: EventType::{}, number: {}, message: &{}",
            event_name(message),
            type_number(descriptors, arm)?,
            idents[arm.type_name()],
        );
        let is_one_text = |number: &i32| {
            message.field.iter().any(|field| {
                field.number() == *number
                    && field.r#type() == Type::String
                    && field.label() != Label::Repeated
            })
        };
        let leading_texts = (2..4).take_while(is_one_text).count();
        let _ = write!(out, ", leading_texts: {leading_texts}");
        for name in
            ["message_id", "tool_call_id", "thread_id", "run_id", "subagent_run_id", "delta"]
        {
            let is_text = |field: &&FieldDescriptorProto| {
                field.name() == name && field.r#type() == Type::String
            };
            let number = message.field.iter().find(is_text).map_or(0, FieldDescriptorProto::number);
            let _ = write!(out, ", {name}: {number}");
        }
        out.push_str(" },\n");
    }
    out.push_str("];\n");
    Ok(out)
}

/// The name of an event without what each of them ends with.
fn event_name(message: &DescriptorProto) -> &str {
    message.name().trim_end_matches("Event")
}

/// The number of the type whose events this arm holds.
fn type_number(
    descriptors: &FileDescriptorSet,
    arm: &FieldDescriptorProto,
) -> Result<i32, Box<dyn error::Error>> {
    let types = descriptors
        .file
        .iter()
        .filter(|file| file.package() == "ag_ui")
        .flat_map(|file| &file.enum_type)
        .find(|set| set.name() == "EventType")
        .ok_or("no enum EventType")?;
    let name = arm.name().to_uppercase();
    let value = types.value.iter().find(|value| value.name() == name);
    Ok(value.ok_or_else(|| format!("no type {name}"))?.number())
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

/// What stands in front of the field if one byte is enough for it, else 0, which is no tag.
fn tag(field: &FieldDescriptorProto) -> u8 {
    let wire_type = match field.r#type() {
        Type::Int64 | Type::Enum | Type::Bool => 0,
        _ => 2,
    };
    u8::try_from(field.number() << 3 | wire_type).ok().filter(|tag| *tag < 0x80).unwrap_or_default()
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

/// Messages that stand in the model under another name, and member by member.
const OBJECTS: [(&str, &str); 13] = [
    ("TextInputPart", "TextPart"),
    // The four media parts have the same fields, and one type in the model.
    ("ImageInputPart", "MediaPart"),
    ("InputContentDataSource", "DataSource"),
    ("InputContentUrlSource", "UrlSource"),
    ("InputContentFileSource", "FileSource"),
    ("ToolCall", "ToolCall"),
    ("Function", "FunctionCall"),
    ("Tool", "Tool"),
    ("Context", "Context"),
    ("ResumeEntry", "ResumeEntry"),
    ("Interrupt", "Interrupt"),
    ("JsonPatchOperation", "PatchOperation"),
    ("Usage", "TokenUsage"),
];

/// Messages whose members are not those of the model: their code is by hand, and only the numbers
/// of their fields are needed.
const RESHAPED: [&str; 8] = [
    "BaseEvent",
    "Message",
    "InputContent",
    "InputContentSource",
    "RunAgentInput",
    "RunFinishedEvent",
    "SubagentFinishedEvent",
    "ToolCallResultEvent",
];

/// The events and objects of the model with their fields in ascending order, for reading, and in
/// descending order, for writing.
fn layout(descriptors: &FileDescriptorSet) -> Result<String, Box<dyn error::Error>> {
    let files = || descriptors.file.iter().filter(|file| file.package() == "ag_ui");
    let mut messages = Vec::new();
    for message in files().flat_map(|file| &file.message_type) {
        collect(message, "", &mut messages);
    }
    let find = |name: &str| {
        let found = messages.iter().find(|(_, message)| message.name() == name);
        found.map(|(_, message)| *message).ok_or_else(|| format!("no message {name}"))
    };
    let mut out = String::from("events! {\n");
    for arm in &find("Event")?.field {
        let message = find(arm.type_name().rsplit('.').next().unwrap_or_default())?;
        let (name, number) = (event_name(message), type_number(descriptors, arm)?);
        let _ = write!(out, "    {name} = arm {} number {number} ", arm.number());
        if RESHAPED.contains(&message.name()) {
            out.push_str("reshaped;\n");
        } else {
            write_fields(&mut out, message);
        }
    }
    out.push_str("}\nobjects! {\n");
    for (message, name) in OBJECTS {
        let _ = write!(out, "    {name} ");
        write_fields(&mut out, find(message)?);
    }
    out.push_str("}\n");
    for name in RESHAPED {
        let message = find(name)?;
        let _ = writeln!(out, "/// Numbers of the fields of `{name}`.");
        let _ = writeln!(out, "pub(super) mod {} {{", ident(name).to_lowercase());
        for field in message.field.iter().filter(|field| field.name() != "base_event") {
            let name = field.name().to_uppercase();
            let _ = writeln!(out, "    pub(crate) const {name}: u8 = {};", field.number());
        }
        out.push_str("}\n");
    }
    Ok(out)
}

fn write_fields(out: &mut String, message: &DescriptorProto) {
    let mut fields: Vec<_> =
        message.field.iter().filter(|field| field.name() != "base_event").collect();
    fields.sort_by_key(|field| field.number());
    let list = |fields: &mut dyn Iterator<Item = &&FieldDescriptorProto>| {
        let fields: Vec<_> = fields
            .map(|field| {
                let raw = if matches!(field.name(), "type") { "r#" } else { "" };
                format!("{raw}{} {}", field.name(), field.number())
            })
            .collect();
        fields.join(", ")
    };
    let (up, down) = (list(&mut fields.iter()), list(&mut fields.iter().rev()));
    let _ = writeln!(out, "{{ {up} }} {{ {down} }};");
}
