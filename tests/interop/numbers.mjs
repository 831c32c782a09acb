/**
 * Compares what becomes of hard numbers, in every place that carries open values.
 *
 *     node numbers.mjs --binary PATH [--numbers N] [--seed S]
 *
 * Each number goes JSON -> ours -> official -> JSON and the other way round, and travels exactly
 * where that is asked for, without an official decoder noticing. Ends with 1 if anything differs.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { Binary } from "./lib/binary.mjs";
import { firstDifference } from "./lib/json.mjs";
import { decimal, expansion, hardNumbers } from "./lib/numbers.mjs";
import { officialDecode, officialEncode } from "./lib/official.mjs";
import { PLACES } from "./lib/places.mjs";
import { Random } from "./lib/random.mjs";
import { Report } from "./lib/report.mjs";

const { values: options } = parseArgs({
  options: {
    binary: { type: "string" },
    numbers: { type: "string", default: "400" },
    seed: { type: "string", default: "1" },
  },
});
if (!options.binary) {
  console.error("--binary takes the path of the command line tool");
  process.exit(2);
}

const literals = hardNumbers(Number(options.numbers), new Random(Number(options.seed)));
const cases = literals.flatMap((literal) =>
  Object.entries(PLACES).map(([place, text]) => ({ place, literal, text: text(literal) })),
);
const directory = mkdtempSync(join(tmpdir(), "numbers-"));
const report = new Report();
try {
  const binary = new Binary(resolve(options.binary), directory);
  const texts = cases.map(({ text }) => text);
  const theirs = texts.map((text) => officialEncode(JSON.parse(text)));
  const ours = binary.encode(texts);
  const exact = binary.encode(texts, ["--exact-numbers"]);
  const official = theirs.map((payload) => officialDecode(payload).event);
  const name = ({ place, literal }) => `${literal} in ${place}`;

  report.check("JSON -> ours: the official bytes", cases, (each, at) =>
    Buffer.compare(ours[at], theirs[at]) === 0 ? undefined : name(each),
  );
  report.check("JSON -> ours -> official -> JSON: as official throughout", cases, (each, at) => {
    const found = firstDifference(officialDecode(ours[at]).event, official[at]);
    return found && `${name(each)}: ${found}`;
  });
  const backTheOtherWay = binary.decode(theirs);
  report.check("JSON -> official -> ours -> JSON: as official throughout", cases, (each, at) => {
    const found = firstDifference(backTheOtherWay[at], official[at]);
    return found && `${name(each)}: ${found}`;
  });
  report.check("official decoders do not see exact numbers", cases, (each, at) => {
    const found = firstDifference(officialDecode(exact[at]).event, official[at]);
    return found && `${name(each)}: ${found}`;
  });
  const ignored = binary.decode(exact);
  report.check("nor does ours unless it is asked to", cases, (each, at) => {
    const found = firstDifference(ignored[at], official[at]);
    return found && `${name(each)}: ${found}`;
  });
  const exactTexts = binary.decodeText(exact, ["--exact-numbers"]);
  report.check("asked to, it gives the number that was written", cases, (each, at) => {
    const wanted = decimal(each.literal);
    const numbers = exactTexts[at].match(/-?\d+(\.\d+)?([eE][+-]?\d+)?/g) ?? [];
    const isWanted = (number) =>
      decimal(number) === wanted ||
      // The double is the number itself, printed in fewer digits.
      (decimal(expansion(Number(number))) === wanted && Number(number) === Number(each.literal));
    if (numbers.some(isWanted)) return undefined;
    return `${name(each)}: ${exactTexts[at]}`;
  });
} finally {
  rmSync(directory, { recursive: true });
}
if (!report.finish()) process.exitCode = 1;
