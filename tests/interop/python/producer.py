"""An agent that speaks server-sent events, written with the official Python package.

    python producer.py

It says where it listens in its first line on standard output, and ends when its standard input
does. What it answers is chosen by the path:

| path     | answer                                                                           |
|----------|----------------------------------------------------------------------------------|
| /whole   | a run with every type of event but RUN_ERROR                                     |
| /gzip    | the same, compressed whatever the request accepts                                |
| /error   | a run that fails midway and says so                                              |
| /dies    | a run whose connection is closed midway, inside its body, when /now is asked for |
| /ends    | a run whose body ends in good order before the run does, when /now is asked for  |
| /now     | nothing, once a run of these two has come to where it waits                      |
| /extras  | a run with members that the protocol does not name, and an event that it does not |
| /waits   | the beginning of a run; "gone" on standard output when its client goes away      |

Every event goes through `EventEncoder`, one write each.
"""

import asyncio
import socket
import sys
import zlib

import uvicorn
from ag_ui.core import (
    ActivityDeltaEvent,
    ActivitySnapshotEvent,
    CustomEvent,
    MessagesSnapshotEvent,
    RawEvent,
    ReasoningEncryptedValueEvent,
    ReasoningEndEvent,
    ReasoningMessageChunkEvent,
    ReasoningMessageContentEvent,
    ReasoningMessageEndEvent,
    ReasoningMessageStartEvent,
    ReasoningStartEvent,
    RunAgentInput,
    RunErrorEvent,
    RunFinishedEvent,
    RunStartedEvent,
    StateDeltaEvent,
    StateSnapshotEvent,
    StepFinishedEvent,
    StepStartedEvent,
    SubagentErrorEvent,
    SubagentFinishedEvent,
    SubagentStartedEvent,
    TextMessageChunkEvent,
    TextMessageContentEvent,
    TextMessageEndEvent,
    TextMessageStartEvent,
    ToolCallArgsEvent,
    ToolCallChunkEvent,
    ToolCallEndEvent,
    ToolCallResultEvent,
    ToolCallStartEvent,
)
from ag_ui.encoder import EventEncoder

TEXT = ["Grüße, ", "מה שלומך? ", "你好 ", "👩‍👩‍👧 ", "🇦🇹", "\u0000\u001f\u2028\\\"", "e\u0301"]

# Two of these are no doubles.
NUMBERS = {
    "beyond": 2**53 + 1,
    "long": 123456789012345678901234567890,
    "last": 2**53 - 1,
    "power": 2**60,
    "negative": -42,
    "tenth": 0.1,
    "tiny": 5e-324,
    "huge": 1.7976931348623157e308,
    "minusZero": -0.0,
    "one": 1.0,
}


def started(run):
    return RunStartedEvent(thread_id=run.thread_id, run_id=run.run_id, input=run)


def text(message, parts):
    yield TextMessageStartEvent(message_id=message, role="assistant", name="guide")
    for part in parts:
        yield TextMessageContentEvent(message_id=message, delta=part, timestamp=1767225600000)
    yield TextMessageEndEvent(message_id=message, metadata={"done": True, "why": None})


def tool_call():
    arguments = ['{"city": "Gra', 'z", "when": [', '2, 3]}']
    yield ToolCallStartEvent(tool_call_id="t1", tool_call_name="trains", parent_message_id="m1")
    for part in arguments:
        yield ToolCallArgsEvent(tool_call_id="t1", delta=part)
    yield ToolCallEndEvent(tool_call_id="t1")
    yield ToolCallResultEvent(
        message_id="r1", tool_call_id="t1", content="two trains, at 10:04 and 12:04", role="tool"
    )
    yield ToolCallChunkEvent(tool_call_id="t2", tool_call_name="map", delta='{"zoom":')
    yield ToolCallChunkEvent(tool_call_id="t2", delta=" 7}")
    yield ToolCallResultEvent(
        message_id="r2",
        tool_call_id="t2",
        content=[
            {"type": "text", "text": "die Karte"},
            {
                "type": "image",
                "source": {"type": "data", "value": "iVBORw0KGgo=", "mimeType": "image/png"},
            },
        ],
    )


def reasoning():
    yield ReasoningStartEvent(message_id="g1")
    yield ReasoningMessageStartEvent(message_id="g1", role="reasoning")
    for part in ["first the ", "trains, ", "then 🚌"]:
        yield ReasoningMessageContentEvent(message_id="g1", delta=part)
    yield ReasoningMessageEndEvent(message_id="g1")
    yield ReasoningEncryptedValueEvent(subtype="message", entity_id="g1", encrypted_value="c2VjcmV0")
    yield ReasoningEndEvent(message_id="g1")
    yield ReasoningMessageChunkEvent(message_id="g2", delta="short")
    yield ReasoningMessageChunkEvent(message_id="g2", delta="")


def state():
    yield StateSnapshotEvent(
        snapshot={
            "numbers": NUMBERS,
            "legs": [],
            "empty": {},
            "nothing": None,
            "keys": {"": 1, "a/b": 2, "m~n": 3, "ü": 4, "10": 5, "9": 6},
        }
    )
    yield StateDeltaEvent(
        delta=[
            {"op": "add", "path": "/legs/-", "value": {"from": "Wien", "to": "Graz", "price": 2**53 + 1}},
            {"op": "replace", "path": "/nothing", "value": None},
            {"op": "test", "path": "/numbers/negative", "value": -42},
            {"op": "copy", "from": "/legs/0", "path": "/first"},
            {"op": "move", "from": "/first", "path": "/only"},
            {"op": "remove", "path": "/keys/a~1b"},
        ]
    )


def activity():
    yield ActivitySnapshotEvent(
        message_id="a1", activity_type="PLAN", content={"steps": [], "share": 0.25}, replace=True
    )
    yield ActivityDeltaEvent(
        message_id="a1",
        activity_type="PLAN",
        patch=[{"op": "add", "path": "/steps/-", "value": "book"}],
    )


def subagents():
    yield SubagentStartedEvent(subagent_run_id="s1", name="booker", parent_tool_call_id="t1")
    yield StepStartedEvent(step_name="book", subagent_run_id="s1")
    yield StepFinishedEvent(step_name="book", subagent_run_id="s1")
    yield SubagentFinishedEvent(
        subagent_run_id="s1", result={"seat": 61}, outcome={"type": "success"}
    )
    yield SubagentStartedEvent(subagent_run_id="s2", name="mapper")
    yield SubagentErrorEvent(subagent_run_id="s2", message="no map", code="MAP")


def whole(run):
    yield started(run)
    yield StepStartedEvent(step_name="answer")
    yield MessagesSnapshotEvent(
        messages=[
            {"id": "u0", "role": "user", "content": "Nach Graz, bitte 🙂"},
            {
                "id": "m0",
                "role": "assistant",
                "toolCalls": [
                    {"id": "t0", "type": "function", "function": {"name": "now", "arguments": "{}"}}
                ],
            },
            {"id": "r0", "role": "tool", "toolCallId": "t0", "content": "", "error": "no clock"},
        ]
    )
    yield from reasoning()
    yield from text("m1", TEXT)
    yield TextMessageChunkEvent(message_id="m2", role="assistant", delta="in ")
    yield TextMessageChunkEvent(message_id="m2", delta="chunks")
    yield from tool_call()
    yield from state()
    yield from activity()
    yield from subagents()
    yield RawEvent(event={"provider": [1, None, {"deep": [[]]}]}, source="model")
    yield CustomEvent(name="map", value=[True, None, "x"], raw_event={"id": 7})
    yield StepFinishedEvent(step_name="answer")
    yield RunFinishedEvent(
        thread_id=run.thread_id,
        run_id=run.run_id,
        result={"seats": 2},
        outcome={"type": "success"},
        usage=[{"model": "m", "inputTokens": 12, "outputTokens": 0, "totalTokens": 12}],
    )


def error(run):
    yield started(run)
    yield TextMessageStartEvent(message_id="m1", role="assistant")
    yield TextMessageContentEvent(message_id="m1", delta="half an ")
    yield RunErrorEvent(message="the model is gone: 😵", code="GONE")


def cut(run):
    yield started(run)
    yield TextMessageStartEvent(message_id="m1", role="assistant")
    yield TextMessageContentEvent(message_id="m1", delta="half an ")


def extras(run):
    yield started(run)
    yield StepStartedEvent(step_name="s", mood="calm")
    yield CustomEvent(name="id", value={"id": 2**53 + 1, "price": 0.1})
    yield StepFinishedEvent(step_name="s")
    yield RunFinishedEvent(thread_id=run.thread_id, run_id=run.run_id)


async def read_input(receive):
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return RunAgentInput.model_validate_json(body)


async def gone(receive):
    while (await receive())["type"] != "http.disconnect":
        pass


WAITING = []


async def wait_for_now():
    told = asyncio.Event()
    WAITING.append(told)
    await told.wait()


async def now(send):
    while not WAITING:
        await asyncio.sleep(0.01)
    WAITING.pop().set()
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body"})


async def agent(scope, receive, send):
    assert scope["type"] == "http"
    path, encoder = scope["path"], EventEncoder()
    if path == "/now":
        return await now(send)
    run = await read_input(receive)
    headers = [(b"content-type", encoder.get_content_type().encode())]
    packer = None
    if path == "/gzip":
        headers.append((b"content-encoding", b"gzip"))
        packer = zlib.compressobj(wbits=31)
    await send({"type": "http.response.start", "status": 200, "headers": headers})

    async def write(data):
        if packer:
            data = packer.compress(data) + packer.flush(zlib.Z_SYNC_FLUSH)
        await send({"type": "http.response.body", "body": data, "more_body": True})

    played = {"/whole": whole, "/gzip": whole, "/error": error, "/extras": extras}.get(path, cut)
    for event in played(run):
        await write(encoder.encode(event).encode())
        if path == "/extras" and isinstance(event, StepFinishedEvent):
            await write(b'data: {"type":"OF_TOMORROW"}\n\n')
    if path in ("/dies", "/ends"):
        await wait_for_now()
    if path == "/dies":
        raise SystemError("this is what the test is about")
    if path == "/waits":
        await gone(receive)
        print("gone", flush=True)
        return
    last = packer.flush() if packer else b""
    await send({"type": "http.response.body", "body": last, "more_body": False})


async def main():
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    config = uvicorn.Config(agent, lifespan="off", log_level="critical", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    print(f"listening on http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    await asyncio.to_thread(sys.stdin.read)
    server.should_exit = True
    await serving


asyncio.run(main())
