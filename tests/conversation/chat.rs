//! Messages as chat messages, and back.

use ag_ui_proto::conversation::{ChatLoss, from_chat, to_chat};
use ag_ui_proto::model::Message;
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
