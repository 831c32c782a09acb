/**
 * The JSON side of the protocol as tables: which members each shape has, and of which kind.
 *
 * A kind is one of
 * - a scalar or open value: `string`, `boolean`, `timestamp`, `count`, `pointer`, `any` (null
 *   allowed), `value` (any but null), `object`, and the word sets of `WORDS`;
 * - the name of a shape in `SHAPES` or of a union in `UNIONS`;
 * - `kind*`, a list, and `kind+`, a list that is not empty;
 * - `kind|kind`, either.
 */

/** @typedef {{ required: Record<string, string>, optional: Record<string, string> }} Shape */

/** @returns {Shape} */
const shape = (required, optional = {}) => ({ required, optional });

/** Closed sets of words. */
export const WORDS = {
  textRole: ["developer", "system", "assistant", "user"],
  reasoningRole: ["reasoning"],
  toolRole: ["tool"],
  functionType: ["function"],
  subtype: ["tool-call", "message"],
  resumeStatus: ["resolved", "cancelled"],
};

/** @type {Record<string, Shape>} */
export const SHAPES = {
  call: shape({ name: "string", arguments: "string" }),
  toolCall: shape(
    { id: "string", type: "functionType", function: "call" },
    { encryptedValue: "string", metadata: "object" },
  ),
  tool: shape(
    { name: "string", description: "string" },
    { parameters: "value", metadata: "object" },
  ),
  context: shape({ description: "string", value: "string" }),
  resumeEntry: shape(
    { interruptId: "string", status: "resumeStatus" },
    { payload: "value", metadata: "object" },
  ),
  interrupt: shape(
    { id: "string", reason: "string" },
    {
      message: "string",
      toolCallId: "string",
      responseSchema: "object",
      expiresAt: "string",
      metadata: "object",
      subagentRunId: "string",
    },
  ),
  usage: shape(
    {},
    {
      provider: "string",
      model: "string",
      inputTokens: "count",
      outputTokens: "count",
      totalTokens: "count",
      reasoningTokens: "count",
      cachedInputTokens: "count",
      cacheWriteInputTokens: "count",
    },
  ),
  runInput: shape(
    { threadId: "string", runId: "string", messages: "message*" },
    {
      protocolVersion: "string",
      parentRunId: "string",
      state: "value",
      tools: "tool*",
      context: "context*",
      forwardedProps: "value",
      resume: "resumeEntry*",
    },
  ),
};

const partOptions = { id: "string", metadata: "value" };
const owned = { metadata: "object", subagentRunId: "string" };
const sealed = { ...owned, encryptedValue: "string" };
const named = { ...sealed, name: "string" };

const base = { timestamp: "timestamp", rawEvent: "value", metadata: "object" };
/** An event of the run as a whole. */
const runEvent = (required, optional = {}) => shape(required, { ...optional, ...base });
/** An event that may come from a subagent. */
const agentEvent = (required, optional = {}) =>
  runEvent(required, { ...optional, subagentRunId: "string" });

/**
 * Unions: the member that tells the variants apart, and the variants by its value.
 *
 * @type {Record<string, { tag: string, variants: Record<string, Shape> }>}
 */
export const UNIONS = {
  source: {
    tag: "type",
    variants: {
      data: shape({ value: "string", mimeType: "string" }),
      url: shape({ value: "string" }, { mimeType: "string" }),
      file: shape({ value: "string" }, { provider: "string", mimeType: "string" }),
    },
  },
  part: {
    tag: "type",
    variants: {
      text: shape({ text: "string" }, partOptions),
      image: shape({ source: "source" }, partOptions),
      audio: shape({ source: "source" }, partOptions),
      video: shape({ source: "source" }, partOptions),
      document: shape({ source: "source" }, partOptions),
    },
  },
  message: {
    tag: "role",
    variants: {
      developer: shape({ id: "string", content: "string" }, named),
      system: shape({ id: "string", content: "string" }, named),
      assistant: shape({ id: "string" }, { content: "string", toolCalls: "toolCall*", ...named }),
      user: shape({ id: "string", content: "string|part*" }, named),
      tool: shape(
        { id: "string", content: "string|part*", toolCallId: "string" },
        { error: "string", ...sealed },
      ),
      activity: shape({ id: "string", activityType: "string", content: "object" }, owned),
      reasoning: shape({ id: "string", content: "string" }, sealed),
    },
  },
  operation: {
    tag: "op",
    variants: {
      add: shape({ path: "pointer", value: "any" }, { from: "string" }),
      remove: shape({ path: "pointer" }, { from: "string", value: "any" }),
      replace: shape({ path: "pointer", value: "any" }, { from: "string" }),
      move: shape({ from: "pointer", path: "pointer" }, { value: "any" }),
      copy: shape({ from: "pointer", path: "pointer" }, { value: "any" }),
      test: shape({ path: "pointer", value: "any" }, { from: "string" }),
    },
  },
  runOutcome: {
    tag: "type",
    variants: {
      success: shape({}, { pendingToolCallIds: "string*" }),
      interrupt: shape({ interrupts: "interrupt+" }),
      cancelled: shape({}),
    },
  },
  subagentOutcome: {
    tag: "type",
    variants: {
      success: shape({}),
      suspended: shape({}, { interruptIds: "string*" }),
    },
  },
  event: {
    tag: "type",
    variants: {
      TEXT_MESSAGE_START: agentEvent({ messageId: "string" }, { role: "textRole", name: "string" }),
      TEXT_MESSAGE_CONTENT: agentEvent({ messageId: "string", delta: "string" }),
      TEXT_MESSAGE_END: agentEvent({ messageId: "string" }),
      TOOL_CALL_START: agentEvent(
        { toolCallId: "string", toolCallName: "string" },
        { parentMessageId: "string" },
      ),
      TOOL_CALL_ARGS: agentEvent({ toolCallId: "string", delta: "string" }),
      TOOL_CALL_END: agentEvent({ toolCallId: "string" }),
      STATE_SNAPSHOT: agentEvent({ snapshot: "any" }),
      STATE_DELTA: agentEvent({ delta: "operation*" }),
      MESSAGES_SNAPSHOT: runEvent({ messages: "message*" }),
      RAW: agentEvent({ event: "any" }, { source: "string" }),
      CUSTOM: agentEvent({ name: "string", value: "any" }),
      RUN_STARTED: runEvent(
        { threadId: "string", runId: "string" },
        { parentRunId: "string", input: "runInput", protocolVersion: "string" },
      ),
      RUN_FINISHED: runEvent(
        { threadId: "string", runId: "string" },
        { result: "value", outcome: "runOutcome", usage: "usage*" },
      ),
      RUN_ERROR: runEvent({ message: "string" }, { code: "string", usage: "usage*" }),
      STEP_STARTED: agentEvent({ stepName: "string" }),
      STEP_FINISHED: agentEvent({ stepName: "string" }),
      TEXT_MESSAGE_CHUNK: agentEvent(
        {},
        { messageId: "string", role: "textRole", delta: "string", name: "string" },
      ),
      TOOL_CALL_CHUNK: agentEvent(
        {},
        {
          toolCallId: "string",
          toolCallName: "string",
          parentMessageId: "string",
          delta: "string",
        },
      ),
      SUBAGENT_STARTED: runEvent(
        { subagentRunId: "string", name: "string" },
        {
          description: "string",
          parentSubagentRunId: "string",
          parentToolCallId: "string",
          parentMessageId: "string",
        },
      ),
      SUBAGENT_FINISHED: runEvent(
        { subagentRunId: "string" },
        { result: "value", outcome: "subagentOutcome" },
      ),
      SUBAGENT_ERROR: runEvent({ subagentRunId: "string", message: "string" }, { code: "string" }),
      TOOL_CALL_RESULT: agentEvent(
        { messageId: "string", toolCallId: "string", content: "string|part*" },
        { role: "toolRole" },
      ),
      ACTIVITY_SNAPSHOT: agentEvent(
        { messageId: "string", activityType: "string", content: "object" },
        { replace: "boolean" },
      ),
      ACTIVITY_DELTA: agentEvent({
        messageId: "string",
        activityType: "string",
        patch: "operation*",
      }),
      REASONING_START: agentEvent({ messageId: "string" }),
      REASONING_MESSAGE_START: agentEvent({ messageId: "string", role: "reasoningRole" }),
      REASONING_MESSAGE_CONTENT: agentEvent({ messageId: "string", delta: "string" }),
      REASONING_MESSAGE_END: agentEvent({ messageId: "string" }),
      REASONING_MESSAGE_CHUNK: agentEvent({}, { messageId: "string", delta: "string" }),
      REASONING_END: agentEvent({ messageId: "string" }),
      REASONING_ENCRYPTED_VALUE: agentEvent({
        subtype: "subtype",
        entityId: "string",
        encryptedValue: "string",
      }),
    },
  },
};

/** The event types, in the order of their numbers inside the envelope. */
export const EVENT_TYPES = Object.keys(UNIONS.event.variants);

/**
 * Decisions that `build` leaves to its caller.
 *
 * @typedef {object} Choices
 * @property {(kind: string, member: string) => unknown} leaf a value of a scalar or open kind
 * @property {(member: string) => boolean} has whether an optional member is present
 * @property {(kinds: string[], member: string) => string} either one kind of several
 * @property {(member: string, min: number) => number} length of a list
 * @property {(union: string) => string} variant of a union
 */

/**
 * A value of the given kind.
 *
 * @param {string} kind
 * @param {Choices} choices
 * @param {string} member the member that is to hold the value
 */
export function build(kind, choices, member = kind) {
  if (kind.includes("|")) return build(choices.either(kind.split("|"), member), choices, member);
  if (kind.endsWith("*") || kind.endsWith("+")) {
    const length = choices.length(member, kind.endsWith("+") ? 1 : 0);
    return Array.from({ length }, () => build(kind.slice(0, -1), choices, member));
  }
  if (kind in SHAPES) return buildShape(SHAPES[kind], choices);
  if (kind in UNIONS) return buildVariant(kind, choices.variant(kind), choices);
  return choices.leaf(kind, member);
}

/** A value of one named variant of a union. */
export function buildVariant(union, variant, choices) {
  const { tag, variants } = UNIONS[union];
  return { [tag]: variant, ...buildShape(variants[variant], choices) };
}

function buildShape({ required, optional }, choices) {
  const made = {};
  for (const [member, kind] of Object.entries(required)) {
    made[member] = build(kind, choices, member);
  }
  for (const [member, kind] of Object.entries(optional)) {
    if (choices.has(member)) made[member] = build(kind, choices, member);
  }
  return made;
}
