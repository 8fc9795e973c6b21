"""One question of the form after a session, answered by digits and arrows."""

from __future__ import annotations

from rich.text import Text
from textual.geometry import Size
from textual.message import Message
from textual.widget import Widget

from cuecard.annotate.session_form import shown
from cuecard.core.config_play import FormQuestion
from cuecard.core.i18n import N_, NP_
from cuecard.core.text import one_line
from cuecard.tui.actions import Key, keys
from cuecard.tui.glyphs import ink
from cuecard.tui.state.session_form import FormState
from cuecard.tui.state.wrapping import wrap

_DIGITS = "1234567890"


class Question(Widget, can_focus=True):
    """One scale or choice. Posts `Answered` when an answer is given and it is time for the next."""

    DEFAULT_CSS = """
    Question { height: auto; width: 1fr; }
    """
    BINDINGS = keys(
        *(
            Key(f"form.digit_{digit}", digit, f"digit({digit})", NP_("verb", "Answer"), N_("Give this answer"), show=False)
            for digit in _DIGITS
        ),
        Key("form.less", "left", "step(-1)", N_("Less"), N_("The answer before"), show=False),
        Key("form.more", "right", "step(1)", N_("More"), N_("The next answer"), show=False),
        Key("form.up", "up", "screen.focus_previous", N_("Up"), N_("The question before"), show=False),
        Key("form.down", "down,enter", "screen.focus_next", N_("Down"), N_("The next question"), show=False),
    )  # fmt: skip

    class Changed(Message):
        """An answer was given; `done`: with a key that also moves on."""

        def __init__(self, done: bool) -> None:
            super().__init__()
            self.done = done

    def __init__(self, question: FormQuestion, state: FormState) -> None:
        super().__init__()
        self._question, self._state = question, state

    @property
    def key(self) -> str:
        return self._question.key

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._lines(width))

    def render(self) -> Text:
        return Text("\n", no_wrap=True, overflow="ellipsis").join(
            self._lines(self.content_size.width)
        )

    def on_focus(self) -> None:
        self.refresh(layout=True)

    def on_blur(self) -> None:
        self.refresh(layout=True)

    def action_digit(self, digit: int) -> None:
        if self._state.press(self._question, digit):
            self._answered(done=True)

    def action_step(self, by: int) -> None:
        self._state.step(self._question, by)
        self._answered(done=False)

    def _answered(self, *, done: bool) -> None:
        self.refresh(layout=True)
        self.post_message(self.Changed(done))

    def _lines(self, width: int) -> list[Text]:
        question, state = self._question, self._state
        colours = self.app.theme_variables
        here = self.has_focus
        answer = state.answers.get(question.key)
        label = one_line(shown(question.label))
        wanted = question.required and answer is None
        head = Text.assemble(
            ("▸ " if here else "  ", "bold"),
            ("· " if wanted else "  " if answer is None else "✓ ", ink(colours, "muted")),
            (label, "bold" if here else ""),
        )
        parts = self._answers(answer)
        scale = Text().join(parts)
        if head.cell_len + scale.cell_len + 2 <= width:
            head.append(" " * (width - head.cell_len - scale.cell_len)).append(scale)
            lines = [head]
        elif scale.cell_len + 4 <= width:
            lines = [*_wrapped(head, label, width), Text(" " * 4).append(scale)]
        else:
            beneath = [Text(" " * 4).append(part) for part in parts]
            lines = [*_wrapped(head, label, width), *beneath]
        if here and (told := self._ends()):
            muted = ink(colours, "muted")
            lines += [Text(" " * 4 + part, muted) for part in wrap(told, max(10, width - 4))]
        return lines

    def _answers(self, answer: int | str | None) -> list[Text]:
        """Every answer there is; the one that is given stands in brackets."""
        found: list[Text] = []
        for number, value in enumerate(self._state.values(self._question), start=1):
            told = str(value) if isinstance(value, int) else f"{number} {one_line(value)}"
            given = value == answer
            found.append(Text(f"[{told}]", "bold reverse") if given else Text(f" {told} "))
        return found

    def _ends(self) -> str:
        question = self._question
        if question.kind != "scale":
            return ""
        ends = ((question.lowest, question.low), (question.highest, question.high))
        return " · ".join(f"{number} {one_line(shown(end))}" for number, end in ends if end)


def _wrapped(head: Text, label: str, width: int) -> list[Text]:
    """A label that has no room beside its scale, with its mark before the first line."""
    mark, style = head[:4], "bold" if head.plain.startswith("▸") else ""
    lines = wrap(label, max(10, width - 4))
    texts = [Text(" " * 4).append(part, style) for part in lines]
    texts[0] = Text.assemble(mark, (lines[0], style)) if lines else head
    return texts
