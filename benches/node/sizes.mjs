/**
 * Bytes an event, as server-sent events and as frames: as they are, and compressed with a flush after
 * every event, so that each can be shown at once.
 *
 *     node sizes.mjs
 */
import { once } from "node:events";
import { constants, createGzip } from "node:zlib";
import { workloads } from "./lib/workloads.mjs";

console.log("| bytes an event | SSE | frames | frames / SSE | SSE, gzip | frames, gzip | gzip frames / SSE |");
console.log("|---|---:|---:|---:|---:|---:|---:|");
for (const { name, texts, frames } of workloads(["--extras"])) {
  const sse = texts.map((text) => Buffer.from(`data: ${text}\n\n`));
  const [plain, packed] = [length, compressed].map((measure) => [measure(sse), measure(frames)]);
  const row = [...(await figures(plain, frames.length)), ...(await figures(packed, frames.length))];
  console.log(`| ${name} | ${row.join(" | ")} |`);
}

async function figures(lengths, events) {
  const [sse, frames] = await Promise.all(lengths);
  return [(sse / events).toFixed(1), (frames / events).toFixed(1), (frames / sse).toFixed(2)];
}

function length(events) {
  return events.reduce((sum, event) => sum + event.length, 0);
}

async function compressed(events) {
  const gzip = createGzip();
  let sum = 0;
  gzip.on("data", (bytes) => (sum += bytes.length));
  for (const event of events) {
    gzip.write(event);
    await new Promise((flushed) => gzip.flush(constants.Z_SYNC_FLUSH, flushed));
  }
  gzip.end();
  await once(gzip, "end");
  return sum;
}
