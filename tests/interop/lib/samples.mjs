/** Fixed sample contents by member: a harbour and its pilot, who answers with the help of tools. */

const STRINGS = {
  activityType: "berth-plan",
  arguments: '{"berth":"N4","tide":"high"}',
  code: "tide_table_unavailable",
  content: "The ebb sets in at noon.",
  delta: "two cables off ",
  description: "Depth and current at a berth",
  encryptedValue: "c2VhbGVkIGxvZ2Jvb2s=",
  entityId: "msg-pilot-7",
  error: "gauge offline",
  expiresAt: "2031-03-04T05:06:07Z",
  from: "/queue/0",
  id: "id-lantern-3",
  interruptId: "ask-tug-1",
  interruptIds: "ask-tug-2",
  message: "No soundings for this basin.",
  messageId: "msg-pilot-7",
  mimeType: "image/webp",
  model: "keel-2-large",
  name: "harbour_pilot",
  parentMessageId: "msg-pilot-6",
  parentRunId: "run-dawn",
  parentSubagentRunId: "sub-tide",
  parentToolCallId: "call-gauge-1",
  pendingToolCallIds: "call-gauge-2",
  protocolVersion: "1.0",
  provider: "northern-models",
  reason: "needs_tug",
  runId: "run-morning",
  source: "ais-feed",
  stepName: "approach",
  subagentRunId: "sub-lookout",
  text: "Can the ferry pass under the bridge?",
  threadId: "thread-quay",
  toolCallId: "call-gauge-2",
  toolCallName: "read_gauge",
  value: "aGFyYm91ciBjaGFydA==",
};

const COUNTS = {
  inputTokens: 1830,
  outputTokens: 412,
  totalTokens: 2242,
  reasoningTokens: 128,
  cachedInputTokens: 1024,
  cacheWriteInputTokens: 300,
};

const OPEN = {
  content: { berth: "N4", steps: [{ label: "fenders out", done: true }], progress: 0.75 },
  event: { kind: "position", lat: 53.5413, lon: 9.9841, heading: null },
  forwardedProps: { locale: "de-CH", debug: { trace: true, parent: null } },
  metadata: { "quay.shift": "early", "ag-ui": { lamps: [1, 2] }, note: null },
  parameters: { type: "object", properties: { berth: { type: "string" } }, required: ["berth"] },
  payload: { approved: true, tug: "Marlin" },
  rawEvent: { upstream: "radio", channel: 16 },
  responseSchema: { type: "object", properties: { approved: { type: "boolean" } } },
  result: { moored: true, lines: 6 },
  snapshot: { ships: [{ name: "Gull", draught: 4.2 }], tide: "flood" },
  state: { tide: "ebb", berths: { N4: null } },
  value: ["red", 12.5, { lit: false }],
};

const WORD_SAMPLES = {
  textRole: "user",
  reasoningRole: "reasoning",
  toolRole: "tool",
  functionType: "function",
  subtype: "message",
  resumeStatus: "resolved",
};

const POINTERS = { path: "/ships/0/name", from: "/queue/0" };

/** What a leaf of the model holds in a sample. */
export function sampleLeaf(kind, member) {
  const sample = {
    string: STRINGS[member],
    boolean: true,
    timestamp: 1767225600000,
    count: COUNTS[member],
    pointer: POINTERS[member],
    any: OPEN[member],
    value: OPEN[member],
    object: OPEN[member],
    ...WORD_SAMPLES,
  }[kind];
  if (sample === undefined) throw new Error(`no sample of kind ${kind} for ${member}`);
  return structuredClone(sample);
}

const EMPTY = {
  string: [""],
  boolean: [false],
  timestamp: [0],
  count: [0],
  pointer: [""],
  any: [null],
  value: [false],
  object: [{}],
};

/** The empty values of a kind: present, and yet nothing. Words and shapes have none. */
export function emptyValues(kind) {
  return kind.split("|").flatMap((one) => (one.endsWith("*") ? [[]] : (EMPTY[one] ?? [])));
}

/** JSON values of every sort, by name. */
export const VALUES = {
  null: null,
  true: true,
  false: false,
  zero: 0,
  "negative-zero": -0,
  one: 1,
  "minus-one": -1,
  "largest-i32": 2 ** 31 - 1,
  "above-i32": 2 ** 31,
  "smallest-i32": -(2 ** 31),
  "above-u32": 2 ** 32,
  "largest-safe-integer": Number.MAX_SAFE_INTEGER,
  "smallest-safe-integer": Number.MIN_SAFE_INTEGER,
  "two-to-the-53": 2 ** 53,
  "minus-two-to-the-53": -(2 ** 53),
  "two-to-the-53-and-two": 2 ** 53 + 2,
  "two-to-the-63": 2 ** 63,
  "two-to-the-64": 2 ** 64,
  "ten-to-the-21": 1e21,
  "ten-to-the-22": 1e22,
  tenth: 0.1,
  "minus-quarter": -0.25,
  third: 1 / 3,
  "seventeen-digits": 0.30000000000000004,
  "long-decimal": 123456789.12345679,
  "ten-to-the-minus-7": 1e-7,
  "ten-to-the-300": 1e300,
  "minus-ten-to-the-300": -1e300,
  "largest-double": Number.MAX_VALUE,
  "smallest-double": 5e-324,
  "minus-smallest-double": -5e-324,
  "smallest-normal-double": 2 ** -1022,
  "largest-subnormal-double": 2 ** -1022 - 5e-324,
  "empty-string": "",
  "plain-string": "All quiet on the pier.",
  "string-of-127-bytes": "w".repeat(127),
  "string-of-128-bytes": "w".repeat(128),
  "string-of-64-two-byte-letters": "ø".repeat(64),
  "string-of-300-bytes": "wave ".repeat(60),
  "string-with-nul": "a\u0000b",
  "string-with-controls": "\u0001\b\t\n\u000b\f\r\u001f\u007f\u0085",
  "string-with-quotes": "say \"ahoy\" \\ / 'aye'",
  "string-with-html": "<b>&amp;</b>",
  "string-with-line-separators": "one\u2028two\u2029three",
  "string-with-byte-order-mark": "\ufefftext",
  "string-with-replacement-character": "\ufffd",
  "string-with-noncharacter": "\uffff\ufdd0",
  "string-with-scripts": "Hafen λιμάνι гавань נמל 港 항구",
  "string-with-emoji": "⚓🚢👩‍✈️🇳🇴",
  "string-with-astral-letters": "𝒜𠀀\u{10ffff}",
  "string-with-combining-marks": "a\u030a\u0323 against \u00e5\u0323",
  "empty-list": [],
  "list-of-null": [null],
  "list-of-empties": ["", 0, false, null, [], {}],
  "list-in-list": [[[]], [[1], [2, [3]]]],
  "list-of-130": Array.from({ length: 130 }, (_, index) => index),
  "mixed-list": [1, "two", 3.5, true, null, { four: 4 }, [5]],
  "empty-object": {},
  "object-with-empty-key": { "": "unnamed" },
  "object-with-empty-key-and-null": { "": null },
  "object-with-null": { buoy: null },
  "object-out-of-order": { zulu: 1, alpha: 2, mike: 3, Alpha: 4, "\u00e9": 5, bravo: 6 },
  "object-with-scripts-as-keys": { κλειδί: 1, ключ: 2, 鍵: 3, "🔑": 4, "a b": 5 },
  "object-with-odd-keys": { "a/b": 1, "m~n": 2, 'q"r': 3, "\u0000": 4, "a.b": 5, "-1": 6 },
  "object-with-inherited-names": {
    constructor: 1,
    toString: null,
    hasOwnProperty: [],
    valueOf: {},
  },
  "object-with-member-names-of-the-wire": { fields: 1, values: [2], nullValue: 0, kind: "k" },
  "object-in-object": { a: { b: { c: { d: {} } } }, e: { f: [] } },
  "twenty-lists-deep": deep(20, (inner) => [inner]),
  "twenty-objects-deep": deep(20, (inner) => ({ in: inner })),
};

function deep(levels, wrap) {
  let value = "bottom";
  for (let left = levels; left > 0; left -= 1) value = wrap(value);
  return value;
}

/** Whole numbers at the edges of their encoding. */
export const WHOLE_NUMBERS = {
  zero: 0,
  one: 1,
  "one-byte": 127,
  "two-bytes": 128,
  "two-to-the-31": 2 ** 31,
  "two-to-the-32": 2 ** 32,
  "two-to-the-49": 2 ** 49,
  largest: Number.MAX_SAFE_INTEGER,
};
