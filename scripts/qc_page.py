"""Write docs/qc.md from the stages and the decision table of quality control."""

from __future__ import annotations

from pathlib import Path

from cuecard.annotate.quality.decision_table import (
    GRAVITY,
    RULES,
    SIGN_LABEL,
    SIGNAL_LABEL,
    SIGNALS,
    STAGE,
    STAGES,
    VERDICT_LABEL,
    signs_of,
)
from cuecard.core.i18n import _

PAGE = Path(__file__).parent.parent / "docs" / "qc.md"
_HEAD = """# Quality control

Besides people, eight stages look at a task before it enters a benchmark. `cuecard qc TASK` runs what is
missing and shows all of them; `--stage NAME` picks some, `--known` only shows what is known, `--json` is
for programs. In the app, `q` on a task (in the list, the editor and the review) opens the same: `p` runs a
stage, `. a` all of them, Enter opens the trial behind a line, `l` labels a response, `u` gives the verdict.
The exit code is 1 if a stage that was asked for is flagged.

What a stage plays is a run like any other: recorded, resumable, with its cost, and not played a second
time for the same revision. Before models are called the app asks, and the command line wants `--yes` or a
`--budget`. Models, attempts and bars stand under `qc` in `cuecard.yaml`. What embedded players do, or
what is found in an embedded world, is shown as a baseline and never counts.
"""

_PAGE_STAGES = """## Stages

| # | stage | what it asks |
| --- | --- | --- |
"""

_SIGNALS = """## Signals

Each stage says what it found in one or two of these signals. *{some}* means fewer than half of a model's
attempts, *{most}* at least half; of several models the one counts that is right most often. *{open}*:
nobody has looked, or only baselines have.

| signal | what it can be |
| --- | --- |
"""

_TABLE = """## The decision table

Every rule that applies is a reason; the gravest outcome of them is proposed. A person confirms it or
decides otherwise, with a reason, and that is recorded beside the signals. Nothing is removed by a machine:
archiving a task is a step of its own.

| rule | proposes | when | because |
| --- | --- | --- | --- |
"""

_FOOT = """
This page is written from the code by `python scripts/qc_page.py`; a test keeps it so.
"""


def qc_page() -> str:
    """The documentation of quality control, in the current language."""
    stages = [
        f"| {STAGE[name].number} | `{name}` {_(STAGE[name].label)} | {_(STAGE[name].asks)} |"
        for name in STAGES
    ]
    signals = [
        f"| {_(SIGNAL_LABEL[name])} | {', '.join(_(SIGN_LABEL[sign]) for sign in signs_of(name))} |"
        for name in SIGNALS
    ]
    rules = [
        f"| `{rule.key}` | {_(VERDICT_LABEL[rule.outcome])} | {rule.condition} | {_(rule.says)} |"
        for rule in sorted(RULES, key=lambda rule: -GRAVITY.index(rule.outcome))
    ]
    words = {key: _(SIGN_LABEL[key]) for key in ("some", "most", "open")}
    parts = (
        _HEAD,
        _PAGE_STAGES + "\n".join(stages) + "\n",
        _SIGNALS.format(**words) + "\n".join(signals) + "\n",
        _TABLE + "\n".join(rules) + "\n",
    )
    return "\n".join(parts) + _FOOT


if __name__ == "__main__":
    PAGE.write_text(qc_page(), encoding="utf-8")
