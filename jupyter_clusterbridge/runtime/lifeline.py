"""Kills what a job started when its supervisor is gone.

Runs as a small process of its own, by path and without the rest of the package: it waits until the pipe
that it inherited as standard input closes, which happens however the supervisor ends, and then kills every
process that carries the job's token in its environment. Standard library only.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time

TOKEN_VARIABLE = "CLUSTERBRIDGE_RUN_TOKEN"
_ROUNDS = 20
_PAUSE_S = 0.05


def processes_with(token: str) -> list[int]:
    """Ids of all processes that were started with the token, this one left out (Linux only)."""
    needle = f"{TOKEN_VARIABLE}={token}".encode()
    found: list[int] = []
    try:
        names = os.listdir("/proc")
    except OSError:
        return found
    for name in names:
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            with open(f"/proc/{name}/environ", "rb") as handle:
                if needle in handle.read().split(b"\0"):
                    found.append(int(name))
        except OSError:
            continue
    return found


def kill_all(token: str, group: int | None = None) -> int:
    """Kill every process with the token until none is left; returns how many were killed.

    Args:
        token: the job's token.
        group: a process group to kill as well, for systems where an environment cannot be read.
    """
    if group is not None:
        with contextlib.suppress(OSError):
            os.killpg(group, signal.SIGKILL)
    killed: set[int] = set()
    for _round in range(_ROUNDS):
        living = processes_with(token)
        if not living:
            break
        for pid in living:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
                killed.add(pid)
        time.sleep(_PAUSE_S)
    return len(killed)


class Lifeline:
    """The supervisor's end: as long as it is open, the job's processes may live."""

    def __init__(self, token: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", os.path.abspath(__file__), token],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    @property
    def pid(self) -> int:
        """Process id of the waiting process."""
        return self._process.pid

    def watch_group(self, group: int) -> None:
        """Name the kernel's process group."""
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.write(f"{group}\n".encode())
                self._process.stdin.flush()

    def close(self, timeout_s: float = 10.0) -> None:
        """Let everything that still runs be killed; returns when it is done."""
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout_s)


def main(arguments: list[str]) -> None:
    """Wait for the end of standard input, then kill; what comes in is the kernel's process group."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    received = b""
    while data := os.read(0, 64):
        received += data
    # with /proc the token finds everything, and a group's id may have gone to others by now
    use_group = received.strip().isdigit() and not os.path.isdir("/proc/self")
    kill_all(arguments[0], int(received) if use_group else None)


if __name__ == "__main__":
    main(sys.argv[1:])
