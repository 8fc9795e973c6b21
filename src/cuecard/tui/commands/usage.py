"""What the library of the command line says in help and of wrong usage, in the language that is set."""

from __future__ import annotations

import re
from itertools import pairwise

from cuecard.core.i18n import N_, _, current_language
from cuecard.tui.commands.output import console

_CHECKED = {
    r"Value error, '(?P<value>.*)' is not one of (?P<names>.+)\.": N_("{value} is none of {names}."),
    r"Input should be a valid (integer|number).*": N_("a number is needed"),
    r"Input should be greater than or equal to (?P<least>\S+)": N_("at least {least}"),
    r"Input should be less than or equal to (?P<most>\S+)": N_("at most {most}"),
}  # fmt: skip
"""What pydantic says of a value, and what stands for it."""
_TYPER = {
    r"Usage: ": N_("Usage: "),
    r"\[OPTIONS\]": N_("[OPTIONS]"),
    r"COMMAND \[ARGS\]\.\.\.": N_("COMMAND [ARGS]..."),
    r"^Arguments:": N_("Arguments:"),
    r"^Options:": N_("Options:"),
    r"^Commands:": N_("Commands:"),
    r"Install completion for the current shell\.": N_("Install completion for this shell"),
    r"Show completion for the current shell, to copy it or\s+customize the installation\.": N_("Show completion for this shell"),
    r"Show this message and exit\.": N_("Show this help"),
    r"\[default:\s+(?P<value>[^\]]*)\]": N_("[default: {value}]"),
    r"\[required\]": N_("[required]"),
    r"Try '(?P<command>.+)' for help\.": N_("`{command}` shows help."),
    r"^Error: ": N_("Error: "),
    r"No such command '(?P<name>.*?)'\.": N_("There is no command {name}."),
    r"No such option: (?P<name>\S+)": N_("There is no option {name}"),
    r"\s*Did you mean (?P<names>.+)\?": N_("Did you mean {names}?"),
    r"\s*\(Possible options: (?P<names>.+)\)": N_("(possible are: {names})"),
    r"Missing argument '(?P<name>.+?)'\.": N_("The argument {name} is missing."),
    r"Missing option (?P<name>'.+')\.": N_("The option {name} is missing."),
    r"Invalid value for (?P<name>.+?): ": N_("{name} cannot be this: "),
    r"Option '(?P<name>.+?)' requires an argument\.": N_("The option {name} needs a value."),
}  # fmt: skip
"""What Typer says, as it is found, and what stands for it where the language is another."""
_VALUES = (
    *(N_("TEXT"), N_("INTEGER"), N_("FLOAT"), N_("DATE"), N_("DIMENSION"), N_("VALUE"), N_("WORD")),
    *(N_("PATH"), N_("FILE"), N_("PACK"), N_("TASK"), N_("RUN"), N_("JUDGE"), N_("NAME"), N_("ACTION")),
)  # fmt: skip
_NAME = re.compile(rf"\b(?:{'|'.join(_VALUES)})\b")
_VALUE = re.compile(
    rf"(?<=[ \['“])({_NAME.pattern}(?:[|=](?:{_NAME.pattern}|URL))*)(?=[ \]'”.。\n]|$)([\].]*)( {{2,}})?",
    re.M,
)
"""What help calls the values of options, as it is found, with what closes it and the blanks up to the next column."""


def worded(text: str) -> str:
    """Typer's text in the language that is set, with lines that fit; in English as it is, but for what is said of values."""
    english = current_language() == "en"
    for said, ours in (_CHECKED if english else {**_CHECKED, **_TYPER}).items():
        text = re.sub(
            said, lambda found, ours=ours: _(ours).format(**found.groupdict()), text, flags=re.M
        )
    return (
        text
        if english
        else "\n".join(map(_wrapped_line, _VALUE.sub(_translated_value, text).split("\n")))
    )


def _translated_value(found: re.Match[str]) -> str:
    from rich.cells import cell_len

    name, closing, gap = found.groups("")
    ours = _NAME.sub(lambda each: _(each[0]), name)
    room = len(gap) + len(name) - cell_len(ours)
    return ours + closing + (" " * max(room, 2) if gap else "")


def _wrapped_line(line: str) -> str:
    """Broken where the terminal ends, below where the text of the line begins."""
    from rich.cells import cell_len

    from cuecard.tui.present.entries import breaks

    most = min(console().width, 80)
    if cell_len(line) <= most:
        return line
    head = re.match(r"\s*(\S+( \S+)*\s{2,}(?=\S))?", line)
    begin = head.end() if head else 0
    indent, rest = cell_len(line[:begin]), line[begin:]
    ends = (0, *breaks(rest, max(most - indent, 20)), len(rest))
    parts = [rest[start:end].rstrip() for start, end in pairwise(ends)]
    return line[:begin] + f"\n{' ' * indent}".join(parts)
