from __future__ import annotations

from pathlib import Path

import pytest

from cuecard.annotate.authoring.session import guidelines
from cuecard.core.config import EMBEDDED
from cuecard.core.errors import CuecardError
from cuecard.core.i18n import LANGUAGES
from cuecard.core.tasks.gold import FAMILIES
from cuecard.core.text import is_cjk


@pytest.mark.parametrize("family", FAMILIES)
def test_both_languages_say_the_same_number_of_things(family) -> None:
    english, chinese = (guidelines(family, language) for language in LANGUAGES)
    for mark in ("\n## ", "\n- ", "**"):
        assert english.count(mark) == chinese.count(mark), mark
    assert not is_cjk(english)
    assert is_cjk(chinese)
    assert english.startswith("# ")


def test_a_teams_file_stands_in_their_place(tmp_path: Path) -> None:
    file = tmp_path / "ours.md"
    config = EMBEDDED.model_copy(update={"guidelines": str(file)})
    with pytest.raises(CuecardError, match=r"ours\.md"):
        guidelines("graph", "en", config)
    file.write_bytes(b"\xff")
    with pytest.raises(CuecardError, match="UTF-8"):
        guidelines("graph", "en", config)
    file.write_text("# Ours\x1b[31m")
    assert guidelines("facts", "zh", config) == "# Ours"
