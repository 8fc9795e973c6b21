"""The server of the tests ends with those who use it, however they end."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

import postgres_server

_USE = """
import sys, time
from pathlib import Path
import postgres_server
print(postgres_server.server(Path(sys.argv[1])), flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_two_share_one_server_which_ends_with_the_second(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: signal.Signals
) -> None:
    monkeypatch.delenv("CUECARD_TEST_POSTGRES", raising=False)
    monkeypatch.setenv("PYTHONPATH", str(Path(postgres_server.__file__).parent))
    monkeypatch.setenv("HOME", str(tmp_path / "nowhere"))
    command = [sys.executable, "-c", _USE, str(tmp_path)]
    users = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for _ in range(2)
    ]
    addresses = [user.stdout.readline().strip() for user in users if user.stdout]
    assert addresses[0] == addresses[1]
    databases = postgres_server.Databases(addresses[0])
    for user in users:
        with databases.empty() as url:  # It serves as long as one is left.
            assert url.startswith("postgresql")
        keeper = _keeper(tmp_path)
        user.send_signal(how)
        user.communicate()
    databases.close()
    assert keeper is not None
    psutil.wait_procs([keeper, *_below(keeper)], timeout=30)
    assert _keeper(tmp_path) is None
    assert not (tmp_path / "postgres.url").exists()


def _keeper(folder: Path) -> psutil.Process | None:
    for process in psutil.process_iter(["cmdline"]):
        if str(folder) in (line := process.info["cmdline"] or ()) and "-c" not in line:
            return process
    return None


def _below(process: psutil.Process) -> list[psutil.Process]:
    try:
        return process.children(recursive=True)
    except psutil.NoSuchProcess:
        return []
