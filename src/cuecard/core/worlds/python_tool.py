"""The tool `python`, which any world can have beside its own."""

from __future__ import annotations

import os

from cuecard.core.config_players import PythonConfig
from cuecard.core.errors import ConfigError
from cuecard.core.i18n import _
from cuecard.core.parts import Closable, PlayerRef, ToolAnswer, ToolCall, ToolSpec, World, WorldDesk
from cuecard.core.tasks import TaskLanguage
from cuecard.core.worlds.python_runner import Ending, Ran, run_python
from cuecard.core.worlds.tool_specs import PYTHON

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
    """A world with the tool `python` added; everything else is answered by `world` as ever.

    Raises `ConfigError` on systems where no program can be held back.
    """

    def __init__(self, world: World, config: PythonConfig, language: TaskLanguage) -> None:
        if os.name != "posix":
            raise ConfigError(
                _("A tool cannot be offered"),
                _("the tool python needs Linux or macOS"),
                _("leave python out of the world's configuration"),
            )
        self._world = world
        self._config = config
        self._language: TaskLanguage = language

    @property
    def ref(self) -> PlayerRef:
        inner, own = self._world.ref, self._config
        limits = f"{own.seconds:g}s {own.memory_mb}MB {own.output_chars}"
        return inner.model_copy(update={"version": f"{inner.version} python({limits})"})

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        return (*self._world.tools, PYTHON)

    async def answer(self, call: ToolCall, desk: WorldDesk) -> ToolAnswer:
        if call.name != PYTHON.name:
            return await self._world.answer(call, desk)
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

    def _told(self, ran: Ran) -> ToolAnswer:
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
        # A program with a mistake in it is an answer; one that had to be stopped is not.
        ok = ran.ending in (Ending.DONE, Ending.FAILED)
        return ToolAnswer(text="\n".join(parts) or words["silent"], ok=ok)
