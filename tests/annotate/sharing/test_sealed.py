"""A sealed pack holds no text as it is, opens like any other, and is told where it is damaged."""

from __future__ import annotations

from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuecard.annotate.samples import import_samples
from cuecard.annotate.sharing.bundle import Unreadable, sealed, uncompressed, unsealed, write_bundle
from cuecard.annotate.sharing.reading import read_bundle
from cuecard.core.errors import FileProblems

CANARY = "0123456789abcdef" * 2
KEY = "f" * 32


@given(st.binary(max_size=500), st.integers(0, 10**6))
def test_unsealing_gives_the_line_again(line, number):
    shut = sealed(line, KEY, number)
    assert shut.count(b"\n") == 1
    assert unsealed(shut, KEY, number) == line


def test_another_key_or_place_opens_nothing():
    shut = sealed(b"gold and more gold", KEY, 3)
    for key, number in ((KEY, 4), ("0" * 32, 3)):
        with pytest.raises(Unreadable, match="damaged"):
            unsealed(shut, key, number)
    with pytest.raises(Unreadable, match="damaged"):
        unsealed(b"\xff not base64\n", KEY, 0)


def test_a_sealed_pack_arrives_as_a_plain_one_does(workspace, tmp_path):
    import_samples(workspace, "Ann")
    plain = write_bundle(workspace, "Ann", tmp_path / "plain.cuepack")
    shut = write_bundle(workspace, "Ann", tmp_path / "shut.cuepack", canary=CANARY, seal=True)
    again = write_bundle(workspace, "Ann", tmp_path / "again.cuepack", canary=CANARY, seal=True)
    assert shut.path.read_bytes() == again.path.read_bytes()
    text = b"".join(uncompressed(BytesIO(shut.path.read_bytes())))
    assert b"Bezzera" in b"".join(uncompressed(BytesIO(plain.path.read_bytes())))
    assert b"Bezzera" not in text
    assert CANARY.encode() in text
    records = [list(read_bundle(one.path).records()) for one in (plain, shut)]
    assert records[0] == records[1]
    assert shut.header.entries == plain.header.entries


def test_a_changed_line_is_told(workspace, tmp_path):
    import_samples(workspace, "Ann")
    path = write_bundle(workspace, "Ann", tmp_path / "shut.cuepack", seal=True).path
    lines = b"".join(uncompressed(BytesIO(path.read_bytes()))).split(b"\n")
    lines[2] = lines[2][:-8] + b"AAAAAAA="
    from cuecard.annotate.sharing.bundle import compressed

    path.write_bytes(b"".join(compressed([b"\n".join(lines)])))
    with pytest.raises(FileProblems, match="shut"):
        read_bundle(path)
