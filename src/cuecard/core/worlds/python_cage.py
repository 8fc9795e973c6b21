"""A script that runs a Python program in a cage, in a process of its own. docs/python-cage.md is its owner's page.

It uses the standard library only, so that a bare interpreter can run it. It does in this order: enter new namespaces of
users, network, mounts, processes and shared memory; lay a root of its own, which holds nothing but Python, the program
and a bounded file system in memory; if it is root, become a user that nobody else is; start an init process, with whose end the
kernel ends all others; in the program's own process, set resource limits, shut files once more (Landlock), refuse calls
of the system that a plain program does not need (seccomp), and execute Python.

A step that fails is told on the pipe that reports the outcome. The program is then not run, unless it is `uncaged`.
"""

import ctypes
import errno
import json
import os
import resource
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
_MS_NOSUID, _MS_NODEV, _MS_BIND, _MS_REC, _MS_PRIVATE, _MNT_DETACH = (
    2,
    4,
    0x1000,
    0x4000,
    0x40000,
    2,
)
_MOUNT_SETATTR, _RECURSIVE, _READ_ONLY, _HERE = 442, 0x8000, 0b11, -100
_DEATH_SIGNAL, _DUMPABLE, _SECCOMP, _NO_NEW_PRIVILEGES = 1, 4, 22, 38
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
# Landlock: the number of access-right bits in each version of its interface.
_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15}
_READ, _READ_FILE, _ON_FILES = 0b1101, 0b101, 0b1100000000000111
_DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random")
_NOBODY = 65534
# Above all that systems and directories give out; the number of a process is added.
_PERSONS = 3 << 30
_DISK_MB = 64
_OPEN_FILES = 64
# Of the cage: itself, init, and the program with its threads.
_TASKS = 12
# Beside the program's own memory these would give it more, other processes, the network, keys, or much of the kernel.
# The number of each call on x86-64 and on ARM64, "-" where it has none.
_REFUSED = """
socket 41 198, fork 57 -, vfork 58 -, memfd_create 319 279, memfd_secret 447 447, shmget 29 194, msgget 68 186,
semget 64 190, mq_open 240 180, add_key 248 217, request_key 249 218, keyctl 250 219, ptrace 101 117,
process_vm_readv 310 270, process_vm_writev 311 271, pidfd_getfd 438 438, unshare 272 97, setns 308 268, mount 165 40,
umount2 166 39, pivot_root 155 41, chroot 161 51, open_tree 428 428, move_mount 429 429, fsopen 430 430, fsmount 432 432,
fspick 433 433, mount_setattr 442 442, name_to_handle_at 303 264, open_by_handle_at 304 265, bpf 321 280,
perf_event_open 298 241, userfaultfd 323 282, io_uring_setup 425 425, io_uring_enter 426 426, io_uring_register 427 427,
kexec_load 246 104, kexec_file_load 320 294, init_module 175 105, finit_module 313 273, delete_module 176 106,
reboot 169 142, swapon 167 224, swapoff 168 225, syslog 103 116, acct 163 89, quotactl 179 60, fanotify_init 300 262,
personality 135 92, vmsplice 278 75, iopl 172 -, ioperm 173 -, modify_ldt 154 -
"""
# Of a machine: its column above, its name for the kernel's audit, and its number of `clone`.
_MACHINES = {"x86_64": (1, 0xC000003E, 56), "aarch64": (2, 0xC00000B7, 220)}
_CLONE3, _FOREIGN, _THREAD = 435, 0x40000000, 0x00010000


class _Cage:
    """What was asked, which restrictions are in force, and what failed."""

    def __init__(self, asked: dict[str, Any]) -> None:
        self.asked = asked
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.root, every = _root()
        # Who nobody else is, so that only the cage's own tasks count; where there are few users, `nobody`.
        self.person = _NOBODY if not every else _PERSONS + os.getpid()
        self.missing: list[str] = []
        names = ("network", "files", "processes", "calls", "limits", "landlock")
        self.held = dict.fromkeys(names, False)

    def call(self, name: str, *given: object) -> int:
        """A function of the C library. Raises `OSError`, with its name."""
        got: int = getattr(self.libc, name)(*given)
        if got < 0:
            number = ctypes.get_errno()
            raise OSError(number, f"{name}: {os.strerror(number)}")
        return got

    def tell(self, **told: object) -> None:
        os.write(self.asked["report"], json.dumps(told).encode() + b"\n")

    def hold_on(self) -> None:
        """End with the process that started this one, and let it be looked at; both are lost by becoming somebody."""
        self.libc.prctl(_DUMPABLE, 1, 0, 0, 0)
        self.libc.prctl(_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)


def _root() -> tuple[bool, bool]:
    """Whether this is root of the machine too, not only of a namespace that somebody else has made; and whether it has
    every user that there can be.
    """
    if os.getuid() != 0 or sys.platform != "linux":
        return os.getuid() == 0, False
    with open("/proc/self/uid_map", encoding="ascii") as file:
        inside, outside, count = file.read().split()[:3]
    return inside == outside == "0", count == "4294967295"


def main() -> None:
    cage = _Cage(json.loads(sys.argv[1]))
    os.set_inheritable(cage.asked["report"], False)
    if sys.platform == "linux":
        cage.libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
        cage.hold_on()
        try:
            _enter_namespaces(cage)
        except OSError as error:
            what = f"{error.filename}: " if error.filename else ""
            cage.missing.append(f"{what}{error.strerror}")
    first = os.fork()
    if first == 0:
        if cage.held["processes"]:
            _first_process(cage)
        _program(cage)
    _status(cage, os.waitpid(first, 0)[1], final=not cage.held["processes"])


def _first_process(cage: _Cage) -> NoReturn:
    """Process 1 of the namespace: no process in it can kill it, and when it ends so do all others."""
    cage.hold_on()
    child = os.fork()
    if child == 0:
        os.setsid()
        _program(cage)
    while True:
        ended, status = os.wait()
        if ended == child:
            _status(cage, status, final=True)
            os._exit(0)


def _program(cage: _Cage) -> NoReturn:
    asked, held = cage.asked, cage.held
    try:
        if sys.platform == "linux":
            held["landlock"] = _shut_files(cage, asked["readable"], asked["work"])
        held["limits"] = _set_limits(asked, own_users=held["network"]) and not cage.root
        if cage.root:
            cage.missing.append(
                "setuid: still root, whom no limit of threads binds; run as another user"
            )
        os.chdir(asked["work"])
        held["calls"] = sys.platform == "linux" and _refuse_calls(cage)
        whole = all(held[name] for name in held if name != "landlock")
        cage.tell(held=held, missing=cage.missing, refused=not (whole or asked["uncaged"]))
        if whole or asked["uncaged"]:
            os.execve(asked["command"][0], asked["command"], asked["environment"])
    except BaseException as error:  # noqa: BLE001 - nothing may go on in this copy of the process
        os.write(2, f"{type(error).__name__}: {error}\n".encode())
    os._exit(127)


def _status(cage: _Cage, status: int, *, final: bool) -> None:
    if final:
        cage.tell(exit=os.waitstatus_to_exitcode(status))


def _enter_namespaces(cage: _Cage) -> None:
    """As root, mount first and become somebody then: Python may be where only root can look. Raises `OSError`."""
    wanted = _NEW_NET | _NEW_PID | _NEW_NS | _NEW_IPC
    own = os.open("/proc/self", os.O_PATH)  # Out of sight once the root is laid.
    if cage.root and cage.libc.unshare(wanted) == 0:
        cage.held["network"] = cage.held["processes"] = True
        _make_root(cage)
        _become(cage, cage.person)
        if cage.person == _NOBODY:
            cage.call("unshare", _NEW_USER)
            _map_users(cage, own, _NOBODY, _NOBODY)
    else:
        if cage.root and _open_to_all(cage.asked["command"][0]):
            try:
                _become(cage, _NOBODY)
            except (
                OSError
            ) as error:  # As in a container that has no such user, or may not change to it.
                cage.missing.append(f"nobody: {error.strerror}")
        uid, gid = os.getuid(), os.getgid()
        cage.call("unshare", _NEW_USER | wanted)
        cage.held["network"] = cage.held["processes"] = True
        _map_users(cage, own, uid, gid)
        _make_root(cage)
    os.close(own)


def _open_to_all(path: str) -> bool:
    while path != "/" and os.stat(path).st_mode & 1:
        path = os.path.dirname(path)
    return path == "/"


def _become(cage: _Cage, person: int) -> None:
    """Raises `OSError`."""
    if not cage.held["files"]:
        os.chown(cage.asked["work"], person, person)
        os.chown(os.path.dirname(cage.asked["work"]), person, person)
    os.setgroups([])
    os.setgid(person)
    os.setuid(person)
    cage.root = False
    cage.hold_on()


def _map_users(cage: _Cage, own: int, uid: int, gid: int) -> None:
    cage.hold_on()
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{_NOBODY} {uid} 1"),
        ("gid_map", f"{_NOBODY} {gid} 1"),
    ):
        place = os.open(name, os.O_WRONLY, dir_fd=own)
        try:
            os.write(place, text.encode())
        except OSError as error:
            raise OSError(error.errno, f"{name}: {error.strerror}") from None
        os.close(place)


def _make_root(cage: _Cage) -> None:
    """Make a root with what the program may read, read-only, and its working directory, in memory. Raises `OSError`."""
    root, work = cage.asked["root"], cage.asked["work"]
    cage.call("mount", b"none", b"/", None, _MS_REC | _MS_PRIVATE, None)
    _in_memory(cage, root, "size=1m,nr_inodes=1k,mode=755")
    laid: list[str] = []
    for path in sorted({*cage.asked["readable"], *_DEVICES}):
        if not os.path.exists(path) or any(path.startswith(f"{one}/") for one in laid):
            continue
        laid.append(path)
        target = root + path
        if os.path.isdir(path):
            os.makedirs(target)
        else:
            os.makedirs(os.path.dirname(target), exist_ok=True)
            os.close(os.open(target, os.O_CREAT))
        cage.call("mount", path.encode(), target.encode(), None, _MS_BIND | _MS_REC, None)
        _read_only(cage, target, _RECURSIVE)
    os.makedirs(root + work)
    person = cage.person if cage.root else _NOBODY
    own = f"size={_DISK_MB}m,nr_inodes=10k,mode=700,uid={person},gid={person}"
    _in_memory(cage, root + work, own)
    _read_only(cage, root, 0)
    os.chdir(root)
    cage.call("pivot_root", b".", b".")
    cage.call("umount2", b".", _MNT_DETACH)
    os.chdir("/")
    cage.held["files"] = True


def _in_memory(cage: _Cage, path: str, options: str) -> None:
    flags = _MS_NOSUID | _MS_NODEV
    cage.call("mount", b"tmpfs", path.encode(), b"tmpfs", flags, options.encode())


def _read_only(cage: _Cage, path: str, how: int) -> None:
    wanted = struct.pack("4Q", _READ_ONLY, 0, 0, 0)
    cage.call("syscall", _MOUNT_SETATTR, _HERE, path.encode(), how, wanted, len(wanted))


def _refuse_calls(cage: _Cage) -> bool:
    """A filter for this process and all threads: no process, no socket, no memory but its own, little of the kernel."""
    machine = os.uname().machine
    if machine not in _MACHINES:
        cage.missing.append(f"seccomp: no list of calls for {machine}")
        return False
    column, audit, clone = _MACHINES[machine]
    load, equal, at_least, all_of, give = 0x20, 0x15, 0x35, 0x45, 0x06
    kill, allow = (give, 0, 0, 0x80000000), (give, 0, 0, 0x7FFF0000)
    refuse, unknown = ((give, 0, 0, 0x50000 | number) for number in (errno.EPERM, errno.ENOSYS))
    lines = [
        *((load, 0, 0, 4), (equal, 1, 0, audit), kill),
        *((load, 0, 0, 0), (at_least, 0, 1, _FOREIGN), refuse),
        # The flags of `clone3` cannot be seen here; without it the C library takes `clone`, which may make threads.
        *((equal, 0, 1, _CLONE3), unknown),
        *((equal, 0, 4, clone), (load, 0, 0, 16), (all_of, 0, 1, _THREAD), allow, refuse),
    ]
    for name in _REFUSED.split(","):
        number = name.split()[column]
        if number != "-":
            lines += [(equal, 0, 1, int(number)), refuse]
    code = b"".join(struct.pack("HBBI", *line) for line in (*lines, allow))
    filled = ctypes.create_string_buffer(code)
    program = struct.pack("HP", len(code) // 8, ctypes.addressof(filled))
    try:
        cage.call("prctl", _SECCOMP, 2, program, 0, 0)
    except OSError as error:
        cage.missing.append(f"seccomp: {error.strerror}")
        return False
    return True


def _shut_files(cage: _Cage, readable: list[str], work: str) -> bool:
    """Allow reading `readable` and everything in `work`, nothing else; in newer kernels also no TCP
    and no signals to processes outside.
    """
    libc = cage.libc
    version = libc.syscall(_CREATE_RULESET, None, 0, 1)
    if version < 1:
        cage.missing.append(f"Landlock: {os.strerror(ctypes.get_errno())}")
        return False
    rights = (1 << _RIGHTS.get(version, 16)) - 1
    fields = (rights, 0b11, 0b11)[: 1 if version < 4 else 2 if version < 6 else 3]
    attributes = struct.pack(f"{len(fields)}Q", *fields)
    rules = libc.syscall(_CREATE_RULESET, attributes, len(attributes), 0)
    if rules < 0:
        return False
    _allow(libc, rules, work, rights)
    for device in _DEVICES:
        _allow(libc, rules, device, (_READ_FILE | 0b10) & rights)
    for path in readable:
        _allow(libc, rules, path, _READ)
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
    """Set resource limits. In a user namespace of its own only its tasks count against their limit; elsewhere all
    tasks of the person do, so there the program may start none.
    """
    mb = 1 << 20
    whole = True
    for limit, most in (
        (resource.RLIMIT_CPU, asked["cpu_seconds"]),
        (resource.RLIMIT_FSIZE, _DISK_MB * mb),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, _OPEN_FILES),
        (resource.RLIMIT_NPROC, _TASKS if own_users else 1),
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
