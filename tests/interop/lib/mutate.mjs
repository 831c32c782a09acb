/** Unusual and broken bytes, made from payloads that were in order. */
import { BYTES, EVENTS, FIXED32, FIXED64, LAYOUTS, START_GROUP, VARINT } from "./schema.mjs";
import { allMessages, parseTree, writeTree } from "./tree.mjs";

/** @typedef {import("./random.mjs").Random} Random */
/** @typedef {import("./tree.mjs").Record} Record */

const KINDS = ["nullValue", "numberValue", "stringValue", "boolValue", "structValue", "listValue"];
const LEAF_MESSAGES = new Set(
  Object.values(LAYOUTS)
    .filter(({ fields }) => [...fields.values()].every(({ isMessage }) => !isMessage))
    .map(({ name }) => name),
);
const FUTURE_NUMBERS = [32, 33, 100, 1000, 19000, 2 ** 29 - 1];
const LAST_ENUM_NUMBER = 30;
const BAD_TEXTS = ["80", "c3", "c080", "eda080", "f4908080", "e282", "61ff62"].map(fromHex);
const ODD_DOUBLES = [NaN, Infinity, -Infinity];
const ODD_INTEGERS = [
  0n,
  1n,
  2n,
  6n,
  99n,
  2n ** 31n,
  2n ** 32n,
  2n ** 32n + 3n,
  2n ** 53n - 1n,
  2n ** 53n,
  2n ** 63n,
  2n ** 64n - 1n,
  2n ** 64n - 2n ** 53n,
  2n ** 64n - 2n ** 53n + 1n,
  2n ** 64n,
  2n ** 69n + 1n,
];

function fromHex(hex) {
  return Uint8Array.from(Buffer.from(hex, "hex"));
}

const randomBytes = (random, length) => Uint8Array.from({ length }, () => random.below(256));

/** A field that no message has, or at least the one at hand has not. */
function strangeRecord(random, number, nesting = 0) {
  switch (random.below(nesting < 3 ? 5 : 4)) {
    case 0:
      return { number, wireType: VARINT, value: random.pick(ODD_INTEGERS) };
    case 1:
      return { number, wireType: FIXED64, value: randomBytes(random, 8) };
    case 2:
      return { number, wireType: BYTES, value: randomBytes(random, random.below(6)) };
    case 3:
      return { number, wireType: FIXED32, value: randomBytes(random, 4) };
    default: {
      const inner = () => strangeRecord(random, 1 + random.below(40), nesting + 1);
      const records = Array.from({ length: random.below(3) }, inner);
      return { number, wireType: START_GROUP, records };
    }
  }
}

const clone = (records) => structuredClone(records);

const insert = (random, records, ...added) =>
  records.splice(random.below(records.length + 1), 0, ...added);

const anyMessage = (random, tree) => random.pick(allMessages(tree));

/** One record of the tree that `accept` likes, with the list that holds it. */
function findRecord(random, tree, accept) {
  const found = allMessages(tree).flatMap(({ message, records }) =>
    records
      .map((record, at) => ({
        records,
        record,
        at,
        field: LAYOUTS[message].fields.get(record.number),
      }))
      .filter(({ record, field }) => accept(record, field)),
  );
  return found.length > 0 ? random.pick(found) : undefined;
}

const body = (tree) => tree[0];
const baseEvent = (tree) => body(tree).records.find(({ number }) => number === 1);

/** A message of a random kind for a `Value`, by its kind number. */
function someKind(random) {
  const number = 1 + random.below(KINDS.length);
  const { wireType, isMessage, type } = LAYOUTS.Value.fields.get(number);
  if (isMessage) return { number, wireType, message: type, records: [] };
  if (wireType === VARINT) return { number, wireType, value: random.pick(ODD_INTEGERS) };
  const length = wireType === FIXED64 ? 8 : 3;
  return { number, wireType, value: new Uint8Array(length).fill(0x40) };
}

/**
 * Changes to a tree. Each changes it in place and may do nothing where it finds no hold.
 *
 * @type {Record<string, (tree: Record[], random: Random) => void>}
 */
const TREE_CHANGES = {
  "unknown field": (tree, random) => {
    const { message, records } = anyMessage(random, tree);
    const number = random.pick(
      [...FUTURE_NUMBERS, 9, 15, 16, 17].filter(
        (candidate) => !LAYOUTS[message].fields.has(candidate),
      ),
    );
    insert(random, records, strangeRecord(random, number));
  },
  "fields in another order": (tree, random) => {
    for (const { records } of allMessages(tree)) random.shuffle(records);
  },
  "event in two pieces": (tree, random) => splitRecord(random, tree, body(tree)),
  "event twice": (tree, random) => insert(random, tree, ...clone(tree)),
  "message in two pieces": (tree, random) => {
    const found = findRecord(random, tree, ({ message }, field) => message && !field.repeated);
    splitRecord(random, found.records, found.record);
  },
  "field twice": (tree, random) => {
    const { records, record, field } = findRecord(random, tree, () => true);
    const [copy] = clone([record]);
    if (field.type === "string") copy.value = Uint8Array.from(Buffer.from(random.pick(["", "é"])));
    if (field.wireType === VARINT) copy.value = random.pick(ODD_INTEGERS);
    insert(random, records, copy);
  },
  "field missing": (tree, random) => {
    const { records, at } = findRecord(random, tree, () => true);
    records.splice(at, 1);
  },
  "contents missing": (tree, random) => {
    const found = findRecord(random, tree, ({ records }) => records);
    found.record.records = [];
  },
  "needless bytes in varints": (tree, random) => {
    for (const { records } of allMessages(tree)) {
      for (const record of records) {
        if (random.chance(0.5)) record.pad = paddings(random);
      }
    }
  },
  "too many bytes in a varint": (tree, random) => {
    const { record } = findRecord(random, tree, () => true);
    record.pad = { [random.pick(["tag", "length", "value"])]: 3 + random.below(9) };
  },
  "length that lies": (tree, random) => {
    const { record } = findRecord(random, tree, ({ wireType }) => wireType === BYTES);
    record.excess = random.pick([1n, 2n, 2n ** 31n, 2n ** 32n, 2n ** 35n, 2n ** 64n]);
  },
  "wrong wire type": (tree, random) => {
    const { records, at, record } = findRecord(random, tree, () => true);
    const strange = () => strangeRecord(random, record.number);
    const other = [strange(), strange(), strange(), strange()].find(
      ({ wireType }) => wireType !== record.wireType,
    );
    if (other && random.chance(0.5)) records[at] = other;
    else if (other) insert(random, records, other);
  },
  "odd integer": (tree, random) => {
    const found = findRecord(random, tree, ({ wireType }) => wireType === VARINT);
    if (found) found.record.value = random.pick(ODD_INTEGERS);
  },
  "odd double": (tree, random) => {
    const found = findRecord(random, tree, ({ wireType }) => wireType === FIXED64);
    if (found)
      found.record.value = new Uint8Array(Float64Array.of(random.pick(ODD_DOUBLES)).buffer);
  },
  "broken text": (tree, random) => {
    const found = findRecord(random, tree, (_, field) => field.type === "string");
    if (found) found.record.value = random.pick(BAD_TEXTS);
  },
  "other word": (tree, random) => {
    const words = ["role", "outcome", "type", "subtype", "status", "key"];
    const found = findRecord(
      random,
      tree,
      (_, field) => words.includes(field.name) && field.type === "string",
    );
    const word = random.pick([
      "",
      "tool",
      "user",
      "activity",
      "assistant",
      "success",
      "interrupt",
      "critic",
      "__proto__",
    ]);
    if (found) found.record.value = Uint8Array.from(Buffer.from(word));
  },
  "key __proto__": (tree, random) => {
    const found = findRecord(random, tree, ({ message }) => message === "Struct");
    if (!found) return;
    const key = { number: 1, wireType: BYTES, value: Uint8Array.from(Buffer.from("__proto__")) };
    const value = { number: 2, wireType: BYTES, message: "Value", records: [someKind(random)] };
    const entry = { number: 1, wireType: BYTES, message: "FieldsEntry", records: [key, value] };
    insert(random, found.record.records, entry);
  },
  "value of several kinds": (tree, random) => {
    const found = findRecord(random, tree, ({ message }) => message === "Value");
    if (found) insert(random, found.record.records, someKind(random), someKind(random));
  },
  "value of no kind": (tree, random) => {
    const found = findRecord(random, tree, ({ message }) => message === "Value");
    if (found) found.record.records = [];
  },
  "entry twice": (tree, random) => {
    const found = findRecord(random, tree, ({ message }) => message === "FieldsEntry");
    if (!found) return;
    const [copy] = clone([found.record]);
    copy.records = [
      ...copy.records.filter(({ number }) => number === 1),
      {
        number: 2,
        wireType: BYTES,
        message: "Value",
        records: [someKind(random)],
      },
    ];
    insert(random, found.records, copy);
  },
  "field under another number": (tree, random) => {
    const { records } = anyMessage(random, tree);
    if (records.length > 0) random.pick(records).number = 1 + random.below(14);
  },
  "another member of a union": (tree, random) => {
    const found = findRecord(random, tree, ({ message }) =>
      ["InputContent", "Source"].includes(message),
    );
    if (!found) return;
    const { record } = found;
    const number = 1 + random.below(record.message === "Source" ? 3 : 5);
    const { type } = LAYOUTS[record.message].fields.get(number);
    const other = { number, wireType: BYTES, message: type, records: [] };
    if (random.chance(0.5)) record.records = [other];
    else insert(random, record.records, other);
  },
  "source twice with another member": (tree, random) => {
    const found = findRecord(random, tree, ({ message }) => message === "Source");
    if (!found) return;
    const number = 1 + random.below(3);
    const { type } = LAYOUTS.Source.fields.get(number);
    const inner = { number, wireType: BYTES, message: type, records: [] };
    insert(random, found.records, { ...found.record, records: [inner] });
  },
  "content of every form": (tree, random) => {
    const found = findRecord(random, tree, ({ message }) => message === "Message");
    if (!found) return;
    const string = { number: 3, wireType: BYTES, value: fromHex("68") };
    const part = { number: 8, wireType: BYTES, message: "InputContent", records: [] };
    const map = { number: 13, wireType: BYTES, message: "Struct", records: [] };
    insert(random, found.record.records, random.pick([string, part, map]));
  },
  "other event type": (tree, random) => {
    const base = baseEvent(tree);
    base.records = base.records.filter(({ number }) => number !== 1);
    const value = BigInt(random.below(LAST_ENUM_NUMBER + 4));
    base.records.push({ number: 1, wireType: VARINT, value });
  },
  "same type, spelled wide": (tree) => {
    const type = baseEvent(tree).records.find(({ number }) => number === 1);
    if (type) type.value += 2n ** 32n * 5n;
  },
  "no base event": (tree) => {
    body(tree).records = body(tree).records.filter(({ number }) => number !== 1);
  },
  "member of protocol 1.1": (tree, random) => {
    const holdsIt = ({ message }) => ["Message", "ToolCall"].includes(message);
    const found = findRecord(random, tree, holdsIt);
    if (!found) return;
    const number = found.record.message === "Message" ? 14 : 6;
    insert(random, found.record.records, { number, wireType: BYTES, value: fromHex("6a7765") });
  },
  "second event": (tree, random) => {
    const { arm, type } = random.pick(EVENTS);
    insert(random, tree, { number: arm, wireType: BYTES, message: type, records: [] });
  },
  "second event of a wrong wire type": (tree, random) => {
    insert(random, tree, strangeRecord(random, random.pick(EVENTS).arm));
  },
  "event from the future": (tree, random) => {
    body(tree).number = random.pick(FUTURE_NUMBERS);
    if (random.chance(0.3))
      insert(random, tree, strangeRecord(random, random.pick(FUTURE_NUMBERS)));
  },
  "future and a strange field": (tree, random) => {
    tree[0] = strangeRecord(random, random.pick(FUTURE_NUMBERS));
    if (random.chance(0.3)) insert(random, tree, strangeRecord(random, 1 + random.below(40)));
  },
  "broken bytes inside a message": (tree, random) => {
    breakInside(random, findRecord(random, tree, ({ records }) => records).record);
  },
  "broken bytes inside a leaf message": (tree, random) => {
    const isLeaf = ({ message }) => LEAF_MESSAGES.has(message);
    const found = findRecord(random, tree, isLeaf);
    if (found) breakInside(random, found.record);
  },
  "field number 0": (tree, random) => {
    insert(random, anyMessage(random, tree).records, strangeRecord(random, 0));
  },
};

/** Cuts one record into two that together say the same. */
function splitRecord(random, records, record) {
  const early = [];
  const late = [];
  for (const inner of record.records) (random.chance(0.5) ? early : late).push(inner);
  records.splice(
    records.indexOf(record),
    1,
    { ...record, records: early },
    { ...record, records: late },
  );
}

/** Breaks the bytes of a message, under a length that fits what is left of them. */
function breakInside(random, record) {
  const bytes = writeTree(record.records);
  const change = random.pick(Object.values(BYTE_CHANGES));
  record.value = bytes.length > 0 ? change(bytes, random) : randomBytes(random, 3);
  delete record.records;
  delete record.message;
}

/** Needless bytes that keep every varint within its legal size, whatever its value. */
function paddings(random) {
  return { tag: random.below(3), length: random.below(6), value: random.chance(0.2) ? 1 : 0 };
}

/**
 * Changes to bytes.
 *
 * @type {Record<string, (bytes: Uint8Array, random: Random) => Uint8Array>}
 */
const BYTE_CHANGES = {
  "bit flipped": (bytes, random) => {
    const changed = Uint8Array.from(bytes);
    for (let left = 1 + random.below(2); left > 0; left -= 1) {
      changed[random.below(changed.length)] ^= 1 << random.below(8);
    }
    return changed;
  },
  "end cut off": (bytes, random) => bytes.subarray(0, random.below(bytes.length)),
  "byte inserted": (bytes, random) => {
    const at = random.below(bytes.length + 1);
    return Uint8Array.from([...bytes.subarray(0, at), random.below(256), ...bytes.subarray(at)]);
  },
  "byte removed": (bytes, random) => {
    const at = random.below(bytes.length);
    return Uint8Array.from([...bytes.subarray(0, at), ...bytes.subarray(at + 1)]);
  },
  "bytes at random": (_, random) => randomBytes(random, random.below(12)),
};

/** The names of all changes. */
export const CHANGES = [...Object.keys(TREE_CHANGES), ...Object.keys(BYTE_CHANGES)];

/**
 * A changed copy of a payload of the official encoder.
 *
 * @param {string} change one of `CHANGES`
 * @param {Uint8Array} payload
 * @param {Random} random
 * @returns {Uint8Array}
 */
export function mutate(change, payload, random) {
  if (change in BYTE_CHANGES) return BYTE_CHANGES[change](payload, random);
  const tree = parseTree(payload);
  TREE_CHANGES[change](tree, random);
  return writeTree(tree);
}
