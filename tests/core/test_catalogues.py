import subprocess
import sys
from pathlib import Path

import pytest

from cuecard.core import i18n

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def english_again():
    yield
    i18n.set_language("en")


def test_both_catalogues_are_complete_and_compiled():
    script = ROOT / "scripts" / "i18n.py"
    done = subprocess.run(
        [sys.executable, str(script), "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_language_changes_what_is_said():
    i18n.set_language("zh")
    assert i18n._("Home") == "主页"
    assert i18n.current_language() == "zh"
    i18n.set_language("en")
    assert i18n._("Home") == "Home"


@pytest.mark.parametrize(
    ("setting", "language"),
    [("zh", "zh"), ("zh_CN.UTF-8", "zh"), ("zh-TW", "zh"), ("en_GB.UTF-8", "en"), ("fr_FR", "en")],
)
def test_the_language_follows_the_setting(setting, language):
    assert i18n.detect_language(setting) == language
