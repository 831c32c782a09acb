/**
 * Reads runs of `serve` and `bridge` over HTTP/1.1 and HTTP/2, in both bindings and every coding
 * that this Node has, and checks that each event is there before the next one is made.
 *
 *     node flush.mjs --binary PATH
 *
 * `PATH` is the crate's command line tool, built with the features `cli-http` and `zstd`.
 *
 * - Behind `bridge` is an agent that makes an event only once its client has shown the one before.
 * - `serve` replays a session whose last event comes an hour after the others: these must be there
 *   without it, and not all in one lump.
 *
 * Ends with 1 if an event is held back, with a failure if it never comes.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request as request1 } from "node:http";
import { connect } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import zlib from "node:zlib";
import { gatedAgent, says } from "./lib/gate.mjs";
import { PROTOBUF, SSE, patience, startBinary } from "./lib/http.mjs";
import { Report } from "./lib/report.mjs";

const { values: options } = parseArgs({ options: { binary: { type: "string" } } });
if (!options.binary) {
  console.error("usage: node flush.mjs --binary PATH");
  process.exit(2);
}
let at = "the start";
patience(90, () => at);

const DECODERS = {
  identity: undefined,
  gzip: zlib.createGunzip,
  br: zlib.createBrotliDecompress,
  zstd: zlib.createZstdDecompress,
};
const CODINGS = Object.keys(DECODERS).filter((coding) => coding === "identity" || DECODERS[coding]);
const BODY = JSON.stringify({ threadId: "thread", runId: "run", messages: [], tools: [], context: [] });

/** Whole events in the bytes of a body. */
const COUNT = {
  [SSE]: (bytes) => bytes.toString("latin1").split("\n\n").length - 1,
  [PROTOBUF]: (bytes) => {
    let [at, count] = [0, 0];
    while (at + 4 <= bytes.length && at + 4 + bytes.readUInt32BE(at) <= bytes.length) {
      at += 4 + bytes.readUInt32BE(at);
      count += 1;
    }
    return count;
  },
};

/** Begins a call, and gives its headers, its body as it comes, and a way to leave it. */
const CALL = {
  "HTTP/1.1": (url, headers) =>
    new Promise((resolve, reject) => {
      const request = request1(url, { method: "POST", headers }, (response) =>
        resolve({ headers: response.headers, body: response, leave: () => request.destroy() }));
      request.on("error", reject).end(BODY);
    }),
  "HTTP/2": (url, headers) =>
    new Promise((resolve, reject) => {
      const session = connect(url).on("error", reject);
      const request = session.request({ ":method": "POST", ":path": new URL(url).pathname, ...headers });
      request.on("response", (headers) => resolve({ headers, body: request, leave: () => session.destroy() }));
      request.on("error", reject).end(BODY);
    }),
};

/** A run that is read as it comes. */
async function read(version, url, accept, coding) {
  const headers = { accept, "accept-encoding": coding, "content-type": "application/json" };
  const answer = await CALL[version](url, headers);
  const run = { arrivals: 0, count: 0, over: false, leave: answer.leave };
  run.spoken = `${answer.headers["content-type"]}, ${answer.headers["content-encoding"] ?? "identity"}`;
  const body = coding === "identity" ? answer.body : answer.body.pipe(DECODERS[coding]());
  let [bytes, wake] = [Buffer.alloc(0), () => {}];
  body.on("data", (part) => {
    bytes = Buffer.concat([bytes, part]);
    const count = COUNT[accept](bytes);
    if (count > run.count) run.arrivals += 1;
    run.count = count;
    wake();
  });
  const end = () => ((run.over = true), wake());
  answer.body.on("error", end);
  body.on("end", end).on("error", end);
  /** Settles once there are so many events, or no more to come. */
  run.has = async (count) => {
    while (run.count < count && !run.over) await new Promise((resolve) => (wake = resolve));
  };
  return run;
}

async function everyWay(title, check) {
  for (const version of Object.keys(CALL)) {
    for (const accept of [SSE, PROTOBUF]) {
      for (const coding of CODINGS) {
        at = `${title}, ${version}, ${accept}, ${coding}`;
        results.push({ title: at, wrong: await check(version, accept, coding) });
      }
    }
  }
}
const results = [];

{
  const events = says(Array.from({ length: 20 }, (_, number) => `delta ${number} `));
  const agent = await gatedAgent(events, (event) => event !== events.at(-1));
  const bridge = await startBinary(options.binary, "bridge", "--grace", "0", "--upstream", agent.url);
  await everyWay("bridge", async (version, accept, coding) => {
    const run = await read(version, bridge.url, accept, coding);
    if (run.spoken !== `${accept}, ${coding}`) return `spoken: ${run.spoken}`;
    for (let number = 1; number <= events.length; number += 1) {
      await run.has(number);
      if (run.count !== number) return `${run.count} events where ${number} were made`;
      agent.let();
    }
    await run.has(Infinity);
    run.leave();
    return run.count === events.length ? undefined : `${run.count} events at the end`;
  });
  await bridge.stop();
  agent.stop();
}

{
  const [HOUR, STEP, FEWEST] = [3_600_000, 15, 4];
  const events = says(Array.from({ length: 36 }, (_, number) => `delta ${number} `));
  const last = events.length - 1;
  const lines = events.map((event, at) =>
    JSON.stringify({ ...event, timestamp: at * STEP + (at === last ? HOUR : 0) }));
  const directory = mkdtempSync(join(tmpdir(), "ag-ui-proto-"));
  const session = join(directory, "session.jsonl");
  writeFileSync(session, lines.join("\n"));
  const serve = await startBinary(options.binary, "serve", session, "--pace", "recorded", "--grace", "0");
  await everyWay("serve", async (version, accept, coding) => {
    const run = await read(version, serve.url, accept, coding);
    if (run.spoken !== `${accept}, ${coding}`) return `spoken: ${run.spoken}`;
    await run.has(last);
    run.leave();
    if (run.count !== last) return `${run.count} of ${last} events`;
    // A machine that is busy may read several at a time, but not most of them.
    return run.arrivals * FEWEST >= last ? undefined : `${last} events in ${run.arrivals} lumps`;
  });
  await serve.stop();
  rmSync(directory, { recursive: true });
}

const report = new Report();
report.check(`each event at once, in ${CODINGS.join(", ")}`, results, ({ title, wrong }) => wrong && `${title}: ${wrong}`);
process.exit(report.finish() ? 0 : 1);
