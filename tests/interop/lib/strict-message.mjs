/** Messages by the schema, with proto3's merge rules. */
import { LAYOUTS } from "./schema.mjs";
import { Refusal, parseWire } from "./strict-wire.mjs";

/** Unions that must not name two members within one occurrence (D15). */
const EXCLUSIVE = new Set(["InputContent", "Source"]);

/** Messages that the official decoder never walks before it reads them. */
const UNWALKED = new Set(["Function", "DataSource", "UrlSource", "FileSource", "Context", "Usage"]);

/** Members that the official decoder of this version skips as unknown. */
const NEWER_MEMBERS = new Set(["encryptedValueType"]);

const MAX_SAFE = BigInt(Number.MAX_SAFE_INTEGER);
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * One message that may have come in several pieces.
 *
 * @param {string} name
 * @param {Uint8Array[]} pieces
 * @param {import("./strict.mjs").Opinion} context
 * @returns {object} members by name; what was not on the wire and has no default is absent
 */
export function readMessage(name, pieces, context) {
  if (pieces.length === 1) return readPiece(name, pieces[0], context, { merged: false });
  // Each piece has to stand on its own before their sum is read.
  for (const piece of pieces) readPiece(name, piece, context, { merged: false });
  return readPiece(name, Buffer.concat(pieces), context, { merged: true });
}

function readPiece(name, bytes, context, { merged }) {
  const { fields, oneof } = LAYOUTS[name];
  const found = new Map();
  let arm;
  for (const { number, wireType, value } of walk(name, bytes, context)) {
    const field = fields.get(number);
    if (field?.wireType !== wireType) continue;
    if (oneof && arm !== undefined && arm !== number) {
      if (EXCLUSIVE.has(name) && !merged) throw new Refusal(`two members in one ${name}`);
      discard(fields.get(arm), found.get(arm), context);
      found.delete(arm);
    }
    arm = number;
    found.set(number, [...(found.get(number) ?? []), value]);
  }
  const message = {};
  for (const field of fields.values()) {
    const member = readField(field, found.get(field.number) ?? [], context);
    if (member !== undefined) message[field.name] = member;
  }
  return message;
}

function walk(name, bytes, context) {
  try {
    return parseWire(bytes, context);
  } catch (error) {
    if (UNWALKED.has(name)) context.notes.add(`structure inside ${name} (D2, D19)`);
    throw error;
  }
}

/** A union member that a later one replaces: if it is broken, either verdict is fair. */
function discard(field, values, context) {
  try {
    readField(field, values, context);
  } catch (error) {
    context.open.add("a broken union member that a later one replaces");
    throw error;
  }
}

function readField(field, values, context) {
  if (values.length > 0 && NEWER_MEMBERS.has(field.name)) {
    context.notes.add(`${field.name}, new in protocol 1.1 (2.1)`);
  }
  if (field.isMessage) {
    if (field.repeated) return values.map((value) => readMessage(field.type, [value], context));
    return values.length > 0 ? readMessage(field.type, values, context) : undefined;
  }
  const scalars = values.map((value, index) =>
    readScalar(field, value, context, index === values.length - 1),
  );
  if (field.repeated) return scalars;
  if (scalars.length > 0) return scalars.at(-1);
  return field.optional ? undefined : { string: "", enum: 0 }[field.type];
}

function readScalar({ type, name }, value, context, isLast) {
  switch (type) {
    case "string":
      try {
        return utf8.decode(value);
      } catch {
        context.notes.add("invalid UTF-8 (D25)");
        throw new Refusal(`${name} is not UTF-8`);
      }
    case "int64": {
      const number = BigInt.asIntN(64, value);
      if (number > MAX_SAFE || number < -MAX_SAFE) {
        if (!isLast) context.open.add("an integer out of range that a later one replaces");
        throw new Refusal(`${name} is out of range`);
      }
      return Number(number);
    }
    case "enum":
      return Number(BigInt.asIntN(32, value));
    case "bool":
      return BigInt.asUintN(64, value) !== 0n;
    case "double":
      return new DataView(value.buffer, value.byteOffset, 8).getFloat64(0, true);
    default:
      throw new Error(`no scalar type ${type}`);
  }
}
