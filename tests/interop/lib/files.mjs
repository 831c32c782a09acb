/** The files under `tests/data`. */
import { readFileSync, writeFileSync } from "node:fs";

const pathOf = (name) => new URL(`../../data/${name}`, import.meta.url);

/** @param {string} name @returns {string} */
export const readData = (name) => readFileSync(pathOf(name), "utf8");

/**
 * Writes a file, or with `--check` ends the program with 1 if it would change.
 *
 * @param {string} name
 * @param {string} text
 */
export function writeOrCheck(name, text) {
  if (!process.argv.includes("--check")) {
    writeFileSync(pathOf(name), text);
    return;
  }
  const found = readData(name).split("\n");
  const wanted = text.split("\n");
  const at = wanted.findIndex((line, index) => line !== found[index]);
  if (at === -1 && found.length === wanted.length) return;
  console.error(`${name} is out of date from line ${(at === -1 ? wanted.length : at) + 1} on`);
  process.exit(1);
}
