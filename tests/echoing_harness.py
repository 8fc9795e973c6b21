"""A harness that tells all that it knows: its environment, its arguments and the file `known.json` beside it, in
messages cut anywhere, in its own tool calls, on stderr, and where its output should be JSON.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any


def known() -> str:
    path = Path(os.environ["HOME"]) / "known.json"
    told = path.read_text(encoding="utf-8") if path.exists() else ""
    return " ".join([os.environ.get("CANARY_HARNESS", ""), *sys.argv, *json.loads(told or "[]")])


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def update(session: str, **fields: Any) -> None:
    send({"method": "session/update", "params": {"sessionId": session, "update": fields}})


def prompt(session: str) -> None:
    words = f"I know {known()} of you."
    for at in range(0, len(words), 7):
        block = {"type": "text", "text": words[at : at + 7]}
        update(session, sessionUpdate="agent_message_chunk", content=block)
    tool = {"toolCallId": "1", "title": known(), "kind": "other", "rawInput": {known(): [known()]}}
    update(session, sessionUpdate="tool_call", status="pending", **tool)
    output = [{"type": "content", "content": {"type": "text", "text": known()}}]
    done = {"toolCallId": "1", "status": "completed", "content": output}
    update(session, sessionUpdate="tool_call_update", **done)


def main() -> None:
    for line in sys.stdin:
        message = json.loads(line)
        sys.stderr.write(f"stderr: {known()}\n")
        sys.stderr.flush()
        sys.stdout.write(f"a banner of {known()}\n")
        match message.get("method"):
            case "initialize":
                result: dict[str, Any] = {
                    "protocolVersion": 1,
                    "agentCapabilities": {},
                    "agentInfo": {"name": known()[:200], "version": "1"},
                }
            case "session/new":
                result = {"sessionId": "s1"}
            case "session/prompt":
                if "die" in sys.argv:
                    error = {"code": -32603, "message": known(), "data": {"why": known()}}
                    send({"id": message["id"], "error": error})
                    continue
                prompt(message["params"]["sessionId"])
                result = {"stopReason": "end_turn"}
            case _:
                continue
        send({"id": message["id"], "result": result})


if __name__ == "__main__":
    main()
