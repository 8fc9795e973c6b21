"""Opening a text in the person's own editor, `$VISUAL` or `$EDITOR`, and taking it back."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import threading
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from textual.app import SuspendNotSupported

from cuecard.core.errors import CuecardError
from cuecard.core.i18n import _

if TYPE_CHECKING:
    from textual.app import App

    from cuecard.tui.state.kept_text import KeptText

_FALLBACKS = ("sensible-editor", "nano", "vim", "vi", "micro", "emacs", "notepad")


def editor_command(environ: Mapping[str, str]) -> list[str]:
    """The editor as a command line without the file: `$VISUAL`, `$EDITOR`, else one that is there.

    Raises `CuecardError` where there is none.
    """
    for name in ("VISUAL", "EDITOR"):
        value = environ.get(name, "").strip()
        if not value:
            continue
        try:
            words = shlex.split(value, posix=os.name != "nt")
        except ValueError as error:
            raise CuecardError(
                _("The editor cannot be started"),
                f"${name}: {value}",
                _("Its quotation marks do not match; set it again."),
            ) from error
        if shutil.which(words[0], path=environ.get("PATH")) is None:
            raise CuecardError(
                _("The editor cannot be started"),
                _("${name} is {value}, but there is no such program.").format(
                    name=name, value=words[0]
                ),
                _("Set it to an editor that is installed, such as nano or vi."),
            )
        return words
    for name in _FALLBACKS:
        if shutil.which(name, path=environ.get("PATH")):
            return [name]
    raise CuecardError(
        _("There is no editor"),
        _("Neither $VISUAL nor $EDITOR is set, and none of the usual editors is installed."),
        _("Set one in the shell that starts cuecard: export EDITOR=nano"),
    )


def run_editor(command: Sequence[str], path: Path) -> None:
    """Run the editor on the file and wait until it ends. Raises `CuecardError` if it cannot be
    started or says that something went wrong.
    """
    try:
        with _interrupts_are_the_editors():
            ended = subprocess.run([*command, str(path)], check=False)
    except OSError as error:
        why = error.strerror or str(error)
        raise CuecardError(_("The editor cannot be started"), f"{command[0]}: {why}") from error
    if ended.returncode != 0:
        raise CuecardError(
            _("The editor gave up"),
            _("{editor} ended with code {code}; nothing was taken over.").format(
                editor=command[0], code=ended.returncode
            ),
        )


def edited_outside(app: App[str], text: str, kept: KeptText, *, original: str) -> str | None:
    """`text` as it comes back from the person's editor; None if it says what `original` said.

    The app stands still meanwhile. The file stays until the caller discards it, except where it holds
    nothing new. Raises `CuecardError`.
    """
    command = editor_command(os.environ)
    path = kept.write(text)
    try:
        _run_suspended(app, command, path)
        back = kept.read()
    except SuspendNotSupported as error:
        _let_go(kept, original)
        raise CuecardError(
            _("No editor can be opened here"),
            _("The app runs in a browser or without a terminal of its own."),
        ) from error
    except CuecardError as error:
        _let_go(kept, original)
        if not path.exists():
            raise
        hint = _("What was written is kept in {file}.").format(file=path)
        raise CuecardError(error.title, error.message, hint) from error
    if same_text(back, original):
        kept.discard()
        return None
    return back


def _run_suspended(app: App[str], command: Sequence[str], path: Path) -> None:
    # The app comes back only from a block that ends well: an error waits until it has.
    failed: CuecardError | None = None
    with app.suspend():
        try:
            run_editor(command, path)
        except CuecardError as error:
            failed = error
    if failed is not None:
        raise failed


def _let_go(kept: KeptText, original: str) -> None:
    left = kept.load()
    if left is not None and same_text(left.text, original):
        kept.discard()


def same_text(one: str, other: str) -> bool:
    """Equal but for the line end that most editors add to a last line."""
    return one.removesuffix("\n") == other.removesuffix("\n")


@contextmanager
def _interrupts_are_the_editors() -> Generator[None]:
    """^C in the editor's terminal reaches this process too, and must not end it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def ignored(number: int, frame: FrameType | None) -> None:
        """A handler, not SIG_IGN, which the editor would inherit."""

    before = signal.signal(signal.SIGINT, ignored)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
