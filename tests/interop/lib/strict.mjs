/**
 * A second opinion: a slow, plain decoder by the rules that this crate documents.
 *
 * It is stricter than the official decoder in a few places. Wherever it meets one of them it
 * leaves a note, so that a caller can tell a documented difference from a bug.
 */
import { parseWire, isMessage, Refusal } from "./strict-wire.mjs";
import { shapeEvent } from "./strict-shape.mjs";
import { BYTES, EVENTS, LAYOUTS, START_GROUP } from "./schema.mjs";
import { readMessage } from "./strict-message.mjs";

/**
 * @typedef {object} Opinion
 * @property {"event" | "dropped" | "refused"} verdict
 * @property {object} [event]
 * @property {string} [reason]
 * @property {Set<string>} notes where the official decoder is known to answer differently
 * @property {Set<string>} open questions that either answer settles
 */

/** @param {Uint8Array} payload @returns {Opinion} */
export function strictDecode(payload) {
  const notes = new Set();
  const open = new Set();
  try {
    return { ...decodeEnvelope(payload, { notes, open }), notes, open };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { verdict: "refused", reason: error.message, notes, open };
  }
}

function decodeEnvelope(payload, context) {
  const records = parseWire(payload, context);
  const known = records.filter(({ number }) => LAYOUTS.Event.fields.has(number));
  const arms = new Set(
    known.filter(({ wireType }) => wireType !== START_GROUP).map(({ number }) => number),
  );
  if (arms.size > 1) throw new Refusal("two different events in one frame");

  const bodies = known.filter(({ wireType }) => wireType === BYTES);
  if (bodies.length === 0) return decodeFuture(payload, records, known);

  const [arm] = arms;
  if (known.some(({ number }) => number !== arm)) context.open.add("another event as a group");

  const { type, enumNumber } = EVENTS.find((event) => event.arm === arm);
  const message = readMessage(
    type,
    bodies.map(({ value }) => value),
    context,
  );
  if (!message.baseEvent) throw new Refusal("no base event");
  if (message.baseEvent.type !== enumNumber) throw new Refusal("the base event has another type");
  return { verdict: "event", event: shapeEvent(type, message, context) };
}

/** A frame without a known event: one from a newer protocol, or no event at all. */
function decodeFuture(payload, records, known) {
  if (known.length > 0) throw new Refusal("a known event with a wrong wire type");
  const bodies = records.filter(({ wireType }) => wireType === BYTES);
  if (bodies.length === 0) throw new Refusal("no event");
  if (!isMessage(payload) || !bodies.every(({ value }) => isMessage(value))) {
    throw new Refusal("an unknown event that is not a message");
  }
  return { verdict: "dropped" };
}
