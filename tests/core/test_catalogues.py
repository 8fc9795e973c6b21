import gettext
import pickle
import shutil
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


def test_a_context_tells_two_meanings_of_one_text_apart():
    assert (str(i18n.NP_("state of a run", "begun")), i18n._(i18n.NP_("x", "begun"))) == (
        "begun",
    ) * 2
    i18n.set_language("zh")
    state = i18n.pgettext("state of a run", "begun")
    when = i18n.pgettext("when", "begun")
    assert state != when
    assert i18n._(i18n.NP_("state of a run", "begun")) == state
    assert i18n._("") == i18n._(i18n.NP_("x", "")) == ""
    # Marked texts survive what labels go through.
    assert pickle.loads(pickle.dumps(i18n.NP_("when", "begun"))).context == "when"


def test_labels_that_are_marked_early_keep_their_meaning():
    """The state of a trial was shown in Chinese as the time at which it began, `Right` as an arrow as an answer."""
    import cuecard.tui.screens.play.bindings
    import cuecard.tui.screens.play.dialogs
    import cuecard.tui.widgets.grid  # noqa: F401 - declare keys
    from cuecard.tui.actions import registry
    from cuecard.tui.state.runs import STATE_LOOK, TrialState

    i18n.set_language("zh")
    assert i18n._(STATE_LOOK[TrialState.BEGUN][2]) == "已开始"
    told = {key: i18n._(registry()[key].label) for key in ("reading.right", "grid.right")}
    assert told == {"reading.right": "答对", "grid.right": "右"}
    told = {key: i18n._(registry()[key].label) for key in ("play.end", "grid.end", "play.note")}
    assert told == {"play.end": "结束", "grid.end": "末尾", "play.note": "记录"}


def test_the_script_keeps_contexts_through_extracting_merging_and_compiling(tmp_path: Path):
    """In a folder of its own: two meanings are two messages, neither takes the other's translation."""
    scripts, package = tmp_path / "scripts", tmp_path / "src" / "cuecard"
    scripts.mkdir()
    package.mkdir(parents=True)
    shutil.copy(ROOT / "scripts" / "i18n.py", scripts)
    source = package / "a.py"

    def run(*options: str) -> tuple[int, str]:
        command = [sys.executable, str(scripts / "i18n.py"), *options]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    source.write_text('_("Note")\n')
    run()
    chinese = package / "locale" / "zh" / "LC_MESSAGES" / "cuecard.po"
    chinese.write_text(chinese.read_text().replace('"Note"\nmsgstr ""', '"Note"\nmsgstr "备注"'))
    source.write_text('_("Note")\npgettext("to write one", "Note")\nNP_("a sheet", "Note")\n')
    assert "'Note' (to write one)" in run()[1]
    text = chinese.read_text()
    assert (text.count("msgctxt"), text.count('msgstr "备注"')) == (2, 1)
    text = text.replace(
        'msgctxt "to write one"\nmsgid "Note"\nmsgstr ""',
        'msgctxt "to write one"\nmsgid "Note"\nmsgstr "记录"',
    )
    chinese.write_text(
        text.replace(
            'msgctxt "a sheet"\nmsgid "Note"\nmsgstr ""',
            'msgctxt "a sheet"\nmsgid "Note"\nmsgstr "便笺"',
        )
    )
    assert run()[1] == "en: 3 messages\nzh: 3 messages\n"
    assert run("--check") == (0, "")
    with chinese.with_suffix(".mo").open("rb") as file:
        found = gettext.GNUTranslations(file)
    assert found.gettext("Note") == "备注"
    assert found.pgettext("to write one", "Note") == "记录"
    assert found.pgettext("a sheet", "Note") == "便笺"
    source.write_text('_("Note")\npgettext("to write one", "Note")\n')
    assert run("--check")[0] == 1


@pytest.mark.parametrize(
    ("setting", "language"),
    [("zh", "zh"), ("zh_CN.UTF-8", "zh"), ("zh-TW", "zh"), ("en_GB.UTF-8", "en"), ("fr_FR", "en")],
)
def test_the_language_follows_the_setting(setting, language):
    assert i18n.detect_language(setting) == language
