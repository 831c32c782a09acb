/** Ours against theirs, for bytes that a peer should not send but may. */
import { firstDifference } from "./json.mjs";
import { strictDecode } from "./strict.mjs";

/**
 * @typedef {{ verdict: "event" | "dropped" | "refused", event?: object, reason?: string }} Answer
 */

/**
 * Judges one payload.
 *
 * Our answer has to be theirs, except where this crate is documented to be stricter. Whether these
 * bytes are such a case is for the strict decoder to say, and then our answer has to be its answer.
 *
 * @param {Uint8Array} payload
 * @param {Answer} ours
 * @param {Answer} theirs
 * @returns {{ documented?: string[], failure?: string }} neither, if all is as theirs
 */
export function judge(payload, ours, theirs) {
  const strict = strictDecode(payload);
  const difference = differ(ours, theirs);
  if (strict.open.size > 0) return difference ? { documented: [...strict.open] } : {};
  if (strict.notes.size > 0) {
    const notes = [...strict.notes];
    const failure = differ(ours, strict);
    if (failure) return { failure: `ours against the documented answer, ${notes}: ${failure}` };
    return difference ? { documented: notes } : {};
  }
  return difference ? { failure: `ours against theirs: ${difference}` } : {};
}

/** @param {Answer} left @param {Answer} right */
function differ(left, right) {
  if (left.verdict !== right.verdict) return `${describe(left)}, not ${describe(right)}`;
  return left.verdict === "event" ? firstDifference(left.event, right.event) : undefined;
}

const describe = ({ verdict, reason }) => (reason ? `${verdict} (${reason})` : verdict);
