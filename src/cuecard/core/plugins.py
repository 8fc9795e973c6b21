"""Code that is found by name and imported on first use: our own, and that of other packages, which register by entry point.

What ships with us stands in a table of the same references as an entry point, "package.module:name", and is read in the
same way. It is no entry point itself, because reading the metadata of all installed packages takes milliseconds at every
start; and so that a checkout works that was never installed.
"""

from __future__ import annotations

import sys
import threading
import traceback
import zlib
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from cuecard.core.errors import ConfigError, CuecardError
from cuecard.core.i18n import _, headed, listed
from cuecard.core.secrets import scrub
from cuecard.core.text import one_line

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

Thing = TypeVar("Thing")


class PluginError(ConfigError):
    """Code of another package cannot be loaded, or is not what it has to be."""


@cache
def imported(reference: str) -> Any:
    """The object with the reference "package.module:name". Raises `ImportError`, `AttributeError`."""
    return resolve_name(reference)


class Registry(Mapping[str, Thing], Generic[Thing]):
    """Objects by name, each imported on first access; names, order and length are known without importing.

    `shipped`: references of our own, which come first and cannot be replaced. After them come the entry points of `group`,
    whose metadata is only read where all names are wanted, or one that is none of ours. `fits`: a reference to the class
    that they have to be of. Reading one that another package registered raises `PluginError`.

    >>> formats = Registry[Format]("cuecard.formats", {"turtle": "cuecard.core.formats.rdf:TURTLE"})
    """

    def __init__(self, group: str, shipped: Mapping[str, str], fits: str = "") -> None:
        self.group = group
        self.shipped = dict(shipped)
        self._fits = fits

    def __getitem__(self, name: str) -> Thing:
        if name in self.shipped:
            return imported(self.shipped[name])
        return load(registered(self.group)[name], self._check)

    @property
    def stamp(self) -> str:
        """Tells apart what is registered here by its versions, in few characters; "" if it is only ours."""
        found = [
            (name, entry.value, entry.dist.version if entry.dist else "")
            for name, entry in registered(self.group).items()
        ]
        return f"+{zlib.crc32(repr(sorted(found)).encode()):08x}" if found else ""

    @contextmanager
    def guard(self, name: str) -> Generator[None]:
        """Tell what the code of another package raises meanwhile as a `PluginError`."""
        try:
            yield
        except (CuecardError, OSError):
            raise
        except Exception as error:
            if name in self.shipped:
                raise
            raise PluginError(
                _("Code of another package failed"), headed(name, reason_of(error))
            ) from error

    def _check(self, found: Any) -> str:
        wanted = imported(self._fits) if self._fits else object
        if isinstance(found, wanted):
            return ""
        return _("it must be of the class {name}").format(name=self._fits)

    def __iter__(self) -> Iterator[str]:
        return iter({**self.shipped, **registered(self.group)})

    def __len__(self) -> int:
        return len({**self.shipped, **registered(self.group)})

    def __contains__(self, name: object) -> bool:
        return name in self.shipped or name in registered(self.group)


@cache
def registered(group: str) -> Mapping[str, EntryPoint]:
    """What other packages register in a group such as `cuecard.formats`, by name, with nothing imported. The metadata of
    all installed packages is read for it, once for each group (2 ms for 70 packages).
    """
    from importlib.metadata import entry_points

    found: dict[str, EntryPoint] = {}
    for entry in entry_points(group=group):
        found.setdefault(entry.name, entry)
    return found


def load(entry: EntryPoint, problem: Callable[[Any], str] = lambda found: "") -> Any:
    """The object that an entry point names. `problem`: why it is not what it has to be; "" if it is. Raises `PluginError`,
    which names the package, the group and the reason.
    """
    package = f"{entry.dist.name} {entry.dist.version}" if entry.dist else "?"
    place = _("{name} of the package {package}, registered in {group} as {reference}").format(
        name=entry.name, package=package, group=entry.group, reference=entry.value
    )
    return _loaded(place, entry.load, problem)


def load_class(reference: str, folder: str, methods: tuple[str, ...]) -> type[Any]:
    """The class "package.module:Class", from the module's file below `folder` if it is there, else from what is installed.
    Raises `PluginError` if it cannot be loaded, or lacks one of the `methods`.
    """

    def problem(found: Any) -> str:
        if not isinstance(found, type):
            return _("it is no class")
        missing = [name for name in methods if not callable(getattr(found, name, None))]
        return _("it has no method {names}").format(names=listed(missing)) if missing else ""

    return _loaded(reference, lambda: _resolved(reference, folder), problem)


_importing = threading.RLock()


def _resolved(reference: str, folder: str) -> Any:
    module = reference.partition(":")[0]
    place = Path(folder, *module.split("."))
    if not (folder and (place.with_suffix(".py").is_file() or (place / "__init__.py").is_file())):
        return resolve_name(reference)
    with _importing:
        # First while it is imported, so that no installed package of this name has it; then last, for imports later on.
        sys.path.insert(0, folder)
        try:
            found = import_module(module)
        finally:
            sys.path.remove(folder)
        if folder not in sys.path:
            sys.path.append(folder)
    file = getattr(found, "__file__", None) or "?"
    if not Path(file).resolve().is_relative_to(Path(folder).resolve()):
        raise ImportError(f"another module is called {module} too: {file}")
    return resolve_name(reference)


def _loaded(what: str, get: Callable[[], Any], problem: Callable[[Any], str]) -> Any:
    title = _("Code of another package cannot be loaded")
    try:
        with captured_output([]):
            found = get()
    except (Exception, SystemExit) as error:
        raise PluginError(title, headed(what, reason_of(error))) from error
    if wrong := problem(found):
        raise PluginError(title, headed(what, wrong))
    return found


def reason_of(error: BaseException, file: str = "") -> str:
    """The last line of an error's traceback, and where it was raised: in `file`, if it went through that."""
    said = one_line(traceback.format_exception_only(error)[-1], 500)
    frames = traceback.extract_tb(error.__traceback__)
    frames = [frame for frame in frames if frame.filename == file] or frames
    where = f" ({frames[-1].filename}:{frames[-1].lineno})" if frames else ""
    return scrub(f"{said}{where}")


MOST_PRINTED = 20_000
"""Characters that are kept of what code prints."""
_hearing: ContextVar[list[str] | None] = ContextVar("hearing", default=None)


class _Screen:
    """Standard output or error once code of others has run: what that prints is kept, all else goes where it went."""

    def __init__(self, screen: Any) -> None:
        self.screen = screen

    def write(self, text: str) -> int:
        kept = _hearing.get()
        if kept is None:
            return self.screen.write(text)
        room = MOST_PRINTED - sum(map(len, kept))
        if room > 0:
            kept.append(text[:room])
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.screen, name)


@contextmanager
def captured_output(kept: list[str]) -> Generator[None]:
    """Put what is printed in this context (this task or thread) into `kept`, at most `MOST_PRINTED` characters, instead of
    showing it. What C code prints, and threads that are started within, is not caught.
    """
    # They stay: code that hangs would keep them from being taken away again in their order.
    if not isinstance(sys.stdout, _Screen):
        sys.stdout = _Screen(sys.stdout)
    if not isinstance(sys.stderr, _Screen):
        sys.stderr = _Screen(sys.stderr)
    token = _hearing.set(kept)
    try:
        yield
    finally:
        _hearing.reset(token)
