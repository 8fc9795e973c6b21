"""Editing a field, or the whole task as YAML, in the person's own editor, and what to do with invalid YAML."""

from __future__ import annotations

import asyncio
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from textual.widgets import Input, TextArea

from cuecard.annotate.authoring.yaml_text import (
    ReadBack,
    annotated,
    from_yaml,
    problem_text,
    to_yaml,
)
from cuecard.core.errors import CuecardError
from cuecard.core.i18n import _, ngettext
from cuecard.core.text import for_display
from cuecard.tui.outside_programs import SavedText, edited_outside, same_text
from cuecard.tui.present.keyboard import hint
from cuecard.tui.present.tasks import moment
from cuecard.tui.screens.dialogs import ChoiceDialog

if TYPE_CHECKING:
    from cuecard.tui.app import CuecardApp
    from cuecard.tui.screens.task.drafting import DraftingScreen


_SHOWN = 6


class Outcome(StrEnum):
    """What becomes of a text with problems."""

    AGAIN = "again"
    TAKE = "take"
    KEEP = "keep"
    DROP = "drop"


def untaken_dialog(read: ReadBack, path: Path) -> ChoiceDialog:
    """The problems by line, and the ways on by the names of `Outcome`. Escape keeps the text in its file."""
    count = len(read.problems)
    if read.data is None:
        text = _("This cannot be taken over as it stands. Your draft is untouched.")
    else:
        text = _("As a draft this can be taken over; a revision needs these mended first.")
    lines = [text, _("The text is in {file}.").format(file=path), ""]
    lines += [f"✗ {problem_text(problem)}" for problem in read.problems[:_SHOWN]]
    if (rest := count - _SHOWN) > 0:
        lines.append(ngettext("{n} more", "{n} more", rest).format(n=rest))
    options = [
        (Outcome.AGAIN, "", _("Edit again, with the problems at the top")),
        (Outcome.TAKE, "", _("Take it into my draft as it is")),
        (Outcome.KEEP, "", _("Keep it in the file for later")),
        (Outcome.DROP, "", _("Give up this text")),
    ]
    return ChoiceDialog(
        ngettext("{n} problem in this YAML", "{n} problems in this YAML", count).format(n=count),
        "\n".join(lines),
        [option for option in options if option[0] is not Outcome.TAKE or read.data is not None],
    )


def leftover_text_dialog(at: datetime, path: Path) -> ChoiceDialog:
    """A text of this task was never taken over; Escape leaves everything as it is."""
    text = _("YAML of this task from {time} was never taken over. It is in {file}.")
    return ChoiceDialog(
        _("A text was left behind"),
        text.format(time=moment(at), file=path),
        [
            ("go_on", "", _("Go on with that text")),
            ("afresh", "", _("Begin from the task as it is now")),
        ],
    )


def edit_field(field: Input | TextArea) -> None:
    """Open what a field holds in the person's editor, and put what comes back into it."""
    app = cast("CuecardApp", cast(Any, field).app)
    text = field.value if isinstance(field, Input) else field.text
    task_id = str(getattr(field.screen, "task_id", "text"))
    kept = SavedText(app.services.url, f"{task_id} field", ".md")
    if aside := kept.set_aside():
        app.tell(_("A text that was left in the editor is kept in {file}.").format(file=aside))
    try:
        back = edited_outside(app, text, kept, original=text)
    except CuecardError as error:
        app.report(error)
        return
    if back is None:
        app.tell(_("Nothing was changed."))
        return
    if not text.endswith("\n"):
        back = back.removesuffix("\n")
    if isinstance(field, Input):
        field.value = " ".join(for_display(back).split("\n")).strip()
    else:
        field.text = for_display(back)
    kept.discard()


async def edit_as_yaml(screen: DraftingScreen) -> None:
    """Open the whole task in the person's editor. What comes back is one step for undo; what cannot
    be taken stays in a file. Raises `CuecardError`.
    """
    edit = screen.edit
    screen.editor.commit()
    await screen.keeper.flush()
    original = await asyncio.to_thread(to_yaml, edit.data)
    kept = SavedText(screen.services.url, screen.task_id)
    text = await _begin_with(screen, kept, original)
    while text is not None:
        back = edited_outside(screen.cue_app, text, kept, original=original)
        if back is None:
            screen.cue_app.tell(
                _(
                    "Nothing was changed. An editor with a window of its own must be told to wait, as in code --wait."
                )
            )
            return
        read = await asyncio.to_thread(from_yaml, back, screen.task_id, edit.family)
        outcome = Outcome.TAKE if read.data is not None and not read.problems else None
        if outcome is None:
            outcome = await screen.app.push_screen_wait(untaken_dialog(read, kept.path))
        match outcome:
            case Outcome.AGAIN:
                text = annotated(back, read.problems)
            case Outcome.TAKE:
                await _take(screen, read, kept)
                return
            case Outcome.DROP:
                kept.discard()
                return
            case _:
                text = None
                told = _("Your text is kept in {file}; it is offered again next time.")
                screen.cue_app.tell(told.format(file=kept.path))


async def _begin_with(screen: DraftingScreen, kept: SavedText, original: str) -> str | None:
    """What the editor opens with: the task, or a text that was left behind. None to leave it."""
    left = await asyncio.to_thread(kept.load)
    if left is None or same_text(left.text, original):
        return original
    choice = await screen.app.push_screen_wait(leftover_text_dialog(left.at, kept.path))
    match choice:
        case "go_on":
            return left.text
        case "afresh":
            if aside := await asyncio.to_thread(kept.set_aside):
                screen.cue_app.tell(_("The other text is kept in {file}.").format(file=aside))
            return original
        case _:
            return None


async def _take(screen: DraftingScreen, read: ReadBack, kept: SavedText) -> None:
    assert read.data is not None
    screen.edit.replace(read.data)
    screen.editor.reload()
    screen.show_title()
    # Only once the draft is on disk is the file not needed any more.
    await screen.keeper.flush()
    kept.discard()
    screen.cue_app.tell(hint(_("Taken over; {UNDO} takes it back.")))
