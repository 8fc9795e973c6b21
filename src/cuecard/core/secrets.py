"""The removal of secrets from everything that is recorded or shown."""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar, cast
from urllib.parse import quote, quote_plus, unquote, urlsplit

if TYPE_CHECKING:
    from pydantic import BaseModel


LEAST = 8
"""The fewest characters of a value that is removed as a secret: shorter ones would match unrelated text."""
LEAST_PLAIN = 16
"""The same for a single word, or a number: `production`, `20261122`."""
DATABASE_PASSWORD = "password of the database"
MASK = "***"

Value = TypeVar("Value")
ModelT = TypeVar("ModelT", bound="BaseModel")

# Whatever stands before the last @ is a name and a password.
_CREDENTIALS = re.compile(r"^(\w[\w+.\-]*://)([^:/@]*):(.*)@", re.DOTALL)
_SECRET_NAME = r"(?:pass|pwd|secret|token|key|auth|cred|sig)"
_SECRET_PARAMETER = re.compile(rf"([?&;])([^=&;]*{_SECRET_NAME}[^=&;]*)=([^&;]*)", re.IGNORECASE)
_SECRET_OPTION = re.compile(rf"--?[\w\-]*{_SECRET_NAME}[\w\-]*", re.IGNORECASE)
_SECRET_FIELD = re.compile(_SECRET_NAME, re.IGNORECASE)


def public_form(url: str) -> str:
    """A database's address without its passwords, as it may be shown, stored and compared. An address without a password
    stays as it is.
    """
    head, query = _halves(url)
    return _CREDENTIALS.sub(rf"\1\2:{MASK}@", head) + _SECRET_PARAMETER.sub(rf"\1\2={MASK}", query)


def passwords_in(url: str) -> tuple[str, ...]:
    """The passwords that `public_form` leaves out, as written and URL-decoded."""
    head, query = _halves(url)
    found = [match[3] for match in [_CREDENTIALS.match(head)] if match]
    found += [match[3] for match in _SECRET_PARAMETER.finditer(query)]
    both = (word for each in found for word in (each, unquote(each)))
    return tuple(word for word in dict.fromkeys(both) if word not in ("", MASK))


def _halves(url: str) -> tuple[str, str]:
    head, mark, query = url.partition("?")
    if "@" in query and "@" not in head:
        return url, ""  # A question mark in the password.
    return head, mark + query


class Scrubber:
    """Replaces secret values by their names, also where they are encoded for JSON, URLs, HTML, base64 or hexadecimal.
    `secrets`: pairs of name and value. Values that are too short or too common to be told from ordinary text are ignored
    (`is_covered`); with `least`, those with fewer characters.
    """

    def __init__(self, secrets: Iterable[tuple[str, str]] = (), least: int = 0) -> None:
        found: dict[str, str] = {}
        for name, value in secrets:
            for part in _parts(value):
                if len(part) >= least if least else is_covered(part):
                    found |= {form: name for form in _forms(part) if form not in found}
        self._names = found
        # The longest first: a value may begin with another.
        self._forms = tuple(sorted(found, key=len, reverse=True))
        self._longest = len(self._forms[0]) if found else 0
        self._shortest = len(self._forms[-1]) if found else 0
        self._pattern = re.compile("|".join(map(re.escape, self._forms))) if found else None
        self._by_first: dict[str, list[str]] = {}
        for form in self._forms:
            self._by_first.setdefault(form[0], []).append(form)

    def __bool__(self) -> bool:
        return self._pattern is not None

    def text(self, text: str) -> str:
        """`text` with `<NAME>` in place of each secret; the same object if there is none."""
        if len(text) < self._shortest:
            return text
        # Looking for each is far cheaper than one pattern of all, and nearly always the end of it.
        for form in self._forms:
            if form in text:
                assert self._pattern is not None
                return self._pattern.sub(lambda match: f"<{self._names[match[0]]}>", text)
        return text

    def begins_in(self, text: str) -> int:
        """The index in `text` where a secret may begin that is cut off by the text's end; its length if there is none."""
        for at in range(max(0, len(text) - self._longest + 1), len(text)):
            if forms := self._by_first.get(text[at]):
                rest = text[at:]
                if any(len(form) > len(rest) and form.startswith(rest) for form in forms):
                    return at
        return len(text)

    def last_match(self, text: str) -> tuple[int, int]:
        """The start and end of the last whole secret in `text`; (0, 0) if there is none."""
        span = (0, 0)
        if (
            len(text) >= self._shortest
            and self._pattern is not None
            and self.text(text) is not text
        ):
            for match in self._pattern.finditer(text):
                span = match.span()
        return span


class ScrubbedStream:
    """Scrubs a text that comes in pieces, even if a secret is split: what may be the beginning of a secret is held back
    until the next piece. `show` is called with what is safe; call `flush` at the end for the rest. `scrubber`: by
    default that of this process.
    """

    def __init__(self, show: Callable[[str], None], scrubber: Scrubber | None = None) -> None:
        self._show = show
        self._scrubber = scrubber
        self._waiting = ""

    def __call__(self, piece: str) -> None:
        scrubber = self._scrubber or _current
        if not scrubber:
            self._show(piece)
            return
        text = self._waiting + piece
        cut = scrubber.begins_in(text)
        start, end = scrubber.last_match(text)
        cut = end if start < cut < end else cut
        self._waiting = text[cut:]
        if cut:
            self._show(scrubber.text(text[:cut]))

    def flush(self) -> None:
        text, self._waiting = self._waiting, ""
        if text:
            self._show((self._scrubber or _current).text(text))


_lock = Lock()
_guarded: dict[tuple[str, str], None] = {}
_current = Scrubber()


def guard(name: str, *values: str) -> None:
    """Treat these values as secrets from now on: `name` replaces them wherever they occur."""
    global _current
    new = [(name, value) for value in values if value.strip() and (name, value) not in _guarded]
    if not new:
        return
    with _lock:
        _guarded.update(dict.fromkeys(new))
        _current = Scrubber(_guarded)


def guard_address(url: str) -> None:
    """Treat the passwords in a database's address as secrets."""
    guard(DATABASE_PASSWORD, *passwords_in(url))


def scrub(text: str) -> str:
    """`text` without the secrets of this process."""
    return _current.text(text)


def scrub_data(value: Value) -> Value:
    """JSON without the secrets of this process, in keys as well as in values."""
    return cast(Value, _scrubbed(value)) if _current else value


def scrub_model(model: ModelT) -> ModelT:
    """A model with its texts scrubbed, however deep they stand; the same object where there was no secret."""
    return cast(ModelT, _scrubbed(model)) if _current else model


def _scrubbed(value: Any) -> Any:
    if value is None or isinstance(value, int | float):
        return value
    if isinstance(value, str):
        # A member of an enumeration is a word of ours.
        return _current.text(value) if type(value) is str else value
    if isinstance(value, dict):
        items = cast(dict[Any, Any], value)
        return {_scrubbed(key): _scrubbed(each) for key, each in items.items()}
    if isinstance(value, list | tuple):
        given = cast(Sequence[Any], value)
        new = [_scrubbed(each) for each in given]
        if all(a is b for a, b in zip(new, given, strict=True)):
            return given
        return new if isinstance(value, list) else tuple(new)
    if hasattr(value, "model_copy"):
        fields = {name: (each, _scrubbed(each)) for name, each in value if each}
        changed = {
            name: new for name, (old, new) in fields.items() if new is not old and new != old
        }
        return value.model_copy(update=changed) if changed else value
    return value


def is_covered(value: str) -> bool:
    """Whether a secret with this value is looked for: it has `LEAST` characters, or `LEAST_PLAIN` where it could be
    a word or a number of ordinary text.
    """
    number = value.isdecimal()
    word = value.isalpha() and (value[1:] == value[1:].lower() or value == value.upper())
    return len(value) >= (LEAST_PLAIN if number or word else LEAST)


def handed_on(value: str) -> tuple[str, ...]:
    """The secrets in a variable that is passed on: none in a path, and in an address only the credentials."""
    if "://" in value and not any(char.isspace() for char in value):
        try:
            user = urlsplit(value).username or ""
        except ValueError:
            user = ""
        return (*passwords_in(value), *([user] if len(user) >= LEAST_PLAIN else ()))
    return () if not value or value.startswith("/") else (value,)


def secret_fields(data: Mapping[str, Any]) -> Iterator[str]:
    for name, value in data.items():
        if isinstance(value, str) and _SECRET_FIELD.search(name):
            yield value
        elif isinstance(value, dict):
            yield from secret_fields(cast(dict[str, Any], value))


def secret_options(command: Sequence[str]) -> Iterator[str]:
    for place, word in enumerate(command, 1):
        following = command[place] if place < len(command) else ""
        option, equals, value = word.partition("=")
        if _SECRET_OPTION.fullmatch(option):
            yield value if equals else following


def _parts(value: str) -> Iterator[str]:
    """A secret and its parts that are secrets themselves: the token of `Bearer TOKEN`, the password of a basic
    authorisation, a line of a longer file.
    """
    value = value.strip()
    yield value
    words = [word.strip("\"',;") for word in value.split()]
    for word in words if len(words) > 1 else ():
        for part in (word, word.partition("=")[2]):
            if len(part) >= LEAST_PLAIN or (len(words) == 2 and is_covered(part)):
                yield part
    if len(words) == 2 and words[0].lower() == "basic":
        try:
            signed_in = base64.b64decode(words[1], validate=True).decode()
        except ValueError:
            return
        yield signed_in
        yield signed_in.partition(":")[2]


def _forms(value: str) -> Iterator[str]:
    """The encoded forms in which a value may occur."""
    if not value:
        return
    raw = value.encode("utf-8", "replace")
    escaped = json.dumps(value)[1:-1]
    yield value
    yield from (escaped, json.dumps(value, ensure_ascii=False)[1:-1], escaped.replace("/", "\\/"))
    yield from (json.dumps(escaped)[1:-1], repr(value)[1:-1])
    yield from (html.escape(value), html.escape(value, quote=False))
    for quoted in (quote(raw, safe=""), quote(raw), quote_plus(raw)):
        yield quoted
        yield re.sub(r"%[0-9A-F]{2}", lambda match: match[0].lower(), quoted)
    yield from (raw.hex(), raw.hex().upper())
    # Within a longer text a value has one of three base64 forms; the characters at its ends, which depend on its
    # neighbours, are left out.
    for before in range(3):
        first, last = -(-8 * before // 6), 8 * (before + len(raw)) // 6
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            form = encode(bytes(before) + raw).decode()[first:last]
            if len(form) >= LEAST:
                yield form
