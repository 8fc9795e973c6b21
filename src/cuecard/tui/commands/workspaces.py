"""`cuecard init` and `cuecard demo`: a first workspace, and what the sample tasks show; `cuecard backup` and `cuecard move`: all
of one as a file, and in another database; `cuecard people`: who works in it, and which roles of a PostgreSQL server stand for them.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cuecard.core.i18n import N_, _, joined, ngettext, pgettext, plural
from cuecard.tui.commands.context import Context
from cuecard.tui.commands.output import console, note, prose, say, table
from cuecard.tui.commands.verb import Help, Result, verb

if TYPE_CHECKING:
    from rich.status import Status

    from cuecard.annotate.samples import DemoReport
    from cuecard.core.records import Membership
    from cuecard.store.copies import CopiedTable, OnRows

Name = Annotated[str, N_("Name of a person")]


@verb("cuecard --db work.db init --no-samples")
def init(ours: Context, *, samples: Annotated[bool, N_("Add the sample tasks")] = True) -> Result:
    from cuecard.core.config import CONFIG_NAME, example_config
    from cuecard.core.system import write_text

    with ours.open(create=True) as workspace:
        workspace.people.add(ours.reader)
        say(_("Workspace: {url}").format(url=workspace.public_url))
        if samples:
            from cuecard.annotate.samples import import_samples

            added = len(import_samples(workspace))
            say(plural("{n} sample task is there.", "{n} sample tasks are there.", added))
    config = ours.config_path or Path(CONFIG_NAME)
    if config.exists():
        return Result(_("{file} is there already; it was left alone.").format(file=config))
    write_text(config, example_config(), private=True)
    return Result(_("{file} written: name your models there.").format(file=config))


@verb("cuecard demo --db demo.db", "json")
def demo(
    ours: Context,
    *,
    db: Annotated[Path | None, N_("Keep the workspace in this file; else it is temporary")] = None,
    study: Annotated[
        bool, N_("Instead, write the example study into this file, by default example-study.db")
    ] = False,
) -> Result:
    from cuecard.annotate.samples import run_demo
    from cuecard.tui.commands.run_output import watching
    from cuecard.tui.commands.score_json import scores_json

    kept = db or (Path(ours.db) if ours.db else None)
    if db is None and "://" in (ours.db or ""):
        raise typer.BadParameter(_("the demo is kept in a file: give a path"), param_hint="--db")
    if study:
        from cuecard.annotate.study import STUDY_NAME, write_study

        file = write_study(kept or Path(STUDY_NAME))
        command = shlex.join(("cuecard", "--db", str(file)))
        told = _("The example study is in {file}. It was made for demonstration.").format(file=file)
        opened = _("Open it with: {command}").format(command=command)
        return Result(lambda: (say(told), say(opened)), lambda: {"db": str(file)})
    with watching(_("Playing the sample tasks"), {}) as told:
        report = run_demo(kept, on_event=told)
    return Result(
        lambda: _shown(report),
        lambda: {
            **scores_json(report.scores),
            "db": str(report.db) if report.db else None,
            "problems": list(report.problems),
        },
        code=1 if report.problems else 0,
        remarks=lambda: [note(problem) for problem in report.problems],
    )


def _shown(report: DemoReport) -> None:
    from cuecard.tui.commands.score_output import Result as Scored
    from cuecard.tui.commands.score_output import print_results

    scored = report.trials
    played = plural(
        "{n} sample task was played from its first line to its last, judged and scored.",
        "{n} sample tasks were played, each from its first line to its last, judged and scored.",
        len(scored),
    )
    about = _(
        "All parts were played by offline baselines: a scripted user, an agent without a model, a "
        "world made from the task, a judge that compares letters. The scores show that everything "
        "works together. They are not results of a model: an answer that has to be worked out is "
        "beyond this agent."
    )
    prose(joined((played, about)))
    counted = _(
        "Scores go from 0 to 1. n is what a score was counted over: triples, rows, cells, "
        "checkpoints or searches of a task."
    )
    prose(f"{counted}\n")
    print_results(
        [Scored(s.trial.family, s.trial.task_id, s.measures) for s in scored],
        {group.family: group.measures for group in report.groups},
        remark=_("offline baseline"),
    )
    if report.db:
        command = shlex.join(("cuecard", "--db", str(report.db)))
        say(_("All of it is kept. Open it with: {command}").format(command=command))
    else:
        say(_("Next: `cuecard` opens the app, `cuecard -h` lists the commands."))


@verb("cuecard backup /backups/monday.db", "json")
def backup(
    ours: Context,
    file: Annotated[Path, Help(N_("The file to be written"), metavar="FILE")],
    *,
    force: Annotated[bool, N_("In place of a file that is there")] = False,
) -> Result:
    with console(stderr=True).status("") as status:
        found = ours.workspace.copies.back_up(file, _telling(status), force=force)
    size = file.stat().st_size
    place = ours.workspace.public_url
    text = _("{place} is backed up in {file} ({size}); every page of it was read and is whole.")
    shown = text.format(place=place, file=file, size=f"{max(1, round(size / 1024)):,} KB")
    return Result(
        lambda: say(shown),
        lambda: {"from": place, "file": str(file), "size": size, "tables": _tables(found)},
    )


@verb("cuecard move --to postgresql://ana@db.example.org/bench", "json")
def move(
    ours: Context,
    *,
    to: Annotated[
        str,
        Help(
            N_("Where it shall be: an empty database or schema of PostgreSQL, or a new file"),
            metavar="URL",
        ),
    ],
) -> Result:
    from cuecard.store.workspace import database_at

    workspace = ours.workspace
    with (
        closing(database_at(to, create=True)) as target,
        console(stderr=True).status("") as status,
    ):
        found = workspace.copies.move(target, _telling(status))
        place = target.public_url
    return Result(
        lambda: _moved(found, place),
        lambda: {"from": workspace.public_url, "to": place, "tables": _tables(found)},
        remarks=lambda: note(
            _(
                "From now on it is {place}: in --db, in CUECARD_DB. {old} is as it was; nobody should go on working there."
            ).format(place=place, old=workspace.public_url)
        ),
    )


def _telling(status: Status) -> OnRows:
    def told(what: str, done: int, of: int) -> None:
        line = _("Reading {what}: {done} of {all}")
        status.update(
            line.format(what=what or _("database pages"), done=f"{done:,}", all=f"{of:,}")
        )

    return told


def _moved(found: Sequence[CopiedTable], place: str) -> None:
    rows = [(each.table, f"{each.rows:,}") for each in found if each.rows]
    total = sum(each.rows for each in found)
    table("", (_("table"), pgettext("of a table", "rows")), rows, numbers=(1,))
    say(
        ngettext(
            "Moved to {place}: {n} row, the same in number and hash in every table.",
            "Moved to {place}: {n} rows, the same in number and hash in every table.",
            total,
        ).format(place=place, n=f"{total:,}")
    )
    if late := sum(each.changed for each in found):
        text = ngettext(
            "{n} row was written meanwhile and came along.",
            "{n} rows were written meanwhile and came along.",
            late,
        )
        say(text.format(n=f"{late:,}"))


def _tables(found: Sequence[CopiedTable]) -> list[dict[str, Any]]:
    return [each._asdict() for each in found]


@verb("cuecard people add Ana --role ana", "json")
def people(ours: Context) -> Result:
    workspace = ours.workspace
    mine, roles, acted = workspace.roles.mine(), workspace.roles.all(), workspace.roles.acted()
    everybody = workspace.people.all()
    rows = [
        (person.name, role.role if role else "", _rights(role) if mine.proven else "", _since(at))
        for person in everybody
        for role, at in [(r, r.at) for r in roles if r.person == person.name]
        or [(None, person.created_at)]
    ]

    def show() -> None:
        headings = (_("Person"), _("Role"), _("Rights"), _("Since"))
        shown = rows if roles else [(name, since) for name, _role, _rights, since in rows]
        table("", headings if roles else (headings[0], headings[3]), shown)
        if acted:
            headings = (_("When"), _("Role"), _("Worked as"))
            table("", headings, [(_since(each.at), each.role, each.person) for each in acted])

    return Result(
        show,
        lambda: {
            "proven": mine.proven,
            "role": mine.role or None,
            "person": mine.person or None,
            "coordinator": mine.coordinator and mine.proven,
            "people": [
                {
                    "name": person.name,
                    "since": person.created_at.isoformat(),
                    "roles": [_role(r) for r in roles if r.person == person.name],
                }
                for person in everybody
            ],
            "worked_as": [_role(each) | {"person": each.person} for each in acted],
        },
        remarks=lambda: note(mine.sentence),
    )


@verb("cuecard people add Ana --role ana")
def add(
    ours: Context,
    name: Name,
    *,
    role: Annotated[str, N_("The role of the PostgreSQL server that stands for them")],
    coordinator: Annotated[
        bool, N_("They see everything, and may work as others, which is recorded")
    ] = False,
    create: Annotated[bool, N_("Make the role if there is none")] = False,
) -> Result:
    made = ours.workspace.roles.add(name, role, coordinator=coordinator, create=create)

    def show() -> None:
        say(
            _("{role} is {name} from now on: {rights}.").format(
                role=made.role, name=made.person, rights=_rights(made)
            )
        )
        if create:
            note(_("Set a password in psql: \\password {role}").format(role=made.role))
        note(
            _("They open the workspace by postgresql://{role}@HOST/DATABASE, without --as.").format(
                role=made.role
            )
        )

    return Result(show)


@verb("cuecard people coordinator Cleo")
def coordinator(
    ours: Context,
    name: Name,
    *,
    no_more: Annotated[bool, Help(N_("Not any more"), "--not")] = False,
) -> str:
    ours.workspace.roles.coordinate(name, not no_more)
    text = _("{name} is a member now.") if no_more else _("{name} is a coordinator now.")
    return text.format(name=name)


@verb("cuecard people remove Ana")
def remove(ours: Context, name: Name) -> str:
    ours.workspace.roles.remove(name)
    return _("{name} has no role any more. What they did stays.").format(name=name)


def _rights(role: Membership | None) -> str:
    if role is None:
        return _("no role")
    return _("coordinator") if role.coordinator else _("member")


def _since(at: Any) -> str:
    return at.astimezone().strftime("%Y-%m-%d %H:%M")


def _role(role: Membership) -> dict[str, Any]:
    return {"role": role.role, "coordinator": role.coordinator, "at": role.at.isoformat()}
