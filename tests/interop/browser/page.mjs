/**
 * A page that calls an agent with the official client, and shows its text as it comes.
 *
 * The query of its address says what to do: `agent` and `accept`, the URL and the binding; `shown`,
 * if it is there, a URL that is told after each delta what the page shows, once it has been painted.
 * `over` is a promise of what came of it.
 */
import { HttpAgent } from "@ag-ui/client";

const query = new URLSearchParams(location.search);
const element = (id) => document.getElementById(id);
const painted = () =>
  new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));

/** Counts the parts in which a body arrives. */
function counting(response) {
  const parts = { count: 0 };
  const counter = new TransformStream({
    transform(part, controller) {
      parts.count += 1;
      controller.enqueue(part);
    },
  });
  return { parts, response: new Response(response.body.pipeThrough(counter), response) };
}

async function call() {
  const agent = new HttpAgent({ url: query.get("agent"), threadId: "thread" });
  const found = { deltas: [], arrivals: new Set(), last: undefined, headers: {} };
  let parts;
  agent.fetch = async (url, init) => {
    const headers = { ...init.headers, Accept: query.get("accept"), Authorization: "Bearer page" };
    const answer = await fetch(url, { ...init, headers });
    found.headers = Object.fromEntries(answer.headers);
    const { "content-type": binding, "content-encoding": coding } = found.headers;
    element("what").textContent += `: ${binding}, ${coding ?? "not compressed"}`;
    const counted = counting(answer);
    parts = counted.parts;
    return counted.response;
  };
  const onTextMessageContentEvent = async ({ event }) => {
    found.deltas.push(event.delta);
    found.arrivals.add(parts.count);
    element("text").append(event.delta);
    if (!query.has("shown")) return;
    await painted();
    await fetch(query.get("shown"), { method: "POST", body: element("text").textContent });
  };
  const onEvent = ({ event }) => void (found.last = event.type);
  let failure;
  await agent
    .runAgent({ runId: "run" }, { onEvent, onTextMessageContentEvent })
    .catch((error) => (failure = String(error)));
  element("status").textContent = failure ?? "finished";
  await painted();
  return {
    ...found,
    arrivals: found.arrivals.size,
    failure,
    shown: element("text").textContent,
    messages: agent.messages,
  };
}

element("what").textContent = query.get("name");
window.over = call();
