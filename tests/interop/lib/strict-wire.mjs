/** Fields on the wire, read strictly. */
import { BYTES, END_GROUP, FIXED32, FIXED64, START_GROUP, VARINT } from "./schema.mjs";

/** A payload that must not be accepted. */
export class Refusal extends Error {}

const MAX_LENGTH = 2n ** 32n - 1n;

/**
 * The fields of one message. A group is one field without a value.
 *
 * @param {Uint8Array} bytes
 * @param {import("./strict.mjs").Opinion} context
 * @param {{ narrow: boolean }} [rules] `narrow` holds lengths to five bytes and values to 64 bits
 * @returns {{ number: number, wireType: number, value?: bigint | Uint8Array }[]}
 */
export function parseWire(bytes, context, { narrow = false } = {}) {
  let at = 0;

  const varint = (max) => {
    let result = 0n;
    for (let count = 0; ; count += 1) {
      if (at >= bytes.length) throw new Refusal("a varint is cut");
      if (count === max) {
        context.notes.add("varint too long (D20)");
        throw new Refusal("a varint is too long");
      }
      const byte = bytes[at++];
      result |= BigInt(byte & 0x7f) << BigInt(7 * count);
      if (byte < 0x80) return result;
    }
  };

  const value = () => {
    const result = varint(10);
    if (result >= 2n ** 64n) {
      if (narrow) throw new Refusal("a value exceeds 64 bits");
      context.open.add("a value beyond 64 bits");
    }
    return result;
  };

  const take = (length) => {
    if (length > bytes.length - at) throw new Refusal("a field is cut");
    return bytes.subarray(at, (at += length));
  };

  const content = () => {
    const length = varint(narrow ? 5 : 10);
    if (length > MAX_LENGTH) {
      context.notes.add("length beyond 32 bits (D21)");
      throw new Refusal("a length exceeds 32 bits");
    }
    return take(Number(length));
  };

  const tag = () => {
    const result = varint(5);
    if (result > MAX_LENGTH) throw new Refusal("a tag exceeds 32 bits");
    const number = Number(result >> 3n);
    if (number === 0) throw new Refusal("field number 0");
    return { number, wireType: Number(result & 7n) };
  };

  const skipGroup = (number) => {
    for (;;) {
      const inner = tag();
      if (inner.wireType === END_GROUP) {
        if (inner.number !== number) throw new Refusal("a group ends under another number");
        return;
      }
      read(inner);
    }
  };

  const read = ({ number, wireType }) => {
    if (wireType === VARINT) return value();
    if (wireType === FIXED64) return take(8);
    if (wireType === BYTES) return content();
    if (wireType === START_GROUP) return skipGroup(number);
    if (wireType === FIXED32) return take(4);
    throw new Refusal(`wire type ${wireType}`);
  };

  const records = [];
  while (at < bytes.length) {
    const head = tag();
    records.push({ ...head, value: read(head) });
  }
  return records;
}

/** Whether the bytes could be any message, as the rules for unknown events ask (D6). */
export function isMessage(bytes) {
  try {
    parseWire(bytes, { notes: new Set(), open: new Set() }, { narrow: true });
    return true;
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
}
