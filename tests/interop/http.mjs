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
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { AbstractAgent } from "@ag-ui/client";
import { from } from "rxjs";
import { Asking, PROTOBUF, SSE, difference, eventsOf, outcome, startBinary } from "./lib/http.mjs";
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

/** The events of a session: JSON lines, or server-sent events. */
function read(session) {
  const text = readFileSync(session, "utf8").trimEnd();
  if (text.startsWith("{")) return text.split("\n").map((line) => JSON.parse(line));
  return eventsOf(text);
}

const results = [];
for (const session of sessions) {
  const want = await outcome(new Direct(read(session)));
  if (want.events.length === 0) throw new Error(`${session}: the client takes no event`);
  const serve = await startBinary(options.binary, "serve", session, "--pace", "1ms");
  const bridge = await startBinary(options.binary, "bridge", "--upstream", serve.url);
  for (const [name, { url }] of [["serve", serve], ["bridge", bridge]]) {
    for (const accept of [SSE, PROTOBUF]) {
      const agent = new Asking(url, accept);
      const got = await outcome(agent);
      const title = `${session}, ${name}, ${accept}`;
      const wrong =
        agent.spoken === accept ? difference(want, got) : `spoken: ${agent.spoken}`;
      results.push({ title, wrong });
    }
  }
  await bridge.stop();
  await serve.stop();
}

const report = new Report();
report.check("sessions over HTTP", results, ({ title, wrong }) => wrong && `${title}: ${wrong}`);
process.exit(report.finish() ? 0 : 1);
