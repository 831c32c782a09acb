/** An agent that gives one event of a run at a time, the next when it is let. */
import { createServer } from "node:http";
import { once } from "node:events";
import { SSE } from "./http.mjs";

/**
 * Every POST is a run of all `events`, as server-sent events. Behind an event that is one to wait at,
 * the next one comes when `let` is called. One run at a time.
 *
 * @param {object[]} events
 * @param {(event: object) => boolean} waitsAt
 * @param {(request: import("node:http").IncomingMessage, response: import("node:http").ServerResponse) => void} [other]
 *   answers what is no POST of a run
 * @returns {Promise<{url: string, let: () => void, stop: () => void}>}
 */
export async function gatedAgent(events, waitsAt, other = (_, response) => response.writeHead(404).end()) {
  let open = () => {};
  const server = createServer(async (request, response) => {
    if (request.method !== "POST" || request.url !== "/agent") return other(request, response);
    request.resume();
    response.writeHead(200, { "content-type": SSE });
    for (const event of events) {
      const opened = new Promise((resolve) => (open = resolve));
      response.write(`data: ${JSON.stringify(event)}\n\n`);
      if (waitsAt(event)) await opened;
    }
    response.end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${server.address().port}/agent`,
    let: () => open(),
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/**
 * A run that says a text, one event a delta, as models do: with ids and metadata that repeat.
 *
 * @param {string[]} deltas
 */
export function says(deltas) {
  const messageId = "msg_4f1c2d0e-8a37-4b5e-9c6d-7e2f1a3b5c8d";
  const metadata = { model: "example-large-2026", region: "eu-central", trace: "00f067aa0ba902b7" };
  return [
    { type: "RUN_STARTED", threadId: "thread", runId: "run" },
    { type: "TEXT_MESSAGE_START", messageId, role: "assistant" },
    ...deltas.map((delta) => ({ type: "TEXT_MESSAGE_CONTENT", messageId, delta, metadata })),
    { type: "TEXT_MESSAGE_END", messageId },
    { type: "RUN_FINISHED", threadId: "thread", runId: "run" },
  ];
}
