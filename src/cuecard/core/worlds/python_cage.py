"""A script that runs a Python program in a sandbox, in a process of its own.

It uses the standard library only, so that a bare interpreter can run it. Where the system allows it, it does in this
order: become the user `nobody` (if it is root); enter new namespaces for users, network, mounts and processes; mount
an empty file system of bounded size over the working directory; start an init process, with whose end the kernel ends
all others; in the program's own process, deny access to files other than those that Python reads (Landlock), set
resource limits and execute Python.

A step that fails is skipped and reported on the pipe that reports the outcome.
"""

import ctypes
import json
import os
import signal
import struct
import sys
from typing import Any, NoReturn

_NEW_NS, _NEW_IPC, _NEW_USER, _NEW_PID, _NEW_NET = (
    0x00020000,
    0x08000000,
    0x10000000,
    0x20000000,
    0x40000000,
)
_MS_NOSUID, _MS_NODEV, _MS_REC, _MS_PRIVATE = 2, 4, 0x4000, 0x40000
_DEATH_SIGNAL, _DUMPABLE, _NO_NEW_PRIVILEGES = 1, 4, 38
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
# Landlock: the number of access-right bits in each version of its interface.
_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15}
_READ, _READ_FILE, _ON_FILES = 0b1101, 0b101, 0b1100000000000111
_NOBODY = 65534
_DISK_MB = 64
_OPEN_FILES = 64
_PROCESSES = 12


def main() -> None:
    asked: dict[str, Any] = json.loads(sys.argv[1])
    report: int = asked["report"]
    os.set_inheritable(report, False)
    held: dict[str, bool] = {"network": False, "processes": False, "files": False, "limits": False}
    # The limit of processes does not hold for root, in any namespace.
    asked["root"] = os.getuid() == 0 and not asked["become_nobody"]
    if sys.platform == "linux":
        _enter_namespaces(asked, held)
    first = os.fork()
    if first == 0:
        if held["processes"]:
            _first_process(asked, held, report)
        _program(asked, held, report)
    _status(report, os.waitpid(first, 0)[1], final=not held["processes"])


def _first_process(asked: dict[str, Any], held: dict[str, bool], report: int) -> NoReturn:
    """Process 1 of the namespace: no process in it can kill it, and when it ends so do all others."""
    _libc().prctl(_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
    child = os.fork()
    if child == 0:
        _program(asked, held, report)
    while True:
        ended, status = os.wait()
        if ended == child:
            _status(report, status, final=True)
            os._exit(0)


def _program(asked: dict[str, Any], held: dict[str, bool], report: int) -> NoReturn:
    try:
        if sys.platform == "linux":
            held["files"] = _shut_files(asked["readable"], asked["work"])
        held["limits"] = _set_limits(asked, own_users=held["network"]) and not asked["root"]
        os.chdir(asked["work"])
        os.write(report, json.dumps({"held": held}).encode() + b"\n")
        os.execve(asked["command"][0], asked["command"], asked["environment"])
    except BaseException as error:  # noqa: BLE001 - nothing may go on in this copy of the process
        os.write(2, f"{type(error).__name__}: {error}\n".encode())
    os._exit(127)


def _status(report: int, status: int, *, final: bool) -> None:
    if final:
        code = os.waitstatus_to_exitcode(status)
        os.write(report, json.dumps({"exit": code}).encode() + b"\n")


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _enter_namespaces(asked: dict[str, Any], held: dict[str, bool]) -> None:
    libc = _libc()
    libc.prctl(_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
    libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    if asked["become_nobody"]:
        os.setgroups([])
        os.setgid(_NOBODY)
        os.setuid(_NOBODY)
        libc.prctl(_DUMPABLE, 1, 0, 0, 0)
        libc.prctl(_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
    uid, gid = os.getuid(), os.getgid()
    least = _NEW_USER | _NEW_NET
    for wanted in (least | _NEW_PID | _NEW_NS | _NEW_IPC, least | _NEW_PID, least):
        if libc.unshare(wanted) == 0:
            held["network"] = True
            held["processes"] = bool(wanted & _NEW_PID)
            _map_users(uid, gid)
            if wanted & _NEW_NS:
                _lay_disk_over(libc, asked["work"])
            return


def _map_users(uid: int, gid: int) -> None:
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{_NOBODY} {uid} 1"),
        ("gid_map", f"{_NOBODY} {gid} 1"),
    ):
        try:
            with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
                file.write(text)
        except OSError:
            return


def _lay_disk_over(libc: ctypes.CDLL, work: str) -> None:
    """Mount a bounded file system in memory over the working directory; without it the directory itself is used."""
    if libc.mount(b"none", b"/", None, _MS_REC | _MS_PRIVATE, None) == 0:
        options = f"size={_DISK_MB}m,nr_inodes=10k,mode=700".encode()
        libc.mount(b"tmpfs", os.fsencode(work), b"tmpfs", _MS_NOSUID | _MS_NODEV, options)


def _shut_files(readable: list[str], work: str) -> bool:
    """Allow reading `readable` and everything in `work`, nothing else; in newer kernels also no TCP
    and no signals to processes outside.
    """
    libc = _libc()
    version = libc.syscall(_CREATE_RULESET, None, 0, 1)
    if version < 1:
        return False
    rights = (1 << _RIGHTS.get(version, 16)) - 1
    fields = (rights, 0b11, 0b11)[: 1 if version < 4 else 2 if version < 6 else 3]
    attributes = struct.pack(f"{len(fields)}Q", *fields)
    rules = libc.syscall(_CREATE_RULESET, attributes, len(attributes), 0)
    if rules < 0:
        return False
    _allow(libc, rules, work, rights)
    for device in ("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random"):
        _allow(libc, rules, device, (_READ_FILE | 0b10) & rights)
    for path in readable:
        _allow(libc, rules, path, _READ)
    libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    shut = libc.syscall(_RESTRICT_SELF, rules, 0) == 0
    os.close(rules)
    return shut


def _allow(libc: ctypes.CDLL, rules: int, path: str, rights: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    if not os.path.isdir(path):
        rights &= _ON_FILES
    libc.syscall(_ADD_RULE, rules, 1, struct.pack("=Qi", rights, place), 0)
    os.close(place)


def _set_limits(asked: dict[str, Any], *, own_users: bool) -> bool:
    """Set resource limits. In a user namespace of its own only its processes count against their limit; elsewhere all
    processes of the person do, so there the program may start none.
    """
    import resource

    mb = 1 << 20
    whole = True
    for limit, most in (
        (resource.RLIMIT_CPU, asked["cpu_seconds"]),
        (resource.RLIMIT_FSIZE, _DISK_MB * mb),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, _OPEN_FILES),
        (resource.RLIMIT_NPROC, _PROCESSES if own_users else 1),
        (resource.RLIMIT_AS, asked["memory_mb"] * mb),
    ):
        hard = resource.getrlimit(limit)[1]
        if hard != resource.RLIM_INFINITY:
            most = min(most, hard)
        # One second between the warning signal and the one that kills.
        top = most + 1 if limit == resource.RLIMIT_CPU else most
        try:
            resource.setrlimit(limit, (most, min(top, hard) if hard > 0 else top))
        except (OSError, ValueError):
            whole = False
    return whole


if __name__ == "__main__":
    main()
