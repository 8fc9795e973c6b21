"""The labelling screen: one item at a time, blind, by keyboard."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.widgets import Static

from cuecard.annotate.labelling.session import LabelSession
from cuecard.annotate.labelling.views import LabelView, Target
from cuecard.annotate.labelling.wording import WORDING
from cuecard.core.errors import CuecardError
from cuecard.core.i18n import N_, _, ngettext
from cuecard.core.label_records import LabelValue
from cuecard.core.text import one_line
from cuecard.core.verdicts import ItemKind
from cuecard.tui.actions import Key, KeyBar, Means, keys
from cuecard.tui.app import guarded
from cuecard.tui.drawing import VerticalScroll
from cuecard.tui.kit.walks import WalkScreen
from cuecard.tui.present import labelling as present
from cuecard.tui.present.drafts import FileDrafts
from cuecard.tui.present.keyboard import hint, shown_key
from cuecard.tui.screens.dialogs import TextDialog
from cuecard.tui.screens.labelling import dialogs as works
from cuecard.tui.screens.labelling.dialogs import Detail, Step, Work, step_of
from cuecard.tui.widgets.nav import EmptyState
from cuecard.tui.widgets.text import HeadLine, Paragraphs

if TYPE_CHECKING:
    from textual.worker import Worker

    from cuecard.annotate.labelling.set_looks import SetWatch
    from cuecard.store.workspace import Workspace


PAINTING = 0.03
"""Seconds before the next items are read ahead."""
LOOKS = 5
"""Labels from one look at how far the set is to the next: after each one, it would tell what the judge said of the item."""
TOLD = 10
"""Decided items from which on it is told."""


class LabelScreen(WalkScreen[LabelSession, Step]):
    """Labels items of a run, of one of its trials, of a labelling set, or `targets`."""

    CSS_PATH = "label.tcss"
    AUTO_FOCUS = "#evidence"
    BINDINGS = keys(
        Key("label.yes", Means.YES, "label('yes')", N_("Yes"), N_("Yes: covered, right, met; as the question says")),
        Key("label.no", Means.NO, "label('no')", N_("No"), N_("No: not covered, not right, not met")),
        Key("label.unsure", Means.UNSURE, "label('unsure')", N_("Unsure"), N_("I cannot tell")),
        *(
            Key(f"label.status_{status.value}", Means.CHOICE, f"status('{key}')", N_("Status"), N_("The status that stands beside this letter"), show=False, letter=key)
            for key, status in present.STATUS_KEYS.items()
        ),
        Key("label.on", (Means.OPEN, Means.MARK, Means.FURTHER), "skip", N_("Next"), N_("To the next item"), show=False),
        Key("label.back", (Means.BEFORE, Means.UNDO), "back", N_("Back"), N_("To the item before; every label can be changed")),
        Key("label.comment", Means.COMMENT, "show('comment')", N_("Comment"), N_("Say why; goes with my label")),
        Key("label.flag", Means.FLAG, "flag", N_("Flag"), N_("Flag the gold as wrong, or take it back")),
        Key("label.reveal", Means.REVEAL, "reveal", N_("Reveal"), N_("What was decided, once I have labelled")),
        Key("label.all", Means.A_VIEW, "show('all')", N_("All"), N_("Everything that the agent handed in, with search"), show=False, letter="m"),
        Key("label.gold", Means.A_VIEW, "show('gold')", N_("Gold"), N_("The gold around this item, with search"), show=False, letter="g"),
        Key("label.transcript", Means.A_VIEW, "show('transcript')", N_("Dialogue"), N_("The dialogue where this came from"), show=False, letter="t"),
        Key("label.reveal_after", Means.COMMAND, "reveal_after", N_("Reveal after"), N_("Show what was decided right after each label, or do not"), show=False, letter="v"),
        Key("label.agreement", Means.COMMAND, "agreement", N_("Agreement"), N_("How far judge and people agree"), show=False, letter="a"),
        Key("label.leave", Means.UP_ONE, "leave", N_("Done"), N_("Leave; every label is saved")),
    )  # fmt: skip

    def __init__(
        self,
        run_id: int | None,
        name: str,
        trial_id: int | None = None,
        *,
        set_id: int | None = None,
        targets: Sequence[Target] = (),
    ) -> None:
        """`name`: of the run or the set. `trial_id`: only the items of this trial."""
        super().__init__()
        self._run_id, self._name, self._trial_id = run_id, name, trial_id
        self._set_id, self._targets = set_id, tuple(targets)
        self._watch: SetWatch | None = None
        self._watching: Worker[None] | None = None
        self._behind = False

    def compose(self) -> ComposeResult:
        yield HeadLine("", id="progress", markup=False)
        with VerticalScroll(id="gold", classes="pane"):
            yield Paragraphs(id="gold-text")
        yield Static("", id="question", markup=False)
        with VerticalScroll(id="evidence", classes="pane"):
            yield Paragraphs(id="evidence-text")
        with VerticalScroll(id="mine", classes="pane") as mine:
            mine.border_title = _("Decisions")
            yield Paragraphs(id="mine-text")
        yield self._nothing_left(0)
        yield Static("", id="standing", markup=False)
        yield KeyBar()

    def _nothing_left(self, items: int) -> EmptyState:
        """Of so many items that were shown."""
        compared = ("{MENU} a", _("Agreement of judge and people"))
        back = ("{BEFORE}", _("Back to your last item"))
        return EmptyState(
            _("Nothing here waits for your label"),
            _(
                "Labels of others and the judge's verdicts are compared under Agreement. What you"
                " skipped comes up again when you open this anew."
            ),
            *([] if self._run_id is None and self._set_id is None else [compared]),
            *([back] if items else []),
            ("esc", _("Back to where you came from")),
        )

    def on_mount(self) -> None:
        self.query_one(EmptyState).display = False
        self.query_one("#standing").display = False

    def on_key(self, event: events.Key) -> None:
        # Whoever scrolls is reading, not idle.
        if self.session is not None:
            self.session.touch()

    async def begin(self) -> LabelSession:
        return await self.services.ask(self._open)

    def step_of(self, session: LabelSession, work: Work) -> Step:
        return step_of(session, work)

    @guarded("ahead", background=True)
    async def ahead(self) -> None:
        """Read what comes next while the person looks at this."""
        session = self.session
        # The item that came up is painted first.
        await asyncio.sleep(PAINTING)
        while session is not None and await asyncio.to_thread(session.prepare):
            pass

    def _look_again(self, set_id: int) -> None:
        """Have the line of how far the set is brought up to date; one look at a time, for a look takes in what is new."""
        self._behind = True
        if self._watching is None or self._watching.is_finished:
            self._watching = self.standing(set_id)

    @guarded("standing", background=True)
    async def standing(self, set_id: int) -> None:
        """One line of how far the set is, which holds however often it is looked at; none for who may not see all of it."""
        from cuecard.annotate.labelling.set_look_tables import ahead
        from cuecard.annotate.labelling.set_looks import SetWatch

        line = self.query_one("#standing", Static)
        with suppress(CuecardError):
            watch = self._watch or await self.services.ask(lambda ws: SetWatch(ws, set_id))
            self._watch = watch
            while self._behind:
                self._behind = False
                look = await self.services.ask(lambda _ws: watch.look())
                told = ahead(look) if look.settled >= TOLD else ""
                line.update(told)
                line.display = bool(told)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        view = self.step.view if self.step else None
        kind = view.gold.item.kind if view else None
        of_status = kind is ItemKind.STATUS
        match action:
            case "label":
                return view is not None and (not of_status or parameters == ("unsure",))
            case "status":
                return of_status
            case "flag":
                return view is not None and kind not in (ItemKind.PREDICTED, ItemKind.LEAK)
            case "show" | "skip":
                return view is not None
            case "back":
                return self.step is not None and self.step.total > 0
            case "reveal":
                return view is not None and view.mine is not None
            case "agreement":
                return self._run_id is not None or self._set_id is not None
            case _:
                return True

    def action_label(self, value: str) -> None:
        self.press(works.labelling(LabelValue(value), reveal_after=self._reveal_after))

    def action_status(self, key: str) -> None:
        self.press(works.labelling(present.STATUS_KEYS[key], reveal_after=self._reveal_after))

    def action_show(self, what: Detail) -> None:
        self.press(what)

    def action_flag(self) -> None:
        self.press(works.flag)

    def action_skip(self) -> None:
        self.press(works.go_on)

    def action_back(self) -> None:
        self.press(works.back)

    def action_reveal(self) -> None:
        self.press(works.reveal)

    def action_reveal_after(self) -> None:
        preferences = self.cue_app.preferences
        preferences.reveal_after = not preferences.reveal_after
        preferences.save()
        said = _("Reveal after: on") if preferences.reveal_after else _("Reveal after: off")
        self.notify(said, markup=False)
        self.press(works.nothing)

    def action_agreement(self) -> None:
        from cuecard.tui.screens.agreement import AgreementScreen

        self.app.push_screen(AgreementScreen(self._run_id, self._name, set_id=self._set_id))

    @property
    def _reveal_after(self) -> bool:
        return self.cue_app.preferences.reveal_after

    def _open(self, workspace: Workspace) -> LabelSession:
        person = self.person
        drafts = FileDrafts(self.services.url, person, self.services.journal)
        if self._set_id is not None:
            return LabelSession.over_set(workspace, person, self._set_id, drafts=drafts)
        if self._targets:
            return LabelSession.over_items(workspace, person, self._targets, drafts=drafts)
        return LabelSession(workspace, person, self._run_id, self._trial_id, drafts=drafts)

    async def aside(self, session: LabelSession, what: str) -> None:
        view = self.step.view if self.step else None
        if view is None:
            return
        if what == "comment":
            before = view.mine.comment if view.mine else view.draft.comment
            text = await self.app.push_screen_wait(TextDialog(_("Comment on this item"), before))
            if text is not None:
                said = works.commenting(text)
                self.show(await self.work_off(session, said))
        elif what == "transcript":
            from cuecard.tui.screens.labelling.dialogs import BlindTranscriptScreen

            transcript = await asyncio.to_thread(session.transcript)
            await self.app.push_screen_wait(
                BlindTranscriptScreen(view.title, transcript, session.whole)
            )
        else:
            from cuecard.tui.present.labelling import gold_entries, predicted_entries
            from cuecard.tui.screens.labelling.dialogs import DetailScreen

            if what == "all":
                title = _("Everything handed in by the agent")
                entries = predicted_entries(await asyncio.to_thread(session.all_predicted))
            else:
                title = _("The gold around this item")
                entries = gold_entries(await asyncio.to_thread(session.gold_around))
            await self.app.push_screen_wait(DetailScreen(title, entries))
        session.touch()

    def show(self, step: Step) -> None:
        before, self.step = self.step, step
        view = step.view
        for pane in self.query(".pane"):
            pane.display = view is not None
        self.query_one("#question").display = view is not None
        empty = self.query_one(EmptyState)
        empty.display = view is None
        empty.say(self._nothing_left(step.total))
        said = [present.progress_line(step.position, step.total, step.labelled, step.pace)]
        if step.skipped:
            text = ngettext("{n} skipped", "{n} skipped", step.skipped)
            said.append(text.format(n=step.skipped))
        if self._reveal_after:
            said.append(_("reveal after"))
        told = " · ".join((one_line(self._name, 90), *said))
        self.query_one("#progress", Static).update(told)
        if view is not None:
            self._show_item(view, step)
        if self._set_id is not None and (
            before is None or before.labelled // LOOKS != step.labelled // LOOKS
        ):
            self._look_again(self._set_id)
        if before is None or _answerable(before) != _answerable(step):
            # The footer is drawn anew, which takes as long as all the rest.
            self.refresh_bindings()

    def _show_item(self, view: LabelView, step: Step) -> None:
        kind = view.gold.item.kind
        wording = WORDING[kind]
        gold, evidence = self.query_one("#gold"), self.query_one("#evidence")
        gold.border_title = _(wording.title)
        gold.border_subtitle = Text(one_line(view.title, 40))  # a string would be parsed for markup
        self.query_one("#gold-text", Paragraphs).load(present.gold_paragraphs(view))
        evidence.border_title = _(wording.evidence)
        evidence.border_subtitle = hint(
            _("<label.all> all · <label.gold> gold · <label.transcript> dialogue · {FURTHER} skip")
        )
        self.query_one("#evidence-text", Paragraphs).load(
            present.evidence_paragraphs(view, all_by=shown_key("label.all"))
        )
        lines = [present.question(kind), *present.answers(kind)]
        mine = present.mine_paragraphs(view)
        if step.revealed:
            mine += present.revealed_paragraphs(view, step.revealed)
            lines = [
                _("⏎ goes on · another answer changes your mind, and is counted apart"),
                *lines[1:],
            ]
        self.query_one("#question", Static).update("\n".join(lines))
        self.query_one("#mine").display = bool(mine)
        self.query_one("#mine-text", Paragraphs).load(mine)
        for pane in (gold, evidence):
            pane.scroll_home(animate=False, immediate=True)


def _answerable(step: Step) -> tuple[ItemKind | None, bool, bool]:
    """What decides which keys work."""
    view = step.view
    kind, mine = (view.gold.item.kind, view.mine is not None) if view else (None, False)
    return kind, mine, step.total > 0
