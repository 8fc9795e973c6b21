"""A fifth family as the engine sees it: things in the order of some figure, scored by nDCG (Järvelin and Kekäläinen, 2002)."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from cuecard.core.agents.briefing import PublicTask
from cuecard.core.agents.offline_search import Notes, Searcher
from cuecard.core.engine.events import Event
from cuecard.core.engine.messages import AgentReply, Dialogue
from cuecard.core.engine.step_context import CallContext
from cuecard.core.families.common import (
    no_chain,
    no_columns,
    no_facts,
    no_figures,
    nothing_found,
    nothing_of_play,
    plain_approach,
    records,
)
from cuecard.core.families.registry import CoreFamily
from cuecard.core.judges.model_asking import ModelAsks
from cuecard.core.predictions import Prediction, TablePrediction
from cuecard.core.rescoring import GoldChange, ItemChange, carry_answer
from cuecard.core.tasks.base import Frozen, Name, Url
from cuecard.core.tasks.gold import Gold
from cuecard.core.tasks.models import Task
from cuecard.core.text import normalise
from cuecard.core.verdicts import (
    Decision,
    Decisions,
    GoldItem,
    Item,
    ItemKind,
    Judged,
    Judgement,
    Measure,
    Verdict,
    count,
)
from cuecard.core.worlds.statements import Statement


class Ranked(Frozen):
    """A thing and its figure; `grade` is what it is worth to have it high up."""

    name: Name
    figure: Name
    grade: Annotated[int, Field(ge=1)]
    sources: tuple[Url, ...] = ()


class Ranking(Gold, frozen=True):
    """Things from the first to the last; `by` is the figure that orders them."""

    family: Literal["ranking"] = "ranking"
    by: Name
    ranked: Annotated[tuple[Ranked, ...], Field(min_length=2)]

    @property
    def items(self) -> tuple[Ranked, ...]:
        return self.ranked

    @property
    def field(self) -> str:
        return "ranked"

    @property
    def lines(self) -> tuple[str, ...]:
        return tuple(f"{each.name} — {each.figure}" for each in self.ranked)

    @property
    def answers(self) -> tuple[str, ...]:
        return ()

    @property
    def things(self) -> tuple[tuple[str, ...], ...]:
        return tuple((each.figure,) for each in self.ranked)

    @property
    def opens_with(self) -> str:
        return ""

    def problem(self, stages: int) -> str:
        del stages
        return ""


def ndcg(grades: Sequence[int], places: Sequence[int | None]) -> float:
    """Gain (2^grade - 1) / log2(place + 1), places from 1 (None: not handed in), over that of the best order."""

    def gain(grade: int, place: int | None) -> float:
        return 0.0 if place is None else (2**grade - 1) / math.log2(place + 1)

    best = sum(gain(g, n) for n, g in enumerate(sorted(grades, reverse=True), 1))
    return sum(map(gain, grades, places)) / best


def _score(
    task: Task, gold: Ranking, prediction: Prediction, events: Sequence[Event], judgement: Judgement
) -> tuple[Measure, ...]:
    del task, prediction, events
    decided = Decisions.of(judgement.verdicts)
    found = [decided.verdict(ItemKind.ANSWER, index) for index in range(len(gold.ranked))]
    places = [v.supporting[0] + 1 if v and v.supporting else None for v in found]
    value = ndcg([each.grade for each in gold.ranked], places)
    return Measure("ndcg", value, len(places)), count("unjudged", found.count(None), len(places))


_LINE = re.compile(r"^\s*\d+[.)]\s*(.+?)\s*$", re.MULTILINE)


def _read(said: str, raw: str) -> Prediction | str:
    names = _LINE.findall(said)
    if not names:
        return "the text holds no numbered list"
    return TablePrediction(columns=("name",), rows=tuple((name,) for name in names), raw=raw)


def _read_json(text: str) -> Prediction:
    return TablePrediction.model_validate_json(text)


def _judge(task: Task, gold: Ranking, prediction: Prediction) -> Judged | None:
    del task
    if not isinstance(prediction, TablePrediction):
        return None
    names = [normalise(row[0]) for row in prediction.rows]
    return tuple(_verdict(at, names, each) for at, each in enumerate(gold.ranked)), None


def _verdict(index: int, names: Sequence[str], each: Ranked) -> Verdict:
    item, wanted = Item(kind=ItemKind.ANSWER, index=index), normalise(each.name)
    if wanted not in names:
        return Verdict(item=item, decision=Decision.NO, rationale="not in the list")
    return Verdict(item=item, decision=Decision.YES, supporting=(names.index(wanted),))


async def _ask(
    judge: ModelAsks, task: Task, gold: Ranking, prediction: Prediction, context: CallContext
) -> Judged | None:
    del judge, context
    return _judge(task, gold, prediction)


def _refuse(gold: Ranking, reason: str) -> Judged:
    items = (Item(kind=ItemKind.ANSWER, index=index) for index in range(len(gold.ranked)))
    refused = (Verdict(item=i, decision=Decision.NO, rationale=reason) for i in items)
    return tuple(refused), None


def _item(task: Task, gold: Ranking, item: Item) -> GoldItem:
    each = gold.ranked[item.index]
    return GoldItem(item=item, text=each.name, context=(task.query, each.figure))


async def _offline(public: PublicTask, dialogue: Dialogue, searcher: Searcher) -> AgentReply:
    del public
    asked = re.search(r"Rank (.+) by (\w+)", dialogue.of("user")[0].text)
    names = re.split(r", | and ", asked[1]) if asked else []
    for name in names:
        await searcher.search(f"{name} {asked[2] if asked else ''}")
    return AgentReply(text="\n".join(f.value for f in searcher.notes.facts) or "Nothing.")


def _conclude(public: PublicTask, dialogue: Dialogue, notes: Notes) -> Prediction:
    del public, dialogue
    found = sorted(notes.facts, key=lambda fact: -float(fact.value.split()[0]))
    rows = tuple((fact.subject,) for fact in found)
    return TablePrediction(columns=("name",), rows=rows) if rows else nothing_found()


def _statements(task: Task, gold: Ranking) -> tuple[Statement, ...]:
    del task
    return tuple(
        Statement(key=f"ranked/{n}", subject=((each.name,),), attribute=gold.by, value=each.figure)
        for n, each in enumerate(gold.ranked)
    )


def _changes(old: Ranking, new: Ranking) -> tuple[ItemChange, ...]:
    fate = GoldChange.SAME if old.ranked == new.ranked else GoldChange.CHANGED
    items = (Item(kind=ItemKind.ANSWER, index=index) for index in range(len(new.ranked)))
    return tuple(ItemChange(fate=fate, old=item, new=item) for item in items)


RANKING = CoreFamily(
    name="ranking",
    gold=Ranking,
    label="Ranking tasks",
    measures=("ndcg",),
    headlines=("ndcg",),
    main="ndcg",
    known_by="ndcg",
    bar=("ndcg", 0.9),
    judged=("ndcg",),
    of_log=(),
    score=_score,
    figures=no_figures,
    handed_in="table",
    read=_read,
    read_json=_read_json,
    conclusion="conclude_table",
    from_memory="probe_hand_in_table",
    judge=_judge,
    ask=_ask,
    judge_prompts=(),
    refuse=_refuse,
    item=_item,
    item_text=lambda gold, item: gold.ranked[item.index].name,
    target=lambda gold: "\n".join(each.name for each in gold.ranked),
    approach=plain_approach,
    columns=no_columns,
    offline=_offline,
    calls=12,
    conclude=_conclude,
    statements=_statements,
    index=records,
    entities=False,
    topics=True,
    chain=no_chain,
    facts=no_facts,
    changes=_changes,
    effective=nothing_of_play,
    carry=carry_answer,
)
