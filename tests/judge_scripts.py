"""A judging model on the scripted server: it reads the material of a request and answers as told."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from cuecard.core.config_models import ModelConfig
from cuecard.core.config_players import ModelJudgeConfig
from cuecard.core.config_schema import Config
from cuecard.core.engine.players import build_judge
from cuecard.core.engine.step_context import Judge
from cuecard.core.llm.hub import ModelHub
from openai_server import Reply, Request, text

_MATERIAL = re.compile(r"<material>\n(.*)\n</material>", re.DOTALL)

Material = dict[str, Any]
Entry = dict[str, Any]


def material_of(request: Request) -> Material:
    """What the model was shown; there is exactly one block of it, and it is JSON."""
    found = _MATERIAL.findall(request.messages[0]["content"])
    assert len(found) == 1
    return json.loads(found[0])


def verdicts(entries: list[Entry]) -> Reply:
    return text(json.dumps({"verdicts": entries}, ensure_ascii=False))


def right(material: Material) -> list[Entry]:
    """What a judge that compares letter by letter decides on each item."""
    if "cells" in material:
        return [
            {"index": i, "reason": "compared", "score": int(mine.lower() == gold.lower())}
            for i, mine, gold in material["cells"]
        ]
    if "columns" in material:
        required = {name[:3].lower(): i for i, name in material["required"]}
        return [
            {"index": i, "reason": "by its beginning", "partner": required.get(name[:3].lower())}
            for i, name, _cells in material["columns"]
        ]
    if "key_columns" in material:
        keys = {key[:3].lower(): i for i, key, *_more in material["predicted"]}
        return [
            {"index": i, "reason": "by its beginning", "partner": keys.get(key[:3].lower())}
            for i, key, *_more in material["gold"]
        ]
    return [coverage(i, triple, material["predicted"]) for i, *triple in material["gold"]]


def coverage(index: int, triple: list[str], predicted: list[Any]) -> Entry:
    same = [i for i, *other in predicted if other == triple]
    covered = "yes" if same else "no"
    kind = "direct" if same else "none"
    reason = "stated" if same else "nowhere"
    return {
        "index": index,
        "reason": reason,
        "covered": covered,
        "kind": kind,
        "supporting": same,
    }


def script(change: Callable[[list[Entry], Request], list[Entry] | Reply]) -> Callable[..., Reply]:
    """A judge that is right, but for what `change` makes of its answers on lists of items. An answer
    is right if gold stands in it.
    """

    def reply(request: Request) -> Reply:
        material = material_of(request)
        if "answer" in material:
            same = material["gold"].lower() in material["answer"].lower()
            return text(json.dumps({"reason": "read", "equivalent": same}))
        changed = change(right(material), request)
        return changed if isinstance(changed, Reply) else verdicts(changed)

    return reply


def good(request: Request) -> Reply:
    return script(lambda entries, _request: entries)(request)


def config(url: str, *, prompts: str = "", give_up_after: int = 1000, **judge: Any) -> Config:
    """The judge `sage` on the server, without further attempts after failed calls."""
    model = ModelConfig(base_url=url, model="scripted", retries=0, give_up_after=give_up_after)
    sage = ModelJudgeConfig(kind="model", model="oracle", **judge)
    return Config(models={"oracle": model}, judges={"sage": sage}, prompts=prompts)


def model_judge(url: str, **more: Any) -> tuple[Judge, ModelHub]:
    of = config(url, **more)
    hub = ModelHub(of)
    return build_judge("sage", of, hub), hub
