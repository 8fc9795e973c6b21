"""The left of the Play screen: the card in hand, and what came before and comes after."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import VerticalScroll

from cuecard.core.i18n import _
from cuecard.core.tasks import CheckpointChain, Persona
from cuecard.core.text import one_line
from cuecard.tui.state.labels import AMBIGUITY
from cuecard.tui.state.play import PlayState, StageState
from cuecard.tui.state.transcript import Piece, Tone
from cuecard.tui.widgets.cue_card import CueCard
from cuecard.tui.widgets.labelled_card import LabelledCard, Section
from cuecard.tui.widgets.pieces import Lines
from cuecard.tui.widgets.plain import PlainText

_MARK: dict[StageState, tuple[str, Tone]] = {
    "done": ("✓", "good"),
    "now": ("▸", "agent"),
    "later": ("·", "muted"),
}


class CardPane(VerticalScroll):
    """`load` the state of play."""

    DEFAULT_CSS = """
    CardPane {
        scrollbar-size-vertical: 1;
        CueCard, LabelledCard { max-height: 9999; overflow: hidden; }
        #steps { padding: 1 1 0 1; text-wrap: nowrap; text-overflow: ellipsis; }
        #persona { padding: 1 1 0 1; color: $foreground 85%; }
    }
    """

    def compose(self) -> ComposeResult:
        yield CueCard()
        yield LabelledCard()
        yield Lines(id="steps")
        yield Lines(id="who")
        yield PlainText(id="persona")

    def on_mount(self) -> None:
        self.query_one("#persona").display = False

    def load(self, state: PlayState) -> None:
        cue_card, card = self.query_one(CueCard), self.query_one(LabelledCard)
        number, stage = state.stage_number, state.stage
        cue_card.display = stage is not None
        if stage and number:
            cue_card.load(stage, number, len(state.task.stages))
            card.load("", ())
        else:
            card.load(*self._card(state))
        self.query_one("#steps", Lines).load(self._steps(state))
        self.query_one("#who", Lines).load(self._who(state.task.persona))
        self.query_one("#persona", PlainText).load(_persona_text(state.task.persona))

    def fold_persona(self) -> None:
        """Show or hide who the person plays."""
        persona = self.query_one("#persona")
        persona.display = not persona.display
        if persona.display:
            persona.scroll_visible(animate=False)

    def _card(self, state: PlayState) -> tuple[str, list[Section]]:
        chain, number = state.chain, state.step_number
        if chain and number is not None:
            return self._step_card(chain, number)
        if chain:
            done = Section(_("DONE"), _("The whole task is answered: ^g ends the dialogue."))
            return "✓", [done]
        if state.task.stages:
            return "✓", [Section(_("DONE"), _("Every stage is said. ^g ends the dialogue."))]
        advice = _("Ask this, and answer what the agent asks back. ^g ends with its answer.")
        return _("No persona"), [
            Section(_("QUERY"), state.task.query, "strong"),
            Section(_("HOW"), advice, "muted"),
        ]

    def _step_card(self, chain: CheckpointChain, number: int) -> tuple[str, list[Section]]:
        step = chain.steps[number]
        sections = [
            Section(_("STEP"), step.question),
            Section(_("TARGET"), " / ".join(step.names), "muted"),
        ]
        if step.ambiguity:
            kind = _(AMBIGUITY[step.ambiguity.type])
            label = _("CLUE, IF ASKED {kind}").format(kind=kind)
            sections.append(Section(label, step.ambiguity.clue, "strong"))
        if chain.forbidden:
            sections.append(Section(_("NEVER SAY"), ", ".join(chain.forbidden), "bad"))
        return f"▸ {number + 1}/{len(chain.steps)}", sections

    def _steps(self, state: PlayState) -> list[list[Piece]]:
        lines: list[list[Piece]] = []
        for number, stage in enumerate(state.task.stages, start=1):
            lines.append(_line(state.stage_state(number), number, stage.title))
        if state.chain:
            now = state.step_number
            for index, step in enumerate(state.chain.steps):
                done = now is None or index < now
                place: StageState = "done" if done else "now" if index == now else "later"
                lines.append(_line(place, index + 1, step.question))
        return lines

    def _who(self, persona: Persona | None) -> list[list[Piece]]:
        if persona is None:
            return []
        name = one_line(persona.name, 40) or _("The persona")
        return [[], [Piece(f" {name} ", "strong"), Piece(_("^r who I am"), "muted")]]


def _line(state: StageState, number: int, title: str) -> list[Piece]:
    mark, tone = _MARK[state]
    return [
        Piece(f"{mark} ", tone),
        Piece(f"{number} {one_line(title, 60)}", "plain" if state == "now" else "muted"),
    ]


def _persona_text(persona: Persona | None) -> str:
    return "\n\n".join(filter(None, (persona.identity, persona.behaviour))) if persona else ""
