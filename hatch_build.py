"""What the build makes before it packs the wheel, an editable one included: the compiled catalogues of translations."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompiledCatalogues(BuildHookInterface):
    """Compiles `locale/*/LC_MESSAGES/*.po` in place and packs the results, which git ignores."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        root = Path(self.root)
        msgfmt = runpy.run_path(str(root / "scripts" / "msgfmt.py"))
        for path in msgfmt["refresh"](root / "src" / "cuecard" / "locale"):
            build_data["artifacts"].append(f"/{path.relative_to(root).as_posix()}")
