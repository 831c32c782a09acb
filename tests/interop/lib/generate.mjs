/** Random valid events. */
import { UNIONS, WORDS, buildVariant } from "./model.mjs";

/** How deep open values nest at most, except for the rare long chain. */
const MAX_DEPTH = 4;
const CHAIN_LENGTH = 24;
const MAX_SAFE = Number.MAX_SAFE_INTEGER;

const ALPHABETS = [
  [..."abcdefghijklmnopqrstuvwxyz"],
  [..."0123456789 _-./:"],
  [..."äßéñøžłπЖшקمहन字仮名한글"],
  ["\u0000", "\u0001", "\t", "\n", "\r", "\u001f", "\u007f", "\u0080", "\u2028", "\u2029"],
  ['"', "\\", "/", "'", "<", "&", "\u00ad", "\u200b", "\ufeff", "\ufffd", "\uffff"],
  ["😀", "🜁", "𝒜", "𠀀", "👩‍🚀", "🇨🇭", "\u{10ffff}", "e\u0301"],
];

const KEYS = ["", "id", "x", "7", "00", "constructor", "toString", "ключ", "鍵", "ag-ui", "a/b~c"];

const text = (random) => {
  if (random.chance(0.12)) return "";
  const length = random.chance(0.04) ? 100 + random.below(400) : 1 + random.below(12);
  const favourite = random.pick(ALPHABETS);
  return Array.from({ length }, () =>
    random.pick(random.chance(0.8) ? favourite : random.pick(ALPHABETS)),
  ).join("");
};

/** A double from its 64 bits; never a NaN or an infinity. */
const rawDouble = (random) => {
  const view = new DataView(new ArrayBuffer(8));
  do {
    view.setUint32(0, random.bits());
    view.setUint32(4, random.bits());
  } while (!Number.isFinite(view.getFloat64(0)));
  return view.getFloat64(0);
};

/** The double just above (`step` 1) or below (`step` -1) a positive one. */
const neighbour = (number, step) => {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, number);
  view.setBigUint64(0, view.getBigUint64(0) + BigInt(step));
  return view.getFloat64(0);
};

const NUMBERS = [
  (random) => random.below(100) - 50,
  (random) => random.bits() * (random.chance(0.5) ? 1 : -1),
  () => -0,
  () => 0,
  (random) => neighbour(2 ** (random.below(2044) - 1021), random.below(3) - 1),
  (random) => neighbour(2 ** (50 + random.below(16)), random.below(3) - 1),
  (random) => 2 ** random.below(70) + random.below(3) - 1,
  (random) => -(2 ** random.below(70)) + random.below(3) - 1,
  (random) => random.bits() / 1000,
  (random) => (random.bits() + random.bits() / 2 ** 32) / 2 ** 32,
  (random) => Number.MIN_VALUE * (1 + random.bits()),
  (random) => random.pick([Number.MIN_VALUE, 2 ** -1022, Number.MAX_VALUE, -Number.MAX_VALUE]),
  (random) => random.pick([MAX_SAFE, -MAX_SAFE, 2 ** 53, -(2 ** 53), 2 ** 63, 2 ** 64]),
  (random) => Number(`${random.below(10)}.${random.bits()}e${random.below(600) - 300}`),
  rawDouble,
];

const number = (random) => random.pick(NUMBERS)(random);

const object = (random, depth) => {
  const made = {};
  for (let left = random.below(4); left > 0; left -= 1) {
    const key = random.chance(0.4) ? random.pick(KEYS) : text(random);
    made[key] = any(random, depth + 1);
  }
  return made;
};

const list = (random, depth) =>
  Array.from({ length: random.below(4) }, () => any(random, depth + 1));

const chain = (random) => {
  let made = any(random, MAX_DEPTH);
  for (let left = CHAIN_LENGTH; left > 0; left -= 1) {
    made = random.chance(0.5) ? [made] : { [random.pick(KEYS)]: made };
  }
  return made;
};

/** Any JSON value. */
const any = (random, depth = 0) => {
  if (depth === 0 && random.chance(0.02)) return chain(random);
  const kind = random.below(depth < MAX_DEPTH ? 9 : 5);
  if (kind === 0) return null;
  if (kind === 1) return random.chance(0.5);
  if (kind === 2) return text(random);
  if (kind <= 4) return number(random);
  return kind <= 6 ? list(random, depth) : object(random, depth);
};

const wholeNumber = (random) =>
  random.pick([0, 1, 127, 128, 2 ** 31, 2 ** 32, 2 ** 52 + 1, MAX_SAFE, random.bits()]);

const LEAVES = {
  string: text,
  boolean: (random) => random.chance(0.5),
  count: wholeNumber,
  timestamp: (random) => wholeNumber(random) * (random.chance(0.3) ? -1 : 1) || 0,
  pointer: (random) =>
    Array.from(
      { length: random.below(4) },
      () => `/${text(random).replaceAll("~", "~0").replaceAll("/", "~1")}`,
    ).join(""),
  any,
  value: (random) => any(random) ?? text(random),
  object: (random) => object(random, 0),
};

/**
 * A random event of the given type.
 *
 * @param {string} type
 * @param {import("./random.mjs").Random} random
 */
export function randomEvent(type, random) {
  // Some events carry nearly every member, some nearly none.
  const density = random.pick([0.1, 0.5, 0.9]);
  return buildVariant("event", type, {
    leaf: (kind) => (kind in WORDS ? random.pick(WORDS[kind]) : LEAVES[kind](random)),
    has: () => random.chance(density),
    either: (kinds) => random.pick(kinds),
    length: (_, min) => Math.max(min, random.below(4)),
    variant: (union) => random.pick(Object.keys(UNIONS[union].variants)),
  });
}
