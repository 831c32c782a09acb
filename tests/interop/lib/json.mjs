/**
 * JSON text on one line, like `JSON.stringify`, but a negative zero keeps its sign (`-0.0`).
 *
 * @param {unknown} value
 * @returns {string}
 */
export function jsonText(value) {
  if (Object.is(value, -0)) return "-0.0";
  if (Array.isArray(value)) return `[${value.map((item) => jsonText(item ?? null)).join(",")}]`;
  if (typeof value === "object" && value !== null) {
    const members = Object.keys(value).filter((key) => value[key] !== undefined);
    return `{${members.map((key) => `${JSON.stringify(key)}:${jsonText(value[key])}`).join(",")}}`;
  }
  return JSON.stringify(value);
}

/**
 * Where two decoded values differ, or `undefined` if they do not.
 *
 * Numbers compare with `Object.is`, so the sign of zero counts. Members compare by name, in any
 * order; a member that is present and `undefined` differs from one that is absent.
 *
 * @returns {string | undefined} the path and the two values
 */
export function firstDifference(left, right, path = "") {
  if (Object.is(left, right)) return undefined;
  const differ = () => `${path || "/"}: ${brief(left)} against ${brief(right)}`;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) {
    return differ();
  }
  if (Array.isArray(left) !== Array.isArray(right)) return differ();
  if (Array.isArray(left)) {
    if (left.length !== right.length) return differ();
    for (let at = 0; at < left.length; at += 1) {
      const found = firstDifference(left[at], right[at], `${path}/${at}`);
      if (found) return found;
    }
    return undefined;
  }
  for (const key of new Set([...Object.keys(left), ...Object.keys(right)])) {
    if (!Object.hasOwn(left, key) || !Object.hasOwn(right, key)) {
      return `${path}/${key}: present only on the ${Object.hasOwn(left, key) ? "left" : "right"}`;
    }
    const found = firstDifference(left[key], right[key], `${path}/${key}`);
    if (found) return found;
  }
  return undefined;
}

function brief(value) {
  const text = value === undefined ? "undefined" : jsonText(value);
  return text.length > 120 ? `${text.slice(0, 117)}...` : text;
}
