/**
 * Compares what this crate makes of streams with what the official client makes of them.
 *
 *     node streams.mjs --consume PATH [--streams N] [--seed S]
 *
 * `PATH` is the example `consume`, built with the feature `conversation`. For each random stream it
 * must deliver the same events up to the same place, and come to the same messages, state, open
 * interrupts and pending tool calls; and the official client must make the same of the stream that
 * this crate compacts. Streams keep away from what is known to differ, which the README lists.
 *
 * Ends with 1 if anything differs.
 */
import { spawnSync } from "node:child_process";
import { isDeepStrictEqual, parseArgs } from "node:util";
import { defaultApplyEvents, enforceEvents, transformChunks, verifyEvents } from "@ag-ui/client";
import { from } from "rxjs";
import { Random } from "./lib/random.mjs";

const { values: options } = parseArgs({
  options: {
    consume: { type: "string" },
    streams: { type: "string", default: "3000" },
    seed: { type: "string", default: "1" },
  },
});
if (!options.consume) {
  console.error("--consume takes the path of the example");
  process.exit(2);
}

const random = new Random(Number(options.seed));
// The official client warns on the console.
console.warn = () => {};

const TEXTS = ["m1", "m2", "m3", ""];
const CALLS = ["c1", "c2", "c3"];
const ACTIVITIES = ["v1", "v2", "m3"];
const OWNERS = ["s1", "s2", ""];
let results = 0;

const metadata = () => ({ [random.pick(["k", "l", "__x"])]: random.pick([1, null, { deep: [] }, "x"]) });

function patch(roots) {
  const place = () => random.pick([...roots, "/a", "/b", "/a/0", "/a/-", "/b/c", "/a/5", "/missing/x"]);
  return Array.from({ length: random.below(3) }, () => {
    const op = random.pick(["add", "add", "remove", "replace", "test", "copy", "move"]);
    const path = place();
    if (op === "remove") return { op, path };
    if (op === "copy" || op === "move") {
      const source = random.pick(["/a", "/b", "/a/0", "/b/c"]);
      // Known to differ: a value moved into itself, and a place beyond the end of a list.
      if (path.startsWith(source) || path === "/a/5") return { op: "test", path: "/a", value: 1 };
      return { op, from: source, path };
    }
    return { op, path, value: random.pick([1, [1, 2], { c: 1 }, { c: { d: 2 } }, null]) };
  }).map((each) => (each.path.endsWith("-") && each.op !== "add" ? { op: "add", path: "/b", value: { c: 1 } } : each));
}

function messages() {
  const ids = random.shuffle([...TEXTS, "v1", "v2"]).slice(0, random.below(4));
  return ids.map((id) => {
    const role = id.startsWith("v")
      ? "activity"
      : random.pick(["assistant", "assistant", "user", "system", "reasoning", "tool"]);
    const message = { id, role, content: random.pick(["held", ""]) };
    if (role === "activity") Object.assign(message, { activityType: "p", content: { a: [1] } });
    if (role === "tool") message.toolCallId = random.pick(CALLS);
    if (role === "assistant" && random.chance(0.4)) {
      const call = { name: "f", arguments: "{" };
      message.toolCalls = [{ id: random.pick(CALLS), type: "function", function: call }];
    }
    if (random.chance(0.3)) message.subagentRunId = random.pick(OWNERS);
    if (random.chance(0.3)) message.metadata = metadata();
    return message;
  });
}

/** What is open, as far as the generator knows: it prefers what may come, and errs now and then. */
function open(stream) {
  const state = { run: false, texts: new Set(), calls: new Set(), thoughts: new Set(), steps: new Set(),
    agents: new Set(), spans: new Set() };
  for (const event of stream) {
    switch (event.type) {
      case "RUN_STARTED": Object.assign(state, open([]), { run: true }); break;
      case "RUN_FINISHED": case "RUN_ERROR": state.run = false; break;
      case "TEXT_MESSAGE_START": state.texts.add(event.messageId); break;
      case "TEXT_MESSAGE_END": state.texts.delete(event.messageId); break;
      case "TOOL_CALL_START": state.calls.add(event.toolCallId); break;
      case "TOOL_CALL_END": state.calls.delete(event.toolCallId); break;
      case "REASONING_MESSAGE_START": state.thoughts.add(event.messageId); break;
      case "REASONING_MESSAGE_END": state.thoughts.delete(event.messageId); break;
      case "REASONING_START": state.spans.add(event.messageId); break;
      case "REASONING_END": state.spans.delete(event.messageId); break;
      case "STEP_STARTED": state.steps.add(event.stepName); break;
      case "STEP_FINISHED": state.steps.delete(event.stepName); break;
      case "SUBAGENT_STARTED": state.agents.add(event.subagentRunId); break;
      case "SUBAGENT_FINISHED": case "SUBAGENT_ERROR": state.agents.delete(event.subagentRunId); break;
    }
  }
  return state;
}

function nextEvent(stream) {
  const now = open(stream);
  const errs = random.chance(0.01);
  const known = (set, all) => (errs || set.size === 0 ? random.pick(all) : random.pick([...set]));
  const closed = (set, all) => {
    const free = all.filter((id) => !set.has(id));
    return random.pick(errs || free.length === 0 ? all : free);
  };
  if (!now.run && !errs) {
    const runId = `r${stream.length}`;
    const event = { type: "RUN_STARTED", threadId: "t", runId };
    if (random.chance(0.4)) event.input = { threadId: "t", runId, messages: messages(), tools: [], context: [] };
    return event;
  }
  const items = now.texts.size + now.calls.size + now.thoughts.size + now.steps.size + now.agents.size + now.spans.size;
  const content = [];
  if (now.texts.size) content.push("TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END");
  if (now.calls.size) content.push("TOOL_CALL_ARGS", "TOOL_CALL_ARGS", "TOOL_CALL_END", "TOOL_CALL_RESULT");
  if (now.thoughts.size) content.push("REASONING_MESSAGE_CONTENT", "REASONING_MESSAGE_END");
  if (now.spans.size) content.push("REASONING_END");
  if (now.steps.size) content.push("STEP_FINISHED");
  if (now.agents.size) content.push("SUBAGENT_FINISHED", "SUBAGENT_ERROR");
  if (items === 0) content.push("RUN_FINISHED", "RUN_FINISHED");
  const type = errs
    ? random.pick(["RUN_STARTED", "RUN_FINISHED", "TEXT_MESSAGE_END", "TOOL_CALL_ARGS", "STEP_FINISHED"])
    : random.pick([
      ...content, ...content,
      "TEXT_MESSAGE_START", "TOOL_CALL_START", "TOOL_CALL_START", "TEXT_MESSAGE_CHUNK", "TEXT_MESSAGE_CHUNK",
      "TOOL_CALL_CHUNK", "REASONING_MESSAGE_CHUNK", "REASONING_MESSAGE_START", "REASONING_START",
      "STATE_SNAPSHOT", "STATE_DELTA", "STATE_DELTA", "MESSAGES_SNAPSHOT", "ACTIVITY_SNAPSHOT",
      "ACTIVITY_DELTA", "RAW", "CUSTOM", "STEP_STARTED", "SUBAGENT_STARTED", "REASONING_ENCRYPTED_VALUE",
      "TOOL_CALL_RESULT", ...(random.chance(0.05) ? ["RUN_ERROR"] : []),
    ]);
  const event = { type };
  const delta = () => random.pick(["x", "yz", "", "é"]);
  switch (type) {
    case "TEXT_MESSAGE_START":
      event.messageId = closed(now.texts, TEXTS);
      if (random.chance(0.4)) event.role = random.pick(["user", "assistant", "system", "developer"]);
      if (random.chance(0.2)) event.name = "n";
      break;
    case "TEXT_MESSAGE_CONTENT": Object.assign(event, { messageId: known(now.texts, TEXTS), delta: delta() }); break;
    case "TEXT_MESSAGE_END": event.messageId = known(now.texts, TEXTS); break;
    case "TEXT_MESSAGE_CHUNK":
      if (random.chance(0.97)) event.messageId = random.pick(["n1", "n2"]);
      if (random.chance(0.1)) event.role = random.pick(["user", "assistant"]);
      if (random.chance(0.8)) event.delta = delta();
      break;
    case "TOOL_CALL_START":
      Object.assign(event, { toolCallId: closed(now.calls, CALLS), toolCallName: random.pick(["f", "f", "g"]) });
      // Known to differ: an empty id.
      if (random.chance(0.5)) event.parentMessageId = random.pick(TEXTS.filter((id) => id !== ""));
      break;
    case "TOOL_CALL_ARGS": Object.assign(event, { toolCallId: known(now.calls, CALLS), delta: delta() }); break;
    case "TOOL_CALL_END": event.toolCallId = known(now.calls, CALLS); break;
    case "TOOL_CALL_CHUNK":
      if (random.chance(0.97)) Object.assign(event, { toolCallId: random.pick(["d1", "d2"]), toolCallName: "f" });
      if (random.chance(0.8)) event.delta = delta();
      break;
    case "TOOL_CALL_RESULT":
      // A result under an id that is held is known to differ.
      results += 1;
      Object.assign(event, { messageId: `t${results}`, toolCallId: random.pick([...CALLS, "d1", "unknown"]), content: "done" });
      break;
    case "REASONING_MESSAGE_START": Object.assign(event, { messageId: closed(now.thoughts, TEXTS), role: "reasoning" }); break;
    case "REASONING_MESSAGE_CONTENT": Object.assign(event, { messageId: known(now.thoughts, TEXTS), delta: delta() }); break;
    case "REASONING_MESSAGE_END": event.messageId = known(now.thoughts, TEXTS); break;
    case "REASONING_MESSAGE_CHUNK":
      if (random.chance(0.97)) event.messageId = random.pick(["q1", "q2"]);
      if (random.chance(0.8)) event.delta = delta();
      break;
    case "REASONING_START": event.messageId = closed(now.spans, TEXTS); break;
    case "REASONING_END": event.messageId = known(now.spans, TEXTS); break;
    case "STATE_SNAPSHOT": event.snapshot = random.pick([{ a: [1, 2], b: { c: 1 } }, {}, { a: [] }]); break;
    case "STATE_DELTA": event.delta = patch([]); break;
    case "MESSAGES_SNAPSHOT": event.messages = messages(); break;
    case "ACTIVITY_SNAPSHOT":
      Object.assign(event, { messageId: random.pick(ACTIVITIES), activityType: "plan", content: { a: [1], b: { c: 1 } } });
      if (random.chance(0.4)) event.replace = random.chance(0.5);
      break;
    case "ACTIVITY_DELTA":
      Object.assign(event, { messageId: random.pick(ACTIVITIES), activityType: "steps", patch: patch([]) });
      break;
    case "RAW": event.event = 1; break;
    case "CUSTOM": Object.assign(event, { name: "n", value: null }); break;
    case "STEP_STARTED": event.stepName = closed(now.steps, ["1", "2"]); break;
    case "STEP_FINISHED": event.stepName = known(now.steps, ["1", "2"]); break;
    case "REASONING_ENCRYPTED_VALUE": {
      const subtype = random.pick(["message", "tool-call"]);
      Object.assign(event, { subtype, entityId: random.pick(subtype === "message" ? TEXTS : CALLS), encryptedValue: delta() });
      break;
    }
    case "SUBAGENT_STARTED": Object.assign(event, { subagentRunId: closed(now.agents, OWNERS), name: "n" }); break;
    case "SUBAGENT_FINISHED": event.subagentRunId = known(now.agents, OWNERS); break;
    case "SUBAGENT_ERROR": Object.assign(event, { subagentRunId: known(now.agents, OWNERS), message: "no" }); break;
    case "RUN_STARTED": Object.assign(event, { threadId: "t", runId: "nested" }); break;
    case "RUN_ERROR": event.message = "no"; break;
    case "RUN_FINISHED":
      Object.assign(event, { threadId: "t", runId: stream.findLast((each) => each.type === "RUN_STARTED")?.runId ?? "r" });
      if (random.chance(0.7)) {
        event.outcome = random.pick([
          { type: "success" }, { type: "success", pendingToolCallIds: ["c2"] }, { type: "cancelled" },
          { type: "interrupt", interrupts: [{ id: "i", reason: "?" }, { id: "j", reason: "!", metadata: { x: null } }] },
        ]);
      }
      break;
  }
  const isOfTheRun = type.startsWith("RUN_") || type.startsWith("SUBAGENT_") || type === "MESSAGES_SNAPSHOT";
  if (!isOfTheRun && random.chance(type.endsWith("START") || type.endsWith("CHUNK") ? 0.1 : 0.01)) {
    event.subagentRunId = random.pick(OWNERS);
  }
  if (random.chance(0.25)) event.metadata = metadata();
  return event;
}

function makeStream() {
  const stream = [];
  const length = random.integer(3, 50);
  while (stream.length < length) stream.push(nextEvent(stream));
  return stream;
}

/** What the official client delivers, and whether it refuses the stream. */
function officialDelivery(stream) {
  const events = [];
  return new Promise((done) => {
    from(structuredClone(stream)).pipe(enforceEvents(), transformChunks(), verifyEvents()).subscribe({
      next: (event) => events.push(event),
      error: () => done({ events, refused: true }),
      complete: () => done({ events, refused: false }),
    });
  });
}

/** What the official client builds from events that it has delivered. */
async function officialConversation(events) {
  const agent = { messages: [], state: {}, pendingInterrupts: [] };
  const conversation = { messages: [], state: {} };
  let pending = [];
  const subscriber = {
    onRunFinishedEvent: ({ outcome, pendingToolCallIds }) => {
      pending = outcome === "success" ? pendingToolCallIds : undefined;
    },
    onRunStartedEvent: () => { pending = undefined; },
  };
  const input = { threadId: "t", runId: "r", messages: [], state: {}, tools: [], context: [], forwardedProps: {} };
  const mutations = defaultApplyEvents(input, from(structuredClone(events)), agent, [subscriber]);
  await new Promise((done, fail) => {
    mutations.subscribe({
      next: (mutation) => {
        if (mutation.messages !== undefined) conversation.messages = mutation.messages;
        if (mutation.state !== undefined) conversation.state = mutation.state;
      },
      error: fail,
      complete: done,
    });
  });
  return { ...conversation, interrupts: agent.pendingInterrupts, pendingToolCalls: pending };
}

/** Without members that are there and undefined. */
const plain = (value) => JSON.parse(JSON.stringify(value));

const streams = Array.from({ length: Number(options.streams) }, makeStream);
const run = spawnSync(options.consume, {
  input: streams.map((stream) => `${JSON.stringify(stream)}\n`).join(""),
  encoding: "utf8",
  maxBuffer: 1 << 30,
});
if (run.status !== 0) {
  console.error(run.stderr || run.error);
  process.exit(2);
}
const answers = run.stdout.trimEnd().split("\n").map((line) => JSON.parse(line));

let [failed, refused, delivered] = [0, 0, 0];
const rules = {};
for (const [index, stream] of streams.entries()) {
  const ours = answers[index];
  const theirs = await officialDelivery(stream);
  const built = plain(await officialConversation(theirs.events));
  const differences = [];
  const compare = (name, ours, theirs) => {
    if (!isDeepStrictEqual(ours, theirs)) differences.push({ name, ours, theirs });
  };
  compare("refused", ours.outcome === "rejected", theirs.refused);
  compare("events", ours.events, plain(theirs.events));
  compare("messages", ours.messages, built.messages);
  compare("state", ours.state, built.state);
  compare("interrupts", ours.interrupts, built.interrupts);
  if (built.pendingToolCalls) compare("pendingToolCalls", ours.pendingToolCalls, built.pendingToolCalls);
  if (!theirs.refused) {
    const compacted = await officialDelivery(ours.compacted);
    compare("compacted is refused", compacted.refused, false);
    const rebuilt = plain(await officialConversation(compacted.events));
    for (const part of ["messages", "state", "interrupts", "pendingToolCalls"]) {
      compare(`compacted: ${part}`, rebuilt[part], built[part]);
    }
  }
  delivered += theirs.events.length;
  if (theirs.refused) {
    refused += 1;
    rules[ours.rule] = (rules[ours.rule] ?? 0) + 1;
  }
  if (differences.length > 0) {
    failed += 1;
    if (failed <= 3) {
      console.error(`stream ${index}: ${JSON.stringify(stream)}`);
      for (const each of differences) console.error(JSON.stringify(each));
    }
  }
}
console.log(`${delivered} events delivered, ${refused} streams refused: ${JSON.stringify(rules)}`);
console.log(`${streams.length - failed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
