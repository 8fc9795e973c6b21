"""Reads a server's reply, streamed or whole, and assembles it from its pieces, without secrets that it repeats."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from io import StringIO
from typing import cast

from pydantic import JsonValue

from cuecard.core.config_models import Price
from cuecard.core.engine.messages import ModelReply, ToolCall, Usage, token_count
from cuecard.core.i18n import _
from cuecard.core.llm.wire import ServerFailure, clean_json, mended_json
from cuecard.core.secrets import ScrubbedStream, scrub, scrub_model
from cuecard.core.text import storable
from cuecard.core.validation import TooLarge

MAX_CHARS = 2_000_000
MAX_CALLS = 500
_MAX_MENDED_CALLS = 5
_MAX_LOOKED_AT = 20_000_000
_MAX_NAME = 1_000


class Malformed(ValueError):
    """What a server sent is not a valid reply; the message says why."""


class WebPage(Malformed):
    """The address answered with a web page for people."""


class Assembler:
    """Assembles the reply from the chunks of a stream, or from one whole completion.

    `on_text` is called with pieces of the text, `on_growth` with every growth of text, reasoning or arguments of calls.
    Time and memory are linear in the size of the reply, which is bounded.
    """

    def __init__(
        self,
        on_text: Callable[[str], None] | None = None,
        on_growth: Callable[[], None] | None = None,
    ) -> None:
        self._on_text = ScrubbedStream(on_text) if on_text else None
        self._on_growth = on_growth
        # Not lists of pieces: a piece of one character takes eighty bytes.
        self._text = StringIO()
        self._reasoning = StringIO()
        self._calls = _Calls()
        self._size = 0
        self._finish = ""
        self._model = ""
        self._usage: Usage | None = None
        self._choices = 0
        self._closed = False
        self._carried: list[dict[str, JsonValue]] = []

    @property
    def complete(self) -> bool:
        """Whether the server marked the reply as finished."""
        return bool(self._finish) or self._closed

    @property
    def usage(self) -> Usage | None:
        """Tokens as the server counted them, if it did."""
        return self._usage

    def add(self, chunk: object) -> None:
        """Add one chunk of a stream. Raises `Malformed`, `TooLarge`, and `ServerFailure` if the chunk reports a failure."""
        self._add(chunk, "delta")

    def end(self) -> None:
        """Called at the stream's end mark."""
        self._closed = True

    def add_whole(self, completion: object) -> None:
        """Add a completion that came in one piece. Raises `Malformed`, `TooLarge` and `ServerFailure`."""
        self._add(completion, "message")
        if not self._choices:
            raise Malformed(_("the answer holds no choices"))

    def reply(
        self,
        *,
        model: str = "",
        latency_ms: int = 0,
        attempts: int = 1,
        price: Price | None = None,
        request_id: str = "",
    ) -> ModelReply:
        """The reply. `model`: its model, unless the server named another; `latency_ms`: in milliseconds. Raises
        `Malformed` if nothing came, or the stream broke off.
        """
        if not self._choices:
            raise Malformed(_("the answer holds no reply"))
        if not self.complete:
            raise Malformed(_("the reply broke off before its end"))
        if self._on_text:
            self._on_text.flush()
        text, reasoning = _without_thoughts(storable(self._text.getvalue()))
        reply = ModelReply(
            text=text,
            reasoning=storable(self._reasoning.getvalue()) or reasoning,
            tool_calls=self._calls.finished(cut=self._finish == "length"),
            finish_reason=self._finish,
            usage=self._usage or Usage(),
            model=self._model or model,
            latency_ms=latency_ms,
            attempts=attempts,
            cost=price.of(self._usage) if price and self._usage else None,
            request_id=request_id,
            carried=tuple(self._carried),
        )
        # Whole texts are scrubbed, since a secret may be split between pieces.
        return scrub_model(reply)

    def checked(self, chunk: object) -> dict[str, object]:
        """The chunk as an object. Raises `Malformed`, and `ServerFailure` if it reports a failure."""
        if not isinstance(chunk, dict):
            raise Malformed(_("the answer is not a JSON object"))
        data = cast(dict[str, object], chunk)
        if data.get("error"):
            raise ServerFailure(data["error"])
        return data

    def _add(self, chunk: object, part: str) -> None:
        data = self.checked(chunk)
        self._model = scrub(as_string(data.get("model")))[:_MAX_NAME] or self._model
        usage, choices = usage_of(data.get("usage")), as_dicts(data.get("choices"))
        self._usage = usage or self._usage
        # Only the last chunk counts tokens and holds no choice.
        self._closed = self._closed or (usage is not None and not choices and self._choices > 0)
        for choice in choices[:1]:
            self.began()
            finish = scrub(as_string(choice.get("finish_reason")))[:_MAX_NAME]
            self._finish = finish or self._finish
            delta = as_dict(choice.get(part))
            self.grow(
                _content(delta.get("content")) + as_string(delta.get("refusal")),
                as_string(delta.get("reasoning_content")) or as_string(delta.get("reasoning")),
                as_dicts(delta.get("tool_calls")),
            )

    @property
    def any(self) -> bool:
        """Whether anything of a reply came."""
        return self._choices > 0

    def began(self) -> None:
        self._choices += 1

    def grow(
        self, text: str = "", thought: str = "", calls: Iterable[dict[str, object]] = ()
    ) -> None:
        """Add to the text, to the reasoning, and pieces of tool calls as chat completions stream them. Raises `TooLarge`."""
        grown = len(text) + len(thought) + sum(self._calls.add(call) for call in calls)
        if not grown:
            return
        self._enlarge(grown)
        if self._on_growth:
            self._on_growth()
        self._reasoning.write(thought)
        if text:
            self._text.write(text)
            if self._on_text:
                self._on_text(storable(text))

    def carry(self, item: dict[str, JsonValue]) -> None:
        """Keep a piece of reasoning that the server wants back as it is. Raises `TooLarge`."""
        self._enlarge(len(json.dumps(item)))
        self._carried.append(item)

    def finish(self, reason: str, model: str, usage: Usage | None) -> None:
        """The server ended the reply; without a `reason` it came to its end or calls tools."""
        self._closed = True
        self._finish = scrub(reason)[:_MAX_NAME] or ("tool_calls" if self._calls else "stop")
        self._model = scrub(model)[:_MAX_NAME] or self._model
        self._usage = usage or self._usage

    def _enlarge(self, grown: int) -> None:
        self._size += grown
        if self._size > MAX_CHARS:
            said = _("the reply is longer than {n} characters").format(n=f"{MAX_CHARS:,}")
            raise TooLarge(said)


@dataclass
class _Slot:
    id: str = ""
    name: str = ""
    arguments: StringIO = field(default_factory=StringIO)


class _Calls:
    """Tool calls being assembled. Tolerates servers that leave out the index or the id, give every call the index 0,
    repeat the name in each piece, or send the arguments as an object.
    """

    def __init__(self) -> None:
        self._slots: list[_Slot] = []
        self._by_index: dict[int, _Slot] = {}
        self._by_id: dict[str, _Slot] = {}
        self._looks = _MAX_LOOKED_AT

    def __bool__(self) -> bool:
        return bool(self._slots)

    def add(self, delta: dict[str, object]) -> int:
        """Add one piece; returns by how many characters that made the calls longer. Raises `TooLarge`."""
        function = as_dict(delta.get("function"))
        id_, name = as_string(delta.get("id")), as_string(function.get("name"))
        arguments = _written(function.get("arguments"))
        slot = self._slot(delta.get("index"), id_, name, arguments)
        if id_ and not slot.id:
            slot.id = id_
            self._by_id.setdefault(id_, slot)
        known = len(slot.name)
        if name.startswith(slot.name):
            slot.name = name
        elif not slot.arguments.tell():
            slot.name += name
        if max(len(slot.name), len(slot.id)) > _MAX_NAME:
            raise TooLarge(
                _("a tool call's name is longer than {n} characters").format(n=_MAX_NAME)
            )
        slot.arguments.write(arguments)
        return len(slot.name) - known + len(arguments)

    def finished(self, *, cut: bool) -> tuple[ToolCall, ...]:
        """All calls; with `cut`, the reply ran out of tokens, maybe in the middle of the last one."""
        slots = [slot for slot in self._slots if slot.name or slot.arguments.tell()]
        calls: list[ToolCall] = []
        broken = 0
        for slot in slots:
            text = slot.arguments.getvalue()
            value = _object(text) if text.strip() else {}
            # Repairing JSON is slow, so it is not done for many broken calls.
            mend = broken < _MAX_MENDED_CALLS and not (cut and slot is slots[-1])
            broken += value is None
            arguments, left = _arguments(value, text, mend=mend)
            calls.append(
                ToolCall(
                    name=storable(slot.name), id=storable(slot.id), arguments=arguments, broken=left
                )
            )
        return tuple(calls)

    def _slot(self, index: object, id_: str, name: str, arguments: str) -> _Slot:
        if isinstance(index, int) and not isinstance(index, bool):
            slot = self._by_index.get(index)
            if slot is None or self._begins_anew(slot, id_, name, arguments):
                slot = self._by_index[index] = self._new()
            return slot
        last = self._slots[-1] if self._slots else None
        if id_:
            return self._by_id.get(id_) or self._new()
        if last is None or self._begins_anew(last, id_, name, arguments):
            return self._new()
        return last

    def _begins_anew(self, slot: _Slot, id_: str, name: str, arguments: str) -> bool:
        if id_ and slot.id and id_ != slot.id:
            return True
        if not (name and arguments and (size := slot.arguments.tell())):
            return False
        # Where each piece repeats the name, all that came so far is looked at again with each.
        self._looks -= size
        return self._looks >= 0 and _object(slot.arguments.getvalue()) is not None

    def _new(self) -> _Slot:
        if len(self._slots) == MAX_CALLS:
            raise TooLarge(_("the reply makes more than {n} tool calls").format(n=MAX_CALLS))
        self._slots.append(_Slot())
        return self._slots[-1]


def read_arguments(text: str, *, mend: bool = True) -> tuple[dict[str, JsonValue], str]:
    """The object in `text`, repaired if `mend` and possible, and ""; if there is none, an empty object and `text`."""
    return _arguments(_object(text) if text.strip() else {}, text, mend=mend)


def _arguments(
    value: dict[str, JsonValue] | None, text: str, *, mend: bool
) -> tuple[dict[str, JsonValue], str]:
    """`read_arguments`, where `value` is the object in `text` without repair, if any."""
    try:
        if value is None and mend:
            mended = mended_json(text)
            value = cast(dict[str, JsonValue], mended) if isinstance(mended, dict) else None
            value = value or None
        if value is not None:
            return cast(dict[str, JsonValue], clean_json(value)), ""
    except RecursionError:
        pass
    return {}, storable(text)


def _object(text: str) -> dict[str, JsonValue] | None:
    try:
        value: object = json.loads(text)
        # Some servers encode the arguments twice.
        value = json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return None
    return cast(dict[str, JsonValue], value) if isinstance(value, dict) else None


def _without_thoughts(text: str) -> tuple[str, str]:
    """Splits off a reasoning block at the start, which some servers leave in the text."""
    head, mark, rest = text.partition("</think>")
    if mark and head.lstrip().startswith("<think>"):
        return rest.strip(), head.lstrip().removeprefix("<think>").strip()
    return text, ""


def _content(value: object) -> str:
    if isinstance(value, list):
        return "".join(as_string(part.get("text")) for part in as_dicts(cast(object, value)))
    return as_string(value)


def usage_of(value: object, given: str = "prompt", made: str = "completion") -> Usage | None:
    """`given`, `made`: what the API calls the tokens of the request and of the reply."""
    usage = as_dict(value)
    if not usage:
        return None
    return Usage(
        prompt=token_count(usage.get(f"{given}_tokens")),
        completion=token_count(usage.get(f"{made}_tokens")),
        cached=token_count(as_dict(usage.get(f"{given}_tokens_details")).get("cached_tokens")),
        reasoning=token_count(as_dict(usage.get(f"{made}_tokens_details")).get("reasoning_tokens")),
    )


def _written(arguments: object) -> str:
    """Arguments as a server gave them, as text. Raises `TooLarge`."""
    if arguments is None or isinstance(arguments, str):
        return arguments or ""
    try:
        return json.dumps(arguments)
    except RecursionError:
        raise TooLarge(_("the reply is nested too deeply")) from None


def as_string(value: object) -> str:
    return value if isinstance(value, str) else ""


def as_dict(value: object) -> dict[str, object]:
    return cast(dict[str, object], value) if isinstance(value, dict) else {}


def as_dicts(value: object) -> list[dict[str, object]]:
    items = cast(list[object], value) if isinstance(value, list) else []
    return [cast(dict[str, object], item) for item in items if isinstance(item, dict)]
