"""The judge that asks a model."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from cuecard.core.config_models import Config
from cuecard.core.config_players import ModelJudgeConfig
from cuecard.core.judges.model_answer import judge_answer
from cuecard.core.judges.model_asking import Asking
from cuecard.core.judges.model_graph import judge_graph
from cuecard.core.judges.model_table import TableAsking, judge_table
from cuecard.core.judges.unusable import reject
from cuecard.core.llm.client import ChatClient
from cuecard.core.parts import CallDesk, PlayerRef
from cuecard.core.prediction import (
    AnswerPrediction,
    Prediction,
    TablePrediction,
    TriplesPrediction,
)
from cuecard.core.prompts import Prompt, find_prompt
from cuecard.core.tasks import (
    CheckpointChain,
    FactWorld,
    Family,
    Graph,
    Table,
    Task,
    TaskLanguage,
    content_hash,
)
from cuecard.core.verdicts import Judgement, TableMatch, Verdict

PromptName = Literal["judge_graph", "judge_answer", "judge_columns", "judge_keys", "judge_cells"]
_PROMPTS: tuple[PromptName, ...] = get_args(PromptName)
_LANGUAGES: tuple[TaskLanguage, ...] = get_args(TaskLanguage)
_OF_FAMILY: dict[Family, tuple[PromptName, ...]] = {
    "graph": ("judge_graph",),
    "table": ("judge_columns", "judge_keys", "judge_cells"),
    "checkpoints": ("judge_answer",),
    "facts": ("judge_answer",),
}


def model_judge(
    name: str, judge: ModelJudgeConfig, config: Config, client: ChatClient
) -> ModelJudge:
    """The judge with its prompts read. Raises `ConfigError`."""
    prompts: dict[tuple[PromptName, TaskLanguage], Prompt] = {
        (prompt, language): find_prompt(prompt, language, config, judge.prompts)
        for prompt in _PROMPTS
        for language in _LANGUAGES
    }
    return ModelJudge(name, client, judge.batch, judge.attempts, prompts)


@dataclass(frozen=True)
class ModelJudge:
    """Has one model judge every gold item, `batch` of them in a call.

    Every item gets exactly one verdict; where the model gives no usable one in `attempts` answers, the
    verdict is `unjudged`, with the reason.
    """

    name: str
    client: ChatClient
    batch: int
    attempts: int
    prompts: Mapping[tuple[PromptName, TaskLanguage], Prompt]

    @property
    def ref(self) -> PlayerRef:
        """`version` follows from everything that shapes the verdicts besides the model."""
        settings = (str(self.batch), str(self.attempts))
        hashes = (prompt.hash for _place, prompt in sorted(self.prompts.items()))
        return PlayerRef(
            name=self.name,
            kind="model",
            model=self.client.config.model,
            version=_hash_of((*settings, *hashes))[:12],
        )

    async def judge(self, task: Task, prediction: Prediction, desk: CallDesk) -> Judgement:
        """Judge every gold item of `task` against `prediction`; what is unusable gets `no` without a
        call. Raises `ModelCallError` where no call got an answer, and `Halt`.
        """
        verdicts, table = await self._judge(task, prediction, desk)
        hashes = [self.prompts[name, task.language].hash for name in _OF_FAMILY[task.family]]
        return Judgement(
            judge=self.ref,
            revision_hash=content_hash(task),
            prompt_hash=hashes[0] if len(hashes) == 1 else _hash_of(hashes),
            verdicts=verdicts,
            table=table,
        )

    async def _judge(
        self, task: Task, prediction: Prediction, desk: CallDesk
    ) -> tuple[tuple[Verdict, ...], TableMatch | None]:
        match task.gold, prediction:
            case Graph() as graph, TriplesPrediction(triples=triples):
                asking = self._asking("judge_graph", task)
                return await judge_graph(asking, task.query, graph, triples, desk), None
            case Table() as table, TablePrediction() as predicted:
                asking = TableAsking(
                    columns=self._asking("judge_columns", task),
                    keys=self._asking("judge_keys", task),
                    cells=self._asking("judge_cells", task),
                )
                return await judge_table(asking, task.query, table, predicted, desk)
            case CheckpointChain() as chain, AnswerPrediction(answer=answer):
                names = (chain.final_answer, *chain.final_aliases)
                return (await self._answer(task, names, answer, desk),), None
            case FactWorld() as world, AnswerPrediction(answer=answer):
                names = (world.answer, *world.answer_aliases)
                return (await self._answer(task, names, answer, desk),), None
            case gold, _other:
                return reject(gold, prediction)

    async def _answer(
        self, task: Task, names: tuple[str, ...], answer: str, desk: CallDesk
    ) -> Verdict:
        return await judge_answer(
            self.client,
            task.query,
            names,
            answer,
            desk,
            prompt=self.prompts["judge_answer", task.language],
            language=task.language,
            attempts=self.attempts,
        )

    def _asking(self, name: PromptName, task: Task) -> Asking:
        return Asking(
            client=self.client,
            prompt=self.prompts[name, task.language],
            language=task.language,
            batch=self.batch,
            attempts=self.attempts,
        )


def _hash_of(parts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
