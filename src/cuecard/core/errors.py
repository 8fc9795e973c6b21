"""Errors that are shown to a person, and what they say of systems, names and packages."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from cuecard.core.i18n import N_, _, beside, headed, listed
from cuecard.core.secrets import public_form, scrub

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
