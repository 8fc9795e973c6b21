from __future__ import annotations

import asyncio
import os
import socket
import tempfile
import time
from pathlib import Path

import pytest

from cuecard.core.config_players import ClosedWorldConfig, PythonConfig
from cuecard.core.config_schema import Config
from cuecard.core.engine.messages import PlayerRef, ToolAnswer, ToolCall, ToolSpec
from cuecard.core.engine.players import build_world
from cuecard.core.engine.step_context import FreshCalls
from cuecard.core.llm.hub import ModelHub
from cuecard.core.worlds.python_tool import (
    Ending,
    Isolation,
    WithPython,
    python_isolation,
    run_python,
)
from offline_trials import GRAPH

pytestmark = pytest.mark.skipif(os.name != "posix", reason="programs are only run on POSIX")


@pytest.fixture(scope="module")
def held() -> Isolation:
    return asyncio.run(python_isolation())


def need(there: bool) -> None:
    if not there:
        pytest.skip("this system does not hold programs back so")


async def ran(code: str, **limits):
    return await run_python(code, PythonConfig.model_validate({"seconds": 5, **limits}))


class Inner:
    """A world that keeps a record."""

    ref = PlayerRef(name="inner", kind="closed", version="7")
    tools = (ToolSpec(name="search", description="", parameters={}),)

    def __init__(self) -> None:
        self.closed = False

    async def answer(self, call, context):
        return ToolAnswer(text=f"inner answered {call.name}")

    async def close(self) -> None:
        self.closed = True


async def answer(code, language="en", **limits) -> ToolAnswer:
    config = PythonConfig.model_validate({"seconds": 5, **limits})
    world = WithPython(Inner(), config, language)
    return await world.answer(ToolCall(name="python", arguments={"code": code}), FreshCalls())


async def test_what_a_program_prints_is_the_answer():
    got = await answer("import math\nprint('灯塔', math.comb(5, 2))")
    assert (got.ok, got.text) == (True, "灯塔 10")


async def test_a_mistake_is_told_with_the_line_it_is_in():
    got = await answer("print('before')\nx = 1 / 0")
    assert got.ok
    assert got.text.startswith("before\nErrors:\nTraceback")
    assert 'File "main.py", line 2, in <module>' in got.text
    assert got.text.endswith(
        "ZeroDivisionError: division by zero\nThe program ended with exit code 1."
    )


@pytest.mark.parametrize(
    ("code", "language", "text"),
    [
        ("x = 1", "en", "The program wrote nothing. Print what you want to see."),
        ("import sys; sys.exit(3)", "zh", "程序以退出码 3 结束。"),
        (
            "",
            "en",
            "The argument `code` is missing. It must be a Python program that is not empty.",
        ),
        (["print(1)"], "zh", "缺少参数 `code`，它必须是非空的 Python 程序。"),
        ("#" * 100_001, "en", "The argument `code` is too long. Give at most 100000 characters."),
        ("print('\\x1b[31mred\\x07')", "en", "red\ufffd"),
        ("print('\\ud800')", "en", None),
        ("import sys; sys.stdout.buffer.write(b'\\xff\\x00')", "en", "\ufffd\ufffd"),
        ("import sys; print(repr(sys.stdin.read()))", "en", "''"),
        ("x = '\ud800'; print(len(x))", "en", "1"),
    ],
)
async def test_answers(code, language, text):
    got = await answer(code, language)
    assert text is None or got.text == text
    got.text.encode()


async def test_other_tools_are_answered_by_the_world_itself():
    inner = Inner()
    world = WithPython(inner, PythonConfig(seconds=2.5), "en")
    assert [spec.name for spec in world.tools] == ["search", "python"]
    got = await world.answer(ToolCall(name="search"), FreshCalls())
    assert got.text == "inner answered search"
    assert world.ref.version == "7 python(2.5s 512MB 10000)"
    assert (world.ref.name, world.ref.kind) == ("inner", "closed")
    await world.close()
    assert inner.closed


@pytest.mark.parametrize("python", [None, {"seconds": 3}])
def test_the_tool_is_off_unless_configured(python):
    closed = ClosedWorldConfig.model_validate({"kind": "closed", "python": python})
    config = Config(worlds={"mine": closed})
    world = build_world("mine", config, GRAPH, ModelHub(config))
    assert [spec.name for spec in world.tools] == ["search"] + ["python"] * bool(python)


async def test_an_endless_loop_ends():
    began = time.monotonic()
    got = await ran("print('on my way')\nwhile True: pass", seconds=0.3)
    assert (got.ending, got.output) == (Ending.TIME, "on my way\n")
    assert time.monotonic() - began < 60
    told = await answer("import time; time.sleep(60)", seconds=0.1)
    assert (told.ok, told.text) == (
        False,
        "The program was stopped: it took more than 0.1 seconds.",
    )


async def test_memory_is_limited():
    got = await ran("x = 'a' * 10**9", memory_mb=100)
    assert got.ending in (Ending.MEMORY, Ending.KILLED)
    told = await answer("x = bytearray(10**9)", memory_mb=100)
    assert "100 MB" in told.text


async def test_output_is_limited_and_never_held():
    got = await ran("print('x' * 500)", output_chars=100)
    assert (got.ending, got.cut, got.output) == (Ending.DONE, True, "x" * 100)
    got = await ran("import sys\nwhile True: sys.stdout.write('灯' * 100_000)", output_chars=100)
    assert (got.ending, got.cut, got.output) == (Ending.OUTPUT, True, "灯" * 100)
    got = await ran("import sys\nfor n in range(9000): print(n, file=sys.stderr)\n1 / 0")
    assert len(got.errors) <= 3000
    assert got.errors.rstrip().endswith("division by zero")


def running(mark: str) -> list[str]:
    """The processes whose command line holds `mark`."""
    found: list[str] = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if mark in path.read_text(errors="replace"):
                found.append(str(path))
        except OSError:
            continue
    return found


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="no /proc")
async def test_processes_are_bounded_and_none_is_left(held):
    need(held.processes)
    bomb = """
import os, sys, time
count = 0
try:
    while count < 100:
        if os.fork() == 0:
            os.setsid()
            os.execv(sys.orig_argv[0], [sys.orig_argv[0], "-ISc", "import time; time.sleep(600)", "bomb-7391"])
        count += 1
except OSError as error:
    print(type(error).__name__, count)
print(count, "children")
"""
    got = await ran(bomb, seconds=10)
    assert got.ending is Ending.DONE, got
    if held.limits:
        assert got.output.startswith("BlockingIOError")
    assert running("bomb-7391") == []


async def test_a_program_cannot_end_those_that_watch_it(held):
    need(held.processes)
    code = "import os, signal\nfor pid in (1, os.getppid(), -1):\n  try: os.kill(pid, 9)\n  except OSError as e: print(e)\n"
    got = await ran(code + "print('still here')")
    assert got.ending in (Ending.DONE, Ending.KILLED)
    assert str(os.getpid()) not in got.output


async def test_there_is_no_network(held):
    need(held.network)
    server = await asyncio.start_server(lambda _r, w: w.close(), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    listener = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    listener.bind(("127.0.0.1", 0))
    listener.setblocking(False)
    async with server:
        got = await ran(f"import socket; socket.create_connection(('127.0.0.1', {port}), 2)")
        assert got.ending is Ending.FAILED, got
        assert "Error" in got.errors
        await ran(
            "import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
            f"s.sendto(b'x', ('127.0.0.1', {listener.getsockname()[1]}))"
        )
        with pytest.raises(BlockingIOError):
            listener.recv(10)
    listener.close()


async def test_files_outside_are_shut(held, tmp_path):
    need(held.files)
    secret = tmp_path / "secret"
    secret.write_text("Sekret")
    for code in (
        f"print(open({str(secret)!r}).read())",
        f"open({str(tmp_path / 'new')!r}, 'w')",
        f"import os; os.remove({str(secret)!r})",
        f"import os; os.symlink({str(secret)!r}, 'link'); print(open('link').read())",
        f"import os; print(os.listdir({str(tmp_path)!r}))",
        "print(open('/etc/passwd').read())",
        "open('../code/main.py', 'a')",
    ):
        got = await ran(code)
        assert got.ending is Ending.FAILED, got
        assert "PermissionError" in got.errors
        assert "Sekret" not in got.output
    assert [path.name for path in tmp_path.iterdir()] == ["secret"]


async def test_the_working_directory_is_empty_writable_bounded_and_removed():
    got = await ran(
        "import os\nprint(os.listdir())\nopen('a', 'w').write('b')\nprint(open('a').read(), os.getcwd())"
    )
    assert got.output == "[]\nb .\n"
    got = await ran("import os; os.mkdir('a'); open('a/b', 'wb').write(bytes(65 << 20))")
    assert got.ending is Ending.FAILED
    assert "OSError" in got.errors


async def test_no_directory_is_left(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    await ran("import os; os.mkdir('a'); open('a/b', 'w').close(); os.chmod('a', 0)")
    await ran("while True: pass", seconds=0.1)
    assert os.listdir(tmp_path) == []


async def test_nothing_of_the_environment_is_known(held, monkeypatch):
    monkeypatch.setenv("SEARCH_KEY", "Sekret")
    got = await ran("import os; print(dict(os.environ))")
    assert got.ending is Ending.DONE
    assert "Sekret" not in got.output
    assert "SEARCH_KEY" not in got.output
    if held.files:
        for pid in ("self", "1", str(os.getpid()), "{os.getppid()}"):
            got = await ran(f"import os; print(open(f'/proc/{pid}/environ').read())")
            assert "Sekret" not in got.output


async def test_nobody_elses_modules_are_found():
    got = await ran("import cuecard")
    assert "ModuleNotFoundError" in got.errors


async def test_a_crash_is_told():
    told = await answer("import os; os.abort()")
    assert (told.ok, told.text) == (False, "The program was ended by the system (signal 6).")


async def test_cancelling_ends_the_program():
    task = asyncio.create_task(ran("import time; time.sleep(600)", seconds=300))
    await asyncio.sleep(0.3)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_several_at_the_same_time():
    found = await asyncio.gather(*(ran(f"print({n})") for n in range(6)))
    assert [got.output for got in found] == [f"{n}\n" for n in range(6)]
