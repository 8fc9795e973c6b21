"""The tour of the example study: a panel below each screen that says what is seen there and what to press next. It goes on
when that was done, and can be left and taken up again at any time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from textual.events import Click
from textual.screen import ModalScreen
from textual.widgets import Static

from cuecard.core.i18n import N_, _
from cuecard.tui.present.keyboard import with_keys

if TYPE_CHECKING:
    from textual.app import App

    from cuecard.tui.preferences import Preferences


class Step(NamedTuple):
    """`here`: the class of the screen that it is about, and `pane` the part of it that is shown, if that matters. `sees`:
    what is there; `press`: what leads to the next step, where `<go.tasks>` stands for the key of that action.
    """

    here: str
    sees: str
    press: str
    pane: str = ""


STEPS: tuple[Step, ...] = (
    Step(
        "HomeScreen",
        N_("Home says what waits for you. All of this is made up: twenty tasks, three weak agents, a judge with planted mistakes."),
        N_("<go.tasks> opens the tasks."),
    ),
    Step(
        "TasksScreen",
        N_("Tasks of four families, in English and Chinese. The state says where each stands: draft, in review, returned, approved."),
        N_("Enter opens the one under the cursor."),
    ),
    Step(
        "TaskScreen",
        N_("A task: what the user says and when, and the gold answer. What you change is kept as a draft at once."),
        N_("Esc goes back, then <go.runs> opens the runs."),
    ),
    Step(
        "RunsScreen",
        N_("Two runs of three agents with two simulators, and two sessions in which a person played the user."),
        N_("Enter opens the run under the cursor."),
    ),
    Step(
        "RunScreen",
        N_("Its scores, with 95% intervals. The wordy agent finds most, the forgetful one less, the hasty one least."),
        N_("<run.trials> shows the trials behind them."),
        "#scores",
    ),
    Step(
        "RunScreen",
        N_("One line a trial: which agent, how it ended, what it scored."),
        N_("Enter opens the one under the cursor."),
        "#trials",
    ),
    Step(
        "TrialScreen",
        N_("All that was said and searched, what was handed in, and the verdict on each gold item with its reason."),
        N_("Esc goes back, then <run.compare> compares the agents."),
    ),
    Step(
        "CompareScreen",
        N_("Differences on the same tasks, with their intervals: one that spans zero may be chance."),
        N_("Esc goes back, then <go.verdicts> opens the verdicts."),
    ),
    Step(
        "VerdictsScreen",
        N_("How far can the judge be trusted? People label its verdicts without seeing them."),
        N_("Enter begins to label."),
    ),
    Step(
        "LabelScreen",
        N_("Does what the agent handed in cover this gold item? <label.yes>, <label.no> or <label.unsure> says so."),
        N_("Esc goes back, then <verdicts.agreement> shows the agreement."),
    ),
    Step(
        "AgreementScreen",
        N_("Kappa of the judge and of people, with intervals. This judge decides one item in twelve the wrong way."),
        N_("Esc goes back, then <go.review> opens the review."),
    ),
    Step(
        "ReviewQueueScreen",
        N_("Each task is checked by two people who do not see each other's review."),
        N_("Enter takes the one under the cursor."),
    ),
    Step(
        "ReviewTaskScreen",
        N_("Rate it, mark its gold, comment on a place, then approve or return it. That was the whole way."),
        N_("Leave with {QUIT} and begin your own: your workspace is as it was."),
    ),
)  # fmt: skip


class Tour:
    """Where the person is on the tour. `on`: whether the panel is shown."""

    def __init__(
        self, app: App[Any], preferences: Preferences, tell: Callable[[str], None]
    ) -> None:
        """`tell` shows a short notification."""
        self._app, self._preferences, self._tell = app, preferences, tell
        self.on = False
        self._reached = 0  # the last step that was seen where it is about

    @property
    def at(self) -> int:
        """The step, which is remembered from one start of the app to the next."""
        return min(self._preferences.tour, len(STEPS) - 1)

    def begin(self) -> None:
        """Go on where it was left; after the last step, from the beginning."""
        if self.last:
            self._go(0)
        self.on = True
        self.show()

    @property
    def last(self) -> bool:
        return self.at == len(STEPS) - 1

    def leave(self) -> None:
        ended, self.on = self.last, False
        self.show()
        self._tell(
            with_keys(_("That was the tour; Commands ({PALETTE}) begins it again."))
            if ended
            else with_keys(_("The tour goes on from Commands ({PALETTE})."))
        )

    def next(self) -> None:
        if self.last:
            self.leave()
        else:
            self._go(self.at + 1)
            self.show()

    def look(self) -> None:
        """Whether the person did what the step says."""
        if self.on and self.at + 1 < len(STEPS) and self._is_here(STEPS[self.at + 1]):
            self.next()

    def show(self) -> None:
        """Put the panel below the screen, or take it away."""
        screen = self._app.screen
        if isinstance(screen, ModalScreen) or not screen.is_running:
            return
        panel = next(iter(screen.query(TourPanel)), None)
        if panel is None and self.on:
            panel = TourPanel(self)
            screen.mount(panel)
        if panel is not None:
            panel.display = self.on
            panel.tell()
        screen.refresh_bindings()

    def words(self) -> tuple[str, str, str]:
        """Where one is, what is to be seen, and what to press."""
        at, step = self.at, STEPS[self.at]
        if self._is_here(step):
            self._reached = at
        # Who only goes on in the tour is told how to get there.
        leads = step if self._reached == at or not at else STEPS[at - 1]
        place = _("Tour {n}/{all}").format(n=at + 1, all=len(STEPS))
        return place, self._told(step.sees), self._told(leads.press)

    def _told(self, text: str) -> str:
        return with_keys(_(text))

    def _is_here(self, step: Step) -> bool:
        screen = self._app.screen
        names = {kind.__name__ for kind in type(screen).__mro__}
        # While a screen is made, all of its parts count as shown.
        panes = {other.pane for other in STEPS if other.here == step.here and other.pane}
        shown = {pane for pane in panes if any(found.display for found in screen.query(pane))}
        return step.here in names and (not step.pane or shown == {step.pane})

    def _go(self, step: int) -> None:
        self._preferences.tour = step
        self._preferences.save()


class TourPanel(Static):
    """Two or three lines below a screen, which shrinks by as much. It takes no keys; a click goes on."""

    DEFAULT_CSS = """
    TourPanel {
        dock: bottom; margin-bottom: 1; height: auto; max-height: 6; padding: 0 1;
        background: $panel; border-top: solid $primary; border-title-color: $primary;
    }
    """
    LOOKS = 0.2
    """Seconds between two looks at whether the person went on."""

    def __init__(self, tour: Tour) -> None:
        super().__init__("", markup=False)
        self._tour = tour

    def on_mount(self) -> None:
        self.set_interval(self.LOOKS, self._look)

    def tell(self) -> None:
        place, sees, press = self._tour.words()
        keys = (
            [_("{TOUR} ends it")]
            if self._tour.last
            else [_("{TOUR} goes on"), _("{TOUR_LEAVE} leaves the tour")]
        )
        self.border_title = " · ".join([place, *map(with_keys, keys)])
        if (told := f"{sees}\n▸ {press}") != self.content:
            self.update(told)

    def _look(self) -> None:
        if self.screen.is_current:
            self._tour.look()
            self.tell()

    def on_click(self, event: Click) -> None:
        event.stop()
        self._tour.next()
