"""Asks a judging model about items in batches: the material it is shown, the shapes of its answers, and retries.

The docstrings of the shapes are part of their JSON schema, which is sent to the model: changing them changes what it reads.
"""

import asyncio
import json
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Generic, Literal, Protocol, Self, TypeVar, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, OnErrorOmit, model_validator

from cuecard.core.config import Prompt
from cuecard.core.engine.step_context import CallContext
from cuecard.core.errors import ModelCallError
from cuecard.core.i18n import _
from cuecard.core.llm import wire
from cuecard.core.llm.client import ChatClient
from cuecard.core.llm.structured import ask_structured
from cuecard.core.tasks.models import Task, TaskLanguage
from cuecard.core.text import content_words, storable
from cuecard.core.verdicts import Verdict

T = TypeVar("T")
_YES = frozenset(("yes", "y", "true", "1", "是", "covered"))
_NO = frozenset(("no", "n", "false", "0", "否", "not covered"))


def _yes_or_no(value: object) -> object:
    word = str(value).strip().casefold()
    return "yes" if word in _YES else "no" if word in _NO else value


def _indices(value: object) -> object:
    if value is None:
        return []
    return cast(object, value) if isinstance(value, list) else [value]


def _kind(value: object) -> object:
    word = str(value).strip().casefold()
    return word if word in ("direct", "subsumed", "collective", "composed") else "none"


def _nothing(value: object) -> object:
    blank = isinstance(value, str) and value.strip().casefold() in ("", "null", "none", "-")
    return None if blank or value == -1 else value


YesNo = Annotated[Literal["yes", "no"], BeforeValidator(_yes_or_no)]
Kind = Annotated[
    Literal["direct", "subsumed", "collective", "composed", "none"], BeforeValidator(_kind)
]
Indices = Annotated[list[OnErrorOmit[int]], BeforeValidator(_indices)]
MaybeIndex = Annotated[int | None, BeforeValidator(_nothing)]


def all_required(schema: dict[str, Any]) -> None:
    """Makes all properties required, so that a server that enforces the schema makes the model give its reason."""
    schema["required"] = list(schema["properties"])


class Entry(BaseModel):
    """The answer on one item."""

    model_config = ConfigDict(json_schema_extra=all_required)

    index: int
    reason: str = ""

    @property
    def verdict_key(self) -> object:
        """The decision without its reason: two answers on one item that differ in it contradict each other."""
        raise NotImplementedError


class CoverageEntry(Entry):
    covered: YesNo
    kind: Kind = "none"
    supporting: Indices = []

    @property
    def verdict_key(self) -> object:
        return self.covered


class PartnerEntry(Entry):
    """`partner`: the index of what belongs to the item, or None where nothing does."""

    partner: MaybeIndex

    @property
    def verdict_key(self) -> object:
        return self.partner


class CellEntry(Entry):
    score: Annotated[int, Field(ge=0, le=1)]

    @property
    def verdict_key(self) -> object:
        return self.score


EntryT = TypeVar("EntryT", bound=Entry)


class Entries(BaseModel, Generic[EntryT]):
    """The answers on several items. One that is unusable spoils none of the others."""

    verdicts: list[OnErrorOmit[EntryT]]

    @model_validator(mode="before")
    @classmethod
    def _gathered(cls, data: object) -> object:
        # Some models leave the outer object out, or write one per item.
        if isinstance(data, dict) and "verdicts" not in data and "index" not in data:
            return cast(object, data)  # of another shape: validation refuses it
        return {"verdicts": _entries(cast(object, data))}

    @model_validator(mode="after")
    def _something(self) -> Self:
        # Otherwise any list in the model's prose would be read as an answer.
        if not self.verdicts:
            raise ValueError("no verdicts")
        return self


class Coverage(Entries[CoverageEntry]):
    pass


class Partners(Entries[PartnerEntry]):
    pass


class Cells(Entries[CellEntry]):
    pass


class Equivalence(BaseModel):
    """Whether an answer says what gold says."""

    model_config = ConfigDict(json_schema_extra=all_required)

    reason: str = ""
    equivalent: Annotated[bool, BeforeValidator(lambda v: {"是": True, "否": False}.get(str(v), v))]


def _entries(data: object) -> list[object]:
    if isinstance(data, list):
        return [entry for part in cast(list[object], data) for entry in _entries(part)]
    if isinstance(data, dict) and "verdicts" in data:
        return _entries(cast(dict[str, object], data)["verdicts"])
    return [data]


class Complaint(StrEnum):
    """What is wrong with the model's answer on an item, which it is told when it is asked again."""

    UNREADABLE = "unreadable"
    MISSING = "missing"
    CONTRADICTORY = "contradictory"
    UNSUPPORTED = "unsupported"
    NO_SUCH_INDEX = "no_such_index"


_WORDS: dict[TaskLanguage, dict[Complaint, str]] = {
    "en": {
        Complaint.UNREADABLE: "Your last answer could not be read. Reply with the JSON object alone.",
        Complaint.MISSING: "Your last answer left these out: {indices}.",
        Complaint.CONTRADICTORY: "Your last answer decided twice and differently on: {indices}.",
        Complaint.UNSUPPORTED: "A covered item must name at least one index out of `predicted` that "
        "covers it; otherwise it is not covered. This was not so for: {indices}.",
        Complaint.NO_SUCH_INDEX: "`partner` must be an index that stands in the list, or null. This was "
        "not so for: {indices}.",
    },
    "zh": {
        Complaint.UNREADABLE: "上一次的回复无法读取。请只回复 JSON 对象。",
        Complaint.MISSING: "上一次的回复漏掉了：{indices}。",
        Complaint.CONTRADICTORY: "上一次的回复对以下条目给出了两个不同的结论：{indices}。",
        Complaint.UNSUPPORTED: "判为覆盖的条目必须至少写出 `predicted` 中一个确实覆盖它的序号，"
        "否则就不算覆盖。以下条目不符合：{indices}。",
        Complaint.NO_SUCH_INDEX: "`partner` 必须是列表中存在的序号或 null。以下条目不符合：{indices}。",
    },
}


def words(language: TaskLanguage, complaint: Complaint, indices: Iterable[int] = ()) -> str:
    """The complaint as a sentence to the model, naming the items with these indices."""
    return _WORDS[language][complaint].format(indices=listed(indices))


def listed(indices: Iterable[int]) -> str:
    return ", ".join(map(str, indices))


# Escaped, these cannot close the block of the prompt that holds the material, or reorder its text.
_ESCAPED = str.maketrans(
    {char: f"\\u{ord(char):04x}" for char in "<>`&\u0085\u2028\u2029\u202e\u202d\u2066\u2067\u2068"}
)

Line = Sequence[object]
"""One item as JSON: its index first."""


def quoted(value: object) -> str:
    """`value` as JSON on one line, with characters escaped that could end the prompt's block or a code fence."""
    text = json.dumps(value, ensure_ascii=False)
    return storable(text).translate(_ESCAPED)


def block(parts: Mapping[str, object]) -> str:
    """A JSON object with the parts in their order; each element of a list stands on a line of its own."""
    return "{" + ",\n".join(f"{quoted(name)}: {_part(part)}" for name, part in parts.items()) + "}"


def _part(part: object) -> str:
    if not isinstance(part, list):
        return quoted(part)
    lines = [quoted(line) for line in cast(list[object], part)]
    return "[\n" + ",\n".join(lines) + "\n]" if lines else "[]"


def likely(items: Sequence[str], wanted: Sequence[str], limit: int) -> list[int]:
    """Indices, ascending, of at most `limit` of `items`: all of them, or those that share most words with any of
    `wanted`, taken in turn from the best of each.
    """
    if len(items) <= limit:
        return list(range(len(items)))
    from rapidfuzz import fuzz, process

    words = [" ".join(content_words(item)) for item in items]
    ranked = [
        [
            index
            for _text, _score, index in process.extract(
                " ".join(content_words(text)), words, scorer=fuzz.token_set_ratio, limit=limit
            )
        ]
        for text in wanted
    ]
    chosen: set[int] = set()
    for rank in range(limit):
        for order in ranked:
            if rank < len(order) and len(chosen) < limit:
                chosen.add(order[rank])
    return sorted(chosen)


@dataclass(frozen=True)
class Asking:
    """Which model is asked and how: `batch` items in a call, each batch up to `attempts` times."""

    client: ChatClient
    prompt: Prompt
    language: TaskLanguage
    batch: int
    attempts: int


class ModelAsks(Protocol):
    """A judge that asks a model, as a family uses it."""

    def asking(self, name: str, task: Task) -> Asking:
        """The settings for asking with the prompt `name`, one of the family's `judge_prompts`."""
        ...

    async def answer(
        self, task: Task, names: Sequence[str], answer: str, context: CallContext
    ) -> Verdict:
        """The verdict on a final answer; `names` are the gold answer and its aliases. Raises `ModelCallError`, `Halt`."""
        ...


@dataclass(frozen=True)
class Questions(Generic[EntryT]):
    """What is asked: `items` by index, which the prompt shows under `title`, after what `context` gives for a batch of
    them. `accept` returns what is wrong with an answer of the right shape, or None.
    """

    shape: type[Entries[EntryT]]
    title: str
    items: Mapping[int, Line]
    context: Callable[[Sequence[int]], Mapping[str, object]]
    accept: Callable[[EntryT, Sequence[int]], Complaint | None] = lambda _entry, _batch: None


@dataclass(frozen=True)
class Answers(Generic[EntryT]):
    """`found`: the answers by the item's index. `problems`: for all other items, why there is no answer."""

    found: dict[int, EntryT]
    problems: dict[int, str]


async def ask_all(
    asking: Asking, questions: Questions[EntryT], step_context: CallContext
) -> Answers[EntryT]:
    """Ask about all items, the batches concurrently. Items whose answer is missing or wrong are asked for again,
    without the others, up to `attempts` times.

    The items of a batch whose call fails are in `problems`. Raises the first `ModelCallError` if all batches failed,
    and `Halt`, after the other calls under way are done.
    """
    indices = list(questions.items)
    batches = [indices[i : i + asking.batch] for i in range(0, len(indices), asking.batch)]
    results = await all_of(
        _ask_batch(asking, questions, batch, step_context.scope(f"batch/{number}"))
        for number, batch in enumerate(batches)
    )
    found: dict[int, EntryT] = {}
    problems: dict[int, str] = {}
    for batch, result in zip(batches, results, strict=True):
        reason = _("no usable answer of the model")
        if isinstance(result, ModelCallError):
            reason = _("the call failed: {reason}").format(reason=result)
        else:
            found.update(result)
        problems.update((index, reason) for index in batch if index not in found)
    return Answers(found, problems)


async def all_of(calls: Iterable[Awaitable[T]]) -> list[T | ModelCallError]:
    """What the calls give, in their order: a result, or why there is none. Raises the first `ModelCallError` if all failed,
    and `Halt`, after the other calls under way are done.
    """
    found: list[T | ModelCallError] = []
    for result in await asyncio.gather(*calls, return_exceptions=True):
        if isinstance(result, BaseException) and not isinstance(result, ModelCallError):
            raise result
        found.append(result)
    failed = [result for result in found if isinstance(result, ModelCallError)]
    if failed and len(failed) == len(found):
        raise failed[0]
    return found


async def _ask_batch(
    asking: Asking, questions: Questions[EntryT], batch: Sequence[int], step_context: CallContext
) -> dict[int, EntryT]:
    found: dict[int, EntryT] = {}
    left, note = list(batch), ""
    # The same text in all attempts, for servers that cache prompts.
    context = await asyncio.to_thread(questions.context, batch)
    for _attempt in range(asking.attempts):
        material = block({**context, questions.title: [questions.items[i] for i in left]})
        text = asking.prompt.render(material=material, indices=listed(left), note=note)
        asked = await ask_structured(
            asking.client,
            [wire.user(text)],
            questions.shape,
            step_context,
            prompt=asking.prompt,
            language=asking.language,
            attempts=1,
        )
        if asked.value is None:
            note = words(asking.language, Complaint.UNREADABLE)
            continue
        entries = asked.value.verdicts[: -1 if _cut_off(asked.raw) else None]
        complaints = _sift(questions, entries, batch, left, found)
        left = [index for index in left if index not in found]
        if not left:
            break
        note = "\n".join(words(asking.language, what, which) for what, which in complaints.items())
    return found


def _sift(
    questions: Questions[EntryT],
    entries: Sequence[EntryT],
    batch: Sequence[int],
    left: Sequence[int],
    found: dict[int, EntryT],
) -> dict[Complaint, list[int]]:
    """Put acceptable answers into `found`; returns what is wrong with the others, as indices by complaint."""
    by_index: dict[int, list[EntryT]] = defaultdict(list)
    for entry in entries:
        by_index[entry.index].append(entry)
    complaints: dict[Complaint, list[int]] = defaultdict(list)
    for index in left:
        same = by_index.get(index, [])
        if not same:
            complaints[Complaint.MISSING].append(index)
        elif len({entry.verdict_key for entry in same}) > 1:
            complaints[Complaint.CONTRADICTORY].append(index)
        elif complaint := questions.accept(same[0], batch):
            complaints[complaint].append(index)
        else:
            found[index] = same[0]
    return complaints


def _cut_off(raw: str) -> bool:
    """Whether the JSON in the model's text is cut off. The last entry, as repaired, may then say something else than
    the model meant.
    """
    depth, within, escaped = 0, False, False
    for char in raw:
        if escaped:
            escaped = False
        elif within:
            escaped = char == "\\"
            within = char != '"'
        elif char == '"':
            within = depth > 0
        elif char in "{[":
            depth += 1
        elif char in "}]":
            depth -= 1
    return depth > 0
