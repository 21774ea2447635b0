"""Makes IPython kernels quickly: imports what every kernel imports once, then forks one for each line read.

A line of standard input is a JSON object with ``connection`` (the connection file), ``cwd``, ``env`` and ``log``;
the answer on standard output is the process id. Frameworks are not imported here: a session imports its own.
"""

from __future__ import annotations

import json
import os
import signal
import sys

import ipykernel.inprocess  # noqa: F401  what the kernel imports late
from ipykernel.kernelapp import IPKernelApp

import jupyter_clusterbridge.magics  # noqa: F401


def become_kernel(order: dict[str, object]) -> None:
    """Turn this forked process into a kernel."""
    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    null, log = (
        os.open(os.devnull, os.O_RDONLY),
        os.open(str(order["log"]), os.O_CREAT | os.O_WRONLY | os.O_APPEND),
    )
    os.dup2(null, 0)
    os.dup2(log, 1)
    os.dup2(log, 2)
    environment = order["env"]
    assert isinstance(environment, dict)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(str(order["cwd"]))
    sys.path[0] = ""
    arguments = ["-f", str(order["connection"]), "--HistoryManager.enabled=False", "--ext=clusterbridge"]
    IPKernelApp.launch_instance(argv=arguments)


def main() -> None:
    """Fork until standard input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the system takes away those that end
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            become_kernel(json.loads(line))
            os._exit(0)
        print(pid, flush=True)


if __name__ == "__main__":
    main()
