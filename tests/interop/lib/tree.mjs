/**
 * Payloads as trees that can be changed and written again.
 *
 * A record is one field on the wire:
 * - `number`, `wireType`;
 * - `value`: a bigint for a varint, otherwise the raw bytes;
 * - `message` and `records` instead of `value`, where the field holds a message or a group;
 * - `pad`: how many needless bytes its tag, length and value take, if any;
 * - `excess`: how much its length claims beyond the truth, if anything.
 *
 * @typedef {object} Record
 * @property {number} number
 * @property {number} wireType
 * @property {bigint | Uint8Array} [value]
 * @property {string} [message]
 * @property {Record[]} [records]
 * @property {{ tag?: number, length?: number, value?: number }} [pad]
 * @property {bigint} [excess]
 */
import { BYTES, FIXED32, FIXED64, LAYOUTS, START_GROUP, VARINT } from "./schema.mjs";

/**
 * Reads a well-formed payload; the official encoder's output is that.
 *
 * @param {Uint8Array} bytes
 * @param {string} message
 * @returns {Record[]}
 */
export function parseTree(bytes, message = "Event") {
  const records = [];
  let at = 0;
  const varint = () => {
    let result = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++];
      result |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return result;
    }
  };
  const take = (length) => bytes.subarray(at, (at += length));
  while (at < bytes.length) {
    const tag = Number(varint());
    const record = { number: tag >>> 3, wireType: tag & 7 };
    if (record.wireType === VARINT) record.value = varint();
    else if (record.wireType === FIXED64) record.value = take(8);
    else if (record.wireType === FIXED32) record.value = take(4);
    else {
      const content = take(Number(varint()));
      const field = LAYOUTS[message].fields.get(record.number);
      if (field.isMessage) {
        record.message = field.type;
        record.records = parseTree(content, field.type);
      } else {
        record.value = content;
      }
    }
    records.push(record);
  }
  return records;
}

/** @param {Record[]} records @returns {Uint8Array} */
export function writeTree(records) {
  return Uint8Array.from(records.flatMap(writeRecord));
}

function writeRecord({ number, wireType, value, records, pad = {}, excess = 0n }) {
  const tag = (ending) => writeVarint(BigInt(number) * 8n + BigInt(ending), pad.tag);
  if (wireType === VARINT) return [...tag(VARINT), ...writeVarint(value, pad.value)];
  if (wireType === START_GROUP) {
    return [...tag(START_GROUP), ...records.flatMap(writeRecord), ...tag(START_GROUP + 1)];
  }
  const content = records ? records.flatMap(writeRecord) : value;
  const length = wireType === BYTES ? writeVarint(BigInt(content.length) + excess, pad.length) : [];
  return [...tag(wireType), ...length, ...content];
}

/**
 * The bytes of a varint, with `extra` bytes more than it needs.
 *
 * @param {bigint} value below 2^70
 */
export function writeVarint(value, extra = 0) {
  const bytes = [];
  for (let rest = value; ; rest >>= 7n) {
    bytes.push(Number(rest & 0x7fn) | 0x80);
    if (rest < 0x80n) break;
  }
  for (let left = extra; left > 0; left -= 1) bytes.push(0x80);
  bytes[bytes.length - 1] &= 0x7f;
  return bytes;
}

/**
 * Every message of a tree, the envelope first.
 *
 * @param {Record[]} envelope
 * @returns {{ message: string, records: Record[] }[]}
 */
export function allMessages(envelope) {
  const found = [{ message: "Event", records: envelope }];
  const visit = (records) => {
    for (const { message, records: inner } of records) {
      if (!message) continue;
      found.push({ message, records: inner });
      visit(inner);
    }
  };
  visit(envelope);
  return found;
}
