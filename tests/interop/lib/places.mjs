/** Every place that carries open values: an event as JSON text, with a number in it. */

const input = (members) =>
  `{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{"threadId":"t","runId":"r","messages":[],` +
  `${members}}}`;
const messages = (message) => `{"type":"MESSAGES_SNAPSHOT","messages":[${message}]}`;
const interrupt = (members) =>
  `{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":` +
  `[{"id":"i","reason":"approval",${members}}]}}`;

/** @type {Record<string, (number: string) => string>} */
export const PLACES = {
  "metadata of an event": (n) =>
    `{"type":"TEXT_MESSAGE_END","messageId":"m","metadata":{"n":${n},"deep":[{"n":[${n}]}]}}`,
  rawEvent: (n) => `{"type":"TEXT_MESSAGE_END","messageId":"m","rawEvent":${n}}`,
  "state snapshot": (n) => `{"type":"STATE_SNAPSHOT","snapshot":{"a":{"b":[null,${n}]}}}`,
  "value of a patch": (n) =>
    `{"type":"STATE_DELTA","delta":[{"op":"add","path":"/n","value":${n}}]}`,
  "value of an activity's patch": (n) =>
    `{"type":"ACTIVITY_DELTA","messageId":"m","activityType":"a","patch":[{"op":"test","path":"/n","value":[${n}]}]}`,
  "content of an activity": (n) =>
    `{"type":"ACTIVITY_SNAPSHOT","messageId":"m","activityType":"a","content":{"n":${n}}}`,
  RAW: (n) => `{"type":"RAW","event":[${n}]}`,
  CUSTOM: (n) => `{"type":"CUSTOM","name":"c","value":${n}}`,
  "result of a run": (n) => `{"type":"RUN_FINISHED","threadId":"t","runId":"r","result":${n}}`,
  "result of a subagent": (n) => `{"type":"SUBAGENT_FINISHED","subagentRunId":"s","result":{"n":${n}}}`,
  "metadata of a message": (n) =>
    messages(`{"id":"u","role":"user","content":"x","metadata":{"n":${n}}}`),
  "metadata of a part": (n) =>
    messages(`{"id":"u","role":"user","content":[{"type":"text","text":"x","metadata":${n}}]}`),
  "metadata of a tool call": (n) =>
    messages(
      `{"id":"a","role":"assistant","toolCalls":[{"id":"c","type":"function",` +
        `"function":{"name":"f","arguments":"{}"},"metadata":{"n":${n}}}]}`,
    ),
  "content of an activity message": (n) =>
    messages(`{"id":"v","role":"activity","activityType":"a","content":{"n":[${n}]}}`),
  "state of an input": (n) => input(`"state":${n}`),
  forwardedProps: (n) => input(`"forwardedProps":{"n":${n}}`),
  "parameters of a tool": (n) =>
    input(`"tools":[{"name":"f","description":"d","parameters":{"maximum":${n}}}]`),
  "metadata of a tool": (n) =>
    input(`"tools":[{"name":"f","description":"d","metadata":{"n":${n}}}]`),
  "payload of a resume entry": (n) =>
    input(`"resume":[{"interruptId":"i","status":"resolved","payload":${n}}]`),
  "metadata of a resume entry": (n) =>
    input(`"resume":[{"interruptId":"i","status":"resolved","metadata":{"n":${n}}}]`),
  "schema of an interrupt": (n) => interrupt(`"responseSchema":{"minimum":${n}}`),
  "metadata of an interrupt": (n) => interrupt(`"metadata":{"n":${n}}`),
};
