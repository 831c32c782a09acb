/** The official TypeScript encoder and decoder, with their warnings caught. */
import { AGUIUnknownEventTypeError, decode, encode } from "@ag-ui/proto";

/**
 * Runs `action` and returns what it gave together with the warnings it printed.
 *
 * @template T @param {() => T} action
 * @returns {{ result: T, warnings: string[] }}
 */
function catchWarnings(action) {
  const print = console.warn;
  const warnings = [];
  console.warn = (...words) => warnings.push(words.join(" "));
  try {
    return { result: action(), warnings };
  } finally {
    console.warn = print;
  }
}

/**
 * The official payload of a valid event.
 *
 * @throws if the encoder warns: it does so when an event does not fit the schema
 */
export function officialEncode(event) {
  const { result, warnings } = catchWarnings(() => encode(event));
  if (warnings.length > 0) throw new Error(warnings.join("; "));
  return result;
}

/**
 * What the official decoder says about a payload.
 *
 * @param {Uint8Array} payload
 * @returns {{ verdict: "event" | "dropped" | "refused", event?: object, reason?: string }}
 */
export function officialDecode(payload) {
  try {
    return { verdict: "event", event: catchWarnings(() => decode(payload)).result };
  } catch (error) {
    const verdict = error instanceof AGUIUnknownEventTypeError ? "dropped" : "refused";
    return { verdict, reason: error.message };
  }
}
