"""A harness for tests: speaks the Agent Client Protocol over stdio, without any library.

`python scripted_harness.py TRICK...`. Each prompt is answered with `SAID`, or with `TRIPLES` when the
conversation is over. Tricks change that; see `Harness`.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path
from typing import Any

SAID = "It was Angelo Moriondo of Turin."
TRIPLES = '```json\n[{"head": "Angelo Moriondo", "relation": "city", "tail": "Turin"}]\n```'
LOCK = threading.Lock()


def send(message: dict[str, Any]) -> None:
    with LOCK:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


class Worlds:
    """A client of the MCP server that a session was given, over either transport."""

    def __init__(self, server: dict[str, Any]) -> None:
        self._url = server.get("url", "")
        self._next = 0
        if not self._url:
            env = os.environ | {e["name"]: e["value"] for e in server["env"]}
            self._bridge = subprocess.Popen(
                [server["command"], *server["args"]],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=env,
            )
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}})
        self._send({"method": "notifications/initialized"})

    def ask(self, method: str, params: dict[str, Any]) -> Any:
        self._next += 1
        answer = self._send({"id": self._next, "method": method, "params": params})
        assert answer["id"] == self._next, answer
        return answer["result"]

    def call(self, tool: str, **arguments: Any) -> str:
        found = self.ask("tools/call", {"name": tool, "arguments": arguments})
        return ("refused: " if found["isError"] else "") + found["content"][0]["text"]

    def _send(self, message: dict[str, Any]) -> Any:
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        if self._url:
            head = {"content-type": "application/json"}
            with urllib.request.urlopen(urllib.request.Request(self._url, data, head)) as found:
                body = found.read()
        else:
            assert self._bridge.stdin
            assert self._bridge.stdout
            self._bridge.stdin.write(data + b"\n")
            self._bridge.stdin.flush()
            body = self._bridge.stdout.readline() if "id" in message else b""
        return json.loads(body) if body else None


class Harness:
    """Tricks: `http` takes MCP servers by address; `search` looks things up in the world; `ask` asks the
    user by its tool; `tools` tells of a tool of its own; `permits` asks to edit and to execute;
    `loads` takes up sessions (kept in HARNESS_DIR); `children` leaves programs behind; `crash`,
    `silent`, `garbage`, `error`, `empty`, `deaf` fail; `flood` never stops to talk; `late` calls the world after its turn. While there
    is a file `slow` in HARNESS_DIR it says the half of it and no more, until it is told to stop; `stubborn`
    it does not.
    """

    def __init__(self, tricks: set[str]) -> None:
        self.tricks = tricks
        self.folder = Path(os.environ.get("HARNESS_DIR", "."))
        self.worlds: dict[str, Worlds] = {}
        self.cancelled = threading.Event()
        self.answers: dict[str, Any] = {}
        self.answered = threading.Event()
        self.turns: dict[str, list[str]] = {}
        self.cwd = ""

    def run(self) -> None:
        for line in sys.stdin:
            message = json.loads(line)
            if "method" not in message:
                self.answers[message["id"]] = message
                self.answered.set()
            elif message["method"] == "session/prompt":
                threading.Thread(target=self.prompt, args=(message,), daemon=True).start()
            else:
                self.take(message)

    def take(self, message: dict[str, Any]) -> None:
        params, id_ = message.get("params") or {}, message.get("id")
        match message["method"]:
            case "initialize":
                if "deaf" in self.tricks:
                    return
                can = {"loadSession": "loads" in self.tricks}
                can["mcpCapabilities"] = {"http": "http" in self.tricks}
                info = {"name": "scripted", "version": "1"}
                result = {"protocolVersion": 1, "agentCapabilities": can, "agentInfo": info}
            case "session/new":
                self.cwd = params["cwd"]
                name = f"s{len(self.turns)}-{os.getpid()}"
                self.open(name, params)
                result = {"sessionId": name}
            case "session/load":
                name = params["sessionId"]
                kept = self.folder / name
                if not kept.exists():
                    send({"id": id_, "error": {"code": -32002, "message": "no such session"}})
                    return
                self.open(name, params)
                self.turns[name] = json.loads(kept.read_text())
                for words in self.turns[name]:
                    self.tell(name, words, update_="user_message_chunk")
                    self.tell(name, SAID)
                result = {}
            case "session/cancel":
                (self.folder / "cancelled").write_text("yes")
                self.cancelled.set()
                return
            case _:
                return
        send({"id": id_, "result": result})

    def open(self, name: str, params: dict[str, Any]) -> None:
        self.turns[name] = []
        for server in params["mcpServers"]:
            self.worlds[name] = Worlds(server)

    def tell(
        self, session: str, words: str, update_: str = "agent_message_chunk", **more: Any
    ) -> None:
        update = {"sessionUpdate": update_, **more}
        if words:
            update["content"] = {"type": "text", "text": words}
        send({"method": "session/update", "params": {"sessionId": session, "update": update}})

    def prompt(self, message: dict[str, Any]) -> None:
        session = message["params"]["sessionId"]
        words = message["params"]["prompt"][0]["text"]
        self.turns[session].append(words)
        if "loads" in self.tricks:
            (self.folder / session).write_text(json.dumps(self.turns[session]))
        with (self.folder / "prompts").open("a") as log:
            log.write(json.dumps([session, words]) + "\n")
        stop = self.work(session, words)
        if stop == "error":
            send({"id": message["id"], "error": {"code": -32603, "message": "out of order"}})
        else:
            usage = {"totalTokens": 12, "inputTokens": 10, "outputTokens": 2}
            usage = {name: n * len(self.turns[session]) for name, n in usage.items()}
            send({"id": message["id"], "result": {"stopReason": stop, "usage": usage}})

    def work(self, session: str, words: str) -> str:
        tricks, over = self.tricks, "conversation is over" in words
        if "children" in tricks and len(self.turns[session]) == 1:
            self.leave_children()
        if "crash" in tricks:
            self.tell(session, "I was about to")
            sys.stderr.write(f"boom {os.environ.get('HARNESS_SECRET', '')}\n")
            sys.stderr.flush()
            os._exit(7)
        if "silent" in tricks:
            self.cancelled.wait()
            return "cancelled"
        if "error" in tricks:
            return "error"
        while "flood" in tricks and not self.cancelled.is_set():
            self.tell(session, "and so on " * 20_000)
        if "empty" in tricks and len(self.turns[session]) == 1:
            return "end_turn"
        if "garbage" in tricks:
            self.garbage(session)
        if "late" in tricks and over:
            return self.say(session, f"{TRIPLES}\n{self.worlds[session].call('search', query='x')}")
        if over:
            return self.say(session, TRIPLES)
        if (self.folder / "slow").exists():
            return self.linger(session)
        if "ask" in tricks:
            told = self.worlds[session].call("ask", question="Which Mercury?")
            told += self.worlds[session].call("search", query="Mercury")
            return self.say(session, told)
        if "search" in tricks:
            self.tell(session, "Let me see.")
            call = {"toolCallId": "1", "title": "mcp__cuecard__search", "status": "pending"}
            self.tell(session, "", "tool_call", **call)
            found = self.worlds[session].call("search", query="espresso machine inventor")
            call = {"toolCallId": "1", "status": "completed", "rawOutput": found}
            self.tell(session, "", "tool_call_update", **call)
        if "tools" in tricks:
            call = {"toolCallId": "7", "title": "ls", "kind": "read", "rawInput": {"path": "."}}
            self.tell(session, "", "tool_call", **call)
            done = [{"type": "content", "content": {"type": "text", "text": "a.txt"}}]
            call = {"toolCallId": "7", "status": "completed", "content": done}
            self.tell(session, "", "tool_call_update", **call)
        if "permits" in tricks:
            for kind, place in (("edit", f"{self.cwd}/a"), ("edit", "/etc/a"), ("execute", "")):
                self.tell(session, f"[{kind}: {self.permission(session, kind, place)}]")
        return self.say(session, SAID)

    def linger(self, session: str) -> str:
        self.cancelled.clear()
        if "search" in self.tricks:
            self.worlds[session].call("search", query="slowly")
        self.tell(session, SAID[: len(SAID) // 2])
        while not self.cancelled.wait(0.05) or "stubborn" in self.tricks:
            pass
        return "cancelled"

    def say(self, session: str, words: str) -> str:
        half = len(words) // 2
        self.tell(session, words[:half])
        self.tell(session, words[half:])
        return "end_turn"

    def permission(self, session: str, kind: str, place: str) -> str:
        self.answered.clear()
        call: dict[str, Any] = {"toolCallId": "p", "title": kind, "kind": kind}
        call["locations"] = [{"path": place}] if place else []
        options = [
            {"optionId": f"id-{name}", "name": name, "kind": name}
            for name in ("allow_always", "allow_once", "reject_once")
        ]
        params = {"sessionId": session, "toolCall": call, "options": options}
        id_ = f"p-{time.monotonic_ns()}"
        send({"id": id_, "method": "session/request_permission", "params": params})
        while id_ not in self.answers:
            self.answered.wait()
        return self.answers[id_]["result"]["outcome"]["optionId"]

    def garbage(self, session: str) -> None:
        with LOCK:
            sys.stdout.write("Welcome to the harness!\n42\n[]\n{broken\n\n")
            sys.stdout.flush()
        odd = {"sessionUpdate": "from_the_future", "x": 1}
        send({"method": "session/update", "params": {"sessionId": session, "update": odd}})
        send({"method": "session/update", "params": {"sessionId": "nobody", "update": odd}})
        send({"id": 99, "method": "fs/read_text_file", "params": {"path": "/etc/passwd"}})

    def leave_children(self) -> None:
        """One in the process group, one that left it and one whose parent is gone; all stubborn."""
        stubborn = "import signal,time;signal.signal(15,signal.SIG_IGN);print(1,flush=True);time.sleep(600)"
        run = [sys.executable, "-c", stubborn]
        one = subprocess.Popen(run, stdout=subprocess.PIPE)
        two = subprocess.Popen(run, stdout=subprocess.PIPE, start_new_session=True)
        launcher = (
            "import subprocess,sys;"
            f"p=subprocess.Popen({run!r},stdout=subprocess.PIPE,start_new_session=True);"
            "p.stdout.readline();print(p.pid,flush=True)"
        )
        three = subprocess.run([sys.executable, "-c", launcher], stdout=subprocess.PIPE, check=True)
        for child in (one, two):
            assert child.stdout
            child.stdout.readline()
        pids = [os.getpid(), one.pid, two.pid, int(three.stdout)]
        # Whoever waits for the file is to find all of it.
        written = self.folder / "pids.part"
        written.write_text(json.dumps(pids))
        written.rename(self.folder / "pids")


if __name__ == "__main__":
    if "children" in sys.argv:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    Harness(set(sys.argv[1:])).run()
