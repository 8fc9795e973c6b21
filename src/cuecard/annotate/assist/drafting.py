"""Running one draft: the kinds of drafts for each family, and a run that can be stopped."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from cuecard.annotate.assist.checkpoints import FromQuestion, draft_checkpoints
from cuecard.annotate.assist.facts import FromPairs, draft_facts
from cuecard.annotate.assist.model_calls import Helper, OnProgress
from cuecard.annotate.assist.persona import PersonaInputs, draft_persona
from cuecard.annotate.assist.proposals import Proposal
from cuecard.annotate.assist.translation import draft_translation
from cuecard.annotate.assist.triples import FromSource, draft_triples
from cuecard.annotate.families.registry import ANNOTATE
from cuecard.core.config_schema import Config
from cuecard.core.llm.hub import ModelHub
from cuecard.core.tasks.base import OriginKind
from cuecard.core.tasks.models import Family


@dataclass(frozen=True)
class TranslationInputs:
    """No inputs: a translation goes into the language that the task is not in."""


Inputs = FromSource | PersonaInputs | FromQuestion | FromPairs | TranslationInputs


def kinds_for(family: Family) -> tuple[OriginKind, ...]:
    """What a model can draft for a task of this family, the gold first."""
    return ANNOTATE[family].drafts


class Drafting:
    """One draft for a task's `data` with a model of the configuration. `told(done, all)` is called as parts are
    finished. To be used on one event loop only.
    """

    def __init__(
        self,
        data: Mapping[str, Any],
        inputs: Inputs,
        config: Config,
        model: str,
        *,
        today: date | None = None,
        on_progress: OnProgress = lambda _done, _all: None,
    ) -> None:
        self._data, self._inputs, self._config, self._model = data, inputs, config, model
        self._today = today or date.today()
        self.on_progress = on_progress
        self._helper: Helper | None = None

    async def run(self) -> Proposal:
        """The proposal, possibly without items. Raises `ConfigError`; `ModelCallError` or `Halt` if no call was
        answered.
        """
        async with ModelHub(self._config) as hub:
            client = hub.client(self._model)
            self._helper = Helper(
                client, self._model, self._config, self._today, on_progress=self.on_progress
            )
            return await self._draft(self._helper)

    async def stop(self) -> None:
        """Make `run` return what it has so far."""
        if self._helper is not None:
            await self._helper.stop()

    async def _draft(self, helper: Helper) -> Proposal:
        data = self._data
        match self._inputs:
            case FromSource() as inputs:
                return await draft_triples(data, inputs, helper)
            case PersonaInputs() as inputs:
                return await draft_persona(data, inputs, helper)
            case FromQuestion() as inputs:
                return await draft_checkpoints(data, inputs, helper)
            case FromPairs() as inputs:
                return await draft_facts(data, inputs, helper)
            case TranslationInputs():
                return await draft_translation(data, helper)
