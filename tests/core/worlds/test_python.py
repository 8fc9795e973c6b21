from __future__ import annotations

import asyncio
import os
import tempfile
import time

import pytest

from cuecard.core.config_players import UNCAGED, ClosedWorldConfig, PythonConfig
from cuecard.core.config_schema import Config
from cuecard.core.engine.messages import PlayerRef, ToolAnswer, ToolCall, ToolSpec
from cuecard.core.engine.players import build_world
from cuecard.core.engine.step_context import FreshCalls
from cuecard.core.llm.hub import ModelHub
from cuecard.core.worlds.python_tool import Ending, WithPython, run_python
from offline_trials import GRAPH

pytestmark = pytest.mark.skipif(os.name != "posix", reason="programs are only run on POSIX")


async def ran(code: str, **limits):
    return await run_python(
        code, PythonConfig.model_validate({"seconds": 5, "uncaged": UNCAGED, **limits})
    )


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
    config = PythonConfig.model_validate({"seconds": 5, "uncaged": UNCAGED, **limits})
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
    world = WithPython(inner, PythonConfig(seconds=2.5, uncaged=UNCAGED), "en")
    assert [spec.name for spec in world.tools] == ["search", "python"]
    got = await world.answer(ToolCall(name="search"), FreshCalls())
    assert got.text == "inner answered search"
    version = "7 python(2.5s 512MB 10000)"
    assert world.ref.version == version or world.ref.uncaged
    assert (world.ref.name, world.ref.kind) == ("inner", "closed")
    await world.close()
    assert inner.closed


@pytest.mark.parametrize("python", [None, {"uncaged": UNCAGED}])
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
