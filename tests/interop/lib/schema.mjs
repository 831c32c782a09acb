/**
 * The wire side of the protocol as tables.
 *
 * One line is one message: its name, then `number name type` for each field. `?` marks a scalar
 * with presence, `*` a repeated field. After `oneof` at most one field is set.
 */

const EVENT_LINES = `
TEXT_MESSAGE_START         0  1: 2 messageId string, 3 role string?, 4 name string?, 5 subagentRunId string?
TEXT_MESSAGE_CONTENT       1  2: 2 messageId string, 3 delta string, 4 subagentRunId string?
TEXT_MESSAGE_END           2  3: 2 messageId string, 3 subagentRunId string?
TOOL_CALL_START            3  4: 2 toolCallId string, 3 toolCallName string, 4 parentMessageId string?, 5 subagentRunId string?
TOOL_CALL_ARGS             4  5: 2 toolCallId string, 3 delta string, 4 subagentRunId string?
TOOL_CALL_END              5  6: 2 toolCallId string, 3 subagentRunId string?
STATE_SNAPSHOT             6  7: 2 snapshot Value, 3 subagentRunId string?
STATE_DELTA                7  8: 2 delta JsonPatchOperation*, 3 subagentRunId string?
MESSAGES_SNAPSHOT          8  9: 2 messages Message*
RAW                        9 10: 2 event Value, 3 source string?, 4 subagentRunId string?
CUSTOM                    10 11: 2 name string, 3 value Value, 4 subagentRunId string?
RUN_STARTED               11 12: 2 threadId string, 3 runId string, 4 parentRunId string?, 5 input RunAgentInput, 6 protocolVersion string?
RUN_FINISHED              12 13: 2 threadId string, 3 runId string, 4 result Value, 5 outcome string, 6 interrupts Interrupt*, 7 usage Usage*, 8 pendingToolCallIds string*
RUN_ERROR                 13 14: 2 code string?, 3 message string, 4 usage Usage*
STEP_STARTED              14 15: 2 stepName string, 3 subagentRunId string?
STEP_FINISHED             15 16: 2 stepName string, 3 subagentRunId string?
TEXT_MESSAGE_CHUNK        19 17: 2 messageId string?, 3 role string?, 4 delta string?, 5 name string?, 6 subagentRunId string?
TOOL_CALL_CHUNK           20 18: 2 toolCallId string?, 3 toolCallName string?, 4 parentMessageId string?, 5 delta string?, 6 subagentRunId string?
SUBAGENT_STARTED          16 19: 2 subagentRunId string, 3 name string, 4 description string?, 5 parentSubagentRunId string?, 6 parentToolCallId string?, 7 parentMessageId string?
SUBAGENT_FINISHED         17 20: 2 subagentRunId string, 3 result Value, 4 outcome string, 5 interruptIds string*
SUBAGENT_ERROR            18 21: 2 subagentRunId string, 3 message string, 4 code string?
TOOL_CALL_RESULT          21 22: 2 subagentRunId string?, 3 messageId string, 4 toolCallId string, 5 content string?, 6 role string?, 7 contentParts InputContent*
ACTIVITY_SNAPSHOT         22 23: 2 subagentRunId string?, 3 messageId string, 4 activityType string, 5 content Struct, 6 replace bool?
ACTIVITY_DELTA            23 24: 2 subagentRunId string?, 3 messageId string, 4 activityType string, 5 patch JsonPatchOperation*
REASONING_START           24 25: 2 subagentRunId string?, 3 messageId string
REASONING_MESSAGE_START   25 26: 2 subagentRunId string?, 3 messageId string, 4 role string
REASONING_MESSAGE_CONTENT 26 27: 2 subagentRunId string?, 3 messageId string, 4 delta string
REASONING_MESSAGE_END     27 28: 2 subagentRunId string?, 3 messageId string
REASONING_MESSAGE_CHUNK   28 29: 2 subagentRunId string?, 3 messageId string?, 4 delta string?
REASONING_END             29 30: 2 subagentRunId string?, 3 messageId string
REASONING_ENCRYPTED_VALUE 30 31: 2 subagentRunId string?, 3 subtype string, 4 entityId string, 5 encryptedValue string, 6 encryptedValueType string?
`;

const MESSAGE_LINES = `
BaseEvent: 1 type enum, 2 timestamp int64?, 3 rawEvent Value, 4 metadata Struct
Message: 1 id string, 2 role string, 3 content string?, 4 name string?, 5 toolCalls ToolCall*, 6 toolCallId string?, 7 error string?, 8 contentParts InputContent*, 9 metadata Struct, 10 subagentRunId string?, 11 encryptedValue string?, 12 activityType string?, 13 activityContent Struct, 14 encryptedValueType string?
ToolCall: 1 id string, 2 type string, 3 function Function, 4 metadata Struct, 5 encryptedValue string?, 6 encryptedValueType string?
Function: 1 name string, 2 arguments string
InputContent: oneof 1 text TextPart, 2 image MediaPart, 3 audio MediaPart, 4 video MediaPart, 5 document MediaPart
TextPart: 1 text string, 2 id string?, 3 metadata Value
MediaPart: 1 source Source, 2 metadata Value, 3 id string?
Source: oneof 1 data DataSource, 2 url UrlSource, 3 file FileSource
DataSource: 1 value string, 2 mimeType string
UrlSource: 1 value string, 2 mimeType string?
FileSource: 1 value string, 2 provider string?, 3 mimeType string?
Tool: 1 name string, 2 description string, 3 parameters Value, 4 metadata Struct
Context: 1 description string, 2 value string
ResumeEntry: 1 interruptId string, 2 status string, 3 payload Value, 4 metadata Struct
Interrupt: 1 id string, 2 reason string, 3 message string?, 4 toolCallId string?, 5 responseSchema Value, 6 expiresAt string?, 7 metadata Value, 8 subagentRunId string?
RunAgentInput: 1 threadId string, 2 runId string, 3 parentRunId string?, 4 state Value, 5 messages Message*, 6 tools Tool*, 7 context Context*, 8 forwardedProps Value, 9 resume ResumeEntry*, 10 protocolVersion string?
JsonPatchOperation: 1 op enum, 2 path string, 3 from string?, 4 value Value
Usage: 1 provider string?, 2 model string?, 3 inputTokens int64?, 4 outputTokens int64?, 5 totalTokens int64?, 6 reasoningTokens int64?, 7 cachedInputTokens int64?, 8 cacheWriteInputTokens int64?
Struct: 1 fields FieldsEntry*
FieldsEntry: 1 key string, 2 value Value
Value: oneof 1 nullValue enum?, 2 numberValue double?, 3 stringValue string?, 4 boolValue bool?, 5 structValue Struct, 6 listValue ListValue
ListValue: 1 values Value*
`;

/** Wire types. */
export const VARINT = 0;
export const FIXED64 = 1;
export const BYTES = 2;
export const START_GROUP = 3;
export const END_GROUP = 4;
export const FIXED32 = 5;

const SCALAR_WIRE_TYPES = {
  string: BYTES,
  int64: VARINT,
  bool: VARINT,
  enum: VARINT,
  double: FIXED64,
};

/**
 * @typedef {object} Field
 * @property {number} number
 * @property {string} name
 * @property {string} type a scalar type or the name of a message
 * @property {number} wireType
 * @property {boolean} isMessage
 * @property {boolean} repeated
 * @property {boolean} optional a scalar with presence
 *
 * @typedef {{ name: string, oneof: boolean, fields: Map<number, Field> }} Layout
 */

/** @returns {Field} */
function field(text) {
  const [number, name, type] = text.trim().split(" ");
  const bare = type.replace(/[?*]$/, "");
  return {
    number: Number(number),
    name,
    type: bare,
    wireType: SCALAR_WIRE_TYPES[bare] ?? BYTES,
    isMessage: !(bare in SCALAR_WIRE_TYPES),
    repeated: type.endsWith("*"),
    optional: type.endsWith("?"),
  };
}

/** @returns {Layout} */
function layout(name, text) {
  const oneof = text.startsWith("oneof ");
  const fields = text
    .replace(/^oneof /, "")
    .split(",")
    .map(field);
  return { name, oneof, fields: new Map(fields.map((entry) => [entry.number, entry])) };
}

const lines = (text) =>
  text
    .trim()
    .split("\n")
    .map((line) => line.split(": "));

/** Every event type with its number in the enum and its number in the envelope. */
export const EVENTS = lines(EVENT_LINES).map(([head]) => {
  const [type, enumNumber, arm] = head.split(/ +/);
  return { type, enumNumber: Number(enumNumber), arm: Number(arm) };
});

/**
 * Every message by name. The message of an event bears the event's type; `Event` is the envelope.
 *
 * @type {Record<string, Layout>}
 */
export const LAYOUTS = Object.fromEntries([
  ["Event", layout("Event", `oneof ${EVENTS.map(({ arm, type }) => `${arm} ${type} ${type}`)}`)],
  ...lines(MESSAGE_LINES).map(([name, fields]) => [name, layout(name, fields)]),
  ...lines(EVENT_LINES).map(([head, fields]) => {
    const [type] = head.split(" ");
    return [type, layout(type, `1 baseEvent BaseEvent, ${fields}`)];
  }),
]);
