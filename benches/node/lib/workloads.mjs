/** The workloads of the benches, as this crate writes them. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { cargoBench } from "./ours.mjs";

/**
 * @param {string[]} flags `--extras` for more of them
 * @returns {{ name: string, texts: string[], frames: Buffer[] }[]} the JSON text and the frame of
 *   each event
 */
export function workloads(flags = []) {
  const directory = mkdtempSync(join(tmpdir(), "workloads-"));
  try {
    execFileSync("cargo", [...cargoBench, ...flags, "--dump", directory]);
    const files = readdirSync(directory).filter((file) => file.endsWith(".jsonl"));
    return files.map((file) => {
      const name = basename(file, ".jsonl");
      const texts = readFileSync(join(directory, file), "utf8").trimEnd().split("\n");
      return { name, texts, frames: splitFrames(readFileSync(join(directory, `${name}.frames`))) };
    });
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** @param {Buffer} bytes @returns {Buffer[]} each frame with its header */
function splitFrames(bytes) {
  const frames = [];
  for (let at = 0; at < bytes.length; ) {
    const end = at + 4 + bytes.readUInt32BE(at);
    frames.push(bytes.subarray(at, end));
    at = end;
  }
  return frames;
}
