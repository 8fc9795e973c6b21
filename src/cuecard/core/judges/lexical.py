"""The lexical judge, a deterministic baseline without a model, and its rules for final answers."""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cuecard.core.engine.messages import PlayerRef
from cuecard.core.engine.step_context import CallContext
from cuecard.core.families.graph.gold import Graph
from cuecard.core.families.registry import family_of
from cuecard.core.i18n import _
from cuecard.core.judges.mentions import dates_in, judge_amount, judge_mention, without_brackets
from cuecard.core.judges.quantities import Quantity, same_quantity
from cuecard.core.judges.similarity import Rule, best_similarity, form, moment_of, without_markdown
from cuecard.core.predictions import Prediction, UnusablePrediction
from cuecard.core.tasks.models import Task, content_hash
from cuecard.core.text import content_words, coverage
from cuecard.core.verdicts import Decision, Item, ItemKind, Judgement, TableMatch, Verdict

if TYPE_CHECKING:
    from cuecard.core.config_players import LexicalJudgeConfig
    from cuecard.core.config_schema import Config
    from cuecard.core.llm.hub import ModelHub


_LONGEST_STATEMENT = 300
_MARKER = re.compile(
    r"(?:final answer|the answer|answer|in conclusion|therefore|thus|hence|最终答案|答案|因此|所以|综上)"
    r"\s*(?:is|are|:|：|为|是|,|，)*\s*",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[.!?](?=\s|$)|[。！？\n]+")
_TAKEN_BACK = re.compile(
    r"\s*(?:or\b|alternatively|otherwise|no\b|wait|actually|correction|rather|sorry|或|也可能|不对|更正|抱歉)",
    re.IGNORECASE,
)


def judge_answer(names: Sequence[str], answer: str, question: str = "") -> Verdict:
    """The verdict on `answer` against `names`, the gold answer and its aliases. Words of denial or rank that stand in
    `question` too (`Who came second?`) do not count against the answer.

    >>> judge_answer(["Delfo Cabrera"], "The answer is: Cabrera, Delfo.").decision
    <Decision.YES: 'yes'>
    """
    reason, right = _judge(tuple(names), answer, question)
    decision = Decision.YES if right else Decision.NO
    return Verdict(item=Item(kind=ItemKind.ANSWER), decision=decision, rationale=reason)


def _judge(names: tuple[str, ...], answer: str, question: str) -> tuple[str, bool]:
    if not answer.strip():
        return _("the answer is empty"), False
    text = without_markdown(answer).strip()
    statement = _statement(text)
    amounts = [q for name in names if (q := form(name).quantity) and q.known]
    bare = without_brackets(statement)
    for part in (answer, text, statement, bare, _first_sentence(statement)):
        similarity = best_similarity(names, part)
        if similarity and not _other_unit(amounts, part):
            return _similarity_reason(similarity.rule), True
    if len(statement) > _LONGEST_STATEMENT:
        return _("the answer is too long to find one statement in it"), False
    dates = dates_in(statement)
    gold_dates = [date for name in names if (date := moment_of(form(name)))]
    if dates and all(any(gold.covers(date) for gold in gold_dates) for date in dates):
        return _("the same date"), True
    if amounts:
        # After a marker (`the answer is`) the first sentence is the answer; the rest explains it.
        marked = statement != text
        claimed = _first_sentence(statement) if marked else statement
        spoken = tuple(name for name in names if not any(char.isdigit() for char in name))
        return judge_amount(amounts, claimed, spoken, question)
    return judge_mention(names, statement, question)


def _other_unit(gold: Sequence[Quantity], part: str) -> bool:
    """Whether `part` is an amount whose unit contradicts gold's: with the names `36 euros` and `36`, the bare alias
    does not stand for 36 dollars or 36 cents.
    """
    units = {amount.unit for amount in gold if amount.unit}
    found = form(part).quantity
    if not units or found is None or not found.unit:
        return False
    return found.unit not in units and not any(same_quantity(q, found) for q in gold if q.unit)


def _statement(text: str) -> str:
    """The line after the last marker of an answer (`_MARKER`); without a marker the whole text."""
    rest = text
    for match in _MARKER.finditer(text):
        rest = text[match.end() :].strip() or rest
    return rest if rest is text else rest.split("\n", 1)[0].strip()


def _first_sentence(statement: str) -> str:
    """The first sentence; the whole statement where a later sentence corrects it (`36. Wait, 38.`)."""
    parts = _SENTENCE.split(statement)
    first = next((place for place, part in enumerate(parts) if part.strip()), None)
    if first is None or any(_TAKEN_BACK.match(part) for part in parts[first + 1 :]):
        return statement
    return parts[first].strip()


def _similarity_reason(rule: Rule) -> str:
    match rule:
        case Rule.SAME:
            return _("the same answer")
        case Rule.VALUE:
            return _("the same amount")
        case Rule.DATE:
            return _("the same date")
        case Rule.WORDS:
            return _("the same words")
        case Rule.QUALIFIED:
            return _("the same answer with a qualifier")
        case Rule.SPELLING:
            return _("nearly the same spelling")


def reject(task: Task, prediction: Prediction) -> tuple[tuple[Verdict, ...], TableMatch | None]:
    """`no` for every gold item: the prediction is unusable, or of another kind than the task's family."""
    if isinstance(prediction, UnusablePrediction):
        reason = _("nothing usable was handed in: {reason}").format(reason=prediction.reason)
    else:
        reason = _("what was handed in is of another kind than this task's gold")
    return family_of(task).refuse(task.gold, reason)


def refuse_triples(graph: Graph, reason: str) -> tuple[Verdict, ...]:
    """`no` for every gold triple, for `reason`."""
    return tuple(
        Verdict(
            item=Item(kind=ItemKind.TRIPLE, index=index), decision=Decision.NO, rationale=reason
        )
        for index in range(len(graph.triples))
    )


LEXICAL_REF = PlayerRef(name="lexical", kind="lexical", baseline=True)


class LexicalJudge:
    """Matches names, amounts and dates by spelling and value. A baseline: synonyms that are no aliases do not match.

    Its other kinds go over its verdicts (`_bent`): `lexical:strict` takes the very letters of gold only,
    `lexical:lenient` half of its words, and `lexical:noisy` decides one item in twelve the other way, always the same.
    """

    def __init__(self, kind: str = LEXICAL_REF.kind) -> None:
        self._kind = kind

    @property
    def ref(self) -> PlayerRef:
        return PlayerRef(name=self._kind, kind=self._kind, baseline=True)

    async def judge(
        self, task: Task, prediction: Prediction, context: CallContext | None = None
    ) -> Judgement:
        """In a thread, since large graphs (350 triples) would hold up the screen."""
        return await asyncio.to_thread(self._judge, task, prediction)

    def _judge(self, task: Task, prediction: Prediction) -> Judgement:
        found = judge_lexically(task, prediction)
        if self._kind == LEXICAL_REF.kind:
            return found
        bent = tuple(_bent(self._kind, task, prediction, verdict) for verdict in found.verdicts)
        return found.model_copy(update={"judge": self.ref, "verdicts": bent})


_NOISE = 1 / 12
_HALF = 0.5


def _bent(kind: str, task: Task, prediction: Prediction, verdict: Verdict) -> Verdict:
    """The verdict of a worse kind of lexical judge. Without a line of the prediction to decide on, `no` stays."""
    lines, item = prediction.lines, verdict.item
    places = verdict.supporting
    if not places and item.kind is not ItemKind.CELL:
        places = range(len(lines))
    text = family_of(task).item(task, task.gold, item).text
    yes, other, why = verdict.decision is Decision.YES, None, ""
    if kind == "lexical:strict" and yes:
        same = any(text in (lines[at].strip(), *lines[at].split(" | ")) for at in places)
        other, why = None if same else (), _("not the very letters")
    elif kind == "lexical:lenient" and not yes:
        wanted = content_words(text)
        like = [at for at in places if coverage(wanted, content_words(lines[at])) >= _HALF]
        other, why = tuple(like[:1]) or None, _("half of the words are there")
    elif kind == "lexical:noisy" and places:
        dice = random.Random("/".join((task.id, item.key, *lines)))
        if dice.random() < _NOISE:
            other, why = (
                () if yes else (dice.choice(places),),
                _("decided the other way on purpose"),
            )
    if other is None:
        return verdict
    if item.kind is ItemKind.CELL:
        other = verdict.supporting
    decision = Decision.NO if yes else Decision.YES
    return Verdict(item=item, decision=decision, supporting=other, rationale=why)


def make_judge(
    _name: str, settings: LexicalJudgeConfig, _config: Config, _hub: ModelHub
) -> LexicalJudge:
    """The judge of this kind; there is nothing else to configure."""
    return LexicalJudge(settings.kind)


def judge_lexically(task: Task, prediction: Prediction) -> Judgement:
    """Judge every gold item of `task` against `prediction`.

    A prediction of another kind than the family's, or an unusable one, gets `no` for every item.
    """
    verdicts, table = _lexical_judge(task, prediction)
    return Judgement(
        judge=LEXICAL_REF, revision_hash=content_hash(task), verdicts=verdicts, table=table
    )


def _lexical_judge(
    task: Task, prediction: Prediction
) -> tuple[tuple[Verdict, ...], TableMatch | None]:
    judged = family_of(task).judge(task, task.gold, prediction)
    return reject(task, prediction) if judged is None else judged


def refuse_answer(reason: str) -> tuple[Verdict, ...]:
    """`no` for the final answer, for `reason`."""
    item = Item(kind=ItemKind.ANSWER)
    return (Verdict(item=item, decision=Decision.NO, rationale=reason),)
