"""Hold the Chinese catalogue to docs/glossary.md: one word for one thing, full-width marks, no blanks beside them; and the
code to join what it shows by the marks of the language.

Mends what a rule can mend, and writes the catalogue (then run `make i18n`). `--check` writes nothing and fails where something is left.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from babel.messages.pofile import write_po

import i18n

GLOSSARY = i18n.ROOT / "docs" / "glossary.md"
HAN = "㐀-鿿"
MARKS = "，。；：？！（）“”《》、"
_WIDE = {",": "，", ";": "；", "?": "？", "!": "！", ":": "："}


@dataclass(frozen=True)
class Term:
    """A row of the glossary. `words`: the Chinese ones, the first of them the usual one."""

    english: str
    words: tuple[str, ...]
    never: tuple[str, ...]

    def stands_in(self, text: str) -> bool:
        return re.search(rf"\b{self.english}s?\b", text, re.IGNORECASE) is not None

    def is_all_of(self, text: str) -> bool:
        return re.fullmatch(rf"{self.english}s?", text, re.IGNORECASE) is not None


def terms() -> list[Term]:
    rows = (
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in GLOSSARY.read_text(encoding="utf-8").splitlines()
        if line.startswith("|")
    )
    return [
        Term(
            english, (word, *filter(None, also.split("、"))), tuple(filter(None, never.split("、")))
        )
        for english, word, also, never in list(rows)[2:]
    ]


_MENDED = (
    # Blanks beside full-width marks, unless a separator or the start of a line follows.
    (rf"(?<=[{MARKS}])[ \t]+(?![·\s]|$)", ""),
    (rf"(?<![·\s])[ \t]+(?=[{MARKS}])", ""),
    # Brackets around Chinese, or behind it.
    (rf"(?<=[{HAN}}}”])[ ]*\(([^()]*)\)[ ]*", r"（\1）"),
    (rf"\(([^()]*[{HAN}][^()]*)\)", r"（\1）"),
    (rf"(?<=[{HAN}）”])([,;?!])[ ]*", lambda found: _WIDE[found[1]]),
    (rf"(?<=[{HAN}）”]):[ ]*(?=[{HAN}{{“]|$)", "："),
    (rf"(?<=[{HAN}）”])\.\.\.", "……"),
    (rf"(?<=[{HAN}）”])\.(?=\s|$)", "。"),
    (rf'"([^"]*[{HAN}][^"]*)"', r"“\1”"),
)
_COUNTED = (
    # A word takes its measure word with it.
    ("个用户回合", "轮用户发言"), ("个智能体回合", "轮智能体发言"), ("逐个回合", "逐轮"),
    ("某个回合", "某一轮"), ("每个回合", "每一轮"), ("上一个回合", "上一轮"), ("下一个回合", "下一轮"),
    ("上一回合", "上一轮"), ("下一回合", "下一轮"), ("这一回合", "这一轮"), ("此回合", "这一轮"), ("该回合", "该轮"),
    ("本回合", "本轮"), ("每回合", "每轮"), ("个回合", "轮"), ("回合数", "轮数"), ("回合", "轮次"), ("轮数数", "轮数"),
    ("试验不足 {n} 次", "试次不足 {n} 个"), ("试验不足两次", "试次不足两个"), ("各次试验", "各试次"),
    ("每次试验", "每个试次"), ("次试验", "个试次"), ("试验", "试次"), ("次试次", "个试次"),
    ("协调员", "协调人"), ("协调者", "协调人"), ("参与者", "参与方"), ("裁决", "裁定"), ("线索", "触发条件"),
)  # fmt: skip


def mended(english: str, text: str, glossary: list[Term]) -> str:
    """The translation `text` of `english` as the rules have it."""
    if not re.search(f"[{HAN}]", text):
        return text
    never = {word for term in glossary if term.stands_in(english) for word in term.never}
    for wrong, right in _COUNTED:
        if any(word in wrong for word in never) or wrong == "次试次":
            text = text.replace(wrong, right)
    for pattern, right in _MENDED:
        text = re.sub(pattern, right, text)
    return text


def problems(catalog: i18n.Catalog) -> Iterator[str]:
    """What breaks a rule or the glossary, each as a line with the English text."""
    glossary = terms()
    for message in catalog:
        originals, texts = i18n.forms(message.id), i18n.forms(message.string)
        english = originals[-1]
        for text in texts if english else ():
            if mended(english, text, []) != text:
                yield f"{english!r}: marks or blanks in {text!r}"
            for term in glossary:
                if not term.stands_in(english):
                    continue
                for word in term.never:
                    if word in text and not message.context:
                        yield f"{english!r}: {term.english} is not {word}: {text!r}"
                if term.is_all_of(english) and not message.context and text not in term.words:
                    yield f"{english!r}: {' or '.join(term.words)}, not {text!r}"


_SHOWN = {"plural", "beside", "CuecardError", "Paragraph", "Piece", "Section", "Text", "Column"}
"""What is given to these is shown to people, as what fills in a translated text is."""


def english_joins(source: Path) -> Iterator[str]:
    """Where what is shown is joined by `", "` or `"; "`, for which there are `listed` and `_(", ")`: in the call that shows it,
    or in a name that the same function gives to such a call. What goes another way is not found.
    """
    for path in sorted(source.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if ".join" not in text:
            continue
        tree, found = ast.parse(text), set[int]()
        joined = _joins(tree)
        for scope in ast.walk(tree) if joined else ():
            if isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                lines = range(scope.lineno, (scope.end_lineno or scope.lineno) + 1)
                if any(line in lines for line in joined):
                    found |= _joins_shown(scope)
        yield from (
            f"{path.relative_to(source)}:{line}: joined by English marks" for line in sorted(found)
        )


def _joins_shown(scope: ast.AST) -> set[int]:
    joins, translated = dict[str, set[int]](), set[str]()
    for node in ast.walk(scope):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            joins.setdefault(name, set()).update(_joins(node.value))
            translated |= {name} if _is_translated(node.value) else set()
    found = set[int]()
    for node in ast.walk(scope):
        if isinstance(node, ast.Call) and _shows(node.func, translated):
            for part in (*node.args, *node.keywords):
                names = {each.id for each in ast.walk(part) if isinstance(each, ast.Name)}
                found |= _joins(part).union(*(joins.get(name, ()) for name in names))
    return found


def _shows(called: ast.expr, translated: set[str]) -> bool:
    if isinstance(called, ast.Attribute) and called.attr == "format":
        text = called.value
        return _is_translated(text) or (isinstance(text, ast.Name) and text.id in translated)
    return _name(called) in _SHOWN


def _joins(value: ast.AST) -> set[int]:
    return {
        node.lineno
        for node in ast.walk(value)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "join"
        and isinstance(node.func.value, ast.Constant)
        and node.func.value.value in (", ", "; ")
    }


def _is_translated(value: ast.AST) -> bool:
    calls = (node.func for node in ast.walk(value) if isinstance(node, ast.Call))
    return any(_name(called) in i18n.KEYWORDS for called in calls)


def _name(called: ast.expr) -> str:
    return getattr(called, "id", "") or getattr(called, "attr", "")


def main() -> int:
    catalog = i18n.load("zh")
    if "--check" not in sys.argv:
        glossary = terms()
        for message in catalog:
            english = i18n.forms(message.id)[-1]
            texts = tuple(mended(english, text, glossary) for text in i18n.forms(message.string))
            if english and texts != i18n.forms(message.string):
                print(f"{english[:60]!r}: {texts[0]!r}")
                message.string = texts if isinstance(message.id, tuple) else texts[0]
        with i18n.po_path("zh").open("wb") as file:
            write_po(file, catalog, width=100, no_location=True, omit_header=False)
    left = [*problems(catalog), *english_joins(i18n.SOURCE)]
    print("\n".join(left) or "zh: as docs/glossary.md has it")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
