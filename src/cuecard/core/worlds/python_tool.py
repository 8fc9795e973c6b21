"""The tool `python`, which any world can have: runs a model's programs in a sandboxed process."""

import asyncio
import json
import math
import os
import shutil
import signal
import sys
import sysconfig
import tempfile
from asyncio import AbstractEventLoop, Semaphore
from collections.abc import AsyncGenerator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import cast
from weakref import WeakKeyDictionary

from cuecard.core.config_players import UNCAGED, PythonConfig
from cuecard.core.engine.messages import PlayerRef, ToolAnswer, ToolCall, ToolSpec
from cuecard.core.engine.step_context import Closable, World, WorldContext
from cuecard.core.errors import ConfigError
from cuecard.core.i18n import N_, _, listed
from cuecard.core.system import replace_file
from cuecard.core.tasks.models import TaskLanguage
from cuecard.core.text import for_display, storable
from cuecard.core.worlds.closed import PYTHON

_CAGE = Path(__file__).with_name("python_cage.py")
# A program that writes more bytes than this is stopped.
_MOST_BYTES = 16_000_000
_STDERR_CHARS = 3000
_BYTES_A_CHAR = 4
# Seconds that the remaining processes may take to end after the program.
_LAST_SECONDS = 1.0
_LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib")
_SYSTEM_FILES = ("/etc/ld.so.cache", "/etc/localtime", "/usr/share/zoneinfo")
# What distributions bar namespaces with.
_SETTINGS = {
    "user.max_user_namespaces": "0",
    "kernel.unprivileged_userns_clone": "0",
    "kernel.apparmor_restrict_unprivileged_userns": "1",
}
_KEPT = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT")

# One semaphore for each event loop.
_turns: WeakKeyDictionary[AbstractEventLoop, Semaphore] = WeakKeyDictionary()


RESTRICTIONS = {
    "network": N_("no network"),
    "files": N_("no files but its own"),
    "processes": N_("no process outlives it"),
    "calls": N_("no other process, no socket, only plain calls of the system"),
    "limits": N_("limits of time, memory and threads"),
}


class Ending(StrEnum):
    DONE = "done"
    FAILED = "failed"
    TIME = "time"
    MEMORY = "memory"
    OUTPUT = "output"
    KILLED = "killed"
    BROKEN = "broken"


@dataclass(frozen=True)
class Isolation:
    """Which restrictions are in force: no network; only files of Python and of a bounded working directory; no process
    that outlives the program; none but plain calls of the system, so no other process; limits of time, memory and
    threads; and files shut a second time. `missing`: the steps that failed, and why.
    """

    network: bool = False
    files: bool = False
    processes: bool = False
    calls: bool = False
    limits: bool = False
    landlock: bool = False
    missing: tuple[str, ...] = ()

    @property
    def whole(self) -> bool:
        """Whether this is a cage: all but `landlock`, which repeats what `files` does."""
        return not self.open

    @property
    def open(self) -> tuple[str, ...]:
        """The restrictions of a cage that are not in force."""
        return tuple(name for name in RESTRICTIONS if not getattr(self, name))


@dataclass(frozen=True)
class ProgramResult:
    """The result of a program. `output`: the beginning of its standard output; `errors`: the end of its standard error;
    `cut`: whether something was left out. `code`: the exit code, or minus the signal that ended it.
    """

    ending: Ending
    output: str = ""
    errors: str = ""
    cut: bool = False
    code: int | None = None
    isolation: Isolation = Isolation()


async def run_python(code: str, config: PythonConfig) -> ProgramResult:
    """Run `code` to its end or to its limits. At most as many programs run concurrently as there are processors, so
    that the limit of time is fair.
    """
    loop = asyncio.get_running_loop()
    turns = _turns.setdefault(loop, Semaphore(max(2, os.cpu_count() or 2)))
    async with turns, _directory(code) as place:
        return await _run(place, config)


@cache
def python_isolation() -> Isolation:
    """Which restrictions work on this system, found out by running a program that tries to break each. Takes a tenth
    of a second the first time.
    """
    if os.name != "posix":
        return Isolation(missing=(sys.platform,))
    with ThreadPoolExecutor(1) as apart:  # The loop of this thread may be running.
        ran = apart.submit(asyncio.run, run_python(_TRIES, PythonConfig(uncaged=UNCAGED))).result()
    broken = [name for name in ran.output.split() if getattr(ran.isolation, name)]
    if ran.ending is not Ending.DONE:
        return Isolation(missing=(*ran.isolation.missing, ran.errors.strip() or ran.ending))
    held = dict.fromkeys(broken, False)
    told = (f"{name}: a program broke it" for name in broken)
    return replace(ran.isolation, **held, missing=(*ran.isolation.missing, *told))


# Prints the name of each restriction that it can break.
_TRIES = """
import os, socket
def fork():
    if os.fork() == 0: os._exit(0)
for name, attempt in (
    ("network", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(("192.0.2.1", 9))),
    ("files", lambda: open("/etc/passwd")),
    ("processes", lambda: os.getppid() == 1 and os.stat("/nowhere")),
    ("calls", fork),
    ("limits", lambda: bytearray(1 << 30)),
):
    try: attempt()
    except (OSError, MemoryError): continue
    print(name)
"""


def why_uncaged(isolation: Isolation) -> str:
    """What of the cage is not in force, and which steps failed."""
    lacking = listed(_(RESTRICTIONS[name]) for name in isolation.open)
    told = _("; ").join(isolation.missing) or sys.platform
    return _("not in force here: {what} ({why})").format(what=lacking, why=told)


def how_to_cage() -> str:
    """What would make the cage work here, and what to write where it cannot."""
    mend = _("run on Linux 5.12 or newer, where namespaces may be made (docs/python-cage.md)")
    for setting, barred in _SETTINGS.items():
        with suppress(OSError):
            if Path("/proc/sys", *setting.split(".")).read_text().strip() == barred:
                mend = _("the system bars namespaces by {setting} = {value}").format(
                    setting=setting, value=barred
                )
                break
    words = _('or accept it in words, beside seconds and memory_mb: uncaged: "{words}"')
    return _("; ").join((mend, words.format(words=UNCAGED)))


@dataclass
class _Watch(asyncio.SubprocessProtocol):
    """Keeps the beginning of the standard output and the end of the standard error, and drops the rest."""

    kept: int
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    closed: asyncio.Event = field(default_factory=asyncio.Event)
    flooded: asyncio.Event = field(default_factory=asyncio.Event)
    output: bytearray = field(default_factory=bytearray)
    errors: bytearray = field(default_factory=bytearray)
    seen: int = 0
    open: int = 2

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self.seen += len(data)
        if fd == 1:
            self.output += data[: max(0, self.kept - len(self.output))]
        else:
            self.errors += data
            del self.errors[: -_STDERR_CHARS * _BYTES_A_CHAR]
        if self.seen > _MOST_BYTES:
            self.flooded.set()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        self.open -= 1
        if self.open == 0:
            self.closed.set()

    def process_exited(self) -> None:
        self.ended.set()


async def _run(place: Path, config: PythonConfig) -> ProgramResult:
    reading, writing = os.pipe()
    watch = _Watch(config.output_chars * _BYTES_A_CHAR + 1)
    stopped: Ending | None = None
    try:
        asked = json.dumps({**_asked(place, config), "report": writing})
        transport, _protocol = await asyncio.get_running_loop().subprocess_exec(
            lambda: watch,
            *(_interpreter(), "-I", "-S", str(_CAGE), asked),
            stdin=asyncio.subprocess.DEVNULL,
            cwd=place,
            env=_environment(place),
            start_new_session=True,
            pass_fds=(writing,),
        )
        try:
            stopped = await _until_the_end(watch, 2 * config.seconds)
        finally:
            _kill(transport.get_pid())
            with suppress(TimeoutError):
                await asyncio.wait_for(watch.ended.wait(), _LAST_SECONDS)
            with suppress(TimeoutError):
                await asyncio.wait_for(watch.closed.wait(), _LAST_SECONDS)
            transport.close()
    finally:
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            os.set_blocking(reading, False)
            said = pipe.read() or b""
    return _ran(watch, stopped, said, config, place)


async def _until_the_end(watch: _Watch, seconds: float) -> Ending | None:
    """Wait for the program to end; returns the reason if it has to be stopped, else None."""
    waiting = [asyncio.ensure_future(e.wait()) for e in (watch.ended, watch.flooded)]
    try:
        await asyncio.wait(waiting, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for each in waiting:
            each.cancel()
    if watch.flooded.is_set():
        return Ending.OUTPUT
    return None if watch.ended.is_set() else Ending.TIME


def _kill(pid: int) -> None:
    """Kill the process group that `pid` leads; its namespace ends with it, including processes that left the group."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def _ran(
    watch: _Watch, stopped: Ending | None, said: bytes, config: PythonConfig, place: Path
) -> ProgramResult:
    told: dict[str, object] = {}
    for line in said.splitlines():
        told.update(json.loads(line))
    held = cast("dict[str, bool]", told.get("held", {}))
    missing = cast("list[str]", told.get("missing", []))
    code = cast("int | None", told.get("exit"))
    output, errors = _text(watch.output, place), _text(watch.errors, place)
    most = config.output_chars
    cut = len(output) > most or watch.seen > len(watch.output) + len(watch.errors)
    return ProgramResult(
        ending=stopped or _ending(code, errors, started=told.get("refused") is False),
        output=output[:most],
        errors=errors[-_STDERR_CHARS:],
        cut=cut,
        code=code,
        isolation=Isolation(**held, missing=tuple(missing)),
    )


def _ending(code: int | None, errors: str, *, started: bool) -> Ending:
    if not started:
        return Ending.BROKEN
    if code == 0:
        return Ending.DONE
    if code is None or code < 0:
        return Ending.TIME if code == -signal.SIGXCPU else Ending.KILLED
    last = errors.rstrip().rpartition("\n")[2]
    return Ending.MEMORY if last.startswith("MemoryError") else Ending.FAILED


def _asked(place: Path, config: PythonConfig) -> dict[str, object]:
    program = str(place / "code" / "main.py")
    options = ("-I", "-S", "-B", "-u", "-X", "utf8")
    return {
        "root": str(place / "root"),
        "work": str(place / "work"),
        "uncaged": bool(config.uncaged),
        "readable": _readable(place),
        "command": [_interpreter(), *options, program],
        "environment": _environment(place / "work"),
        "cpu_seconds": math.ceil(config.seconds),
        "memory_mb": config.memory_mb,
    }


def _environment(home: Path) -> dict[str, str]:
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return {"PATH": os.defpath, "LANG": "C.UTF-8", "HOME": str(home), "TMPDIR": str(home), **kept}


def _interpreter() -> str:
    """The interpreter beneath a virtual environment: programs need not read the environment's files."""
    base = getattr(sys, "_base_executable", None) or sys.executable
    return os.path.realpath(base)


def _readable(place: Path) -> list[str]:
    own = (sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"))
    bases = {str(Path(base, "lib")) for base in (sys.base_prefix, Path(_interpreter()).parents[1])}
    return [_interpreter(), *own, *bases, str(place / "code"), *_LIBRARIES, *_SYSTEM_FILES]


@asynccontextmanager
async def _directory(code: str) -> AsyncGenerator[Path]:
    """A temporary directory with the program and an empty working directory, which is removed at the end."""
    place = _make_directory()
    try:
        await asyncio.to_thread(_prepare, place, code)
        yield place
    finally:
        await asyncio.shield(asyncio.to_thread(shutil.rmtree, place, ignore_errors=True))


def _make_directory() -> Path:
    return Path(os.path.realpath(tempfile.mkdtemp(prefix="cuecard-python-")))


def _prepare(place: Path, code: str) -> None:
    program = place / "code" / "main.py"
    for directory in (program.parent, place / "work", place / "root"):
        directory.mkdir()
    replace_file(program, storable(code))
    # In the cage the person may be another; nobody else comes as far as here.
    program.chmod(0o644)
    program.parent.chmod(0o755)


def _text(data: bytearray, place: Path) -> str:
    """The text without the name of the temporary directory, which differs each time."""
    text = for_display(storable(bytes(data).decode("utf-8", "replace")))
    return text.replace(f"{place}/code/", "").replace(f"{place}/work", ".")


MAX_CODE = 100_000
_WORDS: dict[TaskLanguage, dict[str, str]] = {
    "en": {
        "code": "The argument `code` is missing. It must be a Python program that is not empty.",
        "long": "The argument `code` is too long. Give at most {most} characters.",
        "silent": "The program wrote nothing. Print what you want to see.",
        "cut": "(The output was longer; this is its beginning.)",
        "errors": "Errors:",
        Ending.FAILED: "The program ended with exit code {code}.",
        Ending.TIME: "The program was stopped: it took more than {seconds} seconds.",
        Ending.MEMORY: "The program needed more memory than the {memory} MB that it may use.",
        Ending.OUTPUT: "The program was stopped: it wrote too much.",
        Ending.KILLED: "The program was ended by the system (signal {signal}).",
        Ending.BROKEN: "Programs cannot be run here.",
    },
    "zh": {
        "code": "缺少参数 `code`，它必须是非空的 Python 程序。",
        "long": "参数 `code` 太长，最多 {most} 个字符。",
        "silent": "程序没有输出。请用 print 输出需要的结果。",
        "cut": "（输出过长，这里只有开头部分。）",
        "errors": "错误信息：",
        Ending.FAILED: "程序以退出码 {code} 结束。",
        Ending.TIME: "程序已被中止：运行超过 {seconds} 秒。",
        Ending.MEMORY: "程序所需内存超过允许的 {memory} MB。",
        Ending.OUTPUT: "程序已被中止：输出过多。",
        Ending.KILLED: "程序被系统终止（信号 {signal}）。",
        Ending.BROKEN: "此处无法运行程序。",
    },
}


class WithPython:
    """A world with the tool `python` added; all other calls are answered by `world`.

    Raises `ConfigError` where programs cannot be caged, unless the configuration says in words that they need not be.
    """

    def __init__(self, world: World, config: PythonConfig, language: TaskLanguage) -> None:
        if os.name != "posix":
            raise ConfigError(
                _("A tool cannot be offered"),
                _("the tool python needs Linux, or macOS without its cage"),
                _("leave python out of the world's configuration"),
            )
        isolation = python_isolation()
        if not isolation.whole and not config.uncaged:
            python_isolation.cache_clear()  # What failed may pass, as where there are too many namespaces.
            raise ConfigError(
                _("The tool python is not offered: its programs cannot be caged here"),
                why_uncaged(isolation),
                how_to_cage(),
            )
        self._world = world
        self._config = config
        self._language: TaskLanguage = language
        self._uncaged = "" if isolation.whole else f"uncaged, no {' '.join(isolation.open)}; "

    @property
    def ref(self) -> PlayerRef:
        inner, own = self._world.ref, self._config
        limits = f"{own.seconds:g}s {own.memory_mb}MB {own.output_chars}"
        return inner.model_copy(
            update={"version": f"{inner.version} python({self._uncaged}{limits})"}
        )

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        return (*self._world.tools, PYTHON)

    async def answer(self, call: ToolCall, context: WorldContext) -> ToolAnswer:
        if call.name != PYTHON.name:
            return await self._world.answer(call, context)
        words = _WORDS[self._language]
        code = call.arguments.get("code")
        if not isinstance(code, str) or not code.strip():
            return ToolAnswer(text=words["code"], ok=False)
        if len(code) > MAX_CODE:
            return ToolAnswer(text=words["long"].format(most=MAX_CODE), ok=False)
        return self._told(await run_python(code, self._config))

    async def close(self) -> None:
        if isinstance(self._world, Closable):
            await self._world.close()

    def _told(self, ran: ProgramResult) -> ToolAnswer:
        words = _WORDS[self._language]
        parts = [ran.output.rstrip("\n")] if ran.output.strip() else []
        if ran.cut:
            parts.append(words["cut"])
        if ran.errors.strip():
            parts += [words["errors"], ran.errors.rstrip("\n")]
        if ran.ending is not Ending.DONE:
            code = ran.code or 0
            parts.append(
                words[ran.ending].format(
                    code=code,
                    signal=-code if code < 0 else "?",
                    seconds=f"{self._config.seconds:g}",
                    memory=self._config.memory_mb,
                )
            )
        # A program that fails by its own error is an answer; one that had to be stopped is not.
        ok = ran.ending in (Ending.DONE, Ending.FAILED)
        return ToolAnswer(text="\n".join(parts) or words["silent"], ok=ok)
