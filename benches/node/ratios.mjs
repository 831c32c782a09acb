/**
 * Times the official encoder and decoder, JSON in the same engine, and this crate, in turn, on the
 * workloads of the benches.
 *
 *     npm ci
 *     node ratios.mjs [--rounds N] [WORKLOAD...]
 *
 * Both sides write frames and read payloads; JSON is written as server-sent events in bytes and read
 * from bytes. Everything runs for a while before it is measured. The warnings that the official
 * packages print are not printed here, and cost them nothing.
 */
import { parseArgs } from "node:util";
import { EventEncoder } from "@ag-ui/encoder";
import { AGUI_MEDIA_TYPE, decode } from "@ag-ui/proto";
import { Ours } from "./lib/ours.mjs";
import { quartiles, secondsPerPass } from "./lib/time.mjs";
import { workloads } from "./lib/workloads.mjs";

const WARM_UP_SECONDS = 0.5;
const TURN_SECONDS = 0.02;

const { values: options, positionals: wanted } = parseArgs({
  options: { rounds: { type: "string", default: "15" } },
  allowPositionals: true,
});
console.warn = () => {};

const ours = new Ours();
const measured = [];
try {
  for (const workload of workloads()) {
    if (wanted.length > 0 && !wanted.includes(workload.name)) continue;
    for (const floor of ["encode", "decode"]) measured.push(await measure(floor, workload));
  }
} finally {
  ours.close();
}
print(measured);

async function measure(floor, workload) {
  const contenders = { encode: encoders, decode: decoders }[floor](workload);
  for (const pass of Object.values(contenders)) secondsPerPass(pass, WARM_UP_SECONDS);
  const seconds = { ours: [], official: [], json: [] };
  for (let round = 0; round < Number(options.rounds); round += 1) {
    seconds.ours.push(await ours.secondsPerPass(`${floor}/${workload.name}`));
    for (const [name, pass] of Object.entries(contenders)) {
      seconds[name].push(secondsPerPass(pass, TURN_SECONDS));
    }
  }
  return { floor, workload, seconds };
}

function encoders({ name, texts, frames }) {
  const events = texts.map((text) => JSON.parse(text));
  const encoder = new EventEncoder({ accept: AGUI_MEDIA_TYPE });
  const others = frames.filter((frame, at) => !frame.equals(encoder.encodeProtobuf(events[at])));
  if (others.length > 0) {
    console.error(`${name}: ${others.length} of ${frames.length} frames differ from the official ones`);
  }
  return {
    official: () => {
      for (const event of events) encoder.encodeProtobuf(event);
    },
    json: () => {
      for (const event of events) Buffer.from(`data: ${JSON.stringify(event)}\n\n`);
    },
  };
}

function decoders({ texts, frames }) {
  const payloads = frames.map((frame) => frame.subarray(4));
  const bytes = texts.map((text) => Buffer.from(text));
  return {
    official: () => {
      for (const payload of payloads) decode(payload);
    },
    json: () => {
      for (const text of bytes) JSON.parse(text.toString());
    },
  };
}

function print(measured) {
  console.log("| | events | ours : official | official : JSON in Node | ours | official | JSON in Node |");
  console.log("|---|---:|---:|---:|---:|---:|---:|");
  for (const { floor, workload, seconds } of measured) {
    const ratio = (one, other) => {
      const { low, median, high } = quartiles(seconds[other].map((time, at) => time / seconds[one][at]));
      const digits = median < 10 ? 2 : 1;
      return `**${median.toFixed(digits)}** (${low.toFixed(digits)}-${high.toFixed(digits)})`;
    };
    const thousands = (name) =>
      (workload.frames.length / quartiles(seconds[name]).median / 1000).toFixed(0);
    const row = [
      `${floor}/${workload.name}`,
      workload.frames.length,
      ratio("ours", "official"),
      ratio("official", "json"),
      ...["ours", "official", "json"].map(thousands),
    ];
    console.log(`| ${row.join(" | ")} |`);
  }
  console.log("\nratios of events a second, median (quartiles); then thousand events a second");
}
