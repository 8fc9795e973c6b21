"""`cuecard pack` and `cuecard merge`: export and import bundles."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cuecard.core.errors import FileProblems
from cuecard.core.i18n import N_, _, listed, ngettext, pgettext
from cuecard.core.text import one_line
from cuecard.tui.commands.context import Context
from cuecard.tui.commands.output import live_progress, note, print_error, say, table
from cuecard.tui.commands.verb import Help, Result, verb

if TYPE_CHECKING:
    from cuecard.annotate.sharing.bundle import WrittenBundle
    from cuecard.annotate.sharing.reading import BundleFile
    from cuecard.store.bundle_records import MergeReport

EXIT_CLASHES, EXIT_UNREADABLE = 1, 2


def _day(text: str) -> datetime | None:
    from cuecard.tui.present.files import since_of

    try:
        return since_of(text)
    except ValueError as error:
        told = _("Please write the day as 2026-01-31, or leave it empty.")
        raise typer.BadParameter(told) from error


@verb("cuecard --as Ana pack -o ana.cuepack", "json")
def pack(
    ours: Context,
    *,
    output: Annotated[
        Path | None, Help(N_("Default: your name and the day"), "-o", "--output")
    ] = None,
    since: Annotated[
        datetime | None,
        Help(
            N_("Only what you did from then on. Default: everything, which is always safe"),
            metavar="DATE",
            parser=_day,
        ),
    ] = None,
    run: Annotated[
        Sequence[int],
        Help(N_("This run, whole, instead of what you did; may be repeated"), metavar="RUN"),
    ] = (),
    sealed: Annotated[
        bool,
        N_(
            "No text stands in the file as it is, so that nobody finds it by searching or trains on it"
        ),
    ] = False,
) -> Result:
    if run and since:
        raise typer.BadParameter(_("a run is packed whole"), param_hint="--since")
    from cuecard.annotate.sharing.bundle import packing_line, write_bundle
    from cuecard.store.roles import checked_name

    with live_progress(_("Packing…")) as status:

        def told(records: int) -> None:
            if status:
                status(packing_line(records))

        written = write_bundle(
            ours.workspace,
            checked_name(ours.reader),
            output,
            since=since,
            runs=run,
            canary=ours.config().contamination.canary,
            seal=sealed,
            told=told,
        )
    return Result(
        lambda: _print_written(written),
        lambda: {
            "file": str(written.path),
            "size": written.size,
            "header": written.header.model_dump(mode="json"),
            "drafts_left": written.drafts,
        },
    )


@verb("cuecard merge ana.cuepack ben.cuepack", "json")
def merge(
    ours: Context,
    files: Annotated[Sequence[Path], Help(N_("Packs, or folders with packs"), metavar="PACK")],
    *,
    dry_run: Annotated[bool, N_("Say what would happen; change nothing")] = False,
) -> Result:
    from cuecard.annotate.sharing.merging import signed_for_text
    from cuecard.annotate.sharing.reading import read_bundles

    workspace = ours.workspace
    try:
        bundles = read_bundles(list(files))
    except FileProblems as unreadable:
        problems = [
            {"file": problem.file, "place": problem.place, "reason": problem.reason}
            for problem in unreadable.problems
        ]
        refused = unreadable
        return Result(
            lambda: print_error(refused),
            lambda: {"dry_run": dry_run, "problems": problems},
            code=EXIT_UNREADABLE,
        )
    person = ours.person
    if not ours.json and any(bundle.for_others for bundle in bundles):
        # Before anything is taken, though nothing asks: names are no passwords.
        for signed in workspace.exchange.import_(bundles, by=person, dry=True).signed_for:
            note(signed_for_text(signed))
    report = workspace.exchange.import_(bundles, by=person, dry=dry_run)
    return Result(
        lambda: _print_report(bundles, report),
        lambda: _report_json(bundles, report),
        code=EXIT_CLASHES if report.clashes else 0,
    )


def _print_written(written: WrittenBundle) -> None:
    from cuecard.annotate.sharing.merging import counted

    size = f"{written.size / 1024:,.0f} KB" if written.size >= 1024 else f"{written.size} B"
    whole = written.header.entries.get("run")
    text = (
        ngettext("{file} written ({size}): {n} run.", "{file} written ({size}): {n} runs.", whole)
        if whole
        else _("{file} written ({size}): what {person} did.")
    )
    say(text.format(file=written.path, size=size, person=written.header.person, n=whole))
    for label, count in counted(written.kinds):
        say(f"  {count:>6,}  {label}")
    if written.drafts:
        text = ngettext(
            "{n} draft stays here: save it as a revision, then it travels.",
            "{n} drafts stay here: save them as revisions, then they travel.",
            written.drafts,
        )
        note(text.format(n=written.drafts))


def _print_report(bundles: list[BundleFile], report: MergeReport) -> None:
    from cuecard.annotate.sharing.merging import STATE, arrived_rows, left_out_text

    for bundle in bundles:
        header = bundle.header
        until = header.until.astimezone().strftime("%Y-%m-%d %H:%M") if header.until else "–"
        say(
            _("{file}: {person}, until {time}").format(
                file=bundle.path, person=one_line(header.person), time=until
            )
        )
    say("")
    title = _("What would be merged") if report.dry else _("What was merged")
    rows = arrived_rows(report.arrived)
    table(title, ("", pgettext("entries", "new"), _("known")), rows, numbers=(1, 2))
    if report.moved:
        table(
            _("Tasks that would change") if report.dry else _("Tasks that changed"),
            (_("title"), _("was"), _("is"), _("revision"), _("task")),
            [
                (
                    moved.title,
                    _(STATE[moved.before]) if moved.before else _("new"),
                    _(STATE[moved.after]),
                    moved.head,
                    moved.task_id,
                )
                for moved in report.moved
            ],
            numbers=(3, 4),  # an id that wraps cannot be copied
        )
    if report.people:
        names = listed(one_line(name) for name in report.people)
        say(_("New names here: {names}.").format(names=names))
    for left in report.left_out:
        note(left_out_text(left))
    if report.left_out:
        note(_("Merging the same file again later takes them."))
    _print_clashes(report)


def _print_clashes(report: MergeReport) -> None:
    from cuecard.annotate.sharing.merging import clash_text, clash_title

    if not report.clashes:
        say(_("No clashes."))
        return
    new = report.new_clashes
    table(
        _("Clashes: kept side by side, nothing was overwritten"),
        (_("task"), "", _("since"), _("what follows")),
        [
            (
                clash.task_id,
                clash_title(clash),
                pgettext("at present", "now") if clash in new else _("before"),
                clash_text(clash),
            )
            for clash in report.clashes
        ],
    )


def _report_json(bundles: list[BundleFile], report: MergeReport) -> dict[str, Any]:
    return {
        "dry_run": report.dry,
        "files": [
            {"file": str(each.path), **each.header.model_dump(mode="json")} for each in bundles
        ],
        "added": {one.kind: one.added for one in report.arrived},
        "known": {one.kind: one.known for one in report.arrived},
        **report.model_dump(mode="json", exclude={"dry", "arrived"}),
        "problems": [],
    }
