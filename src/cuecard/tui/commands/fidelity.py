"""`cuecard fidelity`: how faithful simulated users are, and whether scores agree with people's ratings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from cuecard.core.i18n import _
from cuecard.tui.commands.context import Context
from cuecard.tui.commands.output import as_json, note, prose, say, tell_sight

if TYPE_CHECKING:
    from cuecard.annotate.fidelity.model import Fidelity, TurnFindings

_SHOWN = 600


class Section(StrEnum):
    CUES = "cues"
    FINDINGS = "findings"
    WORST = "worst"
    OUTCOME = "outcome"
    MEANING = "meaning"


def fidelity(
    context: typer.Context,
    runs: Annotated[
        list[int] | None,
        typer.Argument(
            metavar="[RUN]...", help=_("Runs by number. Default: all with something to compare")
        ),
    ] = None,
    user: Annotated[
        list[str] | None, typer.Option(help=_("Only this simulator; may be repeated"))
    ] = None,
    person: Annotated[
        list[str] | None, typer.Option(help=_("Only this person's decisions; may be repeated"))
    ] = None,
    task: Annotated[
        list[str] | None, typer.Option(help=_("Only this task; may be repeated"))
    ] = None,
    judge: Annotated[
        str, typer.Option(help=_("Whose scores. Default: of the judge that judged most"))
    ] = "",
    section: Annotated[
        list[Section] | None, typer.Option(help=_("Only this part; may be repeated"))
    ] = None,
    worst: Annotated[int, typer.Option(min=0, help=_("How many of the worst turns"))] = 10,
    correlation: Annotated[
        list[float] | None,
        typer.Option(help=_("Only say how many sessions it takes to find this correlation")),
    ] = None,
    power: Annotated[
        float, typer.Option(help=_("With --correlation: the chance to find it"))
    ] = 0.8,
    reveal: Annotated[
        bool,
        typer.Option(
            "--reveal",
            help=_(
                "Also turns that I have not labelled; labels that I give on them later are not blind"
            ),
        ),
    ] = False,
    json: Annotated[bool, typer.Option("--json", help=_("Print JSON"))] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help=_("Print Markdown"))] = False,
) -> None:
    if json and markdown:
        raise typer.BadParameter(_("--json or --markdown, not both"), param_hint="--markdown")
    if correlation:
        _sizes(correlation, power, json=json, markdown=markdown)
        return
    from cuecard.annotate.fidelity.inputs import Scope
    from cuecard.annotate.fidelity.report import fidelity_of, seen_in
    from cuecard.store.workspace import Sight

    scope = Scope(
        runs=tuple(runs or ()),
        tasks=tuple(task or ()),
        simulators=tuple(user or ()),
        people=tuple(person or ()),
    )
    wanted = section or list(Section)
    ours = Context.of(context)
    with ours.workspace() as workspace:
        found = fidelity_of(workspace, scope, judge)
        if Section.WORST in wanted:
            sight = Sight(workspace, ours.reader, reveal=reveal)
            found = seen_in(workspace, found, sight, worst, reveal=reveal)
            tell_sight(sight)
    if json:
        as_json(_as_json(found, wanted, worst))
        return
    _print(found, wanted, worst, markdown=markdown)


def _print(found: Fidelity, wanted: Sequence[Section], worst: int, *, markdown: bool) -> None:
    from cuecard.annotate.fidelity.tables import circumstances, fidelity_tables
    from cuecard.tui.commands.table_output import print_tables

    title = _("Fidelity of simulators")
    say(f"# {title}\n" if markdown else title)
    for line in circumstances(found):
        if markdown:
            say(f"- {line}")
        else:
            prose(line)
    say("")
    tables = [s for s in fidelity_tables(found, worst) if s.view in wanted]
    print_tables((s for s in tables if s.view in ("cues", "findings")), markdown=markdown)
    for table in tables:
        if table.view == "worst":
            # Texts to read have no room in a table.
            say(f"## {table.title}\n" if markdown else f"{table.title}\n")
            for turn in found.worst[:worst]:
                _read(turn, found, markdown=markdown)
    print_tables((s for s in tables if s.view in ("outcome", "meaning")), markdown=markdown)
    if not tables:
        note(
            _(
                "Play a session with simulators that listen, ask them afterwards (`cuecard shadow`), or re-play a"
                " simulator's trial in the app; then look here again."
            )
        )


def _read(turn: TurnFindings, found: Fidelity, *, markdown: bool) -> None:
    """What was said in a turn, to be read."""
    from cuecard.annotate.fidelity.tables import (
        decision_word,
        findings_word,
        place_word,
        simulator_word,
    )
    from cuecard.core.text import one_line

    name = simulator_word(turn.simulator, found.simulators)
    head = f"{place_word(turn)} · {name}: {findings_word(turn)}"
    right = decision_word(turn.subject, turn.reference)
    lines = [_("Agent: {text}").format(text=one_line(turn.agent_text, _SHOWN))]
    if turn.person:
        said = one_line(turn.person_text, _SHOWN)
        lines.append(
            _("{person} ({decision}): {text}").format(person=turn.person, decision=right, text=said)
        )
    elif turn.reference:
        lines.append(_("Held for right: {decision}").format(decision=right))
    theirs = decision_word(turn.subject, turn.decision)
    said = one_line(turn.simulator_text, _SHOWN) or "–"
    lines.append(_("{person} ({decision}): {text}").format(person=name, decision=theirs, text=said))
    if turn.reason:
        lines.append(_("Its reason: {text}").format(text=one_line(turn.reason, _SHOWN)))
    if markdown:
        from cuecard.core.tables.texts import escaped

        say(f"### {escaped(head)}\n")
        say("".join(f"- {escaped(line)}\n" for line in lines))
        return
    prose(head)
    for line in lines:
        prose(f"  {line}")
    say("")


def _as_json(found: Fidelity, wanted: Iterable[Section], worst: int) -> dict[str, object]:
    parts: dict[Section, set[str]] = {
        Section.CUES: {"agreements", "among_people", "ceilings"},
        Section.FINDINGS: {"findings"},
        Section.WORST: {"worst"},
        Section.OUTCOME: {"outcomes"},
        Section.MEANING: {"meaning"},
    }
    left_out = {name for part, names in parts.items() if part not in set(wanted) for name in names}
    data = found.model_copy(update={"worst": found.worst[:worst]})
    return data.model_dump(mode="json", exclude=left_out)


def _sizes(correlations: Sequence[float], power: float, *, json: bool, markdown: bool) -> None:
    from cuecard.annotate.fidelity.correlation import sessions_needed
    from cuecard.annotate.fidelity.detail_tables import sizes_table
    from cuecard.tui.commands.table_output import print_tables

    if not all(0 < abs(size) < 1 for size in correlations):
        raise typer.BadParameter(
            _("a correlation lies between 0 and 1"), param_hint="--correlation"
        )
    if not 0 < power < 1:
        raise typer.BadParameter(_("a power lies between 0 and 1"), param_hint="--power")
    if json:
        as_json(
            {
                "power": power,
                "alpha": 0.05,
                "sessions": [
                    {
                        "correlation": size,
                        "spearman": sessions_needed(size, power),
                        "kendall": sessions_needed(size, power, kind="kendall"),
                    }
                    for size in correlations
                ],
            }
        )
        return
    print_tables([sizes_table(correlations, power)], markdown=markdown)
