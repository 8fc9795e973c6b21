"""Many questions to a model in batches, with exactly one answer to each or a reason why there is none."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic

from cuecard.core.errors import ModelCallError
from cuecard.core.i18n import _
from cuecard.core.judges.material import Line, block
from cuecard.core.judges.model_shapes import Entries, EntryT
from cuecard.core.judges.model_words import Complaint, listed, words
from cuecard.core.llm import wire
from cuecard.core.llm.client import ChatClient
from cuecard.core.llm.structured import ask_structured
from cuecard.core.parts import CallDesk
from cuecard.core.prompts import Prompt
from cuecard.core.tasks import TaskLanguage


@dataclass(frozen=True)
class Asking:
    """Who is asked and how: `batch` items at once, each batch up to `attempts` times."""

    client: ChatClient
    prompt: Prompt
    language: TaskLanguage
    batch: int
    attempts: int


@dataclass(frozen=True)
class Questions(Generic[EntryT]):
    """`items` by index, shown under `title` after what `context` gives for a batch of them. `accept`
    says what is wrong with an answer of the right shape.
    """

    shape: type[Entries[EntryT]]
    title: str
    items: Mapping[int, Line]
    context: Callable[[Sequence[int]], Mapping[str, object]]
    accept: Callable[[EntryT, Sequence[int]], Complaint | None] = lambda _entry, _batch: None


@dataclass(frozen=True)
class Answers(Generic[EntryT]):
    """`found`: the answers by index. `problems`: why there is none, for all other items."""

    found: dict[int, EntryT]
    problems: dict[int, str]


async def ask_all(asking: Asking, questions: Questions[EntryT], desk: CallDesk) -> Answers[EntryT]:
    """Ask all batches at the same time. Items that an answer left out are asked for again, alone.

    A batch whose call fails leaves its items without an answer; where every call failed, raises that
    `ModelCallError`. Raises `Halt`, after the other calls under way are done.
    """
    indices = list(questions.items)
    batches = [indices[i : i + asking.batch] for i in range(0, len(indices), asking.batch)]
    results = await asyncio.gather(
        *(
            _ask_batch(asking, questions, batch, desk.scope(f"batch/{number}"))
            for number, batch in enumerate(batches)
        ),
        return_exceptions=True,
    )
    failed = [result for result in results if isinstance(result, BaseException)]
    for error in failed:
        if not isinstance(error, ModelCallError):
            raise error
    if failed and len(failed) == len(batches):
        raise failed[0]
    found: dict[int, EntryT] = {}
    problems: dict[int, str] = {}
    for batch, result in zip(batches, results, strict=True):
        reason = _("no usable answer of the model")
        if isinstance(result, BaseException):
            reason = _("the call failed: {reason}").format(reason=result)
        else:
            found.update(result)
        problems.update((index, reason) for index in batch if index not in found)
    return Answers(found, problems)


async def _ask_batch(
    asking: Asking, questions: Questions[EntryT], batch: Sequence[int], desk: CallDesk
) -> dict[int, EntryT]:
    found: dict[int, EntryT] = {}
    left, note = list(batch), ""
    # The same for all attempts, so that servers which cache prompts read it once.
    context = await asyncio.to_thread(questions.context, batch)
    for _attempt in range(asking.attempts):
        material = block({**context, questions.title: [questions.items[i] for i in left]})
        text = asking.prompt.render(material=material, indices=listed(left), note=note)
        asked = await ask_structured(
            asking.client,
            [wire.user(text)],
            questions.shape,
            desk,
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
    """Put what can be accepted into `found`, and tell what is wrong with the rest."""
    by_index: dict[int, list[EntryT]] = defaultdict(list)
    for entry in entries:
        by_index[entry.index].append(entry)
    complaints: dict[Complaint, list[int]] = defaultdict(list)
    for index in left:
        same = by_index.get(index, [])
        if not same:
            complaints[Complaint.MISSING].append(index)
        elif len({entry.stance for entry in same}) > 1:
            complaints[Complaint.CONTRADICTORY].append(index)
        elif complaint := questions.accept(same[0], batch):
            complaints[complaint].append(index)
        else:
            found[index] = same[0]
    return complaints


def _cut_off(raw: str) -> bool:
    """Whether the JSON in a model's words stops before its end: a repaired last entry may then say
    something else than the model was about to.
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
