/** From wire messages to the JSON of events: content, outcomes, patches and open values. */
import { LAYOUTS } from "./schema.mjs";
import { Refusal } from "./strict-wire.mjs";

const OPERATIONS = ["add", "remove", "replace", "move", "copy", "test"];
const ROLES = new Set([
  "developer",
  "system",
  "assistant",
  "user",
  "tool",
  "activity",
  "reasoning",
]);
const PART_ROLES = new Set(["user", "tool"]);

/** The JSON of an event. */
export function shapeEvent(type, message, context) {
  const { baseEvent, ...own } = message;
  const event = shapeMembers(type, own, context);
  const base = shapeMembers("BaseEvent", baseEvent, context);
  const reshape = EVENT_SHAPES[type] ?? ((same) => same);
  return { ...reshape(event), ...base, type };
}

const EVENT_SHAPES = {
  RUN_FINISHED: ({ outcome, interrupts, pendingToolCallIds, usage, ...rest }) => ({
    ...rest,
    ...shapeOutcome(outcome, {
      ...filled({ interrupts, pendingToolCallIds }),
      ...(outcome === "interrupt" && { interrupts }),
    }),
    ...filled({ usage }),
  }),
  RUN_ERROR: ({ usage, ...rest }) => ({ ...rest, ...filled({ usage }) }),
  SUBAGENT_FINISHED: ({ outcome, interruptIds, ...rest }) => ({
    ...rest,
    ...shapeOutcome(outcome, filled({ interruptIds })),
  }),
  TOOL_CALL_RESULT: ({ content, contentParts, ...rest }) => ({
    ...rest,
    content: stringOrParts(content, contentParts),
  }),
};

const filled = (lists) =>
  Object.fromEntries(Object.entries(lists).filter(([, items]) => items.length > 0));

const shapeOutcome = (outcome, payload) =>
  outcome === "" ? payload : { outcome: { type: outcome, ...payload } };

/** Content parts that no known member names are `undefined` until here. */
const named = (parts) => parts.filter((part) => part !== undefined);

function stringOrParts(content, parts) {
  if (content === undefined) return named(parts);
  if (parts.length > 0) throw new Refusal("string content and content parts");
  return content;
}

/** Members of a wire message as JSON, one by one. */
function shapeMembers(name, message, context) {
  const shaped = {};
  for (const { name: member, type, isMessage } of LAYOUTS[name].fields.values()) {
    const value = message[member];
    if (value === undefined) continue;
    const shape = (item) => (isMessage ? shapeMessage(type, item, context) : item);
    const made = Array.isArray(value) ? value.map(shape) : shape(value);
    if (made !== undefined) shaped[member] = made;
  }
  return shaped;
}

function shapeMessage(type, message, context) {
  if (type === "Value") return openValue(message, context);
  if (type === "Struct") return openObject(message, context);
  if (type === "InputContent") return shapePart(message, context);
  if (type === "Source") return shapeSource(message);
  const shaped = shapeMembers(type, message, context);
  if (type === "Message") return shapeContent(shaped);
  if (type === "JsonPatchOperation") {
    return { ...shaped, op: OPERATIONS[shaped.op] ?? String(shaped.op) };
  }
  return shaped;
}

function shapeContent({ content, contentParts, activityContent, toolCalls, ...message }) {
  const rest = { ...message, ...filled({ toolCalls }) };
  const isKnown = ROLES.has(message.role);
  const hasParts = contentParts.length > 0;
  const forms = [content !== undefined, hasParts, activityContent !== undefined];
  if (forms.filter(Boolean).length > 1) throw new Refusal("more than one form of content");

  if (isKnown && hasParts && !PART_ROLES.has(message.role)) {
    throw new Refusal(`content parts on ${message.role}`);
  }
  if (
    isKnown &&
    (message.role === "activity" ? content !== undefined : activityContent !== undefined)
  ) {
    throw new Refusal(`foreign content on ${message.role}`);
  }
  if (hasParts || (PART_ROLES.has(message.role) && content === undefined)) {
    return { ...rest, content: named(contentParts) };
  }
  const carried = content ?? activityContent;
  return carried === undefined ? rest : { ...rest, content: carried };
}

function shapePart(message, context) {
  const [type] = Object.keys(message);
  if (type === undefined) return undefined;
  const name = type === "text" ? "TextPart" : "MediaPart";
  const part = { ...shapeMembers(name, message[type], context), type };
  const lostSource = message[type].source !== undefined && part.source === undefined;
  return lostSource ? undefined : part;
}

function shapeSource(message) {
  const [type] = Object.keys(message);
  return type === undefined ? undefined : { ...message[type], type };
}

/** @returns {unknown} `undefined` for a value of no kind */
function openValue(value, context) {
  const [kind] = Object.keys(value);
  const content = value[kind];
  switch (kind) {
    case undefined:
      return undefined;
    case "nullValue":
      return null;
    case "numberValue":
      if (Number.isFinite(content)) return content;
      context.notes.add("number that is not finite (4.2)");
      throw new Refusal("a number is not finite");
    case "structValue":
      return openObject(content, context);
    case "listValue":
      return content.values.map((item) => {
        const made = openValue(item, context);
        if (made !== undefined) return made;
        context.notes.add("list element of no kind (4.2)");
        return null;
      });
    default:
      return content;
  }
}

function openObject({ fields }, context) {
  const made = {};
  for (const { key, value } of fields) {
    const member = value === undefined ? undefined : openValue(value, context);
    if (member === undefined) {
      if (Object.hasOwn(made, key)) context.open.add("a key repeated with a value of no kind");
      continue;
    }
    if (key === "__proto__") context.notes.add("key __proto__ (4.2)");
    Object.defineProperty(made, key, {
      value: member,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return made;
}
