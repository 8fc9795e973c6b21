"""Write docs/lint.md from the registry of the linter's codes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from cuecard.annotate.lint.codes import RULES, Rule, Severity, Subject, may_silence
from cuecard.core.i18n import N_, _

PAGE = Path(__file__).parent.parent / "docs" / "lint.md"
SUBJECTS: Mapping[Subject, str] = {
    "files": N_("Files and shapes"),
    "structure": N_("Structure"),
    "disclosure": N_("Disclosure"),
    "consistency": N_("Consistency"),
    "sources": N_("Sources"),
    "dates": N_("Dates"),
    "texts": N_("Texts"),
    "silences": N_("Silences"),
}
_HEAD = """# What the linter finds

`cuecard check` and the editor's Problems tab look at a task with these rules. An **error** means that
the task cannot be played or scored as it is meant; a **warning**, that somebody ought to look.
`cuecard check` exits with 1 for errors, with `--strict` for warnings too.

A finding that is meant can be *silenced* with a reason: `d` on the Problems tab, or `silenced:` in the
file, with `code`, `about` and `reason`. The silence belongs to the task. It holds on to what the finding
is about in the task's own words, not to its place, and ends when that is rewritten. `cuecard check
--all` shows what is silenced, and why. What is marked *stays* cannot be silenced.

While a task is being written, the rules look at what is there already, and codes that begin with E say
what is still missing or of another shape.

This page is written from the code by `python scripts/lint_page.py`; a test keeps it so.
"""


def lint_page() -> str:
    """The page, in the language that is set."""
    parts = [_HEAD]
    for subject, label in SUBJECTS.items():
        rules = sorted((r for r in RULES.values() if r.subject == subject), key=lambda r: r.code)
        lines = [_line(rule) for rule in rules]
        parts.append(
            f"## {_(label)}\n\n| code | severity | what | why | how to mend |\n"
            "| --- | --- | --- | --- | --- |\n" + "\n".join(lines) + "\n"
        )
    return "\n".join(parts)


def _line(rule: Rule) -> str:
    kinds: list[str] = []
    for severity in rule.severities:
        held = "" if may_silence(rule.code, severity) else " (*stays*)"
        kinds.append(f"{_word(severity)}{held}")
    cells = (rule.code, ", ".join(kinds), f"{_(rule.asks)}.", _(rule.why), _(rule.mend))
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _word(severity: Severity) -> str:
    return _("error") if severity is Severity.ERROR else _("warning")


if __name__ == "__main__":
    PAGE.write_text(lint_page(), encoding="utf-8")
