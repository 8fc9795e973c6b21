"""Uses of the operating system: the one writer of files, private folders, locks, and a quiet exit on Ctrl-C."""

import contextlib
import gc
import os
import signal
import stat
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from types import FrameType
from uuid import uuid4

CONFIG_NAME = "cuecard.yaml"
"""The configuration in the working folder."""
_PRIVATE_FILE, _PRIVATE_FOLDER = 0o600, 0o700
_LOCK_SECONDS = 1.0
_FORMER: dict[str, str] = {}


def replace_file(
    path: Path,
    data: str | bytes | Iterable[bytes],
    *,
    private: bool = False,
    new: bool = False,
    synced: bool = False,
) -> Path:
    """Replace a file atomically, by one text or piece by piece: a full disk leaves the old one intact, and a link stays a link.
    What is no file, such as a pipe, is written to. The file keeps its mode; with `private` only its owner can read it;
    with `synced` it outlasts a power cut. Its folder must exist. Raises `OSError`; with `new`, `FileExistsError` where
    there is something already.
    """
    content = data.encode() if isinstance(data, str) else data
    pieces = (content,) if isinstance(content, bytes) else content
    if path.exists() and not new and not path.is_file():
        with path.open("wb") as file:
            file.writelines(pieces)
        return path
    with drafted(path, private=private, new=new) as draft, draft.open("wb") as file:
        file.writelines(pieces)
        if synced:
            file.flush()
            os.fsync(file.fileno())
    return path


@contextmanager
def drafted(path: Path, *, private: bool = False, new: bool = False) -> Generator[Path]:
    """An empty file beside `path` to be filled in the body, which then takes its place; see `replace_file`."""
    place = path.resolve()
    draft = place.with_name(f".{place.name[:80]}.{uuid4().hex[:12]}.tmp")
    try:
        mode = _PRIVATE_FILE if private else 0o666
        os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))
        yield draft
        if new:
            place.touch(exist_ok=False)
        elif not private and place.exists():
            draft.chmod(stat.S_IMODE(place.stat().st_mode))
        draft.replace(place)
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def uncollected() -> Generator[None]:
    """While many records are made that stay: Python looks through all of them again and again for cycles, of which
    they have none, and takes longer for that than they take to make.
    """
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def write_text(path: Path, text: str, *, private: bool = False) -> Path:
    """`replace_file`, making the folder if need be. Raises `CuecardError` if the file cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return replace_file(path, text, private=private)
    except OSError as error:
        from cuecard.core.errors import CuecardError, system_words
        from cuecard.core.i18n import _, headed

        raise CuecardError(
            _("This file cannot be written"), headed(path, system_words(error))
        ) from error


def config_folder() -> Path:
    """The folder of a person's preferences."""
    import platformdirs

    return Path(platformdirs.user_config_dir("cuecard", appauthor=False))


def state_folder() -> Path:
    """The folder of a person's unfinished work, with a folder for each kind."""
    import platformdirs

    return Path(platformdirs.user_state_dir("cuecard", appauthor=False))


def make_own_folder(folder: Path) -> Path:
    """Make one of a person's own folders, closed to others. Raises `OSError`."""
    for each in reversed((folder, *folder.parents)):
        if not each.exists():
            each.mkdir(mode=_PRIVATE_FOLDER, exist_ok=True)
    _shut(folder)
    return folder


def keep(path: Path, data: str, *, synced: bool = False) -> Path:
    """Replace a file in one of a person's own folders. Raises `OSError`."""
    make_own_folder(path.parent)
    return replace_file(path, data, private=True, synced=synced)


def restrict_own_folders() -> None:
    """Close the person's own folders to others, as far as the system allows; earlier versions left them open."""
    for folder in (config_folder(), state_folder()):
        for each in (folder, *_folders_in(folder)):
            with contextlib.suppress(OSError):
                _shut(each)


def _folders_in(folder: Path) -> Iterator[Path]:
    with contextlib.suppress(OSError):
        yield from (each for each in folder.iterdir() if each.is_dir() and not each.is_symlink())


def _shut(folder: Path) -> None:
    if os.name != "posix" or not stat.S_IMODE(folder.stat().st_mode) & 0o077:
        return
    folder.chmod(_PRIVATE_FOLDER)
    for file in folder.iterdir():
        if file.is_file() and not file.is_symlink():
            file.chmod(_PRIVATE_FILE)


def formerly(public: str, address: str) -> None:
    """Remember that earlier versions named the files of the workspace at `public` after `address`, with its password."""
    if address != public:
        _FORMER[public] = address


def kept_path(kind: str, url: str, name_of: Callable[[str], str]) -> Path:
    """The file of unfinished work in the workspace with the public address `url`; `name_of` makes its name from the
    address. A file that an earlier version stored under another name is renamed.
    """
    path = state_folder() / kind / name_of(url)
    if (address := _FORMER.get(url)) and not path.exists():
        with contextlib.suppress(OSError):
            path.with_name(name_of(address)).rename(path)
    return path


@contextmanager
def locked(path: Path) -> Generator[None]:
    """Hold a lock on the file at `path` among the processes of this machine; goes on without it if another process holds
    it longer than any write takes. Its folder must exist. Raises `OSError` if the lock cannot be made.
    """
    try:
        import fcntl
    except ImportError:  # No such locks on this system: the last one to write wins.
        yield
        return
    lock = os.open(path.with_name(f".{path.name}.lock"), os.O_RDWR | os.O_CREAT, _PRIVATE_FILE)
    try:
        patience = monotonic() + _LOCK_SECONDS
        while monotonic() < patience:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError:
                sleep(0.005)
        yield
    finally:
        os.close(lock)


EXIT_INTERRUPTED = 130
"""The exit code that shells expect of an interrupted command."""


def end_on_interrupt() -> None:
    """From here on Ctrl-C ends the process at once and silently: nothing is open that this could harm. If the signal is
    ignored or handled by others, nothing changes.
    """
    if signal.getsignal(signal.SIGINT) in (signal.default_int_handler, _interrupt):
        signal.signal(signal.SIGINT, _leave)


def raise_again() -> None:
    """From here on Ctrl-C raises KeyboardInterrupt again, for code that has something to finish. During an import it is
    raised only afterwards, since the importing code may print it, swallow it or take it for its own error (as pydantic's
    classes do).
    """
    import threading  # now, rather than amid another import

    del threading
    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, _interrupt)


@contextmanager
def ending_in_order(leave: Callable[[int], object]) -> Generator[None]:
    """While the body runs, Ctrl-C or a request to terminate calls `leave` with the exit code on the running event loop,
    instead of raising at any place in it; the second time it raises `KeyboardInterrupt`. Where no loop runs (any more) it
    ends the process at once and silently. A signal that is ignored stays ignored.
    """
    import asyncio

    asked: list[int] = []

    def end(number: int, frame: FrameType | None) -> None:
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            os._exit(128 + number)
        if asked:
            _interrupt(number, frame)
        else:
            asked.append(number)
            loop.call_soon_threadsafe(leave, 128 + number)

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    heeded = {n: h for n, h in before.items() if h not in (None, signal.SIG_IGN)}
    for number in heeded:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number, handler in heeded.items():
            signal.signal(number, handler)


def _leave(_signal: int, _frame: FrameType | None) -> None:
    os._exit(EXIT_INTERRUPTED)


def _interrupt(_signal: int, frame: FrameType | None) -> None:
    while frame is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            import _thread
            import threading

            again = threading.Timer(0.005, _thread.interrupt_main)
            again.daemon = True
            again.start()
            return
        frame = frame.f_back
    raise KeyboardInterrupt
