/** Chromium without a window, spoken to in the DevTools protocol over a pipe. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export class Chromium {
  #child;
  #directory;
  #number = 0;
  #waiting = new Map();
  #listeners = new Map();

  /** @param {string} command the program */
  constructor(command) {
    this.#directory = mkdtempSync(join(tmpdir(), "ag-ui-proto-chromium-"));
    const words = [
      "--headless=new",
      "--remote-debugging-pipe",
      `--user-data-dir=${this.#directory}`,
      "--no-first-run",
      "--no-proxy-server",
      "--disable-gpu",
      "--disable-dev-shm-usage",
      // The sandbox does not work for root, or in most containers. All pages here are our own.
      "--no-sandbox",
      "about:blank",
    ];
    this.#child = spawn(command, words, { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
    this.#child.on("error", (error) => this.#end(error));
    this.#child.on("exit", (code) => this.#end(new Error(`${command} ended with ${code}`)));
    let held = "";
    this.#child.stdio[4].setEncoding("utf8").on("data", (data) => {
      const texts = (held + data).split("\0");
      held = texts.pop();
      for (const text of texts) this.#take(JSON.parse(text));
    });
    process.on("exit", () => this.#child.kill("SIGKILL"));
  }

  #end(error) {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }

  #take({ id, result, error, method, params, sessionId }) {
    if (id === undefined) return this.#listeners.get(sessionId)?.(method, params);
    const { resolve, reject } = this.#waiting.get(id) ?? {};
    this.#waiting.delete(id);
    return error ? reject?.(new Error(error.message)) : resolve?.(result);
  }

  #send(method, params, sessionId) {
    const id = (this.#number += 1);
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#child.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    });
  }

  /**
   * Opens an empty page.
   *
   * @param {(method: string, params: object) => void} listener what the page tells of itself
   */
  async page(listener) {
    // A context of its own: no cache, cookies or connections of other pages.
    const { browserContextId } = await this.#send("Target.createBrowserContext", {});
    const { targetId } = await this.#send("Target.createTarget", { url: "about:blank", browserContextId });
    const { sessionId } = await this.#send("Target.attachToTarget", { targetId, flatten: true });
    this.#listeners.set(sessionId, listener);
    return {
      send: (method, params = {}) => this.#send(method, params, sessionId),
      close: () => this.#send("Target.disposeBrowserContext", { browserContextId }),
    };
  }

  async close() {
    const ended = new Promise((resolve) => this.#child.once("exit", resolve));
    this.#send("Browser.close", {}).catch(() => {});
    await ended;
    rmSync(this.#directory, { recursive: true, force: true, maxRetries: 5 });
  }
}
