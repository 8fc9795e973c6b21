"""External programs: opening a page in the browser, and editing a text in the person's own editor."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from textual._context import active_app
from textual.app import SuspendNotSupported

from cuecard.core.errors import CuecardError, system_words
from cuecard.core.i18n import _, headed
from cuecard.core.system import keep, kept_path
from cuecard.core.tasks.base import is_web_address
from cuecard.core.text import one_line, slug, storable

if TYPE_CHECKING:
    from textual.app import App


_OPENERS = ("xdg-open", "wslview", "gio open", "firefox", "chromium", "google-chrome")
# These would draw on the terminal that the app is using.
_ON_TERMINAL = ("lynx", "w3m", "links", "elinks", "browsh", "www-browser")


def browser_command(environ: Mapping[str, str], platform: str) -> list[str] | None:
    """What opens an address given after it; None where there is no browser with a window."""
    if platform == "darwin":
        return ["open"]
    if platform == "win32":
        return ["rundll32", "url.dll,FileProtocolHandler"]
    path = environ.get("PATH")
    for named in environ.get("BROWSER", "").split(os.pathsep):
        try:
            words = [word for word in shlex.split(named) if word not in ("%s", "&")]
        except ValueError:
            continue
        if (
            words
            and os.path.basename(words[0]) not in _ON_TERMINAL
            and shutil.which(words[0], path=path)
        ):
            return words
    if not (
        environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY") or environ.get("WSL_DISTRO_NAME")
    ):
        return None
    for opener in _OPENERS:
        words: list[str] = [*opener.split()]
        if shutil.which(words[0], path=path):
            return words
    return None


async def open_told(url: str) -> str:
    """Open a page in the browser, and say what came of it."""
    if not url:
        return _("This page has no address.")
    opened = await asyncio.to_thread(open_page, url)
    text = _("There is no browser to open here. The address is {url}")
    return (_("Opening {url}") if opened else text).format(url=one_line(url, 200))


def open_page(url: str) -> bool:
    """Whether a browser was started on the address; an app that is shown in one opens it there. Anything but http and
    https is refused.
    """
    app = active_app.get(None)
    if app is not None and app.is_web and is_web_address(url):
        app.open_url(url)
        return True
    command = browser_command(os.environ, sys.platform) if is_web_address(url) else None
    if command is None:
        return False
    try:
        process = subprocess.Popen(
            [*command, url],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        return False
    threading.Thread(target=process.wait, daemon=True).start()
    return True


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
        why = system_words(error)
        raise CuecardError(_("The editor cannot be started"), headed(command[0], why)) from error
    if ended.returncode != 0:
        raise CuecardError(
            _("The editor gave up"),
            _("{editor} ended with code {code}; nothing was taken over.").format(
                editor=command[0], code=ended.returncode
            ),
        )


def edited_outside(app: App[str], text: str, kept: SavedText, *, original: str) -> str | None:
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


def _let_go(kept: SavedText, original: str) -> None:
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


_MAX_BYTES = 32 * 1024 * 1024


@dataclass(frozen=True)
class Kept:
    """A text that was not taken over, and when it was last written."""

    text: str
    at: datetime


class SavedText:
    """The file that keeps one text. `place`: its name within the workspace at `url`; `suffix`: its language."""

    def __init__(self, url: str, place: str, suffix: str = ".yaml") -> None:
        self._url, self._place, self._suffix = url, place, suffix

    @property
    def path(self) -> Path:
        return kept_path("edited", self._url, self._name)

    def _name(self, url: str) -> str:
        text = f"{url} {self._place}".encode("utf-8", "replace")
        mark = hashlib.sha256(text).hexdigest()[:10]
        return f"{slug(self._place)[:60]}-{mark}{self._suffix}"

    def load(self) -> Kept | None:
        """What was left behind; None if nothing was, or nothing that can be read."""
        try:
            at = datetime.fromtimestamp(self.path.stat().st_mtime, UTC)
            return Kept(self.read(), at)
        except (OSError, CuecardError):
            return None

    def read(self) -> str:
        """The file's text. Raises `CuecardError`; the file stays."""
        path, hint = self.path, _("The file stays where it is.")
        try:
            if path.stat().st_size > _MAX_BYTES:
                raise CuecardError(_("This text is too long"), str(path), hint)
            return path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
        except FileNotFoundError as error:
            raise CuecardError(_("The file is gone"), str(path)) from error
        except UnicodeDecodeError as error:
            raise CuecardError(_("This text is not UTF-8"), str(path), hint) from error
        except OSError as error:
            why = system_words(error)
            raise CuecardError(_("A file cannot be read"), headed(path, why)) from error

    def write(self, text: str) -> Path:
        """Replace the file in one move. Raises `CuecardError`."""
        path = self.path
        try:
            return keep(path, storable(text))
        except OSError as error:
            why = system_words(error)
            raise CuecardError(_("A file cannot be written"), headed(path, why)) from error

    def set_aside(self) -> Path | None:
        """Give what was left behind another name, so that the file is free; None if nothing was."""
        path = self.path
        try:
            stamp = datetime.fromtimestamp(path.stat().st_mtime).strftime("%Y%m%d-%H%M%S")
            return path.rename(path.with_name(f"{path.stem}-{stamp}{path.suffix}"))
        except OSError:
            return None

    def discard(self) -> None:
        with contextlib.suppress(OSError):
            self.path.unlink(missing_ok=True)
