import errno
import gettext
import io
import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from babel.messages.pofile import read_po

import chinese
import msgfmt
from cuecard.core import i18n
from cuecard.core.errors import CuecardError, FileProblem, system_words

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def english_again():
    yield
    i18n.set_language("en")


def test_the_catalogues_are_complete_and_compiled():
    script = ROOT / "scripts" / "i18n.py"
    done = subprocess.run(
        [sys.executable, str(script), "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_chinese_has_one_word_for_one_thing_and_full_width_marks():
    """docs/glossary.md; `python scripts/chinese.py` mends what a rule can mend."""
    assert list(chinese.problems(chinese.i18n.load("zh"))) == []


def test_what_breaks_the_rules_of_chinese_is_found_and_mended():
    terms = chinese.terms()
    for english, text, right in (
        ("In {n} turns.", "在 {n} 个回合 。 完", "在 {n} 轮。完"),
        ("A coordinator (you) asks: why?", "协调员(你)问:为什么?", "协调人（你）问：为什么？"),
        ("No trial, no cue...", "没有试验,没有线索...", "没有试次，没有触发条件……"),
        ("{a} · {b}", "区间（按任务） · {b}", "区间（按任务） · {b}"),
        ("see f(x), and a.b: c", "参见 f(x) 和 `a.b: c`", "参见 f(x) 和 `a.b: c`"),
    ):
        catalog = chinese.i18n.Catalog()
        catalog.add(english, text)
        assert bool(list(chinese.problems(catalog))) is (text != right), text
        assert chinese.mended(english, text, terms) == right


def test_sentences_are_joined_as_their_script_has_it():
    assert i18n.joined(("Saved.", "", "Go on.")) == "Saved. Go on."
    assert i18n.joined(("已保存。", "继续。")) == "已保存。继续。"
    assert i18n.joined(("改动了", "（已编辑）")) == "改动了（已编辑）"
    assert i18n.joined(()) == ""
    assert i18n.spaced("Done", "(edited)") == " (edited)"


def test_a_text_stands_behind_what_it_is_about_as_the_language_has_it():
    error = CuecardError("No such run", "99", "see runs")
    refused = OSError(errno.ENOENT, os.strerror(errno.ENOENT))
    assert (i18n.headed("Ana", "", "no"), str(error)) == ("Ana: no", "No such run: 99 (see runs)")
    assert system_words(refused) == "No such file or directory"
    i18n.set_language("zh")
    assert (i18n.headed("甲", "", "否"), str(error)) == ("甲：否", "No such run：99（see runs）")
    assert system_words(refused) == "没有这个文件或文件夹"
    problem = FileProblem("a.yaml", "stages[1].line", "缺失")
    assert (str(problem), problem.message) == (
        "a.yaml：stages[1].line：缺失",
        "stages[1].line：缺失",
    )
    assert system_words(OSError("whatever")) == "whatever"


def test_names_are_listed_as_the_language_lists_them():
    assert i18n.listed(()) == ""
    assert i18n.listed(iter("ab")) == "a, b"
    assert (i18n.listed("abc", 3), i18n.listed("abcd", 2)) == ("a, b, c", "a, b and 2 more")
    assert (i18n.beside("a", "b"), i18n.beside("a", "")) == ("a (b)", "a")
    i18n.set_language("zh")
    assert (i18n.listed("甲乙丙", 2), i18n.beside("甲", "乙")) == ("甲、乙 及另外 1 个", "甲（乙）")


def test_what_is_shown_is_joined_by_the_marks_of_the_language(tmp_path: Path):
    assert list(chinese.english_joins(chinese.i18n.SOURCE)) == []
    shown = (
        '_("no {names}").format(names=", ".join(names))',
        'raise CuecardError(_("no"), "; ".join(names))',
        'said = ", ".join(names)\n    told = plural("{n}: {s}", "{n}: {s}", 2, s=f"({said})")',
        'text = _("no {names}")\n    return text.format(names=one_line(", ".join(names)))',
        'return Column(N_("Tags"), lambda row: ", ".join(row.tags))',
    )
    data = (
        'return ", ".join(names)',
        '_("no {names}").format(names=_(", ").join(names))',
        'rights = ", ".join(names)\n    return f"GRANT {rights}"',
        'return _WORDS[language].format(indices=", ".join(names))',
    )
    for text in (*shown, *data):
        (tmp_path / "a.py").write_text(f"def f(names):\n    {text}\n")
        assert bool(list(chinese.english_joins(tmp_path))) is (text in shown), text


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
    from cuecard.tui.actions import registry
    from cuecard.tui.present.runs import STATE_LOOK, TrialState
    from cuecard.tui.screens.play import dialogs, screen  # noqa: F401 - keys are declared on import

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
    for name in ("i18n.py", "msgfmt.py"):
        shutil.copy(ROOT / "scripts" / name, scripts)
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
    assert run("--check") == (1, "zh: the compiled catalogue is stale; run `make i18n`\n")
    assert run()[1] == "zh: 3 messages\n"
    assert run("--check") == (0, "")
    with chinese.with_suffix(".mo").open("rb") as file:
        found = gettext.GNUTranslations(file)
    assert found.gettext("Note") == "备注"
    assert found.pgettext("to write one", "Note") == "记录"
    assert found.pgettext("a sheet", "Note") == "便笺"
    source.write_text('_("Note")\npgettext("to write one", "Note")\n')
    assert run("--check") == (1, "zh: the catalogue is stale; run `make i18n`\n")
    source.write_text('ngettext("{n} note of {name}", "{n} notes", n)\n')
    assert "code: 1 untranslated or with other placeholders" in run("--check")[1]


def test_english_is_what_the_code_says():
    i18n.set_language("en")
    assert not (i18n.LOCALE_DIR / "en").exists()
    for n, text in ((0, "{n} notes"), (1, "{n} note"), (2, "{n} notes")):
        assert i18n.ngettext("{n} note", "{n} notes", n) == text
        assert i18n.npgettext("of a person", "{n} note", "{n} notes", n) == text
    assert i18n.pgettext("to write one", "Note") == "Note"


def test_compiled_catalogues_say_what_their_sources_say():
    """Another reader of the sources finds every translation that gettext finds in what was compiled."""
    sources = [*i18n.LOCALE_DIR.glob("*/LC_MESSAGES/*.po")]
    assert {path.parts[-3] for path in sources} == {*i18n.LANGUAGES} - {"en"}
    for path in sources:
        with path.open("rb") as file, path.with_suffix(".mo").open("rb") as made:
            wanted, found = read_po(file), gettext.GNUTranslations(made)
        for message in wanted:
            if isinstance(message.id, tuple):
                forms = (
                    [found.npgettext(message.context, *message.id, n) for n in (1, 2)]
                    if message.context
                    else [found.ngettext(*message.id, n) for n in (1, 2)]
                )
                assert forms == [message.string[0], message.string[-1]]
            elif message.context:
                assert found.pgettext(message.context, message.id) == message.string
            elif message.id:
                assert found.gettext(message.id) == message.string
        assert len(msgfmt.read(path.read_text())) == len(wanted) + 1


PO = r"""
msgid ""
msgstr ""
"Content-Type: text/plain; charset=utf-8\n"

#, fuzzy
msgid "guessed"
msgstr "geraten"

#, python-brace-format
msgid "a \"quoted\" "
"text\n"
msgstr "ein \"Zitat\"\n"

msgctxt "of a run"
msgid "one"
msgid_plural "many"
msgstr[0] "einer"
msgstr[1] "viele"
msgid "untranslated"
msgstr ""

#~ msgid "obsolete"
#~ msgstr "veraltet"
"""


def test_a_catalogue_is_compiled_without_what_nobody_has_approved():
    found = gettext.GNUTranslations(io.BytesIO(msgfmt.compiled(PO)))
    assert found.gettext('a "quoted" text\n') == 'ein "Zitat"\n'
    assert [found.npgettext("of a run", "one", "many", n) for n in (1, 2)] == ["einer", "viele"]
    for text in ("guessed", "untranslated", "obsolete", "one"):
        assert found.gettext(text) == text
    assert len(msgfmt.read(PO)) == 3


@pytest.mark.parametrize("line", ['msgtext "a"', '"a"', 'msgid "a', "msgid a", 'msgid "a\\"'])
def test_a_line_that_is_no_catalogues_is_named(line: str):
    with pytest.raises(ValueError, match="line 2 "):
        msgfmt.read(f"# a comment\n{line}\n")


def test_only_what_changed_is_compiled_anew(tmp_path: Path):
    folder = tmp_path / "de" / "LC_MESSAGES"
    folder.mkdir(parents=True)
    source, made = folder / "a.po", folder / "a.mo"
    source.write_text(PO)
    assert msgfmt.refresh(tmp_path) == [made]
    first = made.stat().st_ino
    msgfmt.refresh(tmp_path)
    assert made.stat().st_ino == first
    source.write_text(PO.replace("viele", "mehrere"))
    msgfmt.refresh(tmp_path)
    assert b"mehrere" in made.read_bytes()
    assert sorted(folder.iterdir()) == [made, source]


@pytest.mark.parametrize(
    ("setting", "language"),
    [("zh", "zh"), ("zh_CN.UTF-8", "zh"), ("zh-TW", "zh"), ("en_GB.UTF-8", "en"), ("fr_FR", "en")],
)
def test_the_language_follows_the_setting(setting, language):
    assert i18n.detect_language(setting) == language
