"""The one family of errors that reach a person."""

from __future__ import annotations

from collections.abc import Sequence

from cuecard.core.scrubbing import scrub


class CuecardError(Exception):
    """Something a person can understand and mend.

    `title` says what went wrong in a few words, `message` what exactly and where,
    `hint` how to mend it. All three are shown; what of them is a secret is scrubbed. `in_app`: the hint
    where it is read in the app, if there a key does what `hint` tells of an option or a verb.
    """

    def __init__(self, title: str, message: str = "", hint: str = "", *, in_app: str = "") -> None:
        self.title, self.message, self.hint = map(scrub, (title, message, hint))
        self.hint_in_app = scrub(in_app) or self.hint
        super().__init__(self.title, self.message, self.hint)

    def __str__(self) -> str:
        head = f"{self.title}: {self.message}" if self.message else self.title
        return f"{head} ({self.hint})" if self.hint else head


class FileProblem(CuecardError):
    """One problem in one file: where (`place`, a path such as `persona.stages[3].line`) and why.
    `kind` is pydantic's name of what is wrong, empty for what is wrong with the file itself.
    """

    def __init__(
        self, file: str, place: str, reason: str, line: int | None = None, kind: str = ""
    ) -> None:
        super().__init__(file, f"{place}: {reason}" if place else reason)
        self.file = file
        self.place = place
        self.reason = reason
        self.line = line
        self.kind = kind

    def __str__(self) -> str:
        return ": ".join(part for part in (self.file, self.place, self.reason) if part)


class FileProblems(CuecardError):
    """Everything that is wrong with one or more files, never only the first."""

    def __init__(
        self, title: str, problems: Sequence[FileProblem], hint: str = "", *, in_app: str = ""
    ) -> None:
        told = "\n".join(str(problem) for problem in problems)
        super().__init__(title, told, hint, in_app=in_app)
        self.problems = tuple(problems)


class NotFound(CuecardError):
    """A thing that was named does not exist in this workspace."""


class Conflict(CuecardError):
    """Somebody else was there first; nothing was overwritten."""


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
    """The run cannot go on as it is. No trial ends by it: open trials stay open, to be resumed."""


class ModelPaused(Halt):
    """A model keeps failing for reasons that have nothing to do with one trial."""


class AgentPaused(Halt):
    """An agent that is another program cannot play at all, or keeps failing."""


class BudgetSpent(Halt):
    """The run's budget is used up."""


class Drained(Halt):
    """Somebody asked the run to stop after what it is doing."""


class Held(Drained):
    """Somebody asked the run to pause: as `Drained`, but the run is marked to be gone on with."""


class NotKept(Halt):
    """An event could not be recorded; the message says why."""


def told(error: BaseException) -> str:
    """An error as it is recorded and shown: an unforeseen one with its type, so that it can be reported."""
    return (
        str(error) if isinstance(error, CuecardError) else scrub(f"{type(error).__name__}: {error}")
    )
