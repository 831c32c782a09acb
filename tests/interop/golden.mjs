/**
 * Writes `tests/data/golden.tsv`: what the official packages make of each document.
 *
 * A line holds the document's name, the hex of the payload, and the JSON that the official
 * decoder gives back for it, with a tab between them.
 *
 *     node golden.mjs            writes the file
 *     node golden.mjs --check    fails if the file would change
 */
import { EventType } from "@ag-ui/core";
import { readData, writeOrCheck } from "./lib/files.mjs";
import { jsonText } from "./lib/json.mjs";
import { officialDecode, officialEncode } from "./lib/official.mjs";

const fail = (message) => {
  console.error(message);
  process.exit(1);
};

const perType = new Map(Object.values(EventType).map((type) => [type, 0]));

function golden(line) {
  const document = JSON.parse(line);
  const { name, event } = document;
  if (jsonText(document) !== line) fail(`${name}: a number or key does not survive JavaScript`);
  let payload;
  try {
    payload = officialEncode(event);
  } catch (error) {
    fail(`${name}: the official encoder objects: ${error.message}`);
  }
  const decoded = officialDecode(payload);
  if (decoded.verdict !== "event") fail(`${name}: the official decoder objects: ${decoded.reason}`);
  perType.set(event.type, perType.get(event.type) + 1);
  return `${name}\t${Buffer.from(payload).toString("hex")}\t${jsonText(decoded.event)}\n`;
}

const lines = readData("documents.jsonl").trimEnd().split("\n").map(golden);
for (const [type, count] of perType) {
  if (count === 0) fail(`${type} has no document`);
  console.log(`${String(count).padStart(5)} ${type}`);
}
writeOrCheck("golden.tsv", lines.join(""));
console.log(`${String(lines.length).padStart(5)} in all`);
