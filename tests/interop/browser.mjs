/**
 * Runs the official client in Chromium, against `serve` and `bridge`, compressed in every way, and
 * checks that the page shows each delta before the next one is made.
 *
 *     node browser.mjs --binary PATH --shots DIRECTORY [--chromium PROGRAM]
 *
 * `PATH` is the crate's command line tool, built with the features `cli-http` and `zstd`.
 *
 * - Behind `bridge` is an agent that makes a delta only once the page has painted the one before,
 *   and told so. What the page shows then must be the text so far, and no more.
 * - `serve` replays a session at a pace; its deltas must not arrive in one lump. What the page shows
 *   in the end must be the text of the session.
 * - The page is of another origin than the agent, which allows it; another page must be refused.
 * - That a body was compressed is what the browser says: its header, and fewer bytes from the network
 *   than it decoded.
 *
 * Screenshots, midway and at the end, are written to the directory. Ends with 1 if anything is
 * otherwise.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { build } from "esbuild";
import { Chromium } from "./lib/chromium.mjs";
import { gatedAgent, says } from "./lib/gate.mjs";
import { PROTOBUF, SSE, patience, startBinary } from "./lib/http.mjs";
import { Report } from "./lib/report.mjs";

const { values: options } = parseArgs({
  options: {
    binary: { type: "string" },
    shots: { type: "string" },
    chromium: { type: "string", default: "chromium" },
  },
});
if (!options.binary || !options.shots) {
  console.error("usage: node browser.mjs --binary PATH --shots DIRECTORY [--chromium PROGRAM]");
  process.exit(2);
}
let at = "the start";
patience(120, () => at);

const file = (name) => fileURLToPath(new URL(name, import.meta.url));
const bundle = await build({
  entryPoints: [file("browser/page.mjs")],
  bundle: true,
  format: "iife",
  write: false,
  logLevel: "error",
});
const FILES = {
  "/": ["text/html", readFileSync(file("browser/page.html"))],
  "/page.js": ["text/javascript", bundle.outputFiles[0].text],
};

const results = [];
const check = (title, wrong) => results.push({ title, wrong });
const expect = (title, got, want) =>
  check(title, got === want ? undefined : `${JSON.stringify(got)} instead of ${JSON.stringify(want)}`);

const WORDS =
  "Each word of this sentence is one delta, and every one of them — ümlauts, 漢字 and 👩‍👩‍👧 too — is on the page before the agent makes the next.";
const DELTAS = WORDS.match(/\S+\s*/g);
const events = says(DELTAS);

/** What the page says that it shows. */
let onShown = () => {};
const isDelta = ({ type }) => type === "TEXT_MESSAGE_CONTENT";
const agent = await gatedAgent(events, isDelta, async (request, response) => {
  const { pathname } = new URL(request.url, "http://page");
  if (pathname === "/shown") {
    let text = "";
    for await (const part of request.setEncoding("utf8")) text += part;
    await onShown(text);
    return response.writeHead(204).end();
  }
  const [type, content] = FILES[pathname] ?? [];
  return type ? response.writeHead(200, { "content-type": type }).end(content) : response.writeHead(404).end();
});
const origin = new URL(agent.url).origin;

const session = join(options.shots, "session.jsonl");
mkdirSync(options.shots, { recursive: true });
writeFileSync(session, events.map((event) => JSON.stringify(event)).join("\n"));
const allowing = ["--grace", "0", "--allow-origin", origin];
const servers = {
  bridge: await startBinary(options.binary, "bridge", "--upstream", agent.url, ...allowing),
  serve: await startBinary(options.binary, "serve", session, "--pace", "20ms", ...allowing),
};
const chromium = new Chromium(options.chromium);

/** Opens the page and gives what came of its call, and what the browser says of it. */
async function visit({ name, accept, coding, from = origin, last = "end", onPage = () => {} }) {
  const { url } = servers[name];
  const network = { encoded: 0, decoded: 0, methods: [] };
  let id;
  const page = await chromium.page((method, params) => {
    if (method === "Network.requestWillBeSent" && params.request.url === url) {
      network.methods.push(params.request.method);
      if (params.request.method === "POST") id = params.requestId;
    }
    if (method === "Page.loadEventFired") network.loaded();
    if (id === undefined || params.requestId !== id) return;
    if (method === "Network.responseReceived") network.coding = params.response.headers["content-encoding"];
    if (method === "Network.dataReceived") network.decoded += params.dataLength;
    if (method === "Network.loadingFinished") network.encoded = params.encodedDataLength;
  });
  await page.send("Network.enable");
  await page.send("Page.enable");
  await page.send("Network.setAcceptedEncodings", { encodings: coding === "identity" ? [] : [coding] });
  await page.send("Emulation.setDeviceMetricsOverride", { width: 800, height: 400, deviceScaleFactor: 1, mobile: false });
  const shoot = async (when) => {
    const { data } = await page.send("Page.captureScreenshot", { format: "png" });
    const binding = accept === SSE ? "sse" : "protobuf";
    writeFileSync(join(options.shots, `${name}-${binding}-${coding}-${when}.png`), data, "base64");
  };
  onPage(shoot);
  const query = new URLSearchParams({ name, accept, agent: url });
  if (name === "bridge") query.set("shown", "/shown");
  const loaded = new Promise((resolve) => (network.loaded = resolve));
  await page.send("Page.navigate", { url: `${from}/?${query}` });
  await loaded;
  const over = { expression: "window.over", awaitPromise: true, returnByValue: true };
  const { result, exceptionDetails } = await page.send("Runtime.evaluate", over);
  if (exceptionDetails) throw new Error(exceptionDetails.exception.description);
  await shoot(last);
  await page.close();
  return { ...result.value, network };
}

function checkCoding(title, coding, { headers, network }) {
  const want = coding === "identity" ? undefined : coding;
  expect(`${title}: the coding that the page sees`, headers["content-encoding"], want);
  expect(`${title}: the coding that the browser had`, network.coding, want);
  const smaller = network.encoded < network.decoded;
  const wrong = smaller === (coding !== "identity") ? undefined : `${network.encoded} of ${network.decoded}`;
  check(`${title}: bytes of the network against bytes of the body`, wrong);
}

for (const [accept, coding] of [
  [PROTOBUF, "gzip"],
  [PROTOBUF, "br"],
  [PROTOBUF, "zstd"],
  [PROTOBUF, "identity"],
  [SSE, "gzip"],
]) {
  for (const name of ["bridge", "serve"]) {
    const title = (at = `${name}, ${accept}, ${coding}`);
    let [number, wrong, shoot] = [0, undefined, undefined];
    onShown = async (text) => {
      number += 1;
      const want = DELTAS.slice(0, number).join("");
      if (text !== want) wrong ??= `delta ${number}: the page shows ${JSON.stringify(text)}`;
      if (number === Math.floor(DELTAS.length / 2)) await shoot("midway");
      agent.let();
    };
    const found = await visit({ name, accept, coding, onPage: (give) => (shoot = give) });
    expect(`${title}: failure`, found.failure, undefined);
    expect(`${title}: requests`, found.network.methods.sort().join(), "OPTIONS,POST");
    expect(`${title}: the last event`, found.last, "RUN_FINISHED");
    expect(`${title}: the binding`, found.headers["content-type"], accept);
    expect(`${title}: what is shown in the end`, found.shown, WORDS);
    expect(`${title}: the message`, found.messages[0]?.content, WORDS);
    expect(`${title}: deltas`, found.deltas.length, DELTAS.length);
    checkCoding(title, coding, found);
    if (name === "bridge") {
      check(`${title}: each delta is shown before the next is made`, wrong);
      expect(`${title}: deltas told of`, number, DELTAS.length);
      expect(`${title}: arrivals`, found.arrivals, DELTAS.length);
    } else {
      // A machine that is busy may read several at a time, but not most of them.
      const lumps = found.arrivals * 4 >= DELTAS.length ? undefined : `in ${found.arrivals} parts`;
      check(`${title}: deltas do not come in one lump`, lumps);
    }
  }
}

// The same page, of an origin that is not allowed.
for (const name of ["bridge", "serve"]) {
  const from = origin.replace("127.0.0.1", "localhost");
  const found = await visit({ name, accept: PROTOBUF, coding: "gzip", from, last: "refused" });
  expect(`${name}: a page of another origin`, `${found.failure}, ${found.deltas.length} deltas`, "TypeError: Failed to fetch, 0 deltas");
}

await chromium.close();
for (const server of Object.values(servers)) await server.stop();
agent.stop();
const report = new Report();
report.check("the official client in a browser", results, ({ title, wrong }) => wrong && `${title}: ${wrong}`);
process.exit(report.finish() ? 0 : 1);
