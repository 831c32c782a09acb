/** This crate, in a process of its own that measures when it is asked. */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

/** What `cargo` takes to run the bench that has the workloads. */
export const cargoBench = ["bench", "--quiet", "--bench", "ratios", "--"];

export class Ours {
  #process = spawn("cargo", [...cargoBench, "--answer"], { stdio: ["pipe", "pipe", "inherit"] });
  #lines = createInterface({ input: this.#process.stdout })[Symbol.asyncIterator]();

  /** @param {string} race such as `encode/chat` */
  async secondsPerPass(race) {
    this.#process.stdin.write(`${race}\n`);
    const { value, done } = await this.#lines.next();
    if (done) throw new Error(`no answer to ${race}`);
    return Number(value);
  }

  close() {
    this.#process.stdin.end();
  }
}
