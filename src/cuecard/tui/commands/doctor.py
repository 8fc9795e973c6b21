"""`cuecard doctor`: check that packages, terminal, workspace, models and agents work."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Coroutine
from typing import TYPE_CHECKING, Annotated, Any

from cuecard.core.i18n import N_, _
from cuecard.core.players import kind_of
from cuecard.core.secrets import scrub_model
from cuecard.tui.commands.context import Context
from cuecard.tui.commands.output import console, table
from cuecard.tui.commands.verb import Result, verb

if TYPE_CHECKING:
    from cuecard.core.config_schema import Config
    from cuecard.tui.commands.doctor_checks import Check, State

_STATE: dict[State, str] = {
    "ok": N_("✓ fine"),
    "warning": N_("! note"),
    "problem": N_("✗ wrong"),
    "skipped": N_("– skipped"),
}
_NAME: dict[str, str] = {
    "python": N_("Python"),
    "packages": N_("packages"),
    "terminal": N_("terminal"),
    "encoding": N_("text"),
    "keymap": N_("keys"),
    "workspace": N_("workspace"),
    "config": N_("configuration"),
    "python_tool": N_("tool python"),
    "deep:pages": N_("database pages"),
    "deep:references": N_("references"),
    "deep:tasks": N_("tasks and reviews"),
    "deep:contents": N_("large contents"),
    "deep:trials": N_("logs and verdicts"),
    "deep:items": N_("labelled items"),
    "deep:records": N_("runs, sets and drafts"),
}
_AT_ONCE = 8


@verb("cuecard doctor --offline", "json")
def doctor(
    ours: Context,
    *,
    offline: Annotated[bool, N_("Call no model, start no agent")] = False,
    deep: Annotated[
        bool,
        N_("Read all of the workspace, too: pages, references, hashes, logs, what is counted"),
    ] = False,
) -> Result:
    from cuecard.tui.commands import doctor_checks as checks

    about_config, config = checks.check_config(ours)
    found = [
        checks.check_python(),
        checks.check_packages(),
        checks.check_terminal(),
        checks.check_encoding(),
        *filter(None, [checks.check_keymap()]),
        checks.check_workspace(ours),
        *(checks.check_deep(ours) if deep else ()),
        about_config,
    ]
    if config:
        tool = checks.check_python_tool(config)
        found += [tool] if tool else []
        found += [*_players(config, offline=offline), *checks.check_own_players(config)]
    found += checks.check_plugins()
    # A command line may hold a key, and what a server says to a trial call may repeat one.
    found = [scrub_model(check) for check in found]
    wrong = any(check.state == "problem" for check in found)
    return Result(
        lambda: _print(found),
        lambda: {"ok": not wrong, "checks": [check.model_dump(mode="json") for check in found]},
        code=1 if wrong else 0,
    )


def _players(config: Config, *, offline: bool) -> list[Check]:
    """The models, then the agents; those on a model are as well as it is."""
    from cuecard.core.config_players import AcpAgentConfig, HttpAgentConfig
    from cuecard.tui.commands.doctor_checks import (
        Check,
        check_agent,
        check_command,
        check_model,
        check_on_model,
    )

    others = {
        name: agent
        for name, agent in config.agents.items()
        if isinstance(agent, AcpAgentConfig | HttpAgentConfig)
    }
    if offline:
        models = [
            Check(name=f"model:{name}", state="skipped", detail=_("not called"))
            for name in config.models
        ]
        return [*models, *(check_command(*each) for each in others.items())]

    async def all_of_them() -> list[Check | None]:
        room = asyncio.Semaphore(_AT_ONCE)

        async def check(work: Awaitable[Check | None]) -> Check | None:
            async with room:
                return await work

        work: list[Coroutine[Any, Any, Check | None]] = []
        work += [check_model(*each) for each in config.models.items()]
        work += [check_agent(*each) for each in others.items()]
        return list(await asyncio.gather(*map(check, work)))

    with console(stderr=True).status(_("Calling the models and starting the agents…")):
        found = {check.name: check for check in asyncio.run(all_of_them()) if check is not None}
    for name, agent in config.agents.items():
        if kind_of("agent", agent.kind).needs_model:
            model = str(getattr(agent, "model", ""))
            check = check_on_model(name, model, found[f"model:{model}"])
            found[check.name] = check
    return list(found.values())


def _print(found: list[Check]) -> None:
    table(
        "",
        (_("what"), _("state"), _("found")),
        [
            (
                _name(check.name),
                _(_STATE[check.state]),
                " — ".join(filter(None, (check.detail, check.hint))),
            )
            for check in found
        ],
    )


def _name(name: str) -> str:
    from cuecard.tui.present.players import PART_LABELS

    kind, _colon, called = name.partition(":")
    match kind:
        case "model":
            return _("model {name}").format(name=called)
        case "agent":
            return _("agent {name}").format(name=called)
        case "user" | "world" | "judge":
            return f"{_(PART_LABELS[kind])} {called}"
        case "plugin":
            return called
        case _:
            return _(_NAME.get(name, name))
