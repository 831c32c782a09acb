/** Our command line tool, reached through files. */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { joinFrames, splitFrames } from "./frames.mjs";

/** Runs one program again and again, with its files in one directory. */
export class Binary {
  #path;
  #directory;

  constructor(path, directory) {
    this.#path = path;
    this.#directory = directory;
  }

  /**
   * @param {string[]} lines one JSON event each
   * @param {string[]} flags
   * @returns {Buffer[]} one payload each
   */
  encode(lines, flags = []) {
    const input = this.#write("encode.jsonl", lines.map((line) => `${line}\n`).join(""));
    const output = this.#run("encode", [...flags, input], "encode.frames");
    return expectLength("encode", splitFrames(readFileSync(output)), lines.length);
  }

  /** @param {Uint8Array[]} payloads @returns {unknown[]} one event each */
  decode(payloads) {
    return this.#decode(payloads, "decode", []);
  }

  /**
   * Decodes frames one by one, past those that are refused or dropped.
   *
   * @param {Uint8Array[]} payloads
   * @returns {import("./verdict.mjs").Answer[]} one each
   */
  decodeEach(payloads) {
    return this.#decode(payloads, "decode-each", ["--keep-going"]).map((line) => {
      if ("type" in line) return { verdict: "event", event: line };
      if ("dropped" in line) return { verdict: "dropped", reason: line.dropped };
      return { verdict: "refused", reason: line.error };
    });
  }

  /**
   * Decodes to text, with every digit that is there.
   *
   * @param {Uint8Array[]} payloads
   * @param {string[]} flags
   * @returns {string[]} one event each
   */
  decodeText(payloads, flags) {
    return this.#decodeLines(payloads, "decode-text", flags);
  }

  #decode(payloads, name, flags) {
    return this.#decodeLines(payloads, name, flags).map((line) => JSON.parse(line));
  }

  #decodeLines(payloads, name, flags) {
    const input = this.#write(`${name}.frames`, joinFrames(payloads));
    const output = this.#run("decode", [...flags, input], `${name}.jsonl`);
    const lines = readFileSync(output, "utf8").split("\n").slice(0, -1);
    return expectLength("decode", lines, payloads.length);
  }

  #write(name, content) {
    const path = join(this.#directory, name);
    writeFileSync(path, content);
    return path;
  }

  #run(command, words, outputName) {
    const output = join(this.#directory, outputName);
    const { status, error, stderr } = spawnSync(this.#path, [command, ...words, "-o", output], {
      stdio: ["ignore", "inherit", "pipe"],
      maxBuffer: 2 ** 28,
    });
    if (error) throw error;
    // With frames that were refused, the tool may well report failure; the file tells what became
    // of each.
    if (status !== 0 && !words.includes("--keep-going")) {
      throw new Error(`${command} ended with ${status}: ${stderr.toString().slice(-2000)}`);
    }
    return output;
  }
}

function expectLength(command, list, length) {
  if (list.length === length) return list;
  throw new Error(`${command} gave ${list.length} results for ${length}`);
}
