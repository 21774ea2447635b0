"""The line magic: parse, call a use case, print; a mistake is a message and never a traceback."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from jupyter_clusterbridge.model.errors import ClusterBridgeError

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell


class _Usage(Exception):
    """The line could not be parsed, or help was asked for; the text is what to print."""


class _Parser(argparse.ArgumentParser):
    """A parser that neither prints nor exits."""

    def error(self, message: str) -> NoReturn:
        raise _Usage(f"{self.prog}: {message}\n{self.format_usage().strip()}")

    def print_help(self, file: object = None) -> None:
        raise _Usage(self.format_help())


def _parser() -> _Parser:
    parser = _Parser(prog="%clusterbridge", description="What a cluster will not forgive, and the way there.")
    commands = parser.add_subparsers(dest="command", parser_class=_Parser)
    commands.add_parser("status", help="identity, what was recorded, what a cluster will not forgive")
    commands.add_parser("check", help="state of each cell, interventions, findings")
    lint = commands.add_parser("lint", help="what a cluster will not forgive in the saved notebook")
    lint.add_argument("--select", action="append", metavar="CODES")
    lint.add_argument("--ignore", action="append", metavar="CODES")
    export = commands.add_parser("export", help="write the notebook as a job bundle")
    export.add_argument("-o", "--output", required=True)
    export.add_argument("--to", action="append", default=[], metavar="ENGINE")
    export.add_argument("--base-image", metavar="REF")
    export.add_argument("--scope", choices=["used", "all"], default="used")
    export.add_argument("--platform", default="linux/amd64")
    export.add_argument("-p", "--parameter", action="append", default=[], metavar="NAME=VALUE")
    compare = commands.add_parser("compare", help="say whether a run is still the model that was tested")
    compare.add_argument("baseline", metavar="RUN_OR_BUNDLE")
    compare.add_argument("run")
    names = commands.add_parser(
        "determinism",
        help="name operations without a deterministic implementation",
        description="While it is on, torch warns of each such operation and check lists it with cell and line."
        " torch then takes other algorithms, so numbers and speed differ from a run without it.",
    )
    names.add_argument("switch", choices=["on", "off"])
    return parser


def clusterbridge_magic(shell: InteractiveShell) -> Callable[[str], None]:
    """Build the magic function for one shell."""

    def clusterbridge(line: str) -> None:
        """Say and export what ClusterBridge knows of this notebook; try ``%clusterbridge --help``."""
        try:
            options = _parser().parse_args(shlex.split(line) or ["status"])
            _COMMANDS[options.command or "status"](shell, options)
        except _Usage as usage:
            print(usage)
        except ValueError as error:
            print(f"%clusterbridge: {error}")
        except ClusterBridgeError as error:
            print(f"error: {error.message}")
            if error.next_step:
                print(f"  next: {error.next_step}")

    return clusterbridge


def _notebook(shell: InteractiveShell) -> Path:
    from jupyter_clusterbridge.app.record import recorded_notebook

    return recorded_notebook(shell)


def _status(shell: InteractiveShell, options: argparse.Namespace) -> None:
    from jupyter_clusterbridge.app.status import notebook_status, status_lines

    for line in status_lines(notebook_status(_notebook(shell))):
        print(line)


def _check(shell: InteractiveShell, options: argparse.Namespace) -> None:
    from jupyter_clusterbridge.app.check import check_notebook_file
    from jupyter_clusterbridge.app.text import check_lines, finding_lines

    report = check_notebook_file(_notebook(shell))
    for line in (*check_lines(report), *finding_lines(report.findings)):
        print(line)


def _lint(shell: InteractiveShell, options: argparse.Namespace) -> None:
    from jupyter_clusterbridge.app.lint import LintOptions, lint_paths
    from jupyter_clusterbridge.app.text import lint_lines
    from jupyter_clusterbridge.lint.registry import parse_codes

    chosen = LintOptions(
        select=parse_codes(options.select, "--select") if options.select else None,
        ignore=parse_codes(options.ignore, "--ignore") if options.ignore else None,
    )
    run = lint_paths([_notebook(shell)], chosen)
    for line in (*run.notes, *lint_lines(run.report)):
        print(line)


def _export(shell: InteractiveShell, options: argparse.Namespace) -> None:
    from jupyter_clusterbridge.app.assignments import parse_assignments
    from jupyter_clusterbridge.app.export import ExportRequest, export_notebook
    from jupyter_clusterbridge.app.text import export_lines

    request = ExportRequest(
        notebook=_notebook(shell),
        output=Path(options.output),
        engines=tuple(options.to),
        base_image=options.base_image,
        scope=options.scope,
        platform=options.platform,
        parameters=parse_assignments(options.parameter),
    )
    result = export_notebook(request, print)
    for line in export_lines(result.folder, result.manifest, result.findings, result.warnings):
        print(line)


def _compare(shell: InteractiveShell, options: argparse.Namespace) -> None:
    from jupyter_clusterbridge.app.compare import compare_runs
    from jupyter_clusterbridge.app.text import comparison_lines

    for line in comparison_lines(compare_runs(Path(options.baseline), Path(options.run))):
        print(line)


def _determinism(shell: InteractiveShell, options: argparse.Namespace) -> None:
    from jupyter_clusterbridge.app.determinism import switch_determinism

    print(switch_determinism(shell, options.switch == "on"))


_COMMANDS: dict[str, Callable[[InteractiveShell, argparse.Namespace], None]] = {
    "status": _status,
    "check": _check,
    "lint": _lint,
    "export": _export,
    "compare": _compare,
    "determinism": _determinism,
}
