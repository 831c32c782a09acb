/** Numbers as JSON writes them that a double holds barely, or not. */

const FIXED = [
  "0", "-0.0", "1", "-1", "0.1", "1e2", "1.0", "0.5", "9007199254740991", "9007199254740992",
  "9007199254740993", "-9007199254740993", "9223372036854775807", "9223372036854775808",
  "18446744073709551615", "18446744073709551616", "1234567890123456789", "3364326223160287232",
  "12345678901234567890", "0.10000000000000000001", "0.1000000000000000055511151231257827", "5e-324",
  "2.4703282292062328e-324", "2.2250738585072014e-308", "1.7976931348623157e308", "1e-400",
  "0.30000000000000004", "123456789012345678901234567890.5", "1e22", "1e23",
];

/**
 * @param {number} count
 * @param {import("./random.mjs").Random} random
 * @returns {string[]} literals, all within the range of doubles
 */
export function hardNumbers(count, random) {
  const digits = (many) => Array.from({ length: many }, () => random.integer(0, 9)).join("");
  const whole = (many) => `${random.integer(1, 9)}${digits(many - 1)}`;
  const makers = [
    () => String((1n << BigInt(random.integer(50, 80))) + BigInt(random.integer(-2, 2))),
    () => whole(random.integer(16, 24)),
    () => `0.${digits(random.integer(15, 40))}1`,
    () => `${whole(random.integer(1, 12))}.${digits(random.integer(10, 30))}1`,
    () => `${whole(1)}.${digits(random.integer(15, 18))}1e${random.integer(-300, 300)}`,
    () => `${whole(random.integer(1, 17))}e-${random.integer(300, 330)}`,
  ];
  const made = Array.from({ length: Math.max(0, count - FIXED.length) }, (_, at) => {
    const sign = random.integer(0, 3) === 0 ? "-" : "";
    return `${sign}${makers[at % makers.length]()}`;
  });
  return [...FIXED.slice(0, count), ...made];
}

/**
 * A decimal value in one form, whatever the literal: digits without zeros at either end, and the
 * power of ten of the last one.
 *
 * @param {string} literal
 * @returns {string}
 */
export function decimal(literal) {
  const [, sign, whole, fraction = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(literal);
  let digits = `${whole}${fraction}`.replace(/^0+/, "");
  const trimmed = digits.replace(/0+$/, "");
  if (trimmed === "") return `${sign}0`;
  const power = BigInt(exponent) - BigInt(fraction.length) + BigInt(digits.length - trimmed.length);
  digits = trimmed;
  return `${sign}${digits}e${power}`;
}

/** The exact value of a double, to a hundred digits, which is all that these numbers have. */
export const expansion = (double) => double.toPrecision(100);
