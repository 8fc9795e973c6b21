"""The checks of `cuecard doctor`, one function each."""

from __future__ import annotations

import platform
import re
import shutil
import sys
from collections.abc import Callable
from functools import partial
from importlib import metadata
from typing import TYPE_CHECKING, Any, Literal

from cuecard import __version__
from cuecard.core.config_models import ModelConfig
from cuecard.core.config_schema import Config
from cuecard.core.errors import CuecardError, FileProblems, NotAllowed, NotFound
from cuecard.core.i18n import N_, _, beside, current_language, headed, joined, listed, plural
from cuecard.core.tasks.base import Frozen
from cuecard.tui.commands.context import Context
from cuecard.tui.commands.output import console

if TYPE_CHECKING:
    from cuecard.core.config_players import AgentConfig
    from cuecard.core.doctor import ProbeReport
    from cuecard.store.audit_findings import Part

State = Literal["ok", "warning", "problem", "skipped"]
_OLDEST = (3, 11)
_COLUMNS, _ROWS = 80, 24
_SHOWN = 5
"""Findings of a part that are listed; `--json` has more."""
_REQUIREMENT = re.compile(r"[A-Za-z0-9._-]+")


class Check(Frozen):
    """The result of a check. `name` is stable, for programs; `hint`: how to fix it; `data`: further facts."""

    name: str
    state: State
    detail: str
    hint: str = ""
    data: dict[str, Any] = {}


def _problem(name: str, error: CuecardError, **data: Any) -> Check:
    return Check(name=name, state="problem", detail=error.message, hint=error.hint, data=data)


def check_python() -> Check:
    found = platform.python_version()
    fine = sys.version_info[:2] >= _OLDEST
    return Check(
        name="python",
        state="ok" if fine else "problem",
        detail=beside(found, sys.executable),
        hint="" if fine else _("Cuecard needs Python 3.11 or newer"),
        data={"version": found},
    )


def check_packages() -> Check:
    """The packages that Cuecard's own metadata asks for, without its extras."""
    try:
        wanted = metadata.requires("cuecard") or []
    except metadata.PackageNotFoundError:
        return Check(name="packages", state="skipped", detail=_("Cuecard runs uninstalled"))
    names = [m[0] for line in wanted if "extra ==" not in line if (m := _REQUIREMENT.match(line))]
    versions: dict[str, str] = {"cuecard": __version__}
    missing: list[str] = []
    for name in sorted(names):
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            missing.append(name)
    if missing:
        return Check(
            name="packages",
            state="problem",
            detail=_("missing: {names}").format(names=listed(missing)),
            hint=_("install Cuecard again"),
            data=versions,
        )
    told = listed(f"{name} {version}" for name, version in versions.items())
    return Check(name="packages", state="ok", detail=told, data=versions)


def check_encoding() -> Check:
    """Whether Chinese and the app's glyphs can be printed."""
    encoding = sys.stdout.encoding or ""
    fine = "utf" in encoding.lower()
    return Check(
        name="encoding",
        state="ok" if fine else "problem",
        detail=_("{encoding}, language {language}").format(
            encoding=encoding, language=current_language()
        ),
        hint="" if fine else _("choose a UTF-8 locale, such as LANG=C.UTF-8, or set PYTHONUTF8=1"),
        data={"encoding": encoding, "language": current_language()},
    )


def check_keymap() -> Check | None:
    """Whether every line of the person's own keys can be used; None where there is no such file."""
    from cuecard.tui.present.keyboard import KEYMAP, own_keymap

    if not KEYMAP.exists():
        return None
    wrong = own_keymap()
    return Check(
        name="keymap",
        state="warning" if wrong else "ok",
        detail=_("; ").join(wrong) or str(KEYMAP),
        hint=_("correct the file, or give the keys in Settings") if wrong else "",
        data={"file": str(KEYMAP), "wrong": wrong},
    )


def check_terminal() -> Check:
    if not sys.stdout.isatty():
        return Check(name="terminal", state="skipped", detail=_("the output is not a terminal"))
    columns, rows = shutil.get_terminal_size()
    colours = console().color_system
    hints: list[str] = []
    if columns < _COLUMNS or rows < _ROWS:
        hints.append(_("the app wants at least 80 columns and 24 lines"))
    if colours is None:
        hints.append(_("no colours: TERM or NO_COLOR says so"))
    return Check(
        name="terminal",
        state="warning" if hints else "ok",
        detail=_("{columns} x {rows}, colours: {colours}").format(
            columns=columns, rows=rows, colours=colours or _("none")
        ),
        hint=_("; ").join(hints),
        data={"columns": columns, "rows": rows, "colours": colours},
    )


def check_workspace(ours: Context) -> Check:
    """Whether the workspace can be opened. A missing default workspace is no error, as `cuecard` creates it."""
    from cuecard.store.schema import HEAD

    try:
        with ours.open() as workspace:
            tasks, runs = len(workspace.tasks.summaries()), len(workspace.runs.all())
            place, mine = workspace.public_url, workspace.roles.mine()
    except CuecardError as error:
        absent = isinstance(error, NotFound) and not ours.names_workspace
        return Check(
            name="workspace",
            state="warning" if absent else "problem",
            detail=headed(error.title, error.message),
            hint=error.hint,
        )
    return Check(
        name="workspace",
        state="ok",
        detail=_("{place}: version {version}, {tasks}, {runs}").format(
            place=place,
            version=HEAD,
            tasks=plural("{n} task", "{n} tasks", tasks),
            runs=plural("{n} run", "{n} runs", runs),
        ),
        hint=mine.sentence if mine.role else "",
        data={"place": place, "version": HEAD, "tasks": tasks, "runs": runs},
    )


def check_deep(ours: Context) -> list[Check]:
    """Everything that is stored, a check for each part of it; none if the workspace cannot be opened."""
    try:
        with ours.open() as workspace, console(stderr=True).status("") as status:

            def told(_part: str, rows: int) -> None:
                status.update(_("Reading the workspace: {n} rows").format(n=f"{rows:,}"))

            return [_deep_check(part) for part in workspace.audit(told)]
    except NotAllowed:
        raise
    except CuecardError:
        return []  # What `check_workspace` tells.


def _deep_check(part: Part) -> Check:
    lines = [
        headed(f"{each.table} {each.key}".strip(), each.problem) for each in part.findings[:_SHOWN]
    ]
    if (rest := part.found - len(lines)) > 0:
        lines.append(plural("and {n} more", "and {n} more", rest))
    read = _("{n} read").format(n=f"{part.read:,}") if part.read else _("all read")
    lines = lines or list(filter(None, (read, part.note)))
    return Check(
        name=f"deep:{part.name}",
        state="problem" if part.found else "warning" if part.note else "ok",
        detail=_("; ").join(lines),
        hint=joined(dict.fromkeys(each.hint for each in part.findings)),
        data=part.model_dump(mode="json", exclude={"name"}),
    )


def check_config(ours: Context) -> tuple[Check, Config | None]:
    from pathlib import Path

    from cuecard.core.config import CONFIG_NAME

    path = ours.config_path or Path(CONFIG_NAME)
    try:
        config = ours.config()
    except FileProblems as error:
        problems = [{"line": p.line, "place": p.place, "reason": p.reason} for p in error.problems]
        return _problem("config", error, file=str(path), problems=problems), None
    except CuecardError as error:
        return Check(name="config", state="problem", detail=str(error), hint=error.hint), None
    detail = _("{file}: {models}, {agents}").format(
        file=path,
        models=plural("{n} model", "{n} models", len(config.models)),
        agents=plural("{n} agent", "{n} agents", len(config.agents)),
    )
    if not path.exists():
        detail = _("no {file} here: only the embedded players").format(file=path)
    return Check(name="config", state="ok", detail=detail, data={"file": str(path)}), config


async def check_model(name: str, config: ModelConfig) -> Check:
    """Whether the model answers a few small calls as needed."""
    from cuecard.core.doctor import probe

    report = await probe(config)
    data = {"base_url": config.base_url, **report.model_dump(mode="json")}
    state, detail = "problem", report.error
    hint = report.hint or _("check {url} and its entry in cuecard.yaml").format(url=config.base_url)
    if report.reachable:
        hint = _("; ").join((*_shortcomings(report), *report.notes))
        what = listed(_abilities(report))
        detail = _("answered in {ms} ms: {what}").format(ms=report.latency_ms, what=what)
        state = "warning" if hint else "ok"
    return Check(name=f"model:{name}", state=state, detail=detail, hint=hint, data=data)


def _abilities(report: ProbeReport) -> tuple[str, ...]:
    json = {
        "schema": N_("JSON by schema"),
        "ignored": N_("takes a JSON schema but does not keep to it"),
        "object": N_("JSON, but not by schema"),
        "none": N_("knows no JSON mode"),
        "unknown": N_("JSON could not be tried"),
    }
    return (
        _("streams") if report.streaming else _("does not stream"),
        _("calls tools") if report.tool_calls else _("called no tool"),
        _(json[report.json_schema]),
        _("counts tokens ({prompt} + {completion})").format(
            prompt=report.usage.prompt, completion=report.usage.completion
        )
        if report.usage
        else _("does not count tokens"),
    )


def _shortcomings(report: ProbeReport) -> list[str]:
    hints: list[str] = []
    if not report.streaming:
        hints.append(_("replies will come all at once"))
    if report.tools_error:
        hints.append(
            _("the server refuses tools: {reason}; use an agent with tagged calls").format(
                reason=report.tools_error
            )
        )
    elif not report.tool_calls:
        hints.append(_("an agent on this model may not search"))
    if not report.usage:
        hints.append(_("tokens, costs and budgets cannot be told"))
    return hints


async def check_agent(name: str, agent: AgentConfig) -> Check | None:
    """Whether an agent's external program exists; None for other kinds, which depend on their model."""
    from cuecard.core.config_players import AcpAgentConfig, HttpAgentConfig
    from cuecard.core.doctor import try_address, try_harness

    if isinstance(agent, AcpAgentConfig):
        report = await try_harness(name, agent)
        hint = report.hint or _("start its command once by hand: {command}").format(
            command=" ".join(agent.command)
        )
        loads = _("takes up sessions") if report.loads else _("does not take up sessions")
        opened = _("{harness}: a session was open after {ms} ms")
        late = _("whether it is logged in shows at the first prompt") if report.asks_late else ""
        opening = opened.format(harness=report.detail, ms=report.ms)
        detail = _("; ").join(filter(None, (opening, loads, late)))
    elif isinstance(agent, HttpAgentConfig):
        report = await try_address(name, agent)
        hint = report.hint or _("check {url} and its entry in cuecard.yaml").format(url=agent.url)
        detail = report.detail
    else:
        return None
    state = "warning" if report.hint else "ok"
    if not report.works:
        state, detail = "problem", report.detail
    return Check(
        name=f"agent:{name}",
        state=state,
        detail=detail,
        hint=report.hint if report.works else hint,
        data=report.model_dump(mode="json"),
    )


def check_command(name: str, agent: AgentConfig) -> Check:
    """What can be checked of an agent's command without starting it."""
    from cuecard.core.agents.programs import find_command
    from cuecard.core.config_players import AcpAgentConfig

    detail = _("not started")
    if isinstance(agent, AcpAgentConfig):
        try:
            detail = _("{program}, not started").format(program=find_command(name, agent))
        except CuecardError as error:
            return _problem(f"agent:{name}", error)
    return Check(name=f"agent:{name}", state="skipped", detail=detail)


def check_on_model(name: str, model: str, about: Check) -> Check:
    """The check of an agent on a model, from that of the model."""
    fine = about.state in ("ok", "warning", "skipped")
    told = _("plays with the model {name}") if fine else _("the model {name} does not work")
    return Check(name=f"agent:{name}", state=about.state, detail=told.format(name=model))


def check_own_players(config: Config) -> list[Check]:
    """Whether the class of each player in Python can be loaded, and has the methods of its part."""
    from cuecard.core.players import PYTHON, own_class
    from cuecard.tui.present.players import players_of

    return [
        _loading(f"{part}:{name}", partial(own_class, part, player), player.code)
        for part, players in players_of(config).items()
        for name, player in players.items()
        if player.kind == PYTHON
    ]


def check_plugins() -> list[Check]:
    """Whether everything that other packages register can be loaded, and is what its group wants."""
    from cuecard.annotate.families.registry import ANNOTATE
    from cuecard.core.families.registry import CORE
    from cuecard.core.formats.base import EXPORTS, FORMATS
    from cuecard.core.players import METHODS
    from cuecard.core.plugins import Registry, load_class, registered
    from cuecard.core.scoring.measures import MEASURES
    from cuecard.tui.families import TUI

    registries: tuple[Registry[Any], ...] = (FORMATS, EXPORTS, MEASURES)
    found = [
        _loading(
            f"plugin:cuecard.{part}s/{name}",
            partial(load_class, entry.value, "", methods),
            entry.value,
        )
        for part, methods in METHODS.items()
        for name, entry in registered(f"cuecard.{part}s").items()
    ]
    found += [
        _loading(f"plugin:{parts.group}/{name}", partial(parts.__getitem__, name), entry.value)
        for parts in (CORE, ANNOTATE, TUI)
        for name, entry in registered("cuecard.families").items()
    ]
    for registry in registries:
        for name, entry in registered(registry.group).items():
            what = f"plugin:{registry.group}/{name}"
            if name in registry.shipped:
                said = _("the name {name} is taken by one of Cuecard's own").format(name=name)
                found.append(Check(name=what, state="problem", detail=said))
            else:
                found.append(_loading(what, partial(registry.__getitem__, name), entry.value))
    return found


def _loading(what: str, load: Callable[[], object], reference: str) -> Check:
    from cuecard.core.families.registry import MissingPart

    try:
        load()
    except MissingPart as error:
        return Check(name=what, state="problem", detail=str(error))
    except CuecardError as error:
        return _problem(what, error)
    return Check(name=what, state="ok", detail=_("{name}, loaded").format(name=reference))


def check_python_tool(config: Config) -> Check | None:
    """What cages the programs that agents write; None if no world offers the tool. Worlds that need the cage and do not
    have it are a problem.
    """
    tools = [tool for world in config.worlds.values() if (tool := getattr(world, "python", None))]
    if not tools:
        return None
    from dataclasses import asdict

    from cuecard.core.worlds import python_tool as cage

    found = cage.python_isolation()
    held = [_(words) for name, words in cage.RESTRICTIONS.items() if name not in found.open]
    hint = ""
    if not found.whole:
        accepted = all(tool.uncaged for tool in tools)
        words = (
            _("programs run uncaged, as the configuration accepts")
            if accepted
            else cage.how_to_cage()
        )
        hint = _("; ").join((cage.why_uncaged(found), words))
    elif not found.landlock:
        hint = _("; ").join(found.missing)
    return Check(
        name="python_tool",
        state="ok" if found.whole else "warning" if all(t.uncaged for t in tools) else "problem",
        detail=listed(held) or "-",
        hint=hint,
        data=asdict(found),
    )
