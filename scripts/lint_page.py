"""Write docs/lint.md from the registry of the linter's codes."""

from __future__ import annotations

from pathlib import Path

from cuecard.annotate.lint.codes import lint_page

PAGE = Path(__file__).parent.parent / "docs" / "lint.md"

if __name__ == "__main__":
    PAGE.write_text(lint_page(), encoding="utf-8")
