/**
 * Puts `bridge` in front of an agent written with the official Python package, and checks that the
 * official TypeScript client makes the same of its runs as without the bridge, in either binding.
 *
 *     node python.mjs --binary PATH --python PATH
 *
 * `--binary` is the crate's command line tool, built with the feature `cli-http`; `--python` a
 * Python that has `python/requirements.txt`.
 *
 * An absent list and an empty one count as the same. What differs is asserted: the texts and the log
 * show what protobuf has no place for and what it rounds; a run that just ends is taken for a whole
 * one by the client alone, and broken off by the bridge. Ends with 1 if anything is otherwise.
 */
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { EventType } from "@ag-ui/core";
import {
  Asking,
  PROTOBUF,
  SSE,
  difference,
  eventsOf,
  outcome,
  patience,
  start,
  startBinary,
} from "./lib/http.mjs";
import { Report } from "./lib/report.mjs";

const { values: options } = parseArgs({
  options: { binary: { type: "string" }, python: { type: "string" } },
});
if (!options.binary || !options.python) {
  console.error("usage: node python.mjs --binary PATH --python PATH");
  process.exit(2);
}
// The official client logs runs that fail, as some of these do.
console.error = console.warn = () => {};
patience(90, () => results.at(-1)?.title ?? "the start");
// Of a connection that breaks it says so twice: to who asked, and as a rejection that nobody can take.
process.on("unhandledRejection", (error) => {
  if (error?.message !== "terminated" && error?.name !== "AbortError") throw error;
});

const results = [];
const check = (title, wrong) => results.push({ title, wrong });
const expect = (title, got, want) =>
  check(title, got === want ? undefined : `${JSON.stringify(got)} instead of ${JSON.stringify(want)}`);

const producer = await start(options.python, [
  fileURLToPath(new URL("python/producer.py", import.meta.url)),
]);
const BODY = JSON.stringify({ threadId: "thread", runId: "run", messages: [], tools: [], context: [] });

/** An answer as it is, without the official client. */
const post = (url, accept) =>
  fetch(url, { method: "POST", body: BODY, headers: { "content-type": "application/json", accept } });

/** Runs that wait for `/now` before they break off, so that what came before has been read. */
const CUT = ["/dies", "/ends"];
const now = () => fetch(`${producer.url}/now`, { method: "POST" });

/** What the client makes of a run of the agent, directly or behind a bridge. */
async function called(url, path, accept) {
  const agent = new Asking(url, accept);
  const over = outcome(agent);
  if (CUT.includes(path)) {
    while (agent.messages.at(-1)?.content !== "half an ") await new Promise(setImmediate);
    await now();
  }
  return { ...(await over), spoken: agent.spoken };
}

/** What `bridge` says of one run in each binding, and what the client makes of them. */
async function bridged(path) {
  const bridge = await startBinary(options.binary, "bridge", "--upstream", producer.url + path);
  const found = {};
  for (const accept of [SSE, PROTOBUF]) {
    found[accept] = await called(bridge.url, path, accept);
    expect(`${path}, ${accept}: the binding`, found[accept].spoken, accept);
  }
  const text = (await post(bridge.url, SSE)).text().catch(() => "broken off");
  if (CUT.includes(path)) await now();
  found.text = await text;
  found.said = await bridge.stop();
  found.runs = [...found.said.matchAll(/^request \d+: (.*), \S+: (\d+) events?, [\d,]+ bytes in, [\d,]+ bytes out, (.*)$/gm)].map(
    ([, how, events, rest]) => `${how}: ${events} events, ${rest}`,
  );
  return found;
}

// Every type of event that there is, in a run with every one of them and in one that fails.
const played = [];
for (const path of ["/whole", "/error"]) played.push(...eventsOf(await (await post(producer.url + path, SSE)).text()));
const types = new Set(played.map(({ type }) => type));
const retired = /^THINKING_/;
for (const type of Object.values(EventType).filter((type) => !retired.test(type))) {
  check(`a run of Python has ${type}`, types.has(type) ? undefined : "it has not");
}
const count = eventsOf(await (await post(`${producer.url}/whole`, SSE)).text()).length;

// The same events, messages and state, whether or not the answer upstream is compressed.
for (const path of ["/whole", "/gzip"]) {
  const want = await called(producer.url + path, path, SSE);
  expect(`${path}: the run finishes`, want.failure, undefined);
  expect(`${path}: its last event`, want.events.at(-1)?.type, "RUN_FINISHED");
  const got = await bridged(path);
  for (const accept of [SSE, PROTOBUF]) check(`${path}, ${accept}`, difference(want, got[accept]));
  // A client in JavaScript rounds what it reads, so that it sees no difference. The texts do.
  const exact = [...got.text.matchAll(/9007199254740993\b/g)].length;
  expect(`${path}: exact numbers over SSE`, exact, 2);
  expect(`${path}: the log of SSE`, got.runs[0], `sse -> sse: ${count} events, 0 dropped, 0 changed or left out, 0 rounded: finished`);
  expect(`${path}: the log of protobuf`, got.runs[1], `sse -> protobuf: ${count} events, 0 dropped, 0 changed or left out, 3 rounded: finished`);
  for (const line of [
    "STATE_SNAPSHOT: /snapshot/numbers/beyond: integer-precision: 9007199254740993 becomes 9007199254740992",
    "STATE_SNAPSHOT: /snapshot/numbers/long: integer-precision: 123456789012345678901234567890 becomes 1.2345678901234568e+29",
    "STATE_DELTA: /delta/0/value/price: integer-precision: 9007199254740993 becomes 9007199254740992",
  ]) {
    check(`${path}: ${line}`, got.said.includes(line) ? undefined : got.said);
  }
  const sums = `3 requests, 3 runs, ${3 * count} events: 0 passed on, 0 not whole, 0 dropped, 0 changed or left out, 3 rounded\n`;
  check(`${path}: the sums`, got.said.endsWith(sums) ? undefined : got.said);
}

// A run that fails and says so.
{
  const want = await called(`${producer.url}/error`, "/error", SSE);
  const { message, code } = want.events.at(-1) ?? {};
  expect("/error: its last event", `${code} ${message}`, "GONE the model is gone: 😵");
  const got = await bridged("/error");
  for (const accept of [SSE, PROTOBUF]) check(`/error, ${accept}`, difference(want, got[accept]));
  expect("/error: the log", got.runs[1], "sse -> protobuf: 4 events, 0 dropped, 0 changed or left out, 0 rounded: failed");
}

// A run whose connection breaks is broken off, with the same events before, and no end is made up.
{
  const want = await called(`${producer.url}/dies`, "/dies", SSE);
  check("/dies: the client says that it broke off", want.failure ? undefined : "it does not");
  expect("/dies: events", want.events.length, 3);
  const got = await bridged("/dies");
  for (const accept of [SSE, PROTOBUF]) check(`/dies, ${accept}`, difference(want, got[accept]));
  expect("/dies: the body", got.text, "broken off");
  check("/dies: the log", /: 3 events, 0 dropped.*: truncated: /.test(got.runs[1]) ? undefined : got.said);
}

// A run whose body just ends: the official client alone does not notice, with the bridge it does.
{
  const want = await called(`${producer.url}/ends`, "/ends", SSE);
  expect("/ends: the client alone", want.failure, undefined);
  const got = await bridged("/ends");
  for (const accept of [SSE, PROTOBUF]) {
    check(`/ends, ${accept}: broken off`, got[accept].failure ? undefined : "it is not");
    check(`/ends, ${accept}: the same before`, difference(want, { ...got[accept], failure: undefined }));
  }
  expect("/ends: the body", got.text, "broken off");
  expect("/ends: the log", got.runs[1], "sse -> protobuf: 3 events, 0 dropped, 0 changed or left out, 0 rounded: truncated: upstream ended before the run did");
}

// What the protocol does not name, the client leaves out, if the bridge has not. Over SSE it goes on.
{
  const want = await called(`${producer.url}/extras`, "/extras", SSE);
  expect("/extras: the run finishes", want.events.at(-1)?.type, "RUN_FINISHED");
  const got = await bridged("/extras");
  for (const accept of [SSE, PROTOBUF]) check(`/extras, ${accept}`, difference(want, got[accept]));
  expect("/extras: a member over SSE", got.text.includes('"mood":"calm"'), true);
  expect("/extras: the log of SSE", got.runs[0], "sse -> sse: 5 events, 1 dropped, 0 changed or left out, 0 rounded: finished");
  expect("/extras: the log of protobuf", got.runs[1], "sse -> protobuf: 5 events, 1 dropped, 1 changed or left out, 1 rounded: finished");
}

// A client that goes away cancels the run of the agent.
let times = 0;
for (const accept of [SSE, PROTOBUF]) {
  const bridge = await startBinary(options.binary, "bridge", "--upstream", `${producer.url}/waits`);
  const agent = new Asking(bridge.url, accept);
  const run = agent.runAgent({ runId: "run" }, { onTextMessageContentEvent: () => agent.abortRun() });
  await run.catch(() => {});
  await producer.says("gone\n", (times += 1));
  check(`/waits, ${accept}: the agent sees that the client is gone`, undefined);
  const said = await bridge.stop();
  check(`/waits, ${accept}: the log`, said.includes("the client went away") ? undefined : said);
}

await producer.stop();
const report = new Report();
report.check("an agent in Python behind the bridge", results, ({ title, wrong }) => wrong && `${title}: ${wrong}`);
process.exit(report.finish() ? 0 : 1);
