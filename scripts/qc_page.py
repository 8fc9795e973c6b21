"""Write docs/qc.md from the stages and the decision table of quality control."""

from __future__ import annotations

from pathlib import Path

from cuecard.annotate.quality.decision_table import qc_page

PAGE = Path(__file__).parent.parent / "docs" / "qc.md"

if __name__ == "__main__":
    PAGE.write_text(qc_page(), encoding="utf-8")
