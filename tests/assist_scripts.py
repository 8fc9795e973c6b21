"""A drafting model on the scripted server: it reads the material of a request and answers as told."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import date
from typing import Any

from cuecard.annotate.assist.drafting import Drafting, Inputs
from cuecard.annotate.assist.proposals import Proposal
from cuecard.core.config_models import ModelConfig, Price
from cuecard.core.config_schema import Config
from judge_scripts import material_of
from openai_server import OpenAIServer, Reply, Request, text

TODAY = date(2030, 6, 15)
Draft = Callable[[dict[str, Any], int], "dict[str, Any] | Reply"]


def config(url: str) -> Config:
    price = Price(prompt=1.0, completion=1.0)
    model = ModelConfig(base_url=url, model="scripted", retries=0, price=price, give_up_after=99)
    return Config(models={"drafter": model})


def says(data: Any) -> Reply:
    return text(json.dumps(data, ensure_ascii=False))


def scripted(draft: Draft) -> Callable[[Request], Reply]:
    """Answers with what `draft` makes of the material and the number of the request."""

    def script(request: Request) -> Reply:
        made = draft(material_of(request), request.number)
        return made if isinstance(made, Reply) else says(made)

    return script


async def propose(
    data: Mapping[str, Any], inputs: Inputs, script: Callable[[Request], Any]
) -> tuple[Proposal, OpenAIServer]:
    """The proposal for `inputs`, and the server as it was left."""
    async with OpenAIServer(script) as server:
        drafting = Drafting(data, inputs, config(server.url), "drafter", today=TODAY)
        return await drafting.run(), server


def stage(number: int, **more: Any) -> dict[str, Any]:
    """A stage as a model gives it."""
    kind = "start" if number == 1 else "asks" if number % 3 == 0 else "mentions"
    return {
        "title": f"Stage {number}",
        "cue_kind": kind,
        "cue": f"The reply names thing {number}",
        "terms": [f"thing {number}"],
        "line": f"And what about number {number}?",
        "not_met": "Go on, please.",
        "triples": [],
        **more,
    }
