"""A model server, a search engine, an agent behind an address, a page and a harness that repeat all that they know.

    with echoing() as canaries, Echo.serving(canaries) as url: ...

They know every secret, and say each as it is, in base64, as a URL and as JSON write it, in replies, reasoning, tool
calls, search results, pages, errors and the names of models; streams cut them anywhere.
"""

from __future__ import annotations

import base64
import gzip
import json
import os
import random
import sys
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from openai_server import Reply, Request, event, json_reply, running

HARNESS = Path(__file__).parent / "echoing_harness.py"
DATABASE = "postgresql://ana:{password}@127.0.0.1:1/cue?sslpassword={second}"

CONFIG = """\
models:
  local: {{base_url: "{url}/v1", model: scripted, retries: 0, api_key_env: CANARY_MODEL,
          extra: {{user_token: "{extra}"}}}}
  broken: {{base_url: "{url}/broken", model: scripted, retries: 0, api_key_env: CANARY_BROKEN}}
agents:
  live: {{kind: react, model: local, max_steps: 3}}
  lost: {{kind: react, model: broken}}
  far: {{kind: http, url: "{url}/agent", headers: {{Authorization: CANARY_HEADER, X-Key: CANARY_SECOND}}, retries: 0}}
  harness: {{kind: acp, command: ["{python}", "{harness}", --token, "{option}"], pass_env: [CANARY_HARNESS]}}
  dying: {{kind: acp, command: ["{python}", "{harness}", die], pass_env: [CANARY_HARNESS]}}
users:
  sim: {{kind: simulator, model: local}}
worlds:
  web: {{kind: web, engine: tavily, url: "{url}", api_key_env: CANARY_SEARCH, visit: {{private: true}}}}
judges:
  strict: {{kind: model, model: local, attempts: 1}}
"""


def planted(dice: random.Random) -> dict[str, str]:
    """A canary for every kind of secret; some hold characters that are written otherwise elsewhere."""

    def canary(tail: str = "") -> str:
        return "canary-" + "".join(dice.choices("abcdefghijkmnpqrstuvwxyz23456789", k=18)) + tail

    names = ("MODEL", "BROKEN", "SECOND", "SEARCH", "EXTRA", "OPTION", "PASSWORD")
    return {
        **{name: canary() for name in names},
        "HEADER": "Bearer " + canary("+/="),
        "HARNESS": canary("/\"é&<x"),
        "PROXY": canary(),
        "PARAMETER": canary(),
    }  # fmt: skip


def spoken(canary: str) -> list[str]:
    """How the servers write a canary."""
    value = canary.removeprefix("Bearer ")
    raw = value.encode()
    encoded = [base64.b64encode(b"key"[:before] + raw + b"!").decode() for before in range(3)]
    return [value, json.dumps(value)[1:-1], quote(value, safe=""), raw.hex(), *encoded]


def forms(canary: str) -> list[str]:
    """What nothing of ours may hold of a canary: of base64 the inner part, whatever stood around it."""
    return [form if at < 4 else form[4:-6] for at, form in enumerate(spoken(canary))]


def config_text(url: str, canaries: Mapping[str, str]) -> str:
    return CONFIG.format(
        url=url,
        python=sys.executable,
        harness=HARNESS,
        extra=canaries["EXTRA"],
        option=canaries["OPTION"],
    )


@contextmanager
def environment(canaries: Mapping[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    for name in ("MODEL", "BROKEN", "SECOND", "SEARCH", "HEADER", "HARNESS"):
        os.environ[f"CANARY_{name}"] = canaries[name]
    os.environ["https_proxy"] = f"http://me:{canaries['PROXY']}@127.0.0.1:9"
    # The harness knows all of them from a file, as any of these programs could.
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextmanager
def echoing(canaries: Mapping[str, str], dice: random.Random) -> Iterator[str]:
    """The address of a server that plays all parts."""
    leak = " ".join(form for canary in canaries.values() for form in spoken(canary))

    def script(request: Request) -> Reply:
        sent = json.dumps(dict(request.headers))
        told = f"You sent {sent} and {leak}"
        path = request.path
        if path.startswith("/broken"):
            return json_reply({"error": {"message": f"refused: {told}", "code": leak}}, 401)
        if path.startswith("/page"):
            body = f"<title>{leak}</title><p>{told}</p><a href='/x?{leak}'>{leak}</a>"
            return Reply(200, {"content-type": "text/html"}, (body.encode(),))
        if path.startswith("/search"):
            entry = {"title": leak, "content": told, "url": f"http://x/{quote(leak)}"}
            return json_reply({"results": [entry], "answer": leak})
        if path.startswith("/agent"):
            wanted = request.body.get("want")
            answer = {"reply": told} if wanted == "reply" else {"text": f"answer: {told}"}
            return json_reply(answer)
        return _model(request, told, leak, dice)

    with running(script) as server:
        yield server.url.removesuffix("/v1")


def _model(request: Request, told: str, leak: str, dice: random.Random) -> Reply:
    asked = len([m for m in request.messages if m["role"] == "tool"])
    deltas: list[dict[str, Any]] = []
    if "search" in request.tools and not asked:
        # The address of the page is that of this server, whoever asks.
        page = f"http://{request.headers.get('host', '127.0.0.1')}/page?{quote(leak)}"
        for number, (name, given) in enumerate(
            (("search", {"query": leak[:300]}), ("visit", {"urls": [page], "goal": leak}))
        ):
            text = json.dumps(given)
            for at, piece in enumerate(_cut(text, dice)):
                head = {"name": name} if not at else {}
                call = {
                    "index": number,
                    "id": f"c{number}",
                    "function": {**head, "arguments": piece},
                }
                deltas.append({"tool_calls": [call]})
        finish = "tool_calls"
    else:
        deltas += [{"reasoning_content": piece} for piece in _cut(told, dice)]
        deltas += [{"content": piece} for piece in _cut(told, dice)]
        finish = "stop"
    head = {"id": leak, "model": leak}
    if request.body.get("stream"):
        events = [event({**head, "choices": [{"index": 0, "delta": d}]}) for d in deltas]
        end = {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}
        chunks = (*events, event(end), b"data: [DONE]\n\n")
        return Reply(200, {"content-type": "text/event-stream"}, chunks)
    message: dict[str, Any] = {"role": "assistant", "content": told, "reasoning_content": told}
    if finish == "tool_calls":
        joined: dict[int, dict[str, Any]] = {}
        for delta in deltas:
            (call,) = delta["tool_calls"]
            one = joined.setdefault(
                call["index"], {"id": call["id"], "function": {"arguments": ""}}
            )
            one["function"]["arguments"] += call["function"]["arguments"]
            one["function"].setdefault("name", call["function"].get("name"))
        message = {**message, "tool_calls": list(joined.values())}
    return json_reply({**head, "choices": [{"message": message, "finish_reason": finish}]})


def _cut(text: str, dice: random.Random) -> list[str]:
    pieces, at = [], 0
    while at < len(text):
        size = dice.randrange(1, 60)
        pieces.append(text[at : at + size])
        at += size
    return pieces


def found_in(folder: Path, canaries: Mapping[str, str], *texts: str) -> list[str]:
    """Where a canary stands in a file below `folder`, packed or not, or in one of `texts`."""
    hits: list[str] = []
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or path.name in ("cuecard.yaml", "known.json"):
            continue
        contents = _unpacked(path)
        hits += [
            f"{path.relative_to(folder)}: {name}"
            for name, canary in canaries.items()
            if any(form.encode() in content for form in forms(canary) for content in contents)
        ]
    for number, text in enumerate(texts):
        for name, canary in canaries.items():
            for form in forms(canary):
                if (at := text.find(form)) >= 0:
                    hits.append(f"text {number}: {name} in {text[max(0, at - 200) : at + 60]}")
                    break
    return hits


def _unpacked(path: Path) -> list[bytes]:
    """The bytes of a file, and those that it holds packed: rows of a database, the lines of a pack."""
    raw = path.read_bytes()
    contents = [raw]
    if path.suffix == ".cuepack":
        contents.append(gzip.decompress(raw))
    if path.suffix == ".eval":
        with zipfile.ZipFile(path) as archive:
            contents += [archive.read(name) for name in archive.namelist()]
    if path.suffix == ".db":
        from cuecard.store.workspace import Workspace

        with Workspace.open(path) as workspace:
            for run in workspace.runs.all():
                for trial in workspace.runs.trials(run.id):
                    events = workspace.runs.events(trial.id)
                    contents += [event.model_dump_json().encode() for event in events]
    return contents
