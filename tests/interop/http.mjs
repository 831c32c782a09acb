/**
 * Calls `serve` and `bridge` with the official client, and checks that what it makes of a session
 * over HTTP is what it makes of the same events handed to it directly.
 *
 *     node http.mjs --binary PATH SESSION...
 *
 * `PATH` is the crate's command line tool, built with the feature `cli-http`. For each session and
 * binding the delivered events, the messages and the state must be the same. An absent list and an
 * empty one count as the same.
 *
 * Ends with 1 if anything differs.
 */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { isDeepStrictEqual, parseArgs } from "node:util";
import { AbstractAgent, HttpAgent } from "@ag-ui/client";
import { from } from "rxjs";
import { Report } from "./lib/report.mjs";

const { values: options, positionals: sessions } = parseArgs({
  options: { binary: { type: "string" } },
  allowPositionals: true,
});
if (!options.binary || sessions.length === 0) {
  console.error("usage: node http.mjs --binary PATH SESSION...");
  process.exit(2);
}
// The official client logs runs that fail, as one of the sessions does.
console.error = console.warn = () => {};

const PROTOBUF = "application/vnd.ag-ui.event+proto";
const SSE = "text/event-stream";

/** Starts a server of the binary. @returns {Promise<{url: string, stop: () => void}>} */
function start(...words) {
  const child = spawn(options.binary, [...words, "--listen", "127.0.0.1:0"], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  return new Promise((resolve, reject) => {
    let said = "";
    child.on("exit", (code) => reject(new Error(`${words[0]} ended with ${code}: ${said}`)));
    child.stderr.on("data", (data) => {
      said += data;
      const url = /listening on (\S+),/.exec(said)?.[1];
      if (url) resolve({ url, stop: () => child.kill("SIGTERM") });
    });
  });
}

/** The official client, asking for one binding. */
class Asking extends HttpAgent {
  constructor(url, accept) {
    super({ url, threadId: "thread" });
    this.accept = accept;
    this.fetch = async (...request) => {
      const response = await fetch(...request);
      this.spoken = response.headers.get("content-type");
      return response;
    };
  }

  requestInit(input) {
    const init = super.requestInit(input);
    return { ...init, headers: { ...init.headers, Accept: this.accept } };
  }
}

/** The official client, given events without any transport. */
class Direct extends AbstractAgent {
  constructor(events) {
    super({ threadId: "thread" });
    this.events = events;
  }

  run() {
    return from(this.events);
  }
}

/** What a client makes of a run. */
async function outcome(agent) {
  const events = [];
  let failed = false;
  await agent
    .runAgent({ runId: "run" }, { onEvent: ({ event }) => void events.push(structuredClone(event)) })
    .catch(() => (failed = true));
  const plain = JSON.parse(JSON.stringify({ events, messages: agent.messages, state: agent.state }));
  return { ...plain, failed };
}

/** The same without empty lists, which frames do not tell from absent ones. */
function withoutEmpty(value) {
  if (Array.isArray(value)) return value.map(withoutEmpty);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => !(Array.isArray(member) && member.length === 0))
      .map(([key, member]) => [key, withoutEmpty(member)]),
  );
}

function difference(want, got) {
  for (const part of ["failed", "messages", "state"]) {
    if (!isDeepStrictEqual(want[part], got[part])) {
      return `${part}: ${JSON.stringify(want[part])} is ${JSON.stringify(got[part])}`.slice(0, 2000);
    }
  }
  const at = want.events.findIndex((event, index) => !isDeepStrictEqual(event, got.events[index]));
  if (at >= 0) return `event ${at}: ${JSON.stringify(want.events[at])} is ${JSON.stringify(got.events[at])}`;
  if (want.events.length !== got.events.length) return `${got.events.length} events`;
  return undefined;
}

/** The events of a session: JSON lines, or server-sent events. */
function read(session) {
  const text = readFileSync(session, "utf8").trimEnd();
  if (text.startsWith("{")) return text.split("\n").map((line) => JSON.parse(line));
  const blocks = text.split(/\r?\n\r?\n/).map((block) => block.split(/\r?\n/).filter((line) => line.startsWith("data:")));
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => JSON.parse(lines.map((line) => line.slice("data:".length)).join("\n")));
}

const results = [];
for (const session of sessions) {
  const want = await outcome(new Direct(read(session)));
  if (want.events.length === 0) throw new Error(`${session}: the client takes no event`);
  const serve = await start("serve", session, "--pace", "1ms");
  const bridge = await start("bridge", "--upstream", serve.url);
  for (const [name, { url }] of [["serve", serve], ["bridge", bridge]]) {
    for (const accept of [SSE, PROTOBUF]) {
      const agent = new Asking(url, accept);
      const got = await outcome(agent);
      const title = `${session}, ${name}, ${accept}`;
      const wrong =
        agent.spoken === accept ? difference(withoutEmpty(want), withoutEmpty(got)) : `spoken: ${agent.spoken}`;
      results.push({ title, wrong });
    }
  }
  bridge.stop();
  serve.stop();
}

const report = new Report();
report.check("sessions over HTTP", results, ({ title, wrong }) => wrong && `${title}: ${wrong}`);
process.exit(report.finish() ? 0 : 1);
