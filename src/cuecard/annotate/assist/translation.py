"""Drafting the translation of a task as a new task: first all names, each once, then the texts that contain them."""

import asyncio
import copy
import re
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from cuecard.annotate.assist.model_calls import (
    Complaint,
    Helper,
    complain,
    dicts_at,
    language_of,
    other_language,
)
from cuecard.annotate.assist.proposals import Proposal, ProposedItem
from cuecard.annotate.assist.replies import DraftTexts
from cuecard.annotate.authoring import task_data
from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.task_data import Path, parse_place
from cuecard.core.agents.briefing import estimate
from cuecard.core.config import Prompt
from cuecard.core.errors import Halt, ModelCallError
from cuecard.core.i18n import _, listed, ngettext
from cuecard.core.judges.model_asking import block
from cuecard.core.tasks.models import TaskLanguage
from cuecard.core.text import contains_term, is_cjk, normalise
from cuecard.core.validation import format_place

Space = Literal["nodes", "columns", "keys"]
_URL = re.compile(r"https?://[^\s，。；、）)”\"]+")
_LETTER = re.compile(r"[^\W\d_]")
_PERSONA = ("identity", "initial_query", "behaviour")
_STAGE = (("title",), ("cue", "text"), ("line",), ("not_met",))
_GOLD_TEXTS = ("opening", "derivation")
_GOLD_NAMES = ("final_answer", "answer")
_GOLD_LISTS = ("final_aliases", "answer_aliases", "forbidden")


@dataclass(frozen=True)
class Slot:
    """A text of the task at its path. Names in one `space` must remain different from each other. `kept`: it is not
    translated, but belongs to its space.
    """

    path: Path
    text: str
    name: bool
    space: Space | None = None
    kept: bool = False


def slots_of(data: Mapping[str, Any], target: TaskLanguage) -> list[Slot]:
    """All places whose text is to be translated into `target`, in order. Left out: ids of nodes that have a name,
    addresses, quotations from sources, bare numbers.
    """
    return [s for s in _all(data) if not s.kept and _translatable(s.text, target)]


def numbers_in(text: str) -> list[str]:
    """The numbers and addresses that a translation must keep. A number before 月 (a month in Chinese) does not count."""
    urls = _URL.findall(text)
    plain = re.sub(r"(?<=\d)[,，](?=\d{3})", "", _URL.sub(" ", text))
    return [*urls, *re.findall(r"\d+(?:\.\d+)?(?!\s*月)", plain)]


def replaced(
    data: Mapping[str, Any],
    target: TaskLanguage,
    texts: Mapping[Path, str],
    names: Mapping[str, str],
) -> dict[str, Any]:
    """The data with `texts` by path, and with `names` replaced everywhere. A name is left as it is if its translation
    would equal another name of its space.
    """
    slots = slots_of(data, target)
    called = _apart(list(_all(data)), names)
    new = copy.deepcopy(dict(data))
    for slot in slots:
        text = called.get(slot.text) if slot.name else texts.get(slot.path)
        if text:
            parent = task_data.get(new, slot.path[:-1])
            parent[slot.path[-1]] = text
    return new


def _apart(slots: list[Slot], names: Mapping[str, str]) -> dict[str, str]:
    """The names without those whose translations would become equal within a space."""
    called = dict(names)
    spaces: dict[Space, dict[str, bool]] = defaultdict(dict)
    for slot in slots:
        if slot.space:
            spaces[slot.space][slot.text] = slot.kept
    while clashing := [text for space in spaces.values() for text in _clashes(space, called)]:
        for text in clashing:
            called.pop(text, None)
    return called


def _clashes(space: Mapping[str, bool], called: Mapping[str, str]) -> list[str]:
    """The texts whose new name is another's too; where all of them are new, one may have it."""
    by_name: dict[str, list[str]] = defaultdict(list)
    for text, kept in space.items():
        by_name[(text if kept else called.get(text, text)).strip()].append(text)
    found: list[str] = []
    for name, same in by_name.items():
        renamed = [text for text in same if not space[text] and text.strip() != name]
        found += renamed[1:] if len(renamed) == len(same) else renamed
    return found


def _translatable(text: str, target: TaskLanguage) -> bool:
    if not _LETTER.search(_URL.sub("", text)):
        return False
    return not is_cjk(text) if target == "zh" else is_cjk(text)


def _all(data: Mapping[str, Any]) -> Iterator[Slot]:
    for key in ("title", "domain", "query"):
        yield from _text(data, (key,))
    yield from _list(data, ("sub_queries",), name=False)
    yield from _text(data, ("persona", "name"), name=True)
    for key in _PERSONA:
        yield from _text(data, ("persona", key))
    for index in range(len(dicts_at(data, "persona", "stages"))):
        here: Path = ("persona", "stages", index)
        for path in _STAGE:
            yield from _text(data, (*here, *path))
        yield from _list(data, (*here, "cue", "terms"))
    yield from _gold(data)
    for index in range(len(dicts_at(data, "sources"))):
        yield from _text(data, ("sources", index, "note"))
    yield from _text(data, ("notes",))


def _gold(data: Mapping[str, Any]) -> Iterator[Slot]:
    for key in _GOLD_TEXTS:
        yield from _text(data, ("gold", key))
    yield from _graph(data)
    for index in range(len(dicts_at(data, "gold", "columns"))):
        yield from _text(data, ("gold", "columns", index, "name"), name=True, space="columns")
        yield from _text(data, ("gold", "columns", index, "criterion"))
    yield from _list(data, ("gold", "unique_columns"))
    for index in range(len(_items(data, ("gold", "rows")))):
        yield from _list(data, ("gold", "rows", index))
    for index, step in enumerate(dicts_at(data, "gold", "steps")):
        here: Path = ("gold", "steps", index)
        yield from _text(data, (*here, "question"))
        yield from _text(data, (*here, "target"), name=True)
        yield from _list(data, (*here, "aliases"))
        if isinstance(step.get("ambiguity"), dict):
            for key in ("logic", "clue"):
                yield from _text(data, (*here, "ambiguity", key))
            for key in ("candidates", "terms"):
                yield from _list(data, (*here, "ambiguity", key))
    for index in range(len(dicts_at(data, "gold", "facts"))):
        here = ("gold", "facts", index)
        yield from _text(data, (*here, "key"), name=True, space="keys")
        for key in ("value", "entity", "attribute", "unit"):
            yield from _text(data, (*here, key), name=True)
        yield from _list(data, (*here, "aliases"))
    for key in _GOLD_NAMES:
        yield from _text(data, ("gold", key), name=True)
    for key in _GOLD_LISTS:
        yield from _list(data, ("gold", key))


def _graph(data: Mapping[str, Any]) -> Iterator[Slot]:
    named: set[object] = set()
    for index, node in enumerate(dicts_at(data, "gold", "nodes")):
        here: Path = ("gold", "nodes", index)
        if str(node.get("name") or "").strip():
            named.add(node.get("id"))
            yield Slot((*here, "id"), str(node.get("id")), name=True, space="nodes", kept=True)
            yield from _text(data, (*here, "name"), name=True)
        else:
            yield from _text(data, (*here, "id"), name=True, space="nodes")
        yield from _list(data, (*here, "aliases"))
    for index, triple in enumerate(dicts_at(data, "gold", "triples")):
        here = ("gold", "triples", index)
        for end in ("head", "tail"):
            if triple.get(end) not in named:
                yield from _text(data, (*here, end), name=True, space="nodes")
        yield from _text(data, (*here, "relation"), name=True)


def _text(
    data: Mapping[str, Any], path: Path, *, name: bool = False, space: Space | None = None
) -> Iterator[Slot]:
    value = _value(data, path)
    if isinstance(value, str) and value.strip():
        yield Slot(path, value, name, space)


def _list(data: Mapping[str, Any], path: Path, *, name: bool = True) -> Iterator[Slot]:
    for index in range(len(_items(data, path))):
        yield from _text(data, (*path, index), name=name)


def _items(data: Mapping[str, Any], path: Path) -> list[object]:
    value = _value(data, path)
    return cast(list[object], value) if isinstance(value, list) else []


def _value(data: Mapping[str, Any], path: Path) -> object:
    try:
        return cast(object, task_data.get(data, path))
    except LookupError:
        return None


PROMPT = "author_translation"
_BATCH_TOKENS, _BATCH_TEXTS = 600, 30
_MOST_NAMES = 60


async def draft_translation(data: Mapping[str, Any], helper: Helper) -> Proposal:
    """A proposal of a translation into the language that the task is not in. Raises `ConfigError`, `ModelCallError` and
    `Halt`.
    """
    target = other_language(language_of(data))
    prompt = helper.prompt(PROMPT, target)
    slots = slots_of(data, target)
    names = list(dict.fromkeys(slot.text for slot in slots if slot.name))
    texts = [slot for slot in slots if not slot.name]
    size = min(_BATCH_TOKENS, helper.room(0.1))
    name_batches = _batches(names, size)
    text_batches = _batches([slot.text for slot in texts], size)
    job = _Job(helper, prompt, target)
    after = len(text_batches)
    called = await job.all(names, name_batches, {}, "names", after=after)
    called = {name: new for name, new in called.items() if new != name}
    written: dict[str, str] = {}
    try:
        written = await job.all(
            [slot.text for slot in texts], text_batches, called, "texts", before=len(name_batches)
        )
    except (ModelCallError, Halt) as error:
        if not called:
            raise
        helper.notes.append(str(error))
    items = [
        *await asyncio.to_thread(_name_items, slots, called),
        *await asyncio.to_thread(_text_items, texts, written, called, target),
    ]
    if missing := sum(text not in written for text in {slot.text for slot in texts}):
        text = ngettext(
            "{n} text was not translated and stays as it is.",
            "{n} texts were not translated and stay as they are.",
            missing,
        )
        helper.notes.append(text.format(n=missing))
    return helper.proposal("translation", prompt, items, language=target)


def translated(
    data: Mapping[str, Any], proposal: Proposal, accepted: Collection[str], task_id: str
) -> dict[str, Any]:
    """The data of the new task with the accepted items; the rest is copied from `data`, without silences and another
    benchmark's extra fields, which concern the original words.
    """
    items = [item for item in proposal.items if item.id in accepted]
    edit = TaskEdit(data)
    # What has been rewritten since is not the text that was translated.
    texts: dict[Path, str] = {
        path: str(item.after)
        for item in items
        if item.deed == "set" and edit.get(path := parse_place(item.place)) == item.before
    }
    names = {str(item.before): str(item.after) for item in items if item.deed == "name"}
    target = proposal.language or other_language(language_of(data))
    new = replaced(data, target, texts, names)
    return {**new, "id": task_id, "language": target, "silenced": [], "foreign": None}


def translated_id(task_id: str, target: TaskLanguage) -> str:
    """An id for the translation: `espresso` as `espresso-zh`, `espresso-zh` as `espresso-en`."""
    for ending in ("-en", "-zh"):
        task_id = task_id.removesuffix(ending)
    return f"{task_id[:117]}-{target}"


class _Job:
    def __init__(self, helper: Helper, prompt: Prompt, target: TaskLanguage) -> None:
        self._helper, self._prompt = helper, prompt
        self._target: TaskLanguage = target

    async def all(
        self,
        texts: Sequence[str],
        batches: Sequence[Sequence[int]],
        names: Mapping[str, str],
        scope: str,
        **around: int,
    ) -> dict[str, str]:
        """What became of each text that was translated."""

        def asking(number: int, batch: Sequence[int]) -> Callable[[], Awaitable[dict[int, str]]]:
            return lambda: self._ask(texts, batch, names, f"{scope}/{number}")

        parts = [asking(number, batch) for number, batch in enumerate(batches)]
        if not parts:
            return {}
        found = await self._helper.each(parts, **around)
        return {texts[i]: new for part in found if part for i, new in part.items()}

    async def _ask(
        self, texts: Sequence[str], batch: Sequence[int], names: Mapping[str, str], scope: str
    ) -> dict[int, str]:
        lines = [[number, texts[index]] for number, index in enumerate(batch, start=1)]
        used = await asyncio.to_thread(_used, [texts[i] for i in batch], names)
        text = self._prompt.render(material=block({"names": used, "texts": lines}))

        def examine(draft: DraftTexts) -> list[str]:
            return _complaints(draft, [texts[i] for i in batch], self._target)

        draft = await self._helper.ask(
            text, DraftTexts, self._prompt, self._target, scope=scope, examine=examine
        )
        if draft is None:
            return {}
        found = _by_number(draft)
        return {index: found[n] for n, index in enumerate(batch, start=1) if n in found}


def _by_number(draft: DraftTexts) -> dict[int, str]:
    return {entry.index: entry.text for entry in reversed(draft.texts) if entry.index is not None}


def _complaints(draft: DraftTexts, texts: Sequence[str], target: TaskLanguage) -> list[str]:
    found = _by_number(draft)
    complaints: list[str] = []
    numbers = range(1, len(texts) + 1)
    if missing := [str(n) for n in numbers if n not in found]:
        complaints.append(complain(target, Complaint.LEFT_OUT, found=", ".join(missing)))
    changed = [str(n) for n in numbers if n in found and _lost(texts[n - 1], found[n])]
    if changed:
        complaints.append(complain(target, Complaint.CHANGED, found=", ".join(changed)))
    return complaints


def _batches(texts: Sequence[str], tokens: int) -> list[list[int]]:
    """Indices in batches of about so many tokens."""
    found: list[list[int]] = []
    used = 0
    for index, text in enumerate(texts):
        size = estimate(text) + 8
        if not found or used + size > tokens or len(found[-1]) == _BATCH_TEXTS:
            found.append([])
            used = 0
        found[-1].append(index)
        used += size
    return found


def _used(texts: Sequence[str], names: Mapping[str, str]) -> dict[str, str]:
    """The names that occur in these texts, with their translations."""
    whole = normalise("\n".join(texts))
    likely = [name for name in names if normalise(name) in whole]
    return {name: names[name] for name in likely[:_MOST_NAMES]}


def _lost(before: str, after: str) -> list[str]:
    """The numbers and addresses of `before` that `after` lacks."""
    there = numbers_in(after)
    return [number for number in numbers_in(before) if number not in there]


def _lost_words(before: str, after: str) -> list[str]:
    lost = _lost(before, after)
    return [_("left out or changed: {found}").format(found=listed(lost))] if lost else []


def _checked(before: str, after: str, target: TaskLanguage) -> list[str]:
    found = _lost_words(before, after)
    if is_cjk(after) != (target == "zh"):
        found.append(_("it is not in the other language"))
    return found


def _name_items(slots: Sequence[Slot], called: Mapping[str, str]) -> list[ProposedItem]:
    items: list[ProposedItem] = []
    first: dict[str, str] = {}
    places = {slot.text: slot for slot in reversed(slots) if slot.name}
    for name, new in called.items():
        slot = places[name]
        item = ProposedItem(
            id=f"n{len(items) + 1}",
            label=f"{name} → {new}",
            place=format_place(slot.path),
            deed="name",
            before=name,
            after=new,
        ).flagged(_lost_words(name, new))
        key = normalise(new)
        if key in first and normalise(first[key]) != normalise(name):
            reason = _("“{name}” is called so too").format(name=first[key])
            item = item.flagged([reason])
        first.setdefault(key, name)
        items.append(item)
    return items


def _text_items(
    texts: Sequence[Slot],
    written: Mapping[str, str],
    called: Mapping[str, str],
    target: TaskLanguage,
) -> list[ProposedItem]:
    items: list[ProposedItem] = []
    for slot in texts:
        new = written.get(slot.text)
        if new is None or new == slot.text:
            continue
        checked = _checked(slot.text, new, target)
        for name, other in _used([slot.text], called).items():
            if contains_term(slot.text, name) and normalise(other) not in normalise(new):
                checked.append(_("“{name}” is not called “{other}”").format(name=name, other=other))
        place = format_place(slot.path)
        item = ProposedItem(
            id=f"x{len(items) + 1}", label=new, place=place, before=slot.text, after=new
        )
        items.append(item.flagged(checked[:6]))
    return items
