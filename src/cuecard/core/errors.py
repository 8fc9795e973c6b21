"""Errors that are shown to a person, and the removal of secrets from everything that is recorded or shown."""

from __future__ import annotations

import base64
import html
import json
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar, cast
from urllib.parse import quote, quote_plus, unquote, urlsplit

from cuecard.core.i18n import N_, _, beside, headed, listed

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


SYSTEM_WORDS = (
    N_("Address already in use"), N_("Connection refused"), N_("Directory not empty"), N_("File exists"),
    N_("File name too long"), N_("Is a directory"), N_("No space left on device"), N_("No such file or directory"),
    N_("Not a directory"), N_("Operation not permitted"), N_("Permission denied"), N_("Read-only file system"), N_("Too many open files"),
)  # fmt: skip
"""What the system says most often; the rest stays in its words."""


def system_words(error: OSError) -> str:
    """Why the system refused."""
    return _(error.strerror) if error.strerror else str(error)


def near(name: str, known: Iterable[str]) -> str:
    """What a person may have meant; "" if nothing that is known is like it."""
    found = get_close_matches(name, sorted(known), n=3, cutoff=0.75)
    return _("near it: {names}").format(names=listed(found)) if found else ""


class CuecardError(Exception):
    """An error that a person can understand and fix.

    `title` says what went wrong in a few words, `message` what exactly and where, `hint` how to fix it. All three are
    shown, with secrets removed. `in_app`: the hint to show in the app, if a key there does what `hint` says of an option
    or a verb of the command line.
    """

    def __init__(self, title: str, message: str = "", hint: str = "", *, in_app: str = "") -> None:
        self.title, self.message, self.hint = map(scrub, (title, message, hint))
        self.hint_in_app = scrub(in_app) or self.hint
        super().__init__(self.title, self.message, self.hint)

    def __str__(self) -> str:
        return beside(headed(self.title, self.message), self.hint)


class FileProblem(CuecardError):
    """One problem in one file: where (`place`, a path such as `persona.stages[3].line`) and why.
    `kind` is pydantic's type of the error, empty for problems of the file itself.
    """

    def __init__(
        self, file: str, place: str, reason: str, line: int | None = None, kind: str = ""
    ) -> None:
        super().__init__(file, headed(place, reason))
        self.file = file
        self.place = place
        self.reason = reason
        self.line = line
        self.kind = kind

    def __str__(self) -> str:
        return headed(self.file, self.place, self.reason)


class FileProblems(CuecardError):
    """Everything that is wrong with one or more files, never only the first."""

    def __init__(
        self, title: str, problems: Sequence[FileProblem], hint: str = "", *, in_app: str = ""
    ) -> None:
        told = "\n".join(str(problem) for problem in problems)
        super().__init__(title, told, hint, in_app=in_app)
        self.problems = tuple(problems)


class NotFound(CuecardError):
    """Something that was named does not exist in this workspace."""


class Conflict(CuecardError):
    """Somebody else changed it first; nothing was overwritten."""


class NotAllowed(CuecardError):
    """The workflow does not permit this move now, or not to this person."""


class ConfigError(CuecardError):
    """`cuecard.yaml` or an environment variable is wrong or missing."""


class ModelCallError(CuecardError):
    """A model endpoint did not give a usable answer."""

    def __init__(
        self, title: str, message: str = "", hint: str = "", *, context_overflow: bool = False
    ) -> None:
        super().__init__(title, message, hint)
        self.context_overflow = context_overflow


class Halt(CuecardError):
    """The run cannot go on at present. It ends no trial: open trials stay open, to be resumed."""


class ModelPaused(Halt):
    """A model keeps failing for reasons that have nothing to do with one trial."""


class AgentPaused(Halt):
    """An agent that is another program cannot play at all, or keeps failing."""


class BudgetSpent(Halt):
    """The run's budget is used up."""


class StoppedByPerson(Halt):
    """A person asked the run to stop after the calls under way. `ordered`: from another window or machine."""

    ordered = False


class PausedByPerson(StoppedByPerson):
    """A person asked the run to pause: as `StoppedByPerson`, but the run becomes `paused`, not `cancelled`."""


PAUSES = 1.0, 15.0
"""Seconds between attempts while a database is away, at first and at most: each time twice as long."""


class DatabaseAway(Halt):
    """The database's server cannot be reached, the connection to it was lost, or its file is gone, locked for long, or on a
    full disk. What was under way may or may not have been saved; the same may work in a moment. Never a wrong password
    or a missing right. `reads`: it can still be read. `wrote`: what failed had begun to write.
    """

    def __init__(
        self, title: str, message: str = "", hint: str = "", *, reads: bool = False
    ) -> None:
        super().__init__(title, message, hint)
        self.reads = reads
        self.wrote = False


class NotKept(Halt):
    """An event could not be recorded; the message says why."""


class ClaimLost(Halt, Conflict):
    """Another worker took this trial over. It ends nothing: whoever lost the trial leaves it alone and plays others."""


def error_text(error: BaseException) -> str:
    """An error as text, for records and screens; an unexpected one with its type, so that it can be reported."""
    return (
        str(error) if isinstance(error, CuecardError) else scrub(f"{type(error).__name__}: {error}")
    )


def install_hint(extra: str) -> str:
    """The command that installs an extra of this package where and as the package itself was installed: from a
    checkout, an archive or a repository, by pip, pipx or uv. Names no index: the package is on none.
    """
    from importlib.metadata import PackageNotFoundError, distribution

    found: dict[str, Any] = {}
    with suppress(PackageNotFoundError, ValueError):
        found = json.loads(distribution("cuecard").read_text("direct_url.json") or "{}")
    url = public_form(found.get("url", ""))
    folder = unquote(urlsplit(url).path)
    what = f"cuecard[{extra}]"
    if vcs := found.get("vcs_info"):
        target = [f"{what} @ {vcs['vcs']}+{url}@{vcs['commit_id']}"]
    elif "archive_info" in found:
        target = [f"{what} @ {url}"]
    elif url and Path(folder).is_dir():
        target = ["-e"] * bool(found["dir_info"].get("editable")) + [f"{folder}[{extra}]"]
    else:
        return _("In the checkout: {here}. From its repository: {there}").format(
            here=f"pip install -e '.[{extra}]'", there=f"pip install '{what} @ git+https://…'"
        )
    return _("Install it: {command}").format(command=shlex.join([*_installer(), *target]))


def _installer() -> list[str]:
    """What installs packages beside this one."""
    from importlib.util import find_spec

    for receipt, tool in (("uv-receipt.toml", "uv tool"), ("pipx_metadata.json", "pipx")):
        if Path(sys.prefix, receipt).exists():
            return [*tool.split(), "install", "--force"]
    if find_spec("pip"):
        return [sys.executable, "-m", "pip", "install"]
    return ["uv", "pip", "install", "--python", sys.executable]
