/**
 * Writes `tests/data/documents.jsonl`: valid events, one `{"name", "event"}` a line.
 *
 * Every shape of the model appears with its required members only, with each optional member
 * alone, with each of them empty, and with all of them. Further documents cover what tables
 * cannot say.
 *
 *     node documents.mjs            writes the file
 *     node documents.mjs --check    fails if the file would change
 */
import { EVENT_TYPES, SHAPES, UNIONS, WORDS, build, buildVariant } from "./lib/model.mjs";
import { VALUES, WHOLE_NUMBERS, emptyValues, sampleLeaf } from "./lib/samples.mjs";
import { writeOrCheck } from "./lib/files.mjs";
import { jsonText } from "./lib/json.mjs";

const choices = (all) => ({
  leaf: sampleLeaf,
  has: () => all,
  either: ([first]) => first,
  length: () => 1,
  variant: (union) => Object.keys(UNIONS[union].variants)[0],
});
const sparse = choices(false);
const full = choices(true);

/**
 * The members-present-or-not documents of one shape.
 *
 * @param {import("./lib/model.mjs").Shape} shape
 * @param {(choices: object) => object} make builds one value of that shape
 * @returns {[string, object][]} names and values
 */
function presence({ required, optional }, make) {
  const minimal = make(sparse);
  const found = [["minimal", minimal]];
  const add = (name, changes) => found.push([name, { ...minimal, ...changes }]);
  for (const [member, kind] of Object.entries(optional)) {
    add(`with-${member}`, { [member]: build(kind, sparse, member) });
  }
  for (const [member, kind] of Object.entries({ ...required, ...optional })) {
    emptyValues(kind).forEach((value, index) => {
      add(`empty-${member}${index === 0 ? "" : "-list"}`, { [member]: value });
    });
  }
  const empties = Object.entries(required).filter(([, kind]) => emptyValues(kind).length > 0);
  if (empties.length > 1) {
    add(
      "all-empty",
      Object.fromEntries(empties.map(([name, kind]) => [name, emptyValues(kind)[0]])),
    );
  }
  if (Object.keys(optional).length > 0) found.push(["full", make(full)]);
  return found;
}

const variantPresence = (union) =>
  Object.entries(UNIONS[union].variants).flatMap(([variant, shape]) =>
    presence(shape, (choice) => buildVariant(union, variant, choice)).map(([name, value]) => [
      `${variant}/${name}`,
      value,
    ]),
  );

const shapePresence = (shape) => presence(SHAPES[shape], (choice) => build(shape, choice));

/** Names and values, each value put into an event. */
const within = (prefix, entries, host) =>
  entries.map(([name, value]) => ({ name: `${prefix}/${name}`, event: host(value) }));

const messages = (...list) => ({ type: "MESSAGES_SNAPSHOT", messages: list });
const user = (content) => messages({ id: "msg-1", role: "user", content });
const toolMessage = (content) =>
  messages({ id: "msg-2", role: "tool", toolCallId: "call-1", content });
const assistant = (members) => messages({ id: "msg-3", role: "assistant", ...members });
const toolResult = (content) => ({
  type: "TOOL_CALL_RESULT",
  messageId: "msg-2",
  toolCallId: "call-1",
  content,
});
const runFinished = (members) => ({
  type: "RUN_FINISHED",
  threadId: "thread-quay",
  runId: "run-noon",
  ...members,
});
const runStarted = (input) => ({
  type: "RUN_STARTED",
  threadId: "thread-quay",
  runId: "run-noon",
  input: { threadId: "thread-quay", runId: "run-noon", messages: [], ...input },
});
const stateDelta = (...delta) => ({ type: "STATE_DELTA", delta });
const custom = (value) => ({ type: "CUSTOM", name: "log", value });
const step = (members) => ({ type: "STEP_STARTED", stepName: "moor", ...members });
const image = (source) => ({ type: "image", source });

const textPart = { type: "text", text: "See the chart." };
const dataSource = { type: "data", value: "UklGRg==", mimeType: "audio/wav" };
const urlSource = { type: "url", value: "https://charts.example/basin.pdf" };
const fileSource = { type: "file", value: "file-88", provider: "northern-models" };
const everyPart = [
  textPart,
  { type: "audio", source: dataSource },
  { type: "document", source: urlSource, metadata: { pages: [1, 2] } },
  { type: "video", source: fileSource, id: "part-4" },
  { type: "image", source: { ...urlSource, mimeType: "image/png" } },
];
const toolCall = (id, members) => ({
  id,
  type: "function",
  function: { name: "read_gauge", arguments: "{}" },
  ...members,
});
const interrupt = (id, members) => ({ id, reason: "needs_tug", ...members });

/** Entries of a map as names and values. */
const entries = Object.entries;

const eventDocuments = EVENT_TYPES.flatMap((type) =>
  within(
    type,
    presence(UNIONS.event.variants[type], (choice) => buildVariant("event", type, choice)),
    (event) => event,
  ),
);

const wordDocuments = [
  ...within(
    "role",
    WORDS.textRole.map((role) => [role, role]),
    (role) => ({
      type: "TEXT_MESSAGE_START",
      messageId: "msg-9",
      role,
    }),
  ),
  ...within(
    "chunk-role",
    WORDS.textRole.map((role) => [role, role]),
    (role) => ({
      type: "TEXT_MESSAGE_CHUNK",
      role,
    }),
  ),
  ...within(
    "subtype",
    WORDS.subtype.map((subtype) => [subtype, subtype]),
    (subtype) => ({
      type: "REASONING_ENCRYPTED_VALUE",
      subtype,
      entityId: "call-1",
      encryptedValue: "b3BhcXVl",
    }),
  ),
];

const valueDocuments = [
  ...within("value", entries(VALUES), custom),
  ...within("snapshot", entries(VALUES), (snapshot) => ({ type: "STATE_SNAPSHOT", snapshot })),
  ...within(
    "string",
    entries(VALUES).filter(([, value]) => typeof value === "string"),
    (delta) => ({ type: "TEXT_MESSAGE_CONTENT", messageId: "msg-9", delta }),
  ),
  ...within(
    "metadata",
    entries(VALUES).filter(([name]) => name.includes("object")),
    (metadata) => step({ metadata }),
  ),
  ...within(
    "raw",
    [
      ["null", null],
      ["list", [1]],
      ["text", "raw text"],
      ["number", -2.5],
    ],
    (event) => ({ type: "RAW", event }),
  ),
  ...within(
    "raw-event",
    [
      ["text", "radio"],
      ["zero", 0],
      ["false", false],
      ["list", []],
      ["inner-null", { lost: null }],
    ],
    (rawEvent) => step({ rawEvent }),
  ),
  ...within(
    "result",
    [
      ["text", ""],
      ["zero", 0],
      ["list", [null]],
      ["object", {}],
    ],
    (result) => runFinished({ result }),
  ),
];

const numberDocuments = [
  ...within("timestamp", entries(WHOLE_NUMBERS), (timestamp) => step({ timestamp })),
  ...within("negative-timestamp", entries(WHOLE_NUMBERS).slice(1), (timestamp) =>
    step({ timestamp: -timestamp }),
  ),
  ...within("tokens", entries(WHOLE_NUMBERS), (inputTokens) =>
    runFinished({ usage: [{ inputTokens }] }),
  ),
];

const contentDocuments = [
  ...within("source", variantPresence("source"), (source) => user([image(source)])),
  ...["audio", "video", "document"].flatMap((type) =>
    within(`${type}-source`, variantPresence("source"), (source) => toolResult([{ type, source }])),
  ),
  ...within("part", variantPresence("part"), (part) => user([part])),
  ...within("tool-result-part", variantPresence("part"), (part) => toolResult([part])),
  ...within(
    "part-metadata",
    [
      ["text", "sharp"],
      ["empty-text", ""],
      ["number", 3],
      ["list", [1, null]],
      ["object", {}],
    ],
    (metadata) =>
      user([
        { ...image(urlSource), metadata },
        { ...textPart, metadata },
      ]),
  ),
  ...within(
    "content",
    [
      ["text", "Ahoy"],
      ["empty", ""],
      ["no-parts", []],
      ["parts", everyPart],
    ].flatMap(([name, content]) => [
      [`user/${name}`, user(content)],
      [`tool/${name}`, toolMessage(content)],
      [`tool-result/${name}`, toolResult(content)],
      [`input/${name}`, runStarted({ messages: user(content).messages })],
    ]),
    (event) => event,
  ),
];

const messageDocuments = [
  ...within("message", variantPresence("message"), (message) => messages(message)),
  ...within("tool-call", shapePresence("toolCall"), (call) => assistant({ toolCalls: [call] })),
  ...within("function", shapePresence("call"), (call) =>
    assistant({ toolCalls: [{ id: "call-1", type: "function", function: call }] }),
  ),
  ...within(
    "assistant",
    [
      ["no-content", {}],
      ["empty-content", { content: "" }],
      ["empty-content-and-call", { content: "", toolCalls: [toolCall("call-1")] }],
      [
        "content-and-calls",
        { content: "Reading.", toolCalls: [toolCall("call-1"), toolCall("call-2")] },
      ],
      [
        "arguments-not-json",
        { toolCalls: [{ ...toolCall("c"), function: { name: "f", arguments: "{oops" } }] },
      ],
      ["call-with-empty-metadata", { toolCalls: [toolCall("call-1", { metadata: {} })] }],
    ],
    assistant,
  ),
  {
    name: "conversation/every-role",
    event: messages(
      ...Object.keys(UNIONS.message.variants).map((role) => buildVariant("message", role, sparse)),
    ),
  },
  {
    name: "conversation/every-role-in-full",
    event: messages(
      ...Object.keys(UNIONS.message.variants).map((role) => buildVariant("message", role, full)),
    ),
  },
  {
    name: "conversation/same-message-twice",
    event: messages(...user("Again").messages, ...user("Again").messages),
  },
];

const outcomeDocuments = [
  ...within("run-outcome", variantPresence("runOutcome"), (outcome) => runFinished({ outcome })),
  ...within("subagent-outcome", variantPresence("subagentOutcome"), (outcome) => ({
    type: "SUBAGENT_FINISHED",
    subagentRunId: "sub-lookout",
    outcome,
  })),
  ...within("interrupt", shapePresence("interrupt"), (one) =>
    runFinished({ outcome: { type: "interrupt", interrupts: [one] } }),
  ),
  {
    name: "run-outcome/several-pending-calls",
    event: runFinished({
      outcome: { type: "success", pendingToolCallIds: ["call-1", "", "call-1"] },
    }),
  },
  {
    name: "run-outcome/several-interrupts",
    event: runFinished({
      outcome: {
        type: "interrupt",
        interrupts: [interrupt("ask-1"), interrupt("ask-2", { message: "" }), interrupt("")],
      },
      result: { partial: true },
      usage: [{ model: "keel-2-large" }],
    }),
  },
  {
    name: "subagent-outcome/several-interrupts",
    event: {
      type: "SUBAGENT_FINISHED",
      subagentRunId: "sub-lookout",
      result: "waiting",
      outcome: { type: "suspended", interruptIds: ["ask-1", "", "ask-2"] },
    },
  },
];

const usageDocuments = [
  ...within("usage", shapePresence("usage"), (usage) => runFinished({ usage: [usage] })),
  ...within("usage-of-error", shapePresence("usage"), (usage) => ({
    type: "RUN_ERROR",
    message: "aground",
    usage: [usage],
  })),
  {
    name: "usage/all-zero",
    event: runFinished({
      usage: [
        Object.fromEntries(
          entries(SHAPES.usage.optional).map(([name, kind]) => [name, emptyValues(kind)[0]]),
        ),
      ],
    }),
  },
  {
    name: "usage/several-entries",
    event: runFinished({
      usage: [
        {},
        build("usage", full),
        { provider: "", inputTokens: 0 },
        { model: "keel-2-small", outputTokens: 5 },
      ],
    }),
  },
];

const patchDocuments = [
  ...within("patch", variantPresence("operation"), (operation) => stateDelta(operation)),
  ...within("activity-patch", variantPresence("operation"), (operation) => ({
    type: "ACTIVITY_DELTA",
    messageId: "msg-8",
    activityType: "berth-plan",
    patch: [operation],
  })),
  ...within(
    "pointer",
    [
      ["root", ""],
      ["empty-token", "/"],
      ["escaped", "/a~1b/m~0n/~01"],
      ["append", "/ships/-"],
      ["scripts", "/船/\u{1f6a2}/ø"],
      ["odd-letters", '/a b/"/\\/%41/\u0000'],
    ],
    (path) =>
      stateDelta({ op: "replace", path, value: 1 }, { op: "copy", from: path, path: "/copy" }),
  ),
  ...within(
    "patch-value",
    entries(VALUES).filter(([name]) => !name.startsWith("string")),
    (value) => stateDelta({ op: "test", path: "/gauge", value }),
  ),
  {
    name: "patch/all-six",
    event: stateDelta(
      ...Object.keys(UNIONS.operation.variants).map((op) => buildVariant("operation", op, sparse)),
    ),
  },
  {
    name: "patch/leftover-null-on-remove",
    event: stateDelta({ op: "remove", path: "/a", value: null }),
  },
];

const inputDocuments = [
  ...within("input", shapePresence("runInput"), runStarted),
  ...within("tool", shapePresence("tool"), (tool) => runStarted({ tools: [tool] })),
  ...within("context", shapePresence("context"), (context) => runStarted({ context: [context] })),
  ...within("resume", shapePresence("resumeEntry"), (entry) => runStarted({ resume: [entry] })),
  {
    name: "resume/cancelled",
    event: runStarted({ resume: [{ interruptId: "ask-1", status: "cancelled" }] }),
  },
  ...within(
    "state",
    [
      ["text", ""],
      ["zero", 0],
      ["false", false],
      ["list", []],
      ["inner-null", { lamp: null }],
    ],
    (state) => runStarted({ state, forwardedProps: state }),
  ),
  {
    name: "input/everything-several-times",
    event: runStarted({
      ...build("runInput", full),
      messages: Object.keys(UNIONS.message.variants).map((role) =>
        buildVariant("message", role, full),
      ),
      tools: [
        build("tool", full),
        build("tool", sparse),
        { name: "", description: "", parameters: true },
      ],
      context: [build("context", full), { description: "", value: "" }],
      resume: [build("resumeEntry", full), { interruptId: "", status: "cancelled", payload: 0 }],
    }),
  },
];

const documents = [
  ...eventDocuments,
  ...wordDocuments,
  ...valueDocuments,
  ...numberDocuments,
  ...contentDocuments,
  ...messageDocuments,
  ...outcomeDocuments,
  ...usageDocuments,
  ...patchDocuments,
  ...inputDocuments,
];

const names = new Set();
for (const { name } of documents) {
  if (names.has(name)) throw new Error(`two documents named ${name}`);
  names.add(name);
}

writeOrCheck("documents.jsonl", documents.map((document) => `${jsonText(document)}\n`).join(""));
console.log(`${documents.length} documents`);
