"""What every command shares: the ``--format`` option, error output and exit codes in the help."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NoReturn

import click

from jupyter_clusterbridge.model.codec import to_json
from jupyter_clusterbridge.model.errors import ERRORS, ClusterBridgeError, DiskFull
from jupyter_clusterbridge.model.run import RunStatus

format_option = click.option(
    "--format",
    "output_format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="How to print the result.",
)

_SHARED_CODES = f"2 bad usage; 9 to {ERRORS[-1].exit_code} one code for each failure, see docs/exit-codes.md"


def exit_codes(*codes: str) -> str:
    """The help text's last line: a command's own exit codes and the shared ones."""
    return "Exit codes: " + "; ".join([*codes, _SHARED_CODES]) + "."


def print_json(document: object) -> None:
    """Print a dataclass or plain data as JSON on standard output."""
    _print(json.dumps(to_json(document), indent=2, sort_keys=True, ensure_ascii=False))


def print_lines(lines: Iterable[str]) -> None:
    """Print lines of a report on standard output."""
    for line in lines:
        _print(line)


def _print(text: str) -> None:
    try:
        click.echo(text)
    except BrokenPipeError:
        raise
    except OSError as error:
        click.echo(f"error: the result cannot be printed ({error.strerror})", err=True)
        click.echo("  next: Print to a terminal, or to a file on a disk with free space.", err=True)
        # what is left in the buffer would fail once more when Python ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(DiskFull.exit_code)


def finish_run(run_dir: Path, status: RunStatus, output_format: str, label: str = "run") -> NoReturn:
    """Print how a run ended and where it lies, and exit with the job's own code."""
    if output_format == "json":
        print_json({"run_dir": str(run_dir), "status": status})
    else:
        print_lines(
            [f"state     {status.state.value}", f"reason    {status.reason}", f"{label:<10}{run_dir}"],
        )
    sys.exit(status.exit_code if status.exit_code is not None else 1)


def progress(text: str) -> None:
    """Print one line of progress on standard error, so that standard output holds the result alone."""
    click.echo(text, err=True)


def fail(error: ClusterBridgeError, output_format: str) -> NoReturn:
    """Print one message that says what, why and what next, and exit with the error's own code."""
    if output_format == "json":
        document = {
            "error": type(error).__name__,
            "message": error.message,
            "hint": error.next_step,
            "exit_code": error.exit_code,
        }
        click.echo(json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False))
    else:
        click.echo(f"error: {error.message}", err=True)
        if error.next_step:
            click.echo(f"  next: {error.next_step}", err=True)
    sys.exit(error.exit_code)


@contextlib.contextmanager
def user_errors(output_format: str) -> Iterator[None]:
    """Turn errors of ours and failed writes into one message; anything else is a bug and shows itself."""
    try:
        yield
    except ClusterBridgeError as error:
        fail(error, output_format)
    except BrokenPipeError:
        sys.exit(141)
