"""What a program that wants out of its cage can do: nothing. All of it as who runs the tests, and as an ordinary user."""

from __future__ import annotations

import asyncio
import json
import os
import platform
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import cuecard
import result_rows
from cuecard.annotate.results.report_formats import player_word
from cuecard.annotate.results.words import baselines
from cuecard.core.config_players import UNCAGED, PythonConfig
from cuecard.core.engine.messages import PlayerRef
from cuecard.core.worlds import python_cage
from cuecard.core.worlds.python_tool import (
    Ending,
    Isolation,
    ProgramResult,
    python_isolation,
    run_python,
)
from cuecard.tui.commands.score_output import baselines_line
from cuecard.tui.present.labels import player_label

_NOBODY = 65534
_SOURCES = Path(cuecard.__file__).parents[1]
_HERE = Path(__file__)


NAMESPACES = """
import ctypes, os
libc, uid = ctypes.CDLL(None), os.getuid()
assert libc.unshare(0x78020000) == 0
open("/proc/self/uid_map", "w").write(f"0 {uid} 1")
assert libc.mount(b"none", b"/tmp", b"tmpfs", 0, None) == 0
"""


@pytest.fixture(scope="module", autouse=True)
def _caged() -> None:
    """Where the system has what the cage is made of, the cage must hold; else there is nothing to try."""
    if sys.platform != "linux" or platform.machine() not in python_cage._MACHINES:
        pytest.skip("programs are caged on Linux, on x86-64 and ARM64")
    if subprocess.run([sys.executable, "-c", NAMESPACES], check=False).returncode:
        pytest.skip("this system lets its user make no namespaces, or mount nothing there")
    assert python_isolation().whole, python_isolation()


async def ran(code: str, **limits) -> ProgramResult:
    got = await run_python(code, PythonConfig.model_validate({"seconds": 5, **limits}))
    assert got.isolation.whole, got
    return got


async def said(code: str, **limits) -> str:
    """What a program prints that ends by itself."""
    got = await ran(code, **limits)
    assert got.ending is Ending.DONE, got
    return got.output


def running(place: Path, ending: str = "") -> list[int]:
    """The processes of programs, and of their cages, in `place`; those whose command line has that `ending`."""
    found: list[int] = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            line = path.read_text(errors="replace").rstrip("\0")
            if f"{place}/cuecard-python-" in line and line.endswith(ending):
                found.append(int(path.parent.name))
    return found


def program_in(place: Path) -> Path:
    """What the kernel says of the one program, once it runs."""
    while not (found := running(place, "/code/main.py")):
        time.sleep(0.01)
    return Path(f"/proc/{found[0]}")


@pytest.fixture
def place(monkeypatch, tmp_path) -> Path:
    """Where the directories of programs are made: the mark of their processes."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


TRY = """
import ctypes, errno, os, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
def attempt(name, function, *given):
    try: got = function(*given)
    except BaseException as error: print(name, type(error).__name__); return
    print(name, "done", got)
def system(*given):
    got = libc.syscall(*given)
    if got < 0: raise OSError(ctypes.get_errno(), "")
    return got
"""


async def test_no_process_is_started_in_any_way():
    clone = python_cage._MACHINES[platform.machine()][2]
    got = await said(
        TRY + "import subprocess, multiprocessing\n"
        "attempt('fork', os.fork)\n"
        "attempt('run', subprocess.run, [sys.executable, '-c', ''])\n"
        "attempt('spawn', os.posix_spawn, sys.executable, ['python'], {})\n"
        "attempt('shell', subprocess.run, 'true', )\n"
        f"attempt('clone', system, {clone}, 17, 0, 0, 0, 0)\n"
        f"attempt('vfork', system, {clone}, 0x4111, 0, 0, 0, 0)\n"
        f"attempt('namespace', system, {clone}, 0x10000011, 0, 0, 0, 0)\n"
        f"attempt('clone3', system, 435, ctypes.create_string_buffer(88), 88)\n"
    )
    lines = dict(line.split(" ", 1) for line in got.splitlines())
    assert lines.pop("clone3") == "OSError"
    assert set(lines.values()) == {"PermissionError"}


async def test_a_fork_bomb_and_a_daemon_that_wants_to_outlive_the_program_leave_nothing(place):
    got = await ran(
        "import os, time\n"
        "started = 0\n"
        "for _ in range(500):\n"
        "    try:\n"
        "        if os.fork() == 0:\n"
        "            os.setsid()\n"
        "            if os.fork() == 0: time.sleep(600)\n"
        "            os._exit(0)\n"
        "        started += 1\n"
        "    except OSError: pass\n"
        "print(started)"
    )
    assert got.output == "0\n"
    assert running(place) == []


async def test_threads_work_and_are_bounded_and_none_outlives_the_program(place):
    got = await ran(
        "import threading, time\n"
        "from concurrent.futures import ThreadPoolExecutor as Pool\n"
        "print(sum(Pool(4).map(abs, [-1, 2])))\n"
        "threading.stack_size(32768)\n"
        "try:\n"
        "    while True: threading.Thread(target=time.sleep, args=(600,)).start()\n"
        "except RuntimeError: print(threading.active_count(), flush=True)",
        seconds=0.5,
    )
    assert got.ending is Ending.TIME, got
    assert got.output.splitlines()[0] == "3"
    assert 4 < int(got.output.splitlines()[1]) < python_cage._TASKS
    assert running(place) == []


async def test_nobody_is_root_outside_and_all_namespaces_are_its_own(place):
    """The kernel binds root by no limit of tasks, in no namespace."""

    def look() -> tuple[str, list[str]]:
        program = program_in(place)
        kinds = ("net", "pid", "mnt", "ipc", *(("user",) if os.getuid() else ()))
        shared = [
            k for k in kinds if os.readlink(program / "ns" / k) == os.readlink(f"/proc/self/ns/{k}")
        ]
        return (program / "status").read_text(), shared

    running_now = asyncio.create_task(ran("import time; time.sleep(600)", seconds=30))
    status, shared = await asyncio.to_thread(look)
    running_now.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running_now
    assert shared == []
    told = dict(line.split(":", 1) for line in status.splitlines())
    (uid,) = set(told["Uid"].split())
    assert int(uid) == os.getuid() or (os.getuid() == 0 and int(uid) >= _NOBODY)
    assert int(uid) != 0
    assert told["Groups"].split() == [] or os.getuid() != 0
    assert int(told["CapEff"], 16) == 0
    assert (told["NoNewPrivs"].strip(), told["Seccomp"].strip()) == ("1", "2")


async def test_all_memory_together_is_bounded():
    """One process is all there is, and none of what the kernel keeps outside its address space can be had."""
    assert (await ran("x = bytearray(300 << 20)", memory_mb=200)).ending is Ending.MEMORY
    got = await said(
        TRY + "import mmap\n"
        "attempt('shared', mmap.mmap, -1, 300 << 20)\n"
        "attempt('memfd', os.memfd_create, 'x')\n"
        "attempt('file', open, '/dev/shm/x', 'w')\n"
        "attempt('shmget', libc.shmget, 0, 4096, 0o1600)\n"
        "attempt('msgget', libc.msgget, 0, 0o1600)\n",
        memory_mb=200,
    )
    assert got.splitlines() == [
        "shared OSError",
        "memfd PermissionError",
        "file FileNotFoundError",
        "shmget done -1",
        "msgget done -1",
    ]


async def test_time_ends_for_a_program_that_ignores_every_warning():
    got = await ran(
        "import signal\n"
        "for number in signal.valid_signals():\n"
        "    try: signal.signal(number, signal.SIG_IGN)\n"
        "    except OSError: pass\n"
        "while True: pass",
        seconds=0.5,
    )
    assert got.ending is Ending.TIME, got


async def test_a_disk_that_is_filled_is_a_small_one_in_memory(place):
    got = await said(
        "import os, errno\n"
        "written = files = 0\n"
        "try:\n"
        "    while True:\n"
        "        with open(f'f{files}', 'wb', buffering=0) as file: written += file.write(bytes(1 << 20))\n"
        "        files += 1\n"
        "except OSError as error: print(error.errno == errno.ENOSPC, written >> 20)\n"
        "for n in range(files): os.remove(f'f{n}')\n"
        "made = 0\n"
        "try:\n"
        "    while True: os.mkdir(f'd{made}'); made += 1\n"
        "except OSError as error: print(error.errno == errno.ENOSPC, made < 10_240)\n"
    )
    assert got == f"True {python_cage._DISK_MB}\nTrue True\n"
    assert list(place.iterdir()) == []


def test_no_signal_reaches_anybody_outside():
    bystander = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        for victim in (bystander.pid, os.getpid(), 1, 0, -1, "os.getppid()", "os.getpgrp()"):
            got = asyncio.run(
                ran(
                    "import os, signal\n"
                    f"for number in (signal.SIGTERM, signal.SIGKILL):\n"
                    f"    try: os.kill({victim}, number)\n"
                    "    except OSError: pass\n"
                    "print('alive')"
                )
            )
            assert got.code in (0, -signal.SIGTERM, -signal.SIGKILL), got
        assert bystander.poll() is None
    finally:
        bystander.communicate(b"\n")


def test_the_program_ends_when_whoever_runs_it_is_killed(place):
    script = (
        "import asyncio, tempfile\n"
        f"tempfile.tempdir = {str(place)!r}\n"
        "from cuecard.core.worlds.python_tool import *\n"
        "asyncio.run(run_python('import time; time.sleep(600)', PythonConfig(seconds=300)))"
    )
    mine = subprocess.Popen([sys.executable, "-c", script])
    program_in(place)
    mine.kill()
    mine.wait()
    while running(place):
        time.sleep(0.01)


async def test_neither_keys_nor_memory_of_others_are_read(monkeypatch):
    monkeypatch.setenv("SEARCH_KEY", "Sekret")
    got = await said(
        TRY + "print(dict(os.environ))\n"
        f"for pid in ('self', 1, {os.getpid()}, os.getppid()):\n"
        "    for name in ('environ', 'mem', 'maps', 'cmdline', 'fd/0', 'root/etc/passwd'):\n"
        "        attempt(name, lambda: open(f'/proc/{pid}/{name}', 'rb').read())\n"
        f"attempt('ptrace', libc.ptrace, 16, {os.getpid()}, 0, 0)\n"
        "print([number for number in range(3, 64) if libc.fcntl(number, 1) >= 0])\n"
    )
    assert "Sekret" not in got
    assert "SEARCH_KEY" not in got
    lines = got.splitlines()[1:]
    assert {line.split()[1] for line in lines[:-2]} == {"FileNotFoundError"}
    assert lines[-2:] == ["ptrace done -1", "[]"]  # Nor is a file of ours open.


async def test_there_is_no_network(tmp_path):
    server = await asyncio.start_server(lambda _r, w: w.close(), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(
        str(tmp_path / "s")
    )  # As an agent for keys, a desktop's bus or a container's daemon listens.
    listener.listen()
    async with server:
        got = await said(
            TRY + f"attempt('tcp', socket.create_connection, ('127.0.0.1', {port}), 2)\n"
            "for family in (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK, socket.AF_PACKET):\n"
            "    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW):\n"
            "        attempt('socket', socket.socket, family, kind)\n"
            f"attempt('path', os.stat, {str(tmp_path / 's')!r})\n"
            "attempt('name', socket.getaddrinfo, 'example.com', 80)\n"
            "import asyncio\n"
            "attempt('asyncio', asyncio.run, asyncio.sleep(0, 7))\n"
        )
    listener.close()
    lines = got.splitlines()
    assert lines[:-3] == ["tcp PermissionError", *["socket PermissionError"] * 15]
    assert lines[-3:] == ["path FileNotFoundError", "name gaierror", "asyncio done 7"]


async def test_files_outside_are_not_there_and_what_is_there_cannot_be_written(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("Sekret")
    got = await said(
        TRY + f"attempt('read', open, {str(secret)!r})\n"
        f"attempt('write', open, {str(tmp_path / 'new')!r}, 'w')\n"
        f"attempt('remove', os.remove, {str(secret)!r})\n"
        f"attempt('list', os.listdir, {str(tmp_path)!r})\n"
        f"attempt('stat', os.stat, {str(secret)!r})\n"
        f"os.symlink({str(secret)!r}, 'link'); attempt('link', open, 'link')\n"
        f"attempt('hard', os.link, {str(secret)!r}, 'hard')\n"
        "attempt('up', open, '../../secret')\n"
        "attempt('passwd', open, '/etc/passwd')\n"
        "attempt('home', os.listdir, '/root')\n"
        "attempt('device', open, '/dev/sda')\n"
    )
    assert {line.split(" ", 1)[1] for line in got.splitlines()} <= {
        "FileNotFoundError",
        "PermissionError",
    }
    got = await said(
        TRY + "attempt('library', open, os.__file__, 'a')\n"
        "attempt('mode', os.chmod, os.__file__, 0o777)\n"
        "attempt('beside', open, os.path.dirname(os.__file__) + '/new.py', 'w')\n"
        "attempt('interpreter', open, sys.executable, 'a')\n"
        "attempt('program', open, '../code/main.py', 'a')\n"
        "attempt('root', open, '/new', 'w')\n"
        "attempt('parent', os.mkdir, '../new')\n"
        "attempt('remount', libc.mount, b'none', b'/', None, 0x1020, None)\n"
        "attempt('null', lambda: open('/dev/null', 'w').write('x'))\n"
        "for path in ('/', os.__file__, sys.executable, '../code/main.py'):\n"
        "    if not os.statvfs(path).f_flag & os.ST_RDONLY: print('writable', path)\n"
        "if os.statvfs('.').f_flag & os.ST_RDONLY: print('not writable')\n"
    )
    lines = got.splitlines()
    assert lines[-2:] == ["remount done -1", "null done 1"]
    assert {line.split()[1] for line in lines[:-2]} <= {"PermissionError", "OSError"}
    assert [path.name for path in tmp_path.iterdir()] == ["secret"]
    if python_isolation().landlock:
        assert await said(TRY + "attempt('list', os.listdir, '/')") == "list PermissionError\n"


async def test_calls_of_the_system_that_a_plain_program_needs_not_are_refused():
    column = python_cage._MACHINES[platform.machine()][0]
    calls = {
        name: int(row[column - 1])
        for name, *row in (line.split() for line in python_cage._REFUSED.split(","))
        if row[column - 1] != "-"
    }
    assert len(calls) > 45
    got = await said(
        TRY + f"for name, number in {calls}.items():\n"
        "    if libc.syscall(number, 0, 0, 0, 0, 0, 0) >= 0 or ctypes.get_errno() != errno.EPERM: print(name)"
    )
    assert got == ""


@pytest.mark.skipif(platform.machine() != "x86_64", reason="has one way of calling the system only")
async def test_the_other_ways_of_calling_the_system_are_shut():
    got = await said(TRY + "attempt('x32', system, 0x40000000 | 39)")
    assert got == "x32 PermissionError\n"
    # mov eax, 20; int 0x80; ret: `getpid` of a program of 32 bits.
    got = await ran(
        "import ctypes, mmap\n"
        "page = mmap.mmap(-1, 4096, prot=7)\n"
        r"page.write(b'\xb8\x14\0\0\0\xcd\x80\xc3')" + "\n"
        "print(ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))())"
    )
    assert (got.output, got.code) == ("", -signal.SIGSYS)


BARRED = """
import asyncio, ctypes, json, os, pathlib
uid, gid = os.getuid(), os.getgid()
assert ctypes.CDLL(None).unshare(0x10000000) == 0
for name, text in (("self/setgroups", "deny"), ("self/uid_map", f"0 {uid} 1"), ("self/gid_map", f"0 {gid} 1"),
                   ("sys/user/max_user_namespaces", "0"), ("sys/user/max_net_namespaces", "0")):
    open("/proc/" + name, "w").write(text)

from cuecard.annotate.samples import load_samples
from cuecard.core.config import parse_config
from cuecard.core.engine.messages import ToolCall
from cuecard.core.engine.players import build_world
from cuecard.core.engine.step_context import FreshCalls
from cuecard.core.llm.hub import ModelHub
from cuecard.core.worlds.python_tool import *
from cuecard.tui.commands.doctor_checks import check_python_tool

def configured(text):
    return parse_config("worlds: {lab: {kind: closed, python: {" + text + "}}}", pathlib.Path("cuecard.yaml"))
def built(config):
    return build_world("lab", config, load_samples()[0], ModelHub(config))
told = {}
strict, lenient = configured("seconds: 3"), configured("uncaged: " + UNCAGED)
try: built(strict)
except ConfigError as error: told["refused"] = [error.title, error.message, error.hint]
world = built(lenient)
call = ToolCall(name="python", arguments={"code": "import os; print(os.path.exists('/etc/passwd'))"})
told["uncaged"] = [asyncio.run(world.answer(call, FreshCalls())).text, world.ref.uncaged, world.ref.version]
ran = asyncio.run(run_python("print(7)", PythonConfig()))
told["program"] = [ran.ending, ran.output]
told["doctor"] = [check_python_tool(config).model_dump() for config in (strict, lenient)]
print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def told() -> dict[str, Any]:
    """What happens on a machine that makes no more namespaces."""
    done = subprocess.run(
        [sys.executable, "-c", BARRED],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_where_programs_cannot_be_caged_the_tool_is_refused(told):
    title, why, how = told["refused"]
    assert title == "The tool python is not offered: its programs cannot be caged here"
    assert why.startswith("not in force here: no network, no files but its own, ")
    assert "unshare: No space left on device" in why
    assert how.startswith("the system bars namespaces by user.max_user_namespaces = 0; ")
    assert how.endswith(f'uncaged: "{UNCAGED}"')


def test_it_runs_uncaged_only_where_the_configuration_says_so_and_this_is_recorded(told):
    text, uncaged, version = told["uncaged"]
    assert (text, uncaged) == ("True", True)
    assert version.startswith("1 python(uncaged, no network files processes")


def test_one_program_is_refused_too_if_its_cage_fails(told):
    assert told["program"] == [Ending.BROKEN, ""]


def test_the_doctor_tells_what_is_missing(told):
    strict, lenient = told["doctor"]
    assert (strict["state"], lenient["state"]) == ("problem", "warning")
    assert not strict["data"]["network"]
    assert "unshare" in strict["hint"]
    assert "max_user_namespaces = 0" in strict["hint"]
    assert "as the configuration accepts" in lenient["hint"]


def test_screens_reports_and_results_say_that_programs_ran_uncaged(told):
    ref = PlayerRef(name="lab", kind="closed", version=told["uncaged"][2])
    assert player_label(ref) == "lab · python uncaged"
    assert player_word(ref).endswith(", python uncaged)")
    played = result_rows.row("react", "espresso", None)
    trial = played.trial._replace(world=ref)
    noted = list(baselines(result_rows.pool(played.of_trial(trial))))
    assert "Programs of the tool python ran without a cage: lab." in noted
    assert baselines_line([("world", ref)]) == noted[-1]


FEW = """
import ctypes, os
assert ctypes.CDLL(None).unshare(0x10020000) == 0
print("apart", flush=True); input(); os.setgid(0); os.setuid(0)
from cuecard.core.worlds.python_tool import python_isolation
print(python_isolation().whole)
"""


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives users to a namespace")
def test_root_of_a_container_that_has_few_users_is_caged_too():
    told = subprocess.Popen(
        [sys.executable, "-c", FEW],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert told.stdout
    assert told.stdout.readline() == "apart\n"
    for name in ("uid_map", "gid_map"):
        Path(f"/proc/{told.pid}/{name}").write_text("0 0 65536")
    assert told.communicate("\n")[0] == "True\n"


def test_words_that_say_something_else_are_refused():
    assert PythonConfig().uncaged == ""
    for words in ("yes", "true", UNCAGED.upper()):
        with pytest.raises(ValueError, match="uncaged"):
            PythonConfig.model_validate({"uncaged": words})


def test_what_is_known_of_the_cage():
    whole = Isolation(network=True, files=True, processes=True, calls=True, limits=True)
    assert whole.whole
    assert Isolation(network=True).open == ("files", "processes", "calls", "limits")


@pytest.mark.skipif(
    os.name != "posix" or os.getuid() != 0, reason="who is no root ran all this already"
)
def test_all_this_holds_for_an_ordinary_user():
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    python = next(
        (
            path
            for path in (
                os.path.realpath(sys.executable),
                f"/usr/bin/{version}",
                f"/usr/local/bin/{version}",
            )
            if os.path.exists(path) and python_cage._open_to_all(path)
        ),
        None,
    )
    if python is None or not python_cage._open_to_all(str(_HERE.parent)):
        pytest.skip("an ordinary user can run no Python here, or not read these tests")
    folder = Path(tempfile.mkdtemp(dir="/tmp"))
    os.chown(folder, _NOBODY, _NOBODY)
    try:
        done = subprocess.run(
            f"{python} -B -m pytest -q -rs --noconftest -p no:cacheprovider -p no:xdist --basetemp={folder}/base {_HERE}".split(),
            user=_NOBODY,
            group=_NOBODY,
            extra_groups=[],
            env={
                "PATH": os.defpath,
                "HOME": str(folder),
                "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
            },
            cwd=_HERE.parents[3],
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        shutil.rmtree(folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("SKIPPED") == 2, done.stdout  # This one, and what only root can try.
