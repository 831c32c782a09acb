/**
 * Writes `tests/data/accept.tsv`: random `Accept` headers, and the content type that the official
 * encoder answers each with.
 *
 * A line holds `protobuf` or `sse`, a tab, and the header as a JSON string. A character of the
 * string is a byte of the header.
 *
 *     node accept.mjs            writes the file
 *     node accept.mjs --check    fails if the file would change
 */
import { AGUI_MEDIA_TYPE, EventEncoder } from "@ag-ui/encoder";
import { writeOrCheck } from "./lib/files.mjs";
import { Random } from "./lib/random.mjs";

const COUNT = 3000;
const random = new Random(7);

const RANGES = [
  AGUI_MEDIA_TYPE, AGUI_MEDIA_TYPE, AGUI_MEDIA_TYPE, AGUI_MEDIA_TYPE.toUpperCase(), "application/*",
  "application/*", "*/*", "*/*", "*", "*/vnd.ag-ui.event+proto", "text/event-stream",
  "text/event-stream", "text/*", "application/json", "application/vnd.ag-ui.event+protobuf",
  "application/vnd.ag-ui.event", "application/vnd.ag-ui.event+proto/x", "application", "a/b", "",
  "/", "application /json", "\xe9/\xff",
];
const WEIGHTS = [
  "q=1", "q=1.0", "q=0.5", "Q=0.3", "q=0.001", "q=0", "q=0.0", "q=0.000", "q=.5", "q=1.", "q=2",
  "q=-1", "q=", "q", "q=high", "q=0.5x", "q=1e-3", "q=Infinity", "q=\"0.5\"", "q=\"0\"", "q= 0.5",
  "q =0.5", "q=0.5\xa0", "q=+1",
];
const PARAMETERS = [
  "charset=utf-8", "v=1.1", "v", "v=", "v=*", "x=\",\"", "x=\";\"", "x=\"\\\"\"", "x=\"\\\\\"",
  "x=\"open", "x=\"\xe9\"", "", " ", "level=1",
];

const space = () => random.pick(["", "", "", "", " ", " ", "\t", "  "]);

function element() {
  let text = random.pick(RANGES);
  const parameters = [];
  if (random.chance(0.5)) parameters.push(random.pick(WEIGHTS));
  while (random.chance(0.15)) parameters.push(random.pick(PARAMETERS));
  random.shuffle(parameters);
  for (const parameter of parameters) text += `${space()};${space()}${parameter}`;
  return text;
}

function header() {
  const elements = Array.from({ length: random.integer(1, 4) }, element);
  let text = elements.map((each) => `${space()}${each}${space()}`).join(",");
  if (random.chance(0.1)) {
    const at = random.below(text.length + 1);
    const inserted = random.pick([",", ";", "=", "\"", "\\", "/", "*", " ", "q", "0", "\xff"]);
    text = text.slice(0, at) + inserted + text.slice(at + random.below(2));
  }
  return text;
}

/** Where this crate answers otherwise, one header a reason. */
const DIFFERENT = [
  `${AGUI_MEDIA_TYPE};q=0.5x`, `${AGUI_MEDIA_TYPE};q=Infinity`, `${AGUI_MEDIA_TYPE};q=1e-3`,
  `${AGUI_MEDIA_TYPE};q=+1`, `${AGUI_MEDIA_TYPE};q=0.5\xa0`, `${AGUI_MEDIA_TYPE}, ${AGUI_MEDIA_TYPE};q=x`,
  `${AGUI_MEDIA_TYPE};v`, `${AGUI_MEDIA_TYPE};v=*`, `${AGUI_MEDIA_TYPE};q=1;v=1`,
  `*/*;q=0.5, */*;;q=0`, `a/b;x="\\"", ${AGUI_MEDIA_TYPE}`,
];

const escaped = (text) =>
  JSON.stringify(text).replace(/[\x7f-\xff]/g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`);

const headers = new Set(DIFFERENT);
while (headers.size < COUNT) headers.add(header());
const counts = { protobuf: 0, sse: 0 };
const lines = [...headers].map((accept) => {
  const type = new EventEncoder({ accept }).getContentType();
  const format = type === AGUI_MEDIA_TYPE ? "protobuf" : "sse";
  counts[format] += 1;
  return `${format}\t${escaped(accept)}\n`;
});
writeOrCheck("accept.tsv", lines.join(""));
console.log(`${counts.protobuf} protobuf, ${counts.sse} SSE`);
