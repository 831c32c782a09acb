/**
 * Reads compressed streams of this crate as Node's own decoders read them, and checks that each
 * event is there as soon as its bytes are.
 *
 *     cargo build --example compressed --features compression
 *     node compression.mjs --example PATH SESSION.jsonl...
 *
 * `PATH` is the example `compressed`. Codings that this Node does not have are named and left out.
 */
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import zlib from "node:zlib";
import { Report } from "./lib/report.mjs";

const DECODERS = {
  gzip: zlib.createGunzip,
  br: zlib.createBrotliDecompress,
  zstd: zlib.createZstdDecompress,
};

const args = process.argv.slice(2);
const at = args.indexOf("--example");
const [example] = at < 0 ? [] : args.splice(at, 2).slice(1);
if (!example || args.length === 0) {
  console.error("usage: node compression.mjs --example PATH SESSION.jsonl...");
  process.exit(2);
}

/** The bodies that the example prints, by what they are. */
function bodies(session) {
  const text = execFileSync(example, [session], { encoding: "utf8", maxBuffer: 1 << 30 });
  const found = new Map();
  for (const line of text.trimEnd().split("\n")) {
    const [coding, mediaType, before, after] = line.split(" ");
    const name = `${coding} ${mediaType}`;
    if (!found.has(name)) found.set(name, { coding, parts: [] });
    const part = { before: Buffer.from(before, "hex"), after: Buffer.from(after, "hex") };
    found.get(name).parts.push(part);
  }
  return found;
}

/** What a decoder gives for each part, before it has the next. */
async function decoded(decoder, parts) {
  let given = [];
  decoder.on("data", (bytes) => given.push(bytes));
  const all = [];
  for (const { after } of parts) {
    given = [];
    await new Promise((resolve, reject) => {
      decoder.once("error", reject);
      decoder.write(after, (error) => (error ? reject(error) : resolve()));
    });
    all.push(Buffer.concat(given));
    decoder.removeAllListeners("error");
  }
  decoder.end();
  await once(decoder, "end");
  return all;
}

const report = new Report();
for (const session of args) {
  for (const [name, { coding, parts }] of bodies(session)) {
    const decoder = DECODERS[coding];
    if (!decoder) {
      console.log(`${session}: ${name}: this Node has no ${coding}`);
      continue;
    }
    const given = await decoded(decoder(), parts);
    const events = parts.length - 1;
    const size = parts.reduce((sum, { after }) => sum + after.length, 0) / events;
    report.check(`${session}: ${name}: ${size.toFixed(1)} bytes an event`, parts, (part, index) =>
      given[index].equals(part.before)
        ? undefined
        : `part ${index}: ${given[index].length} of ${part.before.length} bytes`);
  }
}
process.exit(report.finish() ? 0 : 1);
