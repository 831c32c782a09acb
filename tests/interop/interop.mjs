/**
 * Compares our command line tool with the official packages, on random events and broken bytes.
 *
 *     node interop.mjs --binary PATH [--events N] [--mutants N] [--seed S] [--keep DIRECTORY]
 *
 * Ends with 1 if anything differs that is not documented.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { Binary } from "./lib/binary.mjs";
import { randomEvent } from "./lib/generate.mjs";
import { firstDifference, jsonText } from "./lib/json.mjs";
import { EVENT_TYPES } from "./lib/model.mjs";
import { CHANGES, mutate } from "./lib/mutate.mjs";
import { officialDecode, officialEncode } from "./lib/official.mjs";
import { Random } from "./lib/random.mjs";
import { Report } from "./lib/report.mjs";
import { judge } from "./lib/verdict.mjs";

/** How many payloads a change may try before it counts as not applicable. */
const TRIES = 30;

const { values: options } = parseArgs({
  options: {
    binary: { type: "string" },
    events: { type: "string", default: "4000" },
    mutants: { type: "string", default: "20000" },
    seed: { type: "string", default: "1" },
    keep: { type: "string" },
  },
});

function wholeNumber(name) {
  const number = Number(options[name]);
  if (Number.isSafeInteger(number) && number >= 0) return number;
  console.error(`--${name} takes a whole number`);
  process.exit(2);
}

/** @returns {{ event: object, payload: Uint8Array }[]} */
function makeEvents(count, random) {
  return Array.from({ length: count }, (_, index) => {
    const event = randomEvent(EVENT_TYPES[index % EVENT_TYPES.length], random);
    return { event, payload: officialEncode(event) };
  });
}

/** @returns {{ change: string, payload: Uint8Array }[]} */
function makeMutants(count, payloads, random) {
  const mutants = [{ change: "nothing at all", payload: new Uint8Array(0) }];
  for (let index = 0; index < count && payloads.length > 0; index += 1) {
    const change = CHANGES[index % CHANGES.length];
    for (let tries = TRIES; tries > 0; tries -= 1) {
      const original = random.pick(payloads);
      const payload = mutate(change, original, random);
      if (Buffer.compare(payload, original) === 0) continue;
      mutants.push({ change, payload });
      break;
    }
  }
  return mutants;
}

const hex = (bytes) => Buffer.from(bytes).toString("hex");

function checkEvents(binary, report, events) {
  const ours = binary.encode(events.map(({ event }) => jsonText(event)));
  report.check("our bytes are the official bytes", events, ({ event, payload }, index) => {
    if (Buffer.compare(ours[index], payload) === 0) return undefined;
    return `${jsonText(event)}\n    ours   ${hex(ours[index])}\n    theirs ${hex(payload)}`;
  });

  const theirs = events.map(({ payload }) => officialDecode(payload));
  report.check("the official decoder reads our bytes as its own", events, (_, index) => {
    const read = officialDecode(ours[index]);
    const difference =
      read.verdict === "event"
        ? firstDifference(read.event, theirs[index].event)
        : `${read.verdict}: ${read.reason}`;
    return difference && `${difference}\n    ours   ${hex(ours[index])}`;
  });

  const decoded = binary.decode(events.map(({ payload }) => payload));
  report.check(
    "we decode official bytes as the official decoder does",
    events,
    ({ payload }, index) => {
      const difference = firstDifference(decoded[index], theirs[index].event);
      return difference && `${difference}\n    bytes  ${hex(payload)}`;
    },
  );
}

function checkMutants(binary, report, mutants) {
  const ours = binary.decodeEach(mutants.map(({ payload }) => payload));
  const verdicts = { event: 0, dropped: 0, refused: 0 };
  const documented = {};
  report.check(
    "we judge unusual bytes as the official decoder does",
    mutants,
    ({ change, payload }, index) => {
      const theirs = officialDecode(payload);
      verdicts[theirs.verdict] += 1;
      const { documented: notes = [], failure } = judge(payload, ours[index], theirs);
      for (const note of notes) documented[note] = (documented[note] ?? 0) + 1;
      return failure && `${change}: ${failure}\n    bytes  ${hex(payload)}`;
    },
  );
  for (const [verdict, count] of Object.entries(verdicts)) {
    console.log(`  official verdict ${verdict}: ${count}`);
  }
  for (const [note, count] of Object.entries(documented)) {
    console.log(`  documented difference, ${note}: ${count}`);
  }
}

function main() {
  if (!options.binary) {
    console.error("--binary PATH is required");
    process.exit(2);
  }
  const seed = wholeNumber("seed");
  const random = new Random(seed);
  const events = makeEvents(wholeNumber("events"), random);
  const payloads = events.map(({ payload }) => payload);
  const mutants = makeMutants(wholeNumber("mutants"), payloads, random);
  console.log(`${events.length} events and ${mutants.length} unusual payloads from seed ${seed}`);

  const directory = options.keep ?? mkdtempSync(join(tmpdir(), "interop-"));
  mkdirSync(directory, { recursive: true });
  try {
    const binary = new Binary(resolve(options.binary), directory);
    const report = new Report();
    checkEvents(binary, report, events);
    checkMutants(binary, report, mutants);
    process.exitCode = report.finish() ? 0 : 1;
  } finally {
    if (!options.keep) rmSync(directory, { recursive: true });
  }
}

main();
