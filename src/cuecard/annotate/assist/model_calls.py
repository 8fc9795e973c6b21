"""How drafts call their model: in parts that are counted and can be stopped, with answers checked and asked for again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from enum import StrEnum
from functools import partial
from typing import Any, TypeVar, cast

from pydantic import BaseModel, JsonValue

from cuecard.annotate.assist.proposals import Proposal, ProposalCost, ProposedItem
from cuecard.annotate.authoring import task_data
from cuecard.annotate.authoring.task_data import Path
from cuecard.core.agents.briefing import estimate
from cuecard.core.config import Prompt, find_prompt
from cuecard.core.config_schema import Config
from cuecard.core.engine.messages import ModelReply, Usage
from cuecard.core.engine.step_context import CallContext, FreshCalls
from cuecard.core.errors import Halt, ModelCallError
from cuecard.core.i18n import _, ngettext
from cuecard.core.llm import wire
from cuecard.core.llm.client import ChatClient
from cuecard.core.llm.structured import ask_structured
from cuecard.core.tasks.base import OriginKind
from cuecard.core.tasks.models import TaskLanguage
from cuecard.core.users.asking import once_more

Shape = TypeVar("Shape", bound=BaseModel)
Part = TypeVar("Part")
OnProgress = Callable[[int, int], None]
_AT_ONCE = 4
_MAX_RAW, _MAX_SHOWN = 20, 20_000


@dataclass
class _Meter:
    """A `CallContext` that collects all replies, those of its scopes included."""

    context: CallContext
    replies: list[ModelReply]

    async def call_model(
        self, model: str, perform: Callable[[], Awaitable[ModelReply]], *, prompt: str = ""
    ) -> ModelReply:
        reply = await self.context.call_model(model, perform, prompt=prompt)
        self.replies.append(reply)
        return reply

    def scope(self, name: str) -> _Meter:
        return _Meter(self.context.scope(name), self.replies)


@dataclass
class Helper:
    """The access of one draft to its model. `model`: the name in `config`; `told(done, all)` is called as parts are
    finished; `notes`: remarks for people. To be used on one event loop and for one proposal.
    """

    client: ChatClient
    model: str
    config: Config
    today: date
    context: CallContext = field(default_factory=FreshCalls)
    on_progress: OnProgress = lambda _done, _all: None
    notes: list[str] = field(default_factory=list[str])
    raw: list[str] = field(default_factory=list[str])
    """Replies that could not be parsed."""
    _replies: list[ModelReply] = field(default_factory=list[ModelReply])
    _stopped: asyncio.Event = field(default_factory=asyncio.Event)

    async def stop(self) -> None:
        """Stop the draft; the results of finished parts are kept."""
        self._stopped.set()

    def prompt(self, name: str, language: TaskLanguage) -> Prompt:
        """The prompt of this name in a language. Raises `ConfigError`."""
        return find_prompt(name, language, self.config, {})

    def room(self, share: float) -> int:
        """A share (0 to 1) of the model's context, in tokens."""
        return max(100, int(self.client.config.context * share))

    def fitting(self, lines: Sequence[str], share: float) -> int:
        """How many of the `lines`, from the first on, fit into a share (0 to 1) of the model's context."""
        left = self.room(share)
        for count, line in enumerate(lines):
            left -= estimate(line) + 8
            if left < 0:
                return count
        return len(lines)

    async def ask(
        self,
        text: str,
        shape: type[Shape],
        prompt: Prompt,
        language: TaskLanguage,
        *,
        scope: str = "",
        examine: Callable[[Shape], Sequence[str]] = lambda _value: (),
    ) -> Shape | None:
        """The model's answer to `text` parsed as `shape`; None if it could not be parsed, with the reply kept in `raw`.

        `examine` gives complaints about an answer, worded for the model in `language`. If there are any, it is asked
        once more, and the better answer counts. Raises `ModelCallError` and `Halt`.
        """
        messages = [wire.user(text)]
        context = _Meter(self.context, self._replies).scope(scope or "whole")
        first = await ask_structured(
            self.client, messages, shape, context, prompt=prompt, language=language
        )
        if first.value is None:
            if first.raw.strip():
                self.raw.append(first.raw[:_MAX_SHOWN])
            return None
        complaints = examine(first.value)
        if not complaints:
            return first.value
        messages += [
            wire.assistant(first.raw[:_MAX_SHOWN]),
            wire.user(once_more(language, complaints)),
        ]
        try:
            again = await ask_structured(
                self.client, messages, shape, context, prompt=prompt, language=language, attempts=1
            )
        except (ModelCallError, Halt):
            return first.value
        if again.value is None or len(examine(again.value)) > len(complaints):
            return first.value
        return again.value

    async def whole(
        self,
        text: str,
        shape: type[Shape],
        prompt: Prompt,
        language: TaskLanguage,
        examine: Callable[[Shape], Sequence[str]],
    ) -> Shape | None:
        """The same as the only part of a draft."""
        ask = partial(self.ask, text, shape, prompt, language, examine=examine)
        (found,) = await self.each([ask])
        return found

    async def each(
        self, parts: Sequence[Callable[[], Awaitable[Part]]], *, before: int = 0, after: int = 0
    ) -> list[Part | None]:
        """Run parts, a few at a time, and give their results; None for those that failed or were stopped, which the
        notes mention. `before`, `after`: how many other parts the draft has, for progress. Raises `ModelCallError` or
        `Halt` if all failed.
        """
        if self._stopped.is_set():
            return [None] * len(parts)
        total = before + len(parts) + after
        gate = asyncio.Semaphore(_AT_ONCE)
        done = 0

        async def run(part: Callable[[], Awaitable[Part]]) -> Part:
            nonlocal done
            async with gate:
                result = await part()
            done += 1
            self.on_progress(before + done, total)
            return result

        self.on_progress(before, total)
        tasks = [asyncio.ensure_future(run(part)) for part in parts]
        try:
            await self._finish(tasks)
        finally:
            for task in tasks:
                task.cancel()
            results = await asyncio.gather(*tasks, return_exceptions=True)
        return self._sorted_out(results)

    def proposal(
        self, kind: OriginKind, prompt: Prompt, items: Sequence[ProposedItem], **more: TaskLanguage
    ) -> Proposal:
        """The proposal with these items, and what the calls cost."""
        if items and self.raw:
            text = ngettext(
                "{n} answer of the model could not be read.",
                "{n} answers of the model could not be read.",
                len(self.raw),
            )
            self.notes.append(text.format(n=len(self.raw)))
        # Without a single item all that was said is worth a look.
        raw = self.raw if items else [r.text[:_MAX_SHOWN] for r in self._replies if r.text.strip()]
        costs = [reply.cost for reply in self._replies]
        known = [cost for cost in costs if cost is not None]
        return Proposal(
            kind=kind,
            model=self.model,
            prompt_hash=prompt.hash,
            items=tuple(items),
            notes=tuple(dict.fromkeys(self.notes)),
            raw=tuple(raw[-_MAX_RAW:]),
            spent=ProposalCost(
                calls=len(self._replies),
                usage=Usage.total(r.usage for r in self._replies),
                cost=sum(known) if known else None,
            ),
            at=datetime.now(UTC),
            **more,
        )

    async def _finish(self, tasks: Sequence[asyncio.Future[Part]]) -> None:
        stop = asyncio.ensure_future(self._stopped.wait())
        try:
            left: set[asyncio.Future[Part]] = set(tasks)
            while left and not stop.done():
                finished, _waiting = await asyncio.wait(
                    {*left, stop}, return_when=asyncio.FIRST_COMPLETED
                )
                left -= finished
        finally:
            stop.cancel()

    def _sorted_out(self, results: Sequence[Part | BaseException]) -> list[Part | None]:
        failed = [r for r in results if isinstance(r, ModelCallError | Halt)]
        for error in results:
            stopped = isinstance(error, asyncio.CancelledError)
            if isinstance(error, BaseException) and not stopped and error not in failed:
                raise error
        if failed and len(failed) == len(results):
            raise failed[0]
        had = sum(not isinstance(result, BaseException) for result in results)
        if failed:
            text = ngettext(
                "{n} part of {all} failed: {reason}",
                "{n} parts of {all} failed: {reason}",
                len(failed),
            )
            self.notes.append(text.format(n=len(failed), all=len(results), reason=failed[0]))
        if had + len(failed) < len(results):
            text = _("Stopped: {n} of {all} parts were done.")
            self.notes.append(text.format(n=had, all=len(results)))
        return [None if isinstance(result, BaseException) else result for result in results]


def language_of(data: Mapping[str, Any]) -> TaskLanguage:
    return "zh" if data.get("language") == "zh" else "en"


def other_language(language: TaskLanguage) -> TaskLanguage:
    return "en" if language == "zh" else "zh"


def text_at(data: Mapping[str, Any], *path: str) -> str:
    """The text at `path`; "" where none is."""
    value = _get(data, path)
    return value.strip() if isinstance(value, str) else ""


def dicts_at(data: Mapping[str, Any], *path: str) -> list[dict[str, Any]]:
    """The mappings in the list at `path`."""
    return [cast(dict[str, Any], v) for v in _list(data, path) if isinstance(v, dict)]


def texts_at(data: Mapping[str, Any], *path: str) -> list[str]:
    """The texts in the list at `path` that are not blank."""
    return [v for v in _list(data, path) if isinstance(v, str) and v.strip()]


def gold_item(
    data: Mapping[str, Any], field: str, label: str, after: JsonValue
) -> ProposedItem | None:
    """The proposal to set a field of gold; None where it says nothing, or nothing new. What the author has written is not
    overwritten unless they say so.
    """
    path = ("gold", field)
    before = cast(
        JsonValue, texts_at(data, *path) if isinstance(after, list) else text_at(data, *path)
    )
    if not after or after == before:
        return None
    return ProposedItem(
        id=field,
        label=label,
        place=f"gold.{field}",
        before=before,
        after=after,
        ticked=not before,
    )


def removals(data: Mapping[str, Any], *path: str, name: str, said: str) -> list[ProposedItem]:
    """The proposals to remove what is in the list at `path` and says anything in `said`; its field `name` is the label."""
    return [
        ProposedItem(
            id=f"old{number}",
            label=str(old.get(name) or number),
            place=".".join(path),
            deed="remove",
            before=old,
        )
        for number, old in enumerate(dicts_at(data, *path), start=1)
        if str(old.get(said) or "").strip()
    ]


def triples_of(data: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """The triples of a graph by node ids, in order, without incomplete ones."""
    return [named for _index, named in numbered_triples(data)]


def numbered_triples(data: Mapping[str, Any]) -> list[tuple[int, tuple[str, str, str]]]:
    """`triples_of` with each triple's place in the list."""
    found: list[tuple[int, tuple[str, str, str]]] = []
    for index, triple in enumerate(dicts_at(data, "gold", "triples")):
        head, relation, tail = (
            str(triple.get(part) or "") for part in ("head", "relation", "tail")
        )
        if head.strip() and relation.strip() and tail.strip():
            found.append((index, (head, relation, tail)))
    return found


def node_names(data: Mapping[str, Any]) -> dict[str, str]:
    """The names of the listed nodes, by id."""
    nodes = dicts_at(data, "gold", "nodes")
    return {str(n.get("id")): str(n.get("name") or n.get("id")) for n in nodes if n.get("id")}


def entities_of(data: Mapping[str, Any]) -> list[str]:
    """The ids of all entities of a graph, each once."""
    ids = dict.fromkeys(node_names(data))
    for head, _relation, tail in triples_of(data):
        ids.setdefault(head)
        ids.setdefault(tail)
    return list(ids)


def stages_of(data: Mapping[str, Any]) -> list[tuple[int, str, str]]:
    """(number, title, line) of the stages that have a line; numbers as triples count them."""
    return [
        (number, str(stage.get("title") or ""), str(stage.get("line") or ""))
        for number, stage in enumerate(dicts_at(data, "persona", "stages"), start=1)
        if str(stage.get("line") or "").strip()
    ]


def _list(data: Mapping[str, Any], path: Sequence[str]) -> list[object]:
    value = _get(data, path)
    return cast(list[object], value) if isinstance(value, list) else []


def _get(data: Mapping[str, Any], path: Sequence[str]) -> object:
    where: Path = tuple(path)
    try:
        return cast(object, task_data.get(data, where))
    except LookupError:
        return None


class Complaint(StrEnum):
    STAGES = "stages"
    SAME_CUE = "same_cue"
    NO_PERSON = "no_person"
    NO_AMBIGUITY = "no_ambiguity"
    CLUE = "clue"
    FINAL = "final"
    OPENING = "opening"
    GIVEN = "given"
    PAST = "past"
    DERIVATION = "derivation"
    NO_ANSWER = "no_answer"
    CHANGED = "changed"
    LEFT_OUT = "left_out"


_EN = {
    Complaint.STAGES: "There would be {count} stages in all; there must be from {least} to {most}.",
    Complaint.SAME_CUE: "Several stages have the same cue: {found}.",
    Complaint.NO_PERSON: "The identity or the initial query is missing.",
    Complaint.NO_AMBIGUITY: "No step is ambiguous with logic, clue and at least two candidates.",
    Complaint.CLUE: "A clue names the target or is missing: {found}.",
    Complaint.FINAL: "The final answer is missing, or is not the target of the last step.",
    Complaint.OPENING: "The opening is missing, or names a target.",
    Complaint.GIVEN: "The answer is the value of a fact: {found}. It must follow from several facts.",
    Complaint.PAST: "No fact has a date after {today}.",
    Complaint.DERIVATION: "The derivation is missing, or does not use the values of the facts.",
    Complaint.NO_ANSWER: "The question or its answer is missing.",
    Complaint.CHANGED: "Numbers or addresses were changed or left out in: {found}.",
    Complaint.LEFT_OUT: "These texts are missing: {found}.",
}
_ZH = {
    Complaint.STAGES: "总共会有 {count} 个阶段；必须是 {least} 到 {most} 个。",
    Complaint.SAME_CUE: "有几个阶段的触发条件相同：{found}。",
    Complaint.NO_PERSON: "缺少人物身份或第一句话。",
    Complaint.NO_AMBIGUITY: "没有一个步骤是有歧义的（要有 logic、clue 和至少两个候选）。",
    Complaint.CLUE: "有线索说出了 target，或者缺少线索：{found}。",
    Complaint.FINAL: "缺少最终答案，或者它不是最后一步的 target。",
    Complaint.OPENING: "缺少 opening，或者其中出现了 target。",
    Complaint.GIVEN: "答案就是某条事实的值：{found}。它必须由几条事实推出。",
    Complaint.PAST: "没有一条事实的日期在 {today} 之后。",
    Complaint.DERIVATION: "缺少推导过程，或者其中没有用到事实的值。",
    Complaint.NO_ANSWER: "缺少问题或答案。",
    Complaint.CHANGED: "这些文本中的数字或网址被改动或遗漏：{found}。",
    Complaint.LEFT_OUT: "缺少这些文本：{found}。",
}
_WORDS = {"en": _EN, "zh": _ZH}


def complain(language: TaskLanguage, what: Complaint, **found: object) -> str:
    return _WORDS[language][what].format(**found)
