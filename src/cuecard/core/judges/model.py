"""The judge that asks a model (LLM as a judge), with its questions for final answers and graphs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, get_args

from cuecard.core.config import Prompt, find_prompt
from cuecard.core.config_players import ModelJudgeConfig
from cuecard.core.config_schema import Config
from cuecard.core.engine.messages import PlayerRef
from cuecard.core.engine.step_context import CallContext
from cuecard.core.families.graph.gold import Graph
from cuecard.core.families.registry import CORE, family_of
from cuecard.core.i18n import _
from cuecard.core.judges.lexical import refuse_triples, reject
from cuecard.core.judges.model_asking import (
    Asking,
    Complaint,
    Coverage,
    CoverageEntry,
    Equivalence,
    Questions,
    ask_all,
    block,
    likely,
)
from cuecard.core.llm import wire
from cuecard.core.llm.client import ChatClient
from cuecard.core.llm.structured import ask_structured
from cuecard.core.predictions import PredictedTriple, Prediction
from cuecard.core.tasks.models import Task, TaskLanguage, content_hash
from cuecard.core.text import storable
from cuecard.core.verdicts import Decision, Item, ItemKind, Judgement, TableMatch, Verdict

if TYPE_CHECKING:
    from cuecard.core.llm.hub import ModelHub


async def equivalent(
    client: ChatClient,
    question: str,
    names: Sequence[str],
    answer: str,
    context: CallContext,
    *,
    prompt: Prompt,
    language: TaskLanguage,
    attempts: int = 3,
) -> tuple[Decision, str]:
    """Whether `answer` is equivalent to one of `names` (the gold answer, then its aliases) as an answer to `question`,
    and the model's reason. Used for final answers and for single checkpoints. `prompt` is the template `judge_answer`.

    An empty answer is `no` without a call; `unjudged` if none of `attempts` replies was usable. Raises
    `ModelCallError` and `Halt`.
    """
    if not answer.strip():
        return Decision.NO, _("the answer is empty")
    gold, *aliases = names
    material = block(
        {"question": question, "gold": gold, "also_accepted": aliases, "answer": answer}
    )
    asked = await ask_structured(
        client,
        [wire.user(prompt.render(material=material))],
        Equivalence,
        context,
        prompt=prompt,
        language=language,
        attempts=attempts,
    )
    if asked.value is None:
        return Decision.UNJUDGED, _("no usable answer of the model")
    decision = Decision.YES if asked.value.equivalent else Decision.NO
    return decision, storable(asked.value.reason.strip())


SHOWN = 400
"""Most predicted triples that one batch is shown: those most similar to its gold triples."""
_MOST_SUPPORTING = 1000
_LARGEST_INDEX = 2**31


async def judge_graph(
    asking: Asking,
    request: str,
    graph: Graph,
    predicted: Sequence[PredictedTriple],
    context: CallContext,
) -> tuple[Verdict, ...]:
    """One verdict per gold triple, in order; `supporting` are indices into `predicted`. `request`: the task's query.

    Raises `ModelCallError` and `Halt`.
    """
    if not predicted:
        return refuse_triples(graph, _("no triples were handed in"))
    shown = _Shown(request, graph, predicted)
    questions = Questions(
        shape=Coverage,
        title="gold",
        items={i: [i, *graph.named(triple)] for i, triple in enumerate(graph.triples)},
        context=shown.context,
        accept=shown.complaint,
    )
    answers = await ask_all(asking, questions, context)
    return tuple(
        shown.verdict(index, answers.found[index])
        if index in answers.found
        else Verdict(
            item=Item(kind=ItemKind.TRIPLE, index=index),
            decision=Decision.UNJUDGED,
            rationale=answers.problems[index],
        )
        for index in range(len(graph.triples))
    )


class _Shown:
    """Which predicted triples each batch is shown. A triple has the same index in all batches."""

    def __init__(self, request: str, graph: Graph, predicted: Sequence[PredictedTriple]) -> None:
        self._request = request
        self._graph = graph
        self._predicted = predicted
        self._texts = [f"{t.head} {t.relation} {t.tail}" for t in predicted]
        self._chosen: dict[int, frozenset[int]] = {}

    def context(self, batch: Sequence[int]) -> Mapping[str, object]:
        wanted = [" ".join(self._graph.named(self._graph.triples[i])) for i in batch]
        chosen = likely(self._texts, wanted, SHOWN)
        self._chosen.update(dict.fromkeys(batch, frozenset(chosen)))
        triples = ((i, self._predicted[i]) for i in chosen)
        return {
            "request": self._request,
            "predicted": [[i, t.head, t.relation, t.tail] for i, t in triples],
            "also_called": self._also_called(batch),
        }

    def complaint(self, entry: CoverageEntry, batch: Sequence[int]) -> Complaint | None:
        del batch
        seen = self._chosen[entry.index]
        if entry.covered == "yes" and not any(index in seen for index in entry.supporting):
            return Complaint.UNSUPPORTED
        return None

    def verdict(self, index: int, entry: CoverageEntry) -> Verdict:
        covered = entry.covered == "yes"
        seen, size = self._chosen[index], len(self._predicted)
        # Indices out of range are kept, since scores ignore them; one that the batch was not shown would be counted.
        supporting = [
            i
            for i in dict.fromkeys(entry.supporting)
            if i in seen or (not 0 <= i < size and abs(i) < _LARGEST_INDEX)
        ]
        reason = storable(entry.reason.strip())
        if covered and entry.kind != "none":
            reason = f"{entry.kind}: {reason}" if reason else entry.kind
        return Verdict(
            item=Item(kind=ItemKind.TRIPLE, index=index),
            decision=Decision.YES if covered else Decision.NO,
            supporting=tuple(supporting[:_MOST_SUPPORTING]) if covered else (),
            rationale=reason,
        )

    def _also_called(self, batch: Sequence[int]) -> dict[str, list[str]]:
        triples = [self._graph.triples[index] for index in batch]
        names = (self._graph.names_of(end) for t in triples for end in (t.head, t.tail))
        return {name: list(aliases) for name, *aliases in names if aliases}


_LANGUAGES: tuple[TaskLanguage, ...] = get_args(TaskLanguage)


def model_judge(
    name: str, judge: ModelJudgeConfig, config: Config, client: ChatClient
) -> ModelJudge:
    """The judge with its prompts read. Raises `ConfigError`."""
    prompts: dict[tuple[str, TaskLanguage], Prompt] = {
        (prompt, language): find_prompt(prompt, language, config, judge.prompts)
        for prompt in dict.fromkeys(name for part in CORE.values() for name in part.judge_prompts)
        for language in _LANGUAGES
    }
    return ModelJudge(name, client, judge.batch, judge.attempts, prompts)


def make_judge(name: str, settings: ModelJudgeConfig, config: Config, hub: ModelHub) -> ModelJudge:
    """The judge called `name`. Raises `ConfigError`."""
    return model_judge(name, settings, config, hub.client(settings.model))


@dataclass(frozen=True)
class ModelJudge:
    """Has a model judge every gold item, `batch` items in one call.

    Every item gets exactly one verdict; where none of `attempts` replies gives a usable one, it is `unjudged`, with
    the reason.
    """

    name: str
    client: ChatClient
    batch: int
    attempts: int
    prompts: Mapping[tuple[str, TaskLanguage], Prompt]

    @property
    def ref(self) -> PlayerRef:
        """`version` is a hash of the batch size, the attempts and the prompts: all that shapes verdicts but the model."""
        settings = (str(self.batch), str(self.attempts))
        hashes = (prompt.hash for _place, prompt in sorted(self.prompts.items()))
        return PlayerRef(
            name=self.name,
            kind="model",
            model=self.client.config.model,
            version=_hash_of((*settings, *hashes))[:12],
        )

    async def judge(self, task: Task, prediction: Prediction, context: CallContext) -> Judgement:
        """Judge every gold item of `task` against `prediction`; an unusable prediction gets `no` for all without a
        call. Raises `ModelCallError` if every call failed, and `Halt`.
        """
        verdicts, table = await self._judge(task, prediction, context)
        hashes = [self.prompts[name, task.language].hash for name in family_of(task).judge_prompts]
        return Judgement(
            judge=self.ref,
            revision_hash=content_hash(task),
            prompt_hash=hashes[0] if len(hashes) == 1 else _hash_of(hashes),
            verdicts=verdicts,
            table=table,
        )

    async def _judge(
        self, task: Task, prediction: Prediction, context: CallContext
    ) -> tuple[tuple[Verdict, ...], TableMatch | None]:
        asked = await family_of(task).ask(self, task, task.gold, prediction, context)
        return reject(task, prediction) if asked is None else asked

    async def answer(
        self, task: Task, names: Sequence[str], answer: str, context: CallContext
    ) -> Verdict:
        """The verdict on a final answer; see `equivalent`."""
        same, reason = await equivalent(
            self.client,
            task.query,
            names,
            answer,
            context,
            prompt=self.prompts["judge_answer", task.language],
            language=task.language,
            attempts=self.attempts,
        )
        return Verdict(item=Item(kind=ItemKind.ANSWER), decision=same, rationale=reason)

    def asking(self, name: str, task: Task) -> Asking:
        return Asking(
            client=self.client,
            prompt=self.prompts[name, task.language],
            language=task.language,
            batch=self.batch,
            attempts=self.attempts,
        )


def _hash_of(parts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
