"""The items behind a figure of agreement, those that the two sides disagree on first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Footer, Static

from cuecard.annotate.labelling.comparison import Case, Comparison, Material, Place, cases_at
from cuecard.annotate.labelling.comparison.drilling import seen_by
from cuecard.annotate.labelling.comparison.raters import Rater, said_by
from cuecard.annotate.labelling.comparison.sheets import side_word
from cuecard.annotate.labelling.comparison.words import label_word
from cuecard.core.i18n import N_, _, ngettext
from cuecard.core.tasks import Task
from cuecard.core.text import one_line
from cuecard.lab.decisions import JUDGED
from cuecard.lab.items import gold_item
from cuecard.tui.actions import Key, keys
from cuecard.tui.base import CuecardScreen, guarded
from cuecard.tui.screens.ask import ConfirmDialog
from cuecard.tui.state.agreement import item_words, place_words, said_words
from cuecard.tui.widgets.empty import EmptyState
from cuecard.tui.widgets.fitted_table import FittedColumn
from cuecard.tui.widgets.grid import Grid
from cuecard.tui.widgets.grid.source import GridCell
from cuecard.tui.widgets.list_table import ListTable
from cuecard.tui.widgets.plain import PlainText

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace

_MOST_TEXTS = 2000


class AgreementItemsScreen(CuecardScreen[None]):
    """Only items that I have labelled, until I ask for all: whoever looks is not blind any more."""

    CSS_PATH = "agreement.tcss"
    BINDINGS = keys(
        Key("agreement_items.label", "enter", "label", N_("Open"), N_("This item with its evidence, to label it")),
        Key("agreement_items.trial", "o", "trial", N_("Trial"), N_("The trial that the item is of")),
        Key("agreement_items.all", "x", "all", N_("Show all"), N_("Also items that I have not labelled; I can no longer label them blind")),
        Key("agreement_items.back", "escape", "leave", N_("Back"), N_("Back to the figures")),
    )  # fmt: skip

    def __init__(self, material: Material, comparison: Comparison, place: Place, name: str) -> None:
        super().__init__()
        self._material, self._comparison, self._place = material, comparison, place
        self._name = name
        self._every = cases_at(material, place)
        self._cases: tuple[Case, ...] = ()
        self._texts: dict[str, str] = {}
        self._all = False

    def compose(self) -> ComposeResult:
        left, right = (
            one_line(side_word(self._comparison, rater), 18)
            for rater in (self._place.left, self._place.right)
        )
        yield Static(place_words(self._comparison, self._place), id="title", markup=False)
        yield ListTable(
            (
                FittedColumn(N_("Task"), 12, grow=1, hidden_below=70),
                FittedColumn(N_("Item"), 18, grow=3),
                FittedColumn(left, 14, raw=True),
                FittedColumn(right, 14, raw=True),
            ),
            id="items",
        )
        yield Static("", id="hidden", markup=False)
        with VerticalScroll(id="details", can_focus=False):
            yield PlainText(id="detail")
        yield EmptyState(
            _("None of these items is yours to see yet"),
            _("What was decided on an item is shown to those who have labelled it."),
            ("x", _("Show all: I can no longer label them blind")),
            ("esc", _("Back to the figures")),
        )
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self.query_one(EmptyState).display = False
        self.load()

    @property
    def _table(self) -> ListTable:
        return self.query_one("#items", ListTable)

    @guarded("agreement_items")
    async def load(self) -> None:
        """The texts of the items; and remember that what was decided on them has been seen."""
        person = self.person
        cases = self._every if self._all else seen_by(self._every, person)

        def work(workspace: Workspace) -> dict[str, str]:
            if person:
                workspace.verdicts.note_reveals([(c.trial_id, c.item) for c in cases], person)
            return _texts(workspace, cases[:_MOST_TEXTS])

        self._texts = await self.services.ask(work)
        self._cases = cases
        self._show()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("label", "trial"):
            return bool(self._cases)
        if action == "all":
            return not self._all and len(self._cases) < len(self._every)
        return True

    def action_all(self) -> None:
        hidden = len(self._every) - len(self._cases)
        text = ngettext(
            "You have not labelled {n} of these items. Once you have seen what was decided on it, a label"
            " of yours counts as given with the decision in view and does not enter agreement.",
            "You have not labelled {n} of these items. Once you have seen what was decided on them, labels"
            " of yours count as given with the decision in view and do not enter agreement.",
            hidden,
        ).format(n=hidden)

        def answered(yes: bool | None) -> None:
            if yes:
                self._all = True
                self.load()

        dialog = ConfirmDialog(_("Look without labelling?"), text, _("Show all"))
        self.app.push_screen(dialog, answered)

    def action_label(self) -> None:
        from cuecard.annotate.labelling import Target
        from cuecard.tui.screens.label import LabelScreen

        if case := self._chosen():
            target = Target(trial_id=case.trial_id, item=case.item)
            self.app.push_screen(LabelScreen(None, self._name, targets=[target]))

    def action_trial(self) -> None:
        from cuecard.tui.screens.trial import TrialScreen

        if case := self._chosen():
            self.app.push_screen(TrialScreen(case.trial_id))

    def action_leave(self) -> None:
        self.dismiss()

    def on_grid_chosen(self, event: Grid.Chosen) -> None:
        event.stop()
        self.action_label()

    def on_grid_cursor_moved(self, event: Grid.CursorMoved) -> None:
        event.stop()
        self._explain()

    def _chosen(self) -> Case | None:
        row = self._table.cursor_row
        return self._cases[row] if row < len(self._cases) else None

    def _show(self) -> None:
        table = self._table
        hidden = len(self._every) - len(self._cases)
        anything = bool(self._cases)
        for widget in self.query("#items, #details"):
            widget.display = anything
        self.query_one(EmptyState).display = not anything
        said = ngettext(
            "{n} more item that you have not labelled (x shows it)",
            "{n} more items that you have not labelled (x shows them)",
            hidden,
        ).format(n=f"{hidden:,}")
        self.query_one("#hidden", Static).update(said)
        self.query_one("#hidden").display = bool(hidden) and anything
        table.fill([self._line(case) for case in self._cases])
        if anything:
            table.focus()
        self._explain()

    def _line(self, case: Case) -> tuple[str | GridCell, ...]:
        subject = self._material.subject
        left, right = (said_by(rater, case) for rater in (self._place.left, self._place.right))
        text = self._texts.get(case.name, "")
        return (
            case.task,
            " · ".join(filter(None, (item_words(case), text))),
            label_word(subject, left),
            GridCell(label_word(subject, right), "plain" if left == right else "warn"),
        )

    def _explain(self) -> None:
        case = self._chosen()
        if case is not None:
            subject = self._material.subject
            judged = [(side_word(self._comparison, r), v) for r, v in _decisions(case)]
            lines = [
                f"{case.task} · {item_words(case)} · {self._texts.get(case.name, '')}",
                said_words(subject, [*judged, *case.labels.items()]),
            ]
            if case.revealed:
                after = said_words(subject, list(case.revealed.items()))
                lines.append(_("with the decision in view: {said}").format(said=after))
            if case.adjudicated:
                word = label_word(subject, case.adjudicated)
                lines.append(_("adjudicated: {label}").format(label=word))
            self.query_one("#detail", PlainText).load("\n".join(map(one_line, lines)))
        self.refresh_bindings()


def _decisions(case: Case) -> list[tuple[Rater, str]]:
    return [(Rater(role="judge", name=name), value) for name, value in case.decisions.items()]


def _texts(workspace: Workspace, cases: tuple[Case, ...]) -> dict[str, str]:
    """By the case's name, what its gold item says; nothing for what is no part of the gold."""
    tasks: dict[tuple[str, int], Task] = {}
    found: dict[str, str] = {}
    for case in cases:
        version = (case.task, case.revision)
        if version not in tasks:
            tasks[version] = workspace.tasks.revision(*version).task
        if case.item.kind in JUDGED:
            found[case.name] = one_line(gold_item(tasks[version], case.item).text, 200)
    return found
