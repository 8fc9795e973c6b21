"""What all verbs need: workspace, person and configuration from the global options; and files."""

from __future__ import annotations

import getpass
import os
import shlex
from collections.abc import Callable, Generator, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec, TypeVar, cast

from cuecard.core.errors import CuecardError, NotAllowed
from cuecard.core.i18n import _, headed, joined
from cuecard.tui.commands.output import note

if TYPE_CHECKING:
    import typer

    from cuecard.annotate.results.pool import Dimension, Pool
    from cuecard.annotate.review.workflow import Protocol
    from cuecard.core.config import Config
    from cuecard.store.workspace import Sight, Workspace


Given = ParamSpec("Given")
Done = TypeVar("Done")


@dataclass
class Context:
    """The global options, given before the verb, and what a verb opens with them."""

    db: str | None
    person_option: str | None
    config_path: Path | None
    form: str = ""
    """That the result is asked for in: "json", "markdown"...; "" for people."""
    given: Set[str] = frozenset()
    """The parameters that stand on the command line."""
    seen: Sight | None = None
    _reader: str = ""
    _person: str = ""
    _opened: Workspace | None = None

    @classmethod
    def of(cls, context: typer.Context) -> Context:
        return cast(Context, context.obj)

    @property
    def json(self) -> bool:
        return self.form == "json"

    @contextmanager
    def asked(self, form: str) -> Generator[None]:
        """While a verb works. The workspace is closed behind it, and what it showed is recorded as seen."""
        self.form = form
        try:
            yield
            if self.seen:
                self.seen.record()
        finally:
            if self._opened:
                self._opened.close()

    @property
    def workspace(self) -> Workspace:
        """Opened when it is first asked for. Raises `NotFound` where there is none."""
        if self._opened is None:
            self._opened = self.open()
        return self._opened

    def open(self, *, create: bool = False) -> Workspace:
        """The workspace for a `with` of one's own. Raises `NotFound` where there is none and `create` is false."""
        from cuecard.store import workspace_url
        from cuecard.store.workspace import Workspace

        def waiting(error: CuecardError) -> None:
            note(joined((_("The workspace is to be brought up to date first."), error.message)))

        return Workspace.open(workspace_url(self.db), create=create, waiting=waiting)

    def sight(self, *, reveal: bool) -> Sight:
        """What the reader may see of others' decisions; told and recorded when the verb is done."""
        from cuecard.store.workspace import Sight

        self.seen = Sight(self.workspace, self.reader, reveal=reveal)
        return self.seen

    @property
    def protocol(self) -> Protocol:
        """Of reviewing, as the configuration has it."""
        from cuecard.annotate.review.workflow import protocol_of

        return protocol_of(self.config())

    @property
    def names_workspace(self) -> bool:
        """Whether a workspace was given explicitly."""
        return bool(self.db or os.environ.get("CUECARD_DB"))

    @property
    def person(self) -> str:
        """The name to work under, entered if new: `--as`, `CUECARD_USER`, else the account's name; on PostgreSQL whoever
        the database's role stands for, if it stands for somebody. Raises `NotAllowed`.
        """
        # Once: whoever outlasts a server that is away must not need it for a name.
        self._person = self._person or self.workspace.people.add(self.reader).name
        return self._person

    @property
    def reader(self) -> str:
        """As `person`, but adds nobody to the workspace."""
        if not self._reader:
            from cuecard.store import is_file, workspace_url

            given = self.person_option or os.environ.get("CUECARD_USER") or ""
            self._reader = (
                given or _account()
                if is_file(workspace_url(self.db))
                else self.workspace.roles.person(given, _account())
            )
        return self._reader

    def outlasting(
        self, call: Callable[Given, Done], *args: Given.args, **kwargs: Given.kwargs
    ) -> Done:
        """The result of `call`; whoever follows workers waits for a database that is away, as they do. Raises
        `DatabaseAway`.
        """
        import asyncio

        from cuecard.core.archive import outlast

        return asyncio.run(outlast(self.workspace, call, *args, **kwargs))

    def config(self) -> Config:
        from cuecard.core.config import load_config

        return load_config(self.config_path)

    def command(self, *words: str) -> str:
        """A command line for copying, with the global options of this call. A database's address is left out, because
        it may hold a password.
        """
        options: list[str] = []
        if self.db:
            options += ["--db", "URL" if "://" in self.db else self.db]
        if self.person_option:
            options += ["--as", self.person_option]
        if self.config_path:
            options += ["--config", str(self.config_path)]
        return shlex.join(("cuecard", *options, *words))


def _account() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return _("somebody")


def pool_of(
    workspace: Workspace,
    runs: Sequence[int],
    judges: Sequence[str] = (),
    only: Sequence[str] = (),
    *,
    all_judges: bool = False,
) -> Pool:
    """The runs' trials, filtered by `only` (`language=zh`; several values of one dimension: any of them). `all_judges`:
    with every judge that judged one of them, if none is named. Raises `NotFound`, `NotAllowed`.
    """
    from cuecard.annotate.results.pool import gather
    from cuecard.annotate.results.scores import filtered

    named = tuple(judges)
    if all_judges and not named:
        heads = [head for run in runs for head in workspace.verdicts.heads(run)]
        named = tuple(sorted({head.judge.name for head in heads}))
    check_judges(workspace, runs, judges)
    return filtered(gather(workspace, runs, named), wanted_of(only))


def check_judges(workspace: Workspace, runs: Sequence[int], judges: Sequence[str]) -> None:
    """Raises `NotFound` for a judge that judged nothing of these runs, which another did, and that none was entered with."""
    from cuecard.core.evaluation.plans import settings_of
    from cuecard.core.evaluation.scores import judged_nothing

    entered = {name for run in runs for name in settings_of(workspace.runs.get(run)).judges}
    if not (missing := [name for name in judges if name not in entered]):
        return
    here = {head.judge.name for run in runs for head in workspace.verdicts.heads(run)}
    for name in missing if here else ():
        if name not in here:
            raise judged_nothing(name, here)


def wanted_of(only: Sequence[str]) -> dict[Dimension, list[str]]:
    """Values by dimension. Raises `NotFound` for a dimension there is not, `NotAllowed` without a value."""
    from cuecard.annotate.results.comparisons import dimension_named

    wanted: dict[Dimension, list[str]] = {}
    for text in only:
        name, sign, value = text.partition("=")
        if not sign:
            raise NotAllowed(
                _("{text} names no value").format(text=text),
                hint=_("Write it like this: language=zh."),
            )
        wanted.setdefault(dimension_named(name.strip()), []).append(value.strip())
    return wanted


def check_place(output: Path) -> None:
    """Raises `CuecardError` for a path where no file can be written."""
    if output.is_dir():
        raise _unwritable(output, _("it is a folder"))
    if not output.parent.is_dir():
        raise _unwritable(output, _("there is no such folder"))


def write_result(output: Path, text: str) -> None:
    """Write the file atomically, and say so. Raises `CuecardError`."""
    from cuecard.core.system import write_text
    from cuecard.core.text import storable

    check_place(output)
    write_text(output, storable(text))
    note(_("Written to {file}.").format(file=output))


def _unwritable(output: Path, why: str) -> CuecardError:
    return CuecardError(
        _("This file cannot be written"), headed(output, why), _("Choose another file with -o.")
    )
