"""Sees the exit code of every shell escape, which IPython drops or hides.

The functions below ``!command``, ``x = !command``, ``!!command`` and ``%sx`` are replaced in the kernel's
process, not the shell's methods: those find the caller's variables by counting frames.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from jupyter_clusterbridge.model.canonical import canonical_json
from jupyter_clusterbridge.runtime.source import parse_cell

SHELL_FILE = "shell.jsonl"
_SCRIPT_MAGICS = frozenset({"bash", "sh", "script", "python", "python2", "python3", "pypy", "perl", "ruby"})


@dataclass(frozen=True)
class ShellFailure:
    """A command that ended with another exit code than 0."""

    command: str
    exit_code: int
    visible: bool
    """Whether the notebook could see the exit code, in ``_exit_code``."""


def watch_shell(record_dir: Path) -> None:
    """Write each failing shell command of this kernel into ``shell.jsonl``."""
    from ipykernel import zmqshell
    from IPython.core import interactiveshell

    def report(command: str, exit_code: int, visible: bool) -> None:
        line = canonical_json({"command": command, "exit_code": exit_code, "visible": visible}) + b"\n"
        with (record_dir / SHELL_FILE).open("ab", buffering=0) as handle:
            handle.write(line)

    for module in (zmqshell, interactiveshell):
        module.system = _watched_system(module.system, report)
    interactiveshell.getoutput = _watched_getoutput(report)


Report = Callable[[str, int, bool], None]


def _watched_system(original: Callable[[str], int | None], report: Report) -> Callable[[str], int | None]:
    def system(cmd: str) -> int | None:
        exit_code = original(cmd)
        if exit_code:
            report(cmd, exit_code, True)
        return exit_code

    return system


def _watched_getoutput(report: Report) -> Callable[[str], str]:
    from IPython.utils._process_common import process_handler
    from IPython.utils.encoding import DEFAULT_ENCODING

    def getoutput(cmd: str) -> str:
        codes: list[int] = []

        def communicate(process: subprocess.Popen[bytes]) -> bytes:
            output = process.communicate()[0]
            codes.append(process.returncode)
            return output

        output = process_handler(cmd, communicate, subprocess.STDOUT)
        if codes and codes[0]:
            report(cmd, codes[0], False)
        return "" if output is None else output.decode(DEFAULT_ENCODING, "replace")

    return getoutput


class ShellFailures:
    """The supervisor's view of ``shell.jsonl``: what has failed since the last look."""

    def __init__(self, record_dir: Path) -> None:
        self._path = record_dir / SHELL_FILE
        self._offset = 0

    def since_last(self) -> tuple[ShellFailure, ...]:
        """Failures since the last call, in order."""
        try:
            with self._path.open("rb") as handle:
                handle.seek(self._offset, os.SEEK_SET)
                lines = handle.read().split(b"\n")
        except OSError:
            return ()
        self._offset += sum(len(line) + 1 for line in lines[:-1])
        return tuple(ShellFailure(**json.loads(line)) for line in lines[:-1])


def unseen_failure(source: str, failures: tuple[ShellFailure, ...]) -> ShellFailure | None:
    """The first failure that the cell itself did not look at.

    A cell that reads ``_exit_code`` handles the exit codes of its ``!`` commands itself.

    >>> failure = ShellFailure("false", 1, visible=True)
    >>> unseen_failure("!false", (failure,)) == failure
    True
    >>> unseen_failure("!false\\nif _exit_code:\\n    print('no luck')", (failure,)) is None
    True
    """
    looks = _reads_exit_code(source)
    return next((failure for failure in failures if not (failure.visible and looks)), None)


def script_failure(source: str, error_name: str, error_value: str) -> ShellFailure | None:
    """The failure behind an error of ``%%bash`` and its like; None when the error is another one."""
    if error_name != "CalledProcessError":
        return None
    for magic in parse_cell(source).magics:
        if magic.kind == "cell" and magic.name in _SCRIPT_MAGICS:
            return ShellFailure(f"%%{magic.name} {magic.body}".rstrip(), _exit_status(error_value), visible=False)
    return None


def _reads_exit_code(source: str) -> bool:
    tree = parse_cell(source).tree
    if tree is None:
        return "_exit_code" in source
    return any(
        isinstance(node, ast.Name) and node.id == "_exit_code" and isinstance(node.ctx, ast.Load)
        for node in ast.walk(tree)
    )


def _exit_status(text: str) -> int:
    words = text.rstrip(".").split()
    try:
        return int(words[-1])
    except (IndexError, ValueError):
        return 1
