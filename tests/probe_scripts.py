"""A scripted model for quality probes: it answers whoever asks in the way that a test wants; also a program that
kills itself.

python probe_scripts.py DB PROBE TASK URL EVENTS     SIGKILL after that many events of a probe's run
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cuecard.core.config import EMBEDDED
from cuecard.core.config_models import ModelConfig, Price
from cuecard.core.config_schema import Config, QcConfig
from openai_server import Reply, Request, calls, text

CHECKPOINTS, CHECKPOINTS_ZH = "checkpoints-highest-mountain", "checkpoints-old-bridge-zh"
GRAPH, TABLE, FACTS = "espresso", "table-us-states", "facts-night-train"


def config(url: str, *names: str, **qc: Any) -> Config:
    """Models of these names at `url`, each of whose calls costs 0.000011."""
    price = Price(prompt=1, completion=0)
    models = {
        name: ModelConfig(base_url=url, model=name, price=price, retries=0)
        for name in names or ("m",)
    }
    return EMBEDDED.model_copy(update={"models": models, "qc": QcConfig(**qc)})


def prompt_of(request: Request) -> str:
    """All that the model reads, system prompt first."""
    return "\n".join(str(message.get("content") or "") for message in request.messages)


def answering(*words: str) -> Callable[[Request], Reply]:
    """A model that says these words in turn, whatever it is asked; the last ones for ever."""

    def script(request: Request) -> Reply:
        return text(words[min(request.number, len(words) - 1)])

    return script


def searching(request: Request) -> Reply:
    """Searches as long as it may, then answers."""
    if request.body.get("tool_choice") != "none" and request.tools:
        return calls(("search", {"query": f"marathon {request.number}"}))
    return text("Final answer: Delfo Cabrera")


def examining(**answers: dict[str, Any]) -> Callable[[Request], Reply]:
    """An examiner that gives each of these answers to the question whose prompt holds its name."""

    def script(request: Request) -> Reply:
        asked = prompt_of(request)
        for name, answer in answers.items():
            if f"`{name}`" in asked:
                return text(f"Well. {json.dumps(answer)}")
        return text("I would rather not say.")

    return script


async def _probe(db: Path, probe: Any, task: str, url: str, events: int) -> None:
    from cuecard.core.evaluation.probes import run_probe
    from cuecard.store.workspace import Workspace
    from lab_players import Countdown

    with Workspace.open(db) as workspace:
        await run_probe(
            workspace,
            probe,
            [task],
            config=config(url),
            by="ann",
            on_event=Countdown(events),
            concurrency=1,
        )


if __name__ == "__main__":
    where, which, task_id, at, count = sys.argv[1:]
    asyncio.run(_probe(Path(where), which, task_id, at, int(count)))
