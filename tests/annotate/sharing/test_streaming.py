"""A pack is written, read and merged piece by piece: memory does not grow with it, and what breaks on the way breaks off."""

from __future__ import annotations

import gzip
import hashlib
import os
import random
import resource
import shutil
import tempfile
import threading
import tracemalloc
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from apart import PausedByPerson, fresh, held, merge_files, packed, small_task, unpacked
from cuecard.annotate.sharing import reading
from cuecard.annotate.sharing.bundle import compressed, file_of, kept_lines, write_bundle
from cuecard.annotate.sharing.reading import parse_bundle, read_bundle, read_bundles
from cuecard.core.errors import FileProblems
from cuecard.store.bundle_records import SharedPayload

PACKS = Path(__file__).parent / "packs"
SIZE = 20_000


def payload(number: int, size: int = SIZE) -> SharedPayload:
    text = random.Random(number).randbytes(size // 2).hex()
    return SharedPayload(hash=hashlib.sha256(text.encode()).hexdigest(), text=text)


@dataclass(frozen=True)
class Many:
    """A bundle of so many large texts, each made when it is asked for."""

    count: int
    person: str = "Ana"

    def records(self) -> Iterator[Any]:
        return map(payload, range(self.count))


def _peak(count: int, tmp_path: Path) -> int:
    """The most memory that writing, reading and merging so many took, in bytes."""
    with fresh(tmp_path / f"{count}.db") as workspace, tempfile.TemporaryFile() as file:
        tracemalloc.start()
        with tempfile.TemporaryFile() as lines:
            header, _found = kept_lines(Many(count), lines)
            file.writelines(file_of(header, lines))
        bundle = parse_bundle(file, Path("many"))
        workspace.exchange.import_([bundle], by="Ben")
        _now, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert len(held(bundle).held) == count
    return peak


def test_memory_does_not_grow_with_a_pack(tmp_path: Path) -> None:
    # The first brings what is loaded when it is wanted.
    _peak(5, tmp_path)
    small, large = _peak(40, tmp_path), _peak(400, tmp_path)
    assert large < small + 360 * SIZE / 10


def test_lines_longer_than_a_piece_come_back_whole() -> None:
    many = PausedByPerson(
        "Ana", tuple(payload(number, size) for number, size in enumerate((10, 10**6, 10**5)))
    )
    assert held(unpacked(packed(many))) == many


def test_a_pack_that_is_cut_short_anywhere_is_refused() -> None:
    data = packed(PausedByPerson("Ana", (payload(1, 300_000), payload(2))))
    for place in (1, 2, 9, 10, 11, 5000, 1 << 16, len(data) - 9, len(data) - 8, len(data) - 1):
        with pytest.raises(FileProblems, match=r"too early|is not a pack|damaged"):
            unpacked(data[:place])
    # Whole, but without its last line.
    lines = gzip.decompress(data).splitlines(keepends=True)
    with pytest.raises(FileProblems, match="was changed after it was packed"):
        unpacked(b"".join(compressed(lines[:-1])))


def test_a_hash_that_is_wrong_goes_before_all_else_that_is() -> None:
    header, *lines = gzip.decompress(
        packed(PausedByPerson("Ana", (payload(1), payload(2))))
    ).splitlines(True)
    wrong = b'{"entry":"nothing"}\n'
    with pytest.raises(FileProblems) as refused:
        unpacked(b"".join(compressed([header, *[wrong] * 20, *lines])))
    (problem,) = refused.value.problems
    assert "was changed after it was packed" in problem.reason


def test_a_file_that_changes_after_it_was_read_is_not_merged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As if it were large: what is small is held in memory.
    monkeypatch.setattr(reading, "_SMALL", 0)
    path = tmp_path / "ana.cuepack"
    with fresh(tmp_path / "a.db") as ana, fresh(tmp_path / "b.db") as ben:
        for title in ("first", "second"):
            ana.tasks.save(small_task(title=title), author="Ana")
        write_bundle(ana, "Ana", path)
        first = path.read_bytes()
        bundles = read_bundles([path])
        # Replaced by another: what was read is merged, as it is kept open.
        ana.tasks.save(small_task(title="third"), author="Ana")
        write_bundle(ana, "Ana", path)
        assert ben.exchange.import_(bundles, by="Ben", dry=True).added == 3
        # Written over: nothing of it is.
        bundles = read_bundles([path])
        with path.open("r+b") as file:
            file.write(first)
            file.truncate()
        with pytest.raises(FileProblems, match="changed after it was packed"):
            ben.exchange.import_(bundles, by="Ben")
        assert (ben.tasks.count(), ben.people.all()) == (0, [])


def test_more_packs_than_files_may_be_open_are_merged_at_once(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    for number in range(80):
        shutil.copy(PACKS / "ana.cuepack", tmp_path / f"{number}.cuepack")
    with fresh(tmp_path / "w.db") as workspace:
        highest = max(map(int, os.listdir("/dev/fd")))
        resource.setrlimit(resource.RLIMIT_NOFILE, (highest + 40, hard))
        try:
            report = merge_files(workspace, [tmp_path], "Eve")
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        alone = workspace.exchange.import_([read_bundle(PACKS / "ana.cuepack")], by="Eve")
        assert (report.added, report.known) == (7, 0)
        assert (alone.added, alone.known) == (0, 6)


def test_a_pack_comes_through_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    def write() -> None:
        with (PACKS / "run.cuepack").open("rb") as source, pipe.open("wb") as target:
            shutil.copyfileobj(source, target)

    writer = threading.Thread(target=write)
    writer.start()
    bundle = read_bundle(pipe)
    writer.join()
    assert held(bundle) == held(read_bundle(PACKS / "run.cuepack"))


def test_what_two_packs_hold_and_what_is_left_out_of_both_counts_once(tmp_path: Path) -> None:
    labels = read_bundle(PACKS / "labels.cuepack")
    with fresh(tmp_path / "a.db") as once, fresh(tmp_path / "b.db") as twice:
        report = once.exchange.import_([labels], by="Eve")
        left = [one.kind for one in report.left_out for _each in range(one.count)]
        assert sorted(left) == ["adjudication", "label", "label", "label", "label_set"]
        assert twice.exchange.import_([labels, labels], by="Eve") == report
        merge_files(twice, [PACKS / "run.cuepack"], "Eve")
        report = twice.exchange.import_([labels, labels], by="Eve")
        assert report.left_out == ()
        (added,) = [one for one in report.arrived if one.kind == "label_set"]
        assert (added.added, added.known) == (1, 0)
