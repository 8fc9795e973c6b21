"""From the key in the editor to a changed task: asked, drafted, decided, taken in."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from cuecard.annotate.assist.apply import apply, origin_of
from cuecard.annotate.assist.drafting import Drafting
from cuecard.annotate.assist.pending import Pending, PendingFile
from cuecard.annotate.assist.proposal import Proposal
from cuecard.annotate.assist.translation import translated, translated_id
from cuecard.annotate.authoring.session import begin_task
from cuecard.annotate.authoring.trees import parse_place
from cuecard.core.errors import Conflict
from cuecard.core.i18n import _, ngettext
from cuecard.tui.screens.task.dialogs import AskLine
from cuecard.tui.screens.task.proposals.ask import AssistDialog, NoModelDialog
from cuecard.tui.screens.task.proposals.screen import Decided, ProposalScreen, RawDialog
from cuecard.tui.screens.task.proposals.working import WorkingDialog
from cuecard.tui.state.assisting import Asking
from cuecard.tui.state.proposals import cost_of

if TYPE_CHECKING:
    from cuecard.core.config_models import Config
    from cuecard.tui.screens.task.screen import TaskScreen


# What was typed into the dialog, as long as the editor is open.
_typed: WeakKeyDictionary[TaskScreen, dict[str, str]] = WeakKeyDictionary()


async def assist(screen: TaskScreen) -> None:
    """Decide on the proposal that waits, or have one drafted first. Raises `CuecardError`."""
    screen.editor.commit()
    await screen.keeper.flush()
    config = await screen.services.config()
    file = PendingFile(screen.services.url, screen.task_id, screen.author)
    pending = await asyncio.to_thread(file.load)
    if pending is None:
        pending = await _drafted(screen, config)
        if pending is None:
            return
        await asyncio.to_thread(file.save, pending)
    await _decide(screen, config, pending, file)


async def _drafted(screen: TaskScreen, config: Config) -> Pending | None:
    if not config.models:
        await screen.app.push_screen_wait(NoModelDialog())
        return None
    edit, typed = screen.edit, _typed.setdefault(screen, {})
    wanted = await screen.app.push_screen_wait(
        AssistDialog(Asking(edit.data, edit.family, config), typed)
    )
    if wanted is None:
        return None
    drafting = Drafting(edit.data, wanted.inputs, config, wanted.model)
    title = _("{model} works on it; nothing in the task changes.").format(model=wanted.model)
    proposal = await screen.app.push_screen_wait(WorkingDialog(title, drafting))
    if proposal is None:
        return None
    if not proposal.items:
        await _tell_nothing(screen, config, proposal)
        return None
    typed.clear()
    ticked = tuple(item.id for item in proposal.items if item.suggested)
    return Pending(proposal=proposal, ticked=ticked, task_id=wanted.task_id)


async def _tell_nothing(screen: TaskScreen, config: Config, proposal: Proposal) -> None:
    spent = cost_of(proposal.spent, config.currency)
    if not proposal.raw:
        screen.notify(
            "\n".join((_("Nothing was proposed."), *proposal.notes, spent)),
            severity="warning",
            markup=False,
        )
        return
    text = _("Nothing usable came back ({cost}). The task is as it was.").format(cost=spent)
    why = "\n".join((text, *proposal.notes))
    await screen.app.push_screen_wait(RawDialog(proposal.raw, why))


async def _decide(screen: TaskScreen, config: Config, pending: Pending, file: PendingFile) -> None:
    def keep(as_ticked: Pending) -> None:
        file.save(as_ticked.model_copy(update={"task_id": pending.task_id}))

    shown = ProposalScreen(screen.edit.data, pending, config.currency, keep)
    decided = await screen.app.push_screen_wait(shown)
    if decided is None:
        screen.cue_app.tell(_("The proposal waits; ^t brings it back."))
        return
    if not decided.accepted:
        await asyncio.to_thread(file.discard)
        screen.cue_app.tell(_("Rejected. The task is as it was."))
        return
    if pending.proposal.kind == "translation":
        if await _begin_translation(screen, pending, decided):
            await asyncio.to_thread(file.discard)
        return
    await _take_in(screen, pending, decided)
    await screen.keeper.flush()
    # Only once the draft with it is on disk.
    await asyncio.to_thread(file.discard)


async def _take_in(screen: TaskScreen, pending: Pending, decided: Decided) -> None:
    screen.editor.commit()
    applied = apply(screen.edit, pending.proposal, decided.accepted)
    screen.editor.reload()
    place = next(iter(applied.places.values()), "")
    if place:
        await screen.editor.go_to(parse_place(place))
    text = ngettext(
        "{n} of {all} item taken in, not saved yet; ^z takes it back.",
        "{n} of {all} items taken in, not saved yet; ^z takes them back.",
        len(pending.proposal.items),
    )
    screen.cue_app.tell(text.format(n=applied.count, all=len(pending.proposal.items)))


async def _begin_translation(screen: TaskScreen, pending: Pending, decided: Decided) -> bool:
    """Whether there is a new task now; it is shown above this one."""
    from cuecard.tui.screens.task.screen import TaskScreen

    proposal, person = pending.proposal, screen.author
    target = proposal.language or "en"
    task_id = pending.task_id or translated_id(screen.task_id, target)
    origins = (origin_of(proposal, len(decided.accepted)),)
    while True:
        data = translated(screen.edit.data, proposal, decided.accepted, task_id)
        try:
            await screen.services.ask(lambda ws, new=data: begin_task(ws, person, new, origins))
            break
        except Conflict as conflict:
            answer = await screen.app.push_screen_wait(
                AskLine(
                    conflict.title,
                    _("Which id shall the translation have?"),
                    button=_("Go on"),
                    value=f"{task_id}-2",
                )
            )
            if not answer:
                return False
            task_id = answer
    screen.app.push_screen(TaskScreen(task_id))
    text = _("{task} is a new draft; the original stays as it is.")
    screen.cue_app.tell(text.format(task=task_id))
    return True
