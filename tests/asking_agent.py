"""The protocol library's example agent, which also asks for permission, waits to be cancelled, and takes up sessions.

`asking_agent.py TRICK...`: `asks` for all of `WANTED` in a turn and says what it got; `waits` for `session/cancel`, asks
once more then, and keeps what it got in HARNESS_DIR; `loads` sessions, `blank` without telling what was said in them.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

from acp import (
    InitializeResponse,
    LoadSessionResponse,
    PromptResponse,
    run_agent,
    start_tool_call,
    text_block,
    update_agent_message,
    update_user_message,
)
from acp.schema import AgentCapabilities, PermissionOption, ToolCallLocation, ToolCallUpdate

from third_party.agent_client_protocol.agent import ExampleAgent

# Name, kind, title, path: relative to the session's folder.
WANTED: tuple[tuple[str, Any, str | None, str], ...] = (
    ("read", "read", "Read a file", "notes.txt"),
    ("read outside", "read", "Read a file", "/etc/passwd"),
    ("edit", "edit", "Write a file", "notes.txt"),
    ("edit outside", "edit", "Write a file", "../notes.txt"),
    ("execute", "execute", "cat mcp__cuecard__search", ""),
    ("fetch", "fetch", "Fetch a page", ""),
    ("other", "other", "Make a plan", ""),
    ("world", "other", "mcp__cuecard__search", ""),
    ("world, told before", "execute", None, ""),
    ("world, by its choices", "other", '{"query": "espresso"}', ""),
)
OPTIONS = ("allow_always", "allow_once", "reject_once", "reject_always")


class AskingAgent(ExampleAgent):
    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(os.environ["HARNESS_DIR"])
        self.cwd = ""
        self.cancelled = asyncio.Event()

    async def initialize(self, *args: Any, **more: Any) -> InitializeResponse:
        told = await super().initialize(*args, **more)
        loads = not {"loads", "blank"}.isdisjoint(sys.argv)
        told.agent_capabilities = AgentCapabilities(load_session=loads)
        return told

    async def new_session(self, cwd: str, *args: Any, **more: Any) -> Any:
        self.cwd = cwd
        return await super().new_session(cwd, *args, **more)

    async def load_session(
        self, cwd: str, session_id: str, *args: Any, **more: Any
    ) -> LoadSessionResponse | None:
        self.cwd = cwd
        if "loads" in sys.argv:
            for words in json.loads((self.folder / "said").read_text()):
                await self._conn.session_update(session_id, update_user_message(text_block(words)))
                await self._conn.session_update(
                    session_id, update_agent_message(text_block("Yes."))
                )
        return await super().load_session(cwd, session_id, *args, **more)

    async def prompt(self, session_id: str, prompt: list[Any], **more: Any) -> PromptResponse:
        kept = self.folder / "said"
        said = [*(json.loads(kept.read_text()) if kept.exists() else []), prompt[0].text]
        kept.write_text(json.dumps(said))
        if "waits" in sys.argv:
            (self.folder / "pid").write_text(str(os.getpid()))
            await self.cancelled.wait()
            got = await self.ask(session_id, "read", "read", "Read a file", "notes.txt")
            (self.folder / "late").write_text(got)
            return PromptResponse(stop_reason="cancelled")
        if "asks" in sys.argv:
            told = {one[0]: await self.ask(session_id, *one) for one in WANTED}
            await self._send_agent_message(session_id, text_block(json.dumps(told)))
            return PromptResponse(stop_reason="end_turn")
        return await super().prompt(session_id, prompt, **more)

    async def cancel(self, session_id: str, **more: Any) -> None:
        self.cancelled.set()

    async def ask(
        self, session_id: str, name: str, kind: Any, title: str | None, place: str
    ) -> str:
        """The id of the option that was chosen; "cancelled" if none was."""
        if title is None:
            start = start_tool_call(name, "mcp.cuecard.search", kind=kind, status="pending")
            await self._conn.session_update(session_id, start)
        suffix = ": search" if "choices" in name else ""
        answer = await self._conn.request_permission(
            session_id=session_id,
            tool_call=ToolCallUpdate(
                tool_call_id=name,
                kind=kind,
                title=title,
                status="pending",
                locations=[ToolCallLocation(path=str(Path(self.cwd, place)))] if place else None,
                raw_input={"for": name},
            ),
            options=[
                PermissionOption(option_id=f"id-{one}", name=f"{one}{suffix}", kind=one)
                for one in OPTIONS
            ],
        )
        return getattr(answer.outcome, "option_id", "cancelled")


if __name__ == "__main__":
    asyncio.run(run_agent(AskingAgent()))
