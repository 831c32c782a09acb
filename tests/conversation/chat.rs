//! Messages as chat messages, and back.

use ag_ui_proto::conversation::{ChatLoss, from_chat, to_chat};
use ag_ui_proto::model::{AssistantMessage, Message, ToolCall, ToolMessage};
use ag_ui_proto::value::Value as Open;
use serde_json::{Value, json};

fn there(messages: Value) -> (Value, Vec<String>) {
    let messages: Vec<Message> = serde_json::from_value(messages).unwrap();
    let chat = to_chat(&messages);
    (serde_json::to_value(chat.messages).unwrap(), told(&chat.losses))
}

fn back(chat: Value) -> Result<(Value, Vec<String>), String> {
    let chat: Vec<Open> = serde_json::from_value(chat).unwrap();
    let read = from_chat(&chat, |index| format!("m{index}")).map_err(|error| error.to_string())?;
    Ok((serde_json::to_value(read.messages).unwrap(), told(&read.losses)))
}

fn told(losses: &[ChatLoss]) -> Vec<String> {
    losses.iter().map(ToString::to_string).collect()
}

/// The same on both sides, both ways, and nothing is lost.
fn check(messages: Value, chat: Value) {
    let none: Vec<String> = Vec::new();
    assert_eq!(there(messages.clone()), (chat.clone(), none.clone()));
    assert_eq!(back(chat), Ok((messages, none)));
}

#[test]
fn what_both_have_goes_both_ways() {
    check(
        json!([
            {"id": "m0", "role": "developer", "content": "a", "name": "n"},
            {"id": "m1", "role": "system", "content": ""},
            {"id": "m2", "role": "user", "content": "b"},
            {"id": "m3", "role": "assistant", "content": "", "name": "n", "toolCalls": [
                {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{\"q\": "}}]},
            {"id": "m4", "role": "assistant", "toolCalls": [
                {"id": "d", "type": "function", "function": {"name": "f", "arguments": ""}}]},
            {"id": "m5", "role": "tool", "toolCallId": "c", "content": "r"},
            {"id": "m6", "role": "tool", "toolCallId": "d", "content": [{"type": "text", "text": "r"}]},
        ]),
        json!([
            {"role": "developer", "content": "a", "name": "n"},
            {"role": "system", "content": ""},
            {"role": "user", "content": "b"},
            {"role": "assistant", "content": "", "name": "n", "tool_calls": [
                {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{\"q\": "}}]},
            {"role": "assistant", "content": null, "tool_calls": [
                {"id": "d", "type": "function", "function": {"name": "f", "arguments": ""}}]},
            {"role": "tool", "tool_call_id": "c", "content": "r"},
            {"role": "tool", "tool_call_id": "d", "content": [{"type": "text", "text": "r"}]},
        ]),
    );
}

#[test]
fn parts_that_both_have_go_both_ways() {
    let data = |mime: &str| json!({"type": "data", "value": "AAAA", "mimeType": mime});
    check(
        json!([{"id": "m0", "role": "user", "content": [
            {"type": "text", "text": "see"},
            {"type": "image", "source": data("image/png")},
            {"type": "image", "source": {"type": "url", "value": "https://x.invalid/i"}},
            {"type": "audio", "source": data("audio/wav")},
            {"type": "audio", "source": data("audio/mpeg")},
            {"type": "document", "source": data("application/pdf"), "metadata": {"filename": "a.pdf"}},
            {"type": "document", "source": {"type": "file", "value": "file-1", "provider": "openai"}},
        ]}]),
        json!([{"role": "user", "content": [
            {"type": "text", "text": "see"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
            {"type": "image_url", "image_url": {"url": "https://x.invalid/i"}},
            {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
            {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "mp3"}},
            {"type": "file", "file": {"file_data": "data:application/pdf;base64,AAAA", "filename": "a.pdf"}},
            {"type": "file", "file": {"file_id": "file-1"}},
        ]}]),
    );
}

#[test]
fn what_chat_has_no_place_for_is_left_out_and_told() {
    let url = json!({"type": "url", "value": "u", "mimeType": "m"});
    let (chat, losses) = there(json!([
        {"id": "v", "role": "activity", "activityType": "p", "content": {}},
        {"id": "r", "role": "reasoning", "content": "x"},
        {"id": "a", "role": "assistant", "metadata": {}, "subagentRunId": "s", "encryptedValue": "e"},
        {"id": "b", "role": "assistant", "toolCalls": [
            {"id": "c", "type": "function", "function": {"name": "f", "arguments": ""}, "metadata": {"k": 1}}]},
        {"id": "t", "role": "tool", "toolCallId": "c", "content": [{"type": "image", "source": url}], "error": "no"},
        {"id": "u", "role": "user", "content": [
            {"type": "video", "source": url},
            {"type": "image", "source": url, "id": "i", "metadata": 5},
            {"type": "audio", "source": {"type": "data", "value": "", "mimeType": "audio/ogg"}},
            {"type": "document", "source": {"type": "file", "value": "f", "provider": "other"}},
            {"type": "document", "source": {"type": "data", "value": "", "mimeType": "m"},
             "metadata": {"filename": "n", "k": 1}},
        ]},
    ]));
    assert_eq!(
        chat,
        json!([
            {"role": "assistant", "content": ""},
            {"role": "assistant", "content": null, "tool_calls": [
                {"id": "c", "type": "function", "function": {"name": "f", "arguments": ""}}]},
            {"role": "tool", "tool_call_id": "c", "content": ""},
            {"role": "user", "content": [
                {"type": "image_url", "image_url": {"url": "u"}},
                {"type": "file", "file": {"file_data": "data:m;base64,", "filename": "n"}}]},
        ])
    );
    let places: Vec<&str> = losses.iter().map(|loss| loss.split(':').next().unwrap()).collect();
    assert_eq!(
        places,
        [
            "/0",
            "/1",
            "/2/encryptedValue",
            "/2/metadata",
            "/2/subagentRunId",
            "/3/toolCalls/0/metadata",
            "/4/error",
            "/4/content/0",
            "/5/content/0",
            "/5/content/1/id",
            "/5/content/1/metadata",
            "/5/content/1/source/mimeType",
            "/5/content/2",
            "/5/content/3",
            "/5/content/4/metadata",
        ]
    );
    assert_eq!(losses[0], "/0: an activity has no counterpart");
}

#[test]
fn what_the_protocol_has_no_place_for_is_left_out_and_told() {
    let (messages, losses) = back(json!([
        {"role": "function", "name": "f", "content": "x"},
        {"role": "system", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "no"}], "refusal": null,
         "audio": {"id": "x"}, "tool_calls": [{"id": "c", "type": "custom", "custom": {}}]},
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "u", "detail": "low"}},
                                     {"type": "input_audio", "input_audio": {"data": "", "format": "flac"}}]},
    ]))
    .unwrap();
    assert_eq!(
        messages,
        json!([
            {"id": "m1", "role": "system", "content": "ab"},
            {"id": "m2", "role": "assistant", "content": "", "toolCalls": []},
            {"id": "m3", "role": "user", "content": [{"type": "image", "source": {"type": "url", "value": "u"}}]},
        ])
    );
    assert_eq!(
        losses,
        [
            "/0: a message of this role has no counterpart",
            "/2/content/0: a part has no counterpart",
            "/2/tool_calls/0: a call of this type has no counterpart",
            "/2/audio: a member has no counterpart",
            "/3/content/0/image_url/detail: a member has no counterpart",
            "/3/content/1: a part has no counterpart",
        ]
    );
}

#[test]
fn what_is_no_chat_message_is_refused_by_its_place() {
    for (message, text) in [
        (json!(5), "/0: expected an object"),
        (json!({"content": "x"}), "/0/role: expected a string"),
        (json!({"role": "user"}), "/0/content: expected text or a list of parts"),
        (json!({"role": "tool", "content": "x"}), "/0/tool_call_id: expected a string"),
        (
            json!({"role": "user", "content": [{"type": "text"}]}),
            "/0/content/0/text: expected a string",
        ),
        (
            json!({"role": "user", "content": [{"type": "file"}]}),
            "/0/content/0/file: expected an object",
        ),
        (json!({"role": "assistant", "tool_calls": 1}), "/0/tool_calls: expected a list"),
        (
            json!({"role": "assistant", "tool_calls": [{"id": "c", "type": "function"}]}),
            "/0/tool_calls/0/function: expected an object",
        ),
        (json!({"role": "user", "content": "x", "name": 1}), "/0/name: expected a string"),
    ] {
        assert_eq!(back(json!([message])), Err(text.to_owned()));
    }
}

/// There and back one is the other, and nothing is lost either way.
fn check_user(part: Value, chat: Value) {
    check(
        json!([{"id": "m0", "role": "user", "content": [part]}]),
        json!([{"role": "user", "content": [chat]}]),
    );
}

/// A media type has several names, and none is another format.
#[test]
fn sound_goes_by_its_format_whatever_its_type_is_called() {
    let part = |mime: &str| {
        json!([{"id": "m0", "role": "user", "content": [
            {"type": "audio", "source": {"type": "data", "value": "AAAA", "mimeType": mime}}]}])
    };
    for (format, names) in [
        ("wav", &["audio/wav", "audio/x-wav", "audio/wave", "audio/vnd.wave", "Audio/WAV"][..]),
        (
            "mp3",
            &["audio/mpeg", "audio/mp3", "audio/x-mp3", "audio/x-mpeg", "audio/mpeg3", "AUDIO/MP3"],
        ),
    ] {
        let audio =
            json!({"type": "input_audio", "input_audio": {"data": "AAAA", "format": format}});
        for name in names {
            let want = json!([{"role": "user", "content": [audio]}]);
            assert_eq!(there(part(name)), (want, Vec::new()), "{name}");
        }
        let want = json!([{"role": "user", "content": [audio]}]);
        assert_eq!(back(want), Ok((part(names[0]), Vec::new())));
    }
    // What the name says besides has no place.
    let (chat, losses) = there(part("audio/wav; codecs=1"));
    assert_eq!(chat[0]["content"][0]["input_audio"]["format"], "wav");
    assert_eq!(losses, ["/0/content/0/source/mimeType: mimeType has no counterpart"]);
    for name in ["audio/ogg", "audio/mp4", "audio/", "mp3", ""] {
        assert_eq!(there(part(name)).1, ["/0/content/0: a part has no counterpart"], "{name}");
    }
}

#[test]
fn a_list_without_parts_is_empty_text_there() {
    let tool = |content: Value| json!([{"id": "m0", "role": "tool", "toolCallId": "c", "content": content}]);
    let user = |content: Value| json!([{"id": "m0", "role": "user", "content": content}]);
    let video = json!([{"type": "video", "source": {"type": "url", "value": "u"}}]);
    for (messages, losses) in
        [(tool(json!([])), 0), (user(json!([])), 0), (tool(video.clone()), 1), (user(video), 1)]
    {
        let (chat, told) = there(messages);
        assert_eq!((&chat[0]["content"], told.len()), (&json!(""), losses));
    }
    // A list is kept as one where there may be one.
    for (role, content) in [("user", json!([])), ("system", json!("")), ("developer", json!(""))] {
        let (messages, losses) = back(json!([{"role": role, "content": []}])).unwrap();
        assert_eq!((&messages[0]["content"], losses.len()), (&content, 0), "{role}");
    }
    let (messages, losses) = back(json!([
        {"role": "assistant", "content": [], "tool_calls": []},
        {"role": "assistant", "content": null, "tool_calls": null},
    ]))
    .unwrap();
    assert_eq!(
        (messages, losses.len()),
        (
            json!([{"id": "m0", "role": "assistant", "content": "", "toolCalls": []},
                   {"id": "m1", "role": "assistant"}]),
            0
        )
    );
}

#[test]
fn a_file_is_its_data_or_its_id_with_a_name() {
    let data = |mime: &str| json!({"type": "data", "value": "AAAA", "mimeType": mime});
    let by_id = json!({"type": "file", "value": "file-1", "provider": "openai"});
    check_user(
        json!({"type": "document", "source": data("text/plain;charset=utf-8")}),
        json!({"type": "file", "file": {"file_data": "data:text/plain;charset=utf-8;base64,AAAA"}}),
    );
    check_user(
        json!({"type": "document", "source": by_id, "metadata": {"filename": "a.pdf"}}),
        json!({"type": "file", "file": {"file_id": "file-1", "filename": "a.pdf"}}),
    );
    let read = |file: Value| {
        let read = back(json!([{"role": "user", "content": [{"type": "file", "file": file}]}]));
        read.map(|(messages, losses)| (messages[0]["content"].clone(), losses))
    };
    let document = |source: Value| json!([{"type": "document", "source": source}]);
    let none: Vec<String> = Vec::new();
    // What is null is not there.
    let nulls = json!({"file_id": null, "file_data": "data:a/b;base64,AAAA", "filename": null});
    assert_eq!(read(nulls), Ok((document(data("a/b")), none.clone())));
    let nulls = json!({"file_id": "file-1", "file_data": null, "filename": null});
    assert_eq!(read(nulls), Ok((document(by_id.clone()), none.clone())));
    // Base64 alone does not say what it is.
    let bare = json!({"file_data": "AAAA"});
    assert_eq!(read(bare), Ok((document(data("application/octet-stream")), none.clone())));
    let url = json!({"file_data": "https://x.invalid/a;base64,b"});
    let at_url = document(json!({"type": "url", "value": "https://x.invalid/a;base64,b"}));
    assert_eq!(read(url), Ok((at_url, none)));
    let both = json!({"file_id": "file-1", "file_data": "data:a/b;base64,AAAA"});
    let told = vec!["/0/content/0/file/file_data: a member has no counterpart".to_owned()];
    assert_eq!(read(both), Ok((document(by_id), told)));
    // A name is no file.
    let part = vec!["/0/content/0: a part has no counterpart".to_owned()];
    assert_eq!(read(json!({"filename": "a.pdf"})), Ok((json!([]), part.clone())));
    assert_eq!(read(json!({})), Ok((json!([]), part)));
    for (file, place) in [
        (json!({"file_id": 1}), "file_id"),
        (json!({"file_data": 1}), "file_data"),
        (json!({"file_data": "AAAA", "filename": 1}), "filename"),
    ] {
        assert_eq!(read(file), Err(format!("/0/content/0/file/{place}: expected a string")));
    }
}

#[test]
fn a_data_url_ends_at_its_first_comma() {
    for url in ["data:text/plain,a;base64,b", "data:text/plain,a", "https://x.invalid/?;base64,b"] {
        check_user(
            json!({"type": "image", "source": {"type": "url", "value": url}}),
            json!({"type": "image_url", "image_url": {"url": url}}),
        );
    }
    for mime in ["image/svg+xml;charset=utf-8", ""] {
        check_user(
            json!({"type": "image", "source": {"type": "data", "value": "AAAA", "mimeType": mime}}),
            json!({"type": "image_url", "image_url": {"url": format!("data:{mime};base64,AAAA")}}),
        );
    }
    // A type with a comma would make another URL.
    let source = json!({"type": "data", "value": "AAAA", "mimeType": "a,b"});
    for kind in ["image", "document"] {
        let (_, losses) = there(
            json!([{"id": "m", "role": "user", "content": [{"type": kind, "source": source}]}]),
        );
        assert_eq!(losses, ["/0/content/0: a part has no counterpart"]);
    }
}

/// Every kind of source under every kind of part: what chat takes of it, or nothing.
#[test]
fn every_part_and_source_has_its_place_or_is_told() {
    let sources = [
        json!({"type": "data", "value": "AAAA", "mimeType": "audio/wav"}),
        json!({"type": "url", "value": "u"}),
        json!({"type": "file", "value": "f", "provider": "openai"}),
        json!({"type": "file", "value": "f"}),
    ];
    let data_url = "data:audio/wav;base64,AAAA";
    let image = |url: &str| json!({"type": "image_url", "image_url": {"url": url}});
    let audio = json!({"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}});
    let file = |name: &str, value: &str| json!({"type": "file", "file": {name: value}});
    let null = Value::Null;
    for (kind, want) in [
        ("image", [image(data_url), image("u"), null.clone(), null.clone()]),
        ("audio", [audio, null.clone(), null.clone(), null.clone()]),
        ("video", [null.clone(), null.clone(), null.clone(), null.clone()]),
        ("document", [file("file_data", data_url), null.clone(), file("file_id", "f"), null]),
    ] {
        for (source, want) in sources.iter().zip(want) {
            let part = json!({"type": kind, "source": source});
            let (chat, losses) = there(json!([{"id": "m", "role": "user", "content": [part]}]));
            let lost = ["/0/content/0: a part has no counterpart".to_owned()];
            let (content, told) =
                if want.is_null() { (json!(""), &lost[..]) } else { (json!([want]), &[][..]) };
            assert_eq!(
                (&chat[0]["content"], losses.as_slice()),
                (&content, told),
                "{kind} {source}"
            );
            // A result takes text alone.
            let tool = json!([{"id": "m", "role": "tool", "toolCallId": "c", "content": [part]}]);
            let (chat, losses) = there(tool);
            assert_eq!((&chat[0]["content"], losses.as_slice()), (&json!(""), &lost[..]));
        }
    }
}

/// A newer peer's members, and what a decoder can hand on that is no whole message.
#[test]
fn what_no_strict_message_has_is_told_too() {
    let (chat, losses) = there(json!([
        {"id": "a", "role": "assistant", "content": "x", "mood": 1, "encryptedValueType": "t", "toolCalls": [
            {"id": "c", "type": "function", "encryptedValueType": "t", "new": 1,
             "function": {"name": "f", "arguments": "", "strict": true}}]},
        {"id": "u", "role": "user", "content": [
            {"type": "text", "text": "t", "a/b": 1},
            {"type": "image", "detail": 1, "source": {"type": "url", "value": "u", "hash": 1}}]},
    ]));
    assert_eq!(
        chat,
        json!([
            {"role": "assistant", "content": "x", "tool_calls": [
                {"id": "c", "type": "function", "function": {"name": "f", "arguments": ""}}]},
            {"role": "user", "content": [
                {"type": "text", "text": "t"}, {"type": "image_url", "image_url": {"url": "u"}}]},
        ])
    );
    assert_eq!(
        losses,
        [
            "/0/encryptedValueType: encryptedValueType has no counterpart",
            "/0/mood: a member has no counterpart",
            "/0/toolCalls/0/encryptedValueType: encryptedValueType has no counterpart",
            "/0/toolCalls/0/new: a member has no counterpart",
            "/0/toolCalls/0/function/strict: a member has no counterpart",
            "/1/content/0/a~1b: a member has no counterpart",
            "/1/content/1/detail: a member has no counterpart",
            "/1/content/1/source/hash: a member has no counterpart",
        ]
    );

    // Nothing is made up for a call that calls nothing, nor for a result of none.
    let mut call = ToolCall::function("c", "f", "");
    call.function = None;
    let mut result = ToolMessage::new("t", "r", "c");
    result.tool_call_id = None;
    let chat = to_chat(&[AssistantMessage::new("a").with_tool_calls([call]).into(), result.into()]);
    assert_eq!(
        serde_json::to_value(chat.messages).unwrap(),
        json!([{"role": "assistant", "content": ""}])
    );
    assert_eq!(
        told(&chat.losses),
        [
            "/0/toolCalls/0: a call without a function has no counterpart",
            "/1: a result without a call has no counterpart",
        ]
    );
}
