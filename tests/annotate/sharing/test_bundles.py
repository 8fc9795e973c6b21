"""Pack files: the same bytes for the same content, and every way in which one can be wrong."""

from __future__ import annotations

import gzip
import io
import json
import random
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from apart import Clock, fresh, held, merge_files, picture, small_task
from cuecard.annotate.sharing.bundle import (
    Header,
    Unreadable,
    compressed,
    uncompressed,
    write_bundle,
)
from cuecard.annotate.sharing.reading import read_bundle
from cuecard.core.contributions import Commented, ReviewDecision, Reviewed, Submitted, TaskState
from cuecard.core.errors import Conflict, CuecardError, FileProblems
from cuecard.store.workspace import Workspace

Lines = list[dict[str, Any]]
Forge = Callable[[Lines], None]


@pytest.fixture(scope="module")
def ana(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """Ana wrote a task with a comment; Ben, in the same workspace, reviewed it."""
    workspace = fresh(tmp_path_factory.mktemp("ana") / "a.db")
    clock = Clock()
    workspace.tasks.save(small_task(), author="Ana", message="first", at=clock())
    workspace.tasks.save(small_task(title="Better"), author="Ana", at=clock())
    workspace.reviews.act("t", "Ana", Submitted(), at=clock())
    workspace.reviews.act("t", "Ana", Commented(place="title", text="\x1b[31mred[/]"), at=clock())
    workspace.reviews.act(
        "t", "Ben", Reviewed(ratings={}, decision=ReviewDecision.APPROVE), at=clock()
    )
    workspace.effort.add("t", "Ana", "page", 1, "https://example.org")
    return workspace


@pytest.fixture
def packed(ana: Workspace, tmp_path: Path) -> Path:
    return write_bundle(ana, "Ana", tmp_path / "ana.cuepack").path


@pytest.fixture
def forged(packed: Path, tmp_path: Path) -> Callable[[Forge], Path]:
    """A bundle whose entries somebody changed, and who signed the file anew."""

    def forge(change: Forge) -> Path:
        header, *lines = [
            json.loads(line) for line in gzip.decompress(packed.read_bytes()).splitlines()
        ]
        lines = [header, *lines]
        change(lines)
        header, *lines = lines
        body = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
        signed = Header.model_validate({**header, "sha256": ""})
        hasher = signed.hasher
        hasher.update(body)
        signed = signed.model_copy(update={"sha256": hasher.hexdigest()})
        path = tmp_path / "forged.cuepack"
        path.write_bytes(_file(signed.line + body))
        return path

    return forge


def _file(content: bytes) -> bytes:
    return b"".join(compressed([content]))


def _refusal(path: Path) -> str:
    with pytest.raises(FileProblems) as caught:
        read_bundle(path)
    assert "cuecard pack" in caught.value.hint
    assert all(problem.file == str(path) for problem in caught.value.problems)
    return caught.value.message


def test_the_same_content_gives_the_same_bytes(ana: Workspace, tmp_path: Path) -> None:
    first = write_bundle(ana, "Ana", tmp_path / "one").path.read_bytes()
    assert write_bundle(ana, "Ana", tmp_path / "two").path.read_bytes() == first
    bundle = read_bundle(tmp_path / "one")
    assert bundle.header.entries == {
        "task": 2,
        "revision": 2,
        "contribution": 2,
        "label": 0,
        "effort": 1,
    }
    # Whatever unpacks gzip can show what is in it; what Ben did is not.
    assert b"Ben" not in gzip.decompress(first)


def test_a_pack_holds_what_its_entries_refer_to(ana: Workspace, tmp_path: Path) -> None:
    with fresh(tmp_path / "eve.db") as eve:
        report = merge_files(eve, [write_bundle(ana, "Ben", tmp_path / "ben").path], "Eve")
        assert report.people == ("Ana", "Ben")
        assert {a.kind: a.added for a in report.arrived} == {
            "task": 1,
            "revision": 2,
            "reviewed": 1,
        }
        merge_files(eve, [write_bundle(ana, "Ana", tmp_path / "ana").path], "Eve")
        assert picture(eve) == picture(ana)


def test_since_leaves_out_what_was_done_before(ana: Workspace, tmp_path: Path) -> None:
    moment = ana.reviews.log("t").contributions[0].at
    path = write_bundle(ana, "Ana", tmp_path / "later", since=moment).path
    bundle = read_bundle(path)
    assert [entry.body.kind for entry in held(bundle).of("contribution")] == [
        "submitted",
        "commented",
    ]
    assert bundle.header.since == moment
    # It goes with what stands before, so that it can be merged first.
    with fresh(tmp_path / "b.db") as other:
        merge_files(other, [path], "Ben")
        assert other.reviews.state("t") is TaskState.IN_REVIEW
    with pytest.raises(CuecardError, match="nothing"):
        write_bundle(ana, "Zoe", tmp_path / "zoe")


def test_only_packs_are_replaced(ana: Workspace, tmp_path: Path) -> None:
    precious = tmp_path / "cuecard.db"
    precious.write_text("precious")
    with pytest.raises(Conflict):
        write_bundle(ana, "Ana", precious)
    assert precious.read_text() == "precious"
    with pytest.raises(CuecardError, match="cannot be written"):
        write_bundle(ana, "Ana", tmp_path / "no" / "folder.cuepack")


def test_any_changed_byte_is_noticed(packed: Path, tmp_path: Path) -> None:
    data, known = packed.read_bytes(), read_bundle(packed)
    content = held(known)
    chance = random.Random(1)
    for place in [*range(20), *chance.sample(range(len(data)), 200)]:
        changed = bytearray(data)
        changed[place] ^= 1 << chance.randrange(8)
        (tmp_path / "changed").write_bytes(changed)
        try:
            found = read_bundle(tmp_path / "changed")
        except FileProblems:
            continue
        # Bits of the frame that say nothing: time, system, padding.
        assert (found.header, held(found)) == (known.header, content)
    plain = bytearray(gzip.decompress(data))
    for place in chance.sample(range(len(plain)), 60):
        flipped = bytearray(plain)
        flipped[place] ^= 1
        (tmp_path / "changed").write_bytes(_file(bytes(flipped)))
        assert _refusal(tmp_path / "changed")


def test_what_is_no_whole_pack_is_refused(packed: Path, tmp_path: Path) -> None:
    data = packed.read_bytes()
    plain = gzip.decompress(data)
    newer = plain.replace(b'"format":1', b'"format":2')
    for content, said in [
        (b"", "is empty"),
        (b"id: t\n", "is not a pack"),
        (data[: len(data) // 2], "ends too early"),
        (data + b"more", "behind its end"),
        (_file(b"{}\n"), "is not a pack"),
        (_file(b"[" * 100_000), "is not a pack"),
        (_file(newer), "update Cuecard"),
        (_file(plain.replace(b'"Ana"', b'"Mel"')), "was changed after it was packed"),
    ]:
        path = tmp_path / "some.cuepack"
        path.write_bytes(content)
        assert said in _refusal(path)
    assert "folder" in _refusal(tmp_path)
    # Nobody is to be asked for a file that was only named wrongly.
    with pytest.raises(FileProblems, match="no such file") as caught:
        read_bundle(tmp_path / "absent")
    assert not caught.value.hint


def test_a_small_file_that_claims_to_be_huge_is_not_unpacked() -> None:
    bomb = zlib.compressobj(9, zlib.DEFLATED, 31)
    data = b"".join([bomb.compress(bytes(1 << 20)) for _ in range(64)]) + bomb.flush()
    assert len(data) < 1 << 17
    with pytest.raises(Unreadable, match="unpacks to more"):
        list(uncompressed(io.BytesIO(data), limit=1 << 20))


def _of(lines: Lines, kind: str, index: int = 0) -> dict[str, Any]:
    return [line[kind] for line in lines if line.get("entry") == kind][index]


def _as_newcomer(lines: Lines) -> None:
    lines[0]["person"] = "Mallory"


def _as_somebody(lines: Lines) -> None:
    lines[0]["person"] = "\x1b]0;owned\x07Mal"


def _reworded(lines: Lines) -> None:
    _of(lines, "contribution", 1)["body"]["text"] = "reworded"


def _other_content(lines: Lines) -> None:
    _of(lines, "task")["title"] = "other"


def _no_task(lines: Lines) -> None:
    _of(lines, "task")["gold"]["triples"][0].pop("tail")


def _other_parents(lines: Lines) -> None:
    _of(lines, "revision", 1)["parents"] = []


def _lost_parent(lines: Lines) -> None:
    lines.remove(next(line for line in lines if line.get("entry") == "revision"))


def _bad_author(lines: Lines) -> None:
    _of(lines, "revision")["signatures"][0]["author"] = "A\x1b[2Jna"


def _unsigned(lines: Lines) -> None:
    _of(lines, "revision")["signatures"] = []


def _far_tick(lines: Lines) -> None:
    _of(lines, "revision")["signatures"][0]["tick"] = 2**62


def _far_time(lines: Lines) -> None:
    _of(lines, "contribution")["at"] = "9999-12-31T23:59:59-10:00"


def _foreign_effort(lines: Lines) -> None:
    _of(lines, "effort")["person"] = "Ben"


def _endless_effort(lines: Lines) -> None:
    _of(lines, "effort")["amount"] = float("inf")


def _unknown_kind(lines: Lines) -> None:
    _of(lines, "contribution")["body"]["kind"] = "bribed"


def _newer_field(lines: Lines) -> None:
    _of(lines, "contribution")["body"]["mood"] = "good"


def _nul(lines: Lines) -> None:
    _of(lines, "effort")["text"] = "a\0b"


def _by_a_stranger(lines: Lines) -> None:
    """As if somebody else had saved all revisions."""
    for line in lines:
        for signature in line.get("revision", {}).get("signatures", ()):
            signature["author"] = "Cho"


def _dots_for_an_id(lines: Lines) -> None:
    _of(lines, "revision")["task_id"] = ".."


def _an_option_for_an_id(lines: Lines) -> None:
    _of(lines, "effort")["task_id"] = "-o"


def _too_few(lines: Lines) -> None:
    lines.pop()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_as_newcomer, "it speaks in the name of Ana, but Mallory packed it"),
        (_as_somebody, "control characters"),
        (_reworded, "it was changed"),
        (_other_content, "its content does not fit its hash"),
        (_no_task, "gold.triples[0].tail: is missing"),
        (_other_parents, "it was changed"),
        (_lost_parent, "a revision that it stands on is missing"),
        (_bad_author, "control characters"),
        (_unsigned, "nobody has signed it"),
        (_far_tick, "out of range"),
        (_far_time, "not in UTC"),
        (_foreign_effort, "it speaks in the name of Ben"),
        (_endless_effort, "amount"),
        (_unknown_kind, "does not know: bribed"),
        (_newer_field, "does not know: mood; update Cuecard"),
        (_nul, "NUL"),
        (_by_a_stranger, "only an author of t may do this, and Ana is none"),
        (_dots_for_an_id, "this cannot be a task's id: .. (must not be dots alone"),
        (_an_option_for_an_id, "this cannot be a task's id: -o (must not begin with '-'"),
        (_too_few, "as many entries"),
    ],
)
def test_what_is_forged_is_refused(
    forged: Callable[[Forge], Path], change: Forge, said: str
) -> None:
    message = _refusal(forged(change))
    assert said in message
    assert "\x1b" not in message


def test_one_bad_file_keeps_all_out(
    ana: Workspace, packed: Path, forged: Callable[[Forge], Path], tmp_path: Path
) -> None:
    with fresh(tmp_path / "b.db") as other:
        with pytest.raises(FileProblems) as caught:
            merge_files(other, [packed, forged(_reworded), tmp_path / "absent"], "Ben")
        assert {problem.file for problem in caught.value.problems} == {
            str(tmp_path / "forged.cuepack"),
            str(tmp_path / "absent"),
        }
        assert other.tasks.count() == 0
        # A dry merge says the same as the real one, and leaves no trace.
        dry = merge_files(other, [packed], "Ben", dry=True)
        assert (other.tasks.count(), len(other.people.all())) == (0, 0)
        real = merge_files(other, [packed], "Ben")
        assert dry.model_copy(update={"dry": False}) == real
