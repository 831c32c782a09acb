/** Servers as processes, and what the official client makes of a run. */
import { spawn } from "node:child_process";
import { HttpAgent } from "@ag-ui/client";
import { isDeepStrictEqual } from "node:util";

export const PROTOBUF = "application/vnd.ag-ui.event+proto";
export const SSE = "text/event-stream";

const running = new Set();
process.on("exit", () => running.forEach((child) => child.kill("SIGKILL")));

/**
 * Starts a server that says where it listens. It ends with this process, if not before.
 *
 * @typedef {object} Server
 * @property {string} url
 * @property {() => string} said what it has said since
 * @property {(text: string, times?: number) => Promise<void>} says settles once it has said this
 * @property {() => Promise<string>} stop tells it to stop, and gives all that it said
 *
 * @param {string} command
 * @param {string[]} words
 * @returns {Promise<Server>}
 */
export function start(command, words) {
  const child = spawn(command, words, { stdio: ["pipe", "pipe", "pipe"] });
  const ended = new Promise((resolve) => child.on("close", resolve));
  ended.then(() => running.delete(child));
  running.add(child);
  let said = "";
  const looks = [];
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    ended.then((code) => reject(new Error(`${command} ${words[0]} ended with ${code}: ${said}`)));
    const stop = async () => {
      child.stdin.end();
      child.kill("SIGTERM");
      await ended;
      return said;
    };
    const says = (text, times = 1) =>
      new Promise((settle) => {
        const look = () => {
          if (said.split(text).length > times) settle();
        };
        looks.push(look);
        look();
      });
    const hear = (data) => {
      said += data;
      const url = /listening on (http:[^\s,]+)/.exec(said)?.[1];
      if (url) resolve({ url, said: () => said, says, stop });
      for (const look of looks) look();
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
  });
}

/**
 * Ends this process with 1 if it is not over by then: what waits for ever is a failure.
 *
 * @param {number} seconds
 * @param {() => string} at what it waits at
 */
export function patience(seconds, at) {
  setTimeout(() => {
    console.log(`not over after ${seconds} seconds, at ${at()}`);
    process.exit(1);
  }, seconds * 1000).unref();
}

/** Starts a server of the binary, at a free port. */
export const startBinary = (binary, ...words) => start(binary, [...words, "--listen", "127.0.0.1:0"]);

/** The official client, asking for one binding. `spoken` is the binding of the answer. */
export class Asking extends HttpAgent {
  constructor(url, accept) {
    super({ url, threadId: "thread" });
    this.accept = accept;
    this.fetch = async (...request) => {
      const response = await fetch(...request);
      this.spoken = response.headers.get("content-type");
      return response;
    };
  }

  requestInit(input) {
    const init = super.requestInit(input);
    return { ...init, headers: { ...init.headers, Accept: this.accept } };
  }
}

/**
 * What a client makes of a run: the events that it delivers, its messages and state, and why the
 * run failed, if it did.
 *
 * @param {import("@ag-ui/client").AbstractAgent} agent
 */
export async function outcome(agent) {
  const events = [];
  let failure;
  await agent
    .runAgent({ runId: "run" }, { onEvent: ({ event }) => void events.push(structuredClone(event)) })
    .catch((error) => (failure = String(error?.message ?? error)));
  return { events, messages: agent.messages, state: agent.state, failure };
}

/** The same as plain JSON has it, without empty lists, which frames do not tell from absent ones. */
export function withoutEmpty(value) {
  if (Array.isArray(value)) return value.map(withoutEmpty);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== undefined && !(Array.isArray(member) && member.length === 0))
      .map(([key, member]) => [key, withoutEmpty(member)]),
  );
}

/** Where two outcomes differ, empty lists aside; why a run failed is not compared, only whether. */
export function difference(wanted, gotten) {
  const [want, got] = [wanted, gotten].map(withoutEmpty);
  if ((want.failure === undefined) !== (got.failure === undefined)) {
    return `failure: ${want.failure} is ${got.failure}`;
  }
  for (const part of ["messages", "state"]) {
    if (!isDeepStrictEqual(want[part], got[part])) {
      return `${part}: ${JSON.stringify(want[part])} is ${JSON.stringify(got[part])}`.slice(0, 2000);
    }
  }
  const at = want.events.findIndex((event, index) => !isDeepStrictEqual(event, got.events[index]));
  if (at >= 0) return `event ${at}: ${JSON.stringify(want.events[at])} is ${JSON.stringify(got.events[at])}`;
  if (want.events.length !== got.events.length) return `${got.events.length} events`;
  return undefined;
}

/** The events of a body or file of server-sent events. @param {string} text */
export function eventsOf(text) {
  const blocks = text
    .split(/\r?\n\r?\n/)
    .map((block) => block.split(/\r?\n/).filter((line) => line.startsWith("data:")));
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => JSON.parse(lines.map((line) => line.slice("data:".length)).join("\n")));
}
