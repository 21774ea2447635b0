"""``clusterbridge lint``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from jupyter_clusterbridge.app.text import lint_lines
from jupyter_clusterbridge.cli.door import exit_codes, print_json, print_lines, progress, user_errors
from jupyter_clusterbridge.model.errors import ConfigInvalid
from jupyter_clusterbridge.model.findings import LintReport, Severity


@click.command(epilog=exit_codes("0 no error-level finding", "1 at least one"))
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path, allow_dash=True))
@click.option(
    "--select", multiple=True, metavar="CODES", help="Only these rules: codes or beginnings such as CB1,CB203."
)
@click.option("--ignore", multiple=True, metavar="CODES", help="Not these rules.")
@click.option("--fix", is_flag=True, help="Make the safe fixes in the files.")
@click.option(
    "--fail-on",
    type=click.Choice([severity.value for severity in Severity]),
    default=Severity.ERROR.value,
    show_default=True,
    help="Exit with 1 from this level on.",
)
@click.option("--stdin-name", metavar="NAME", type=click.Path(path_type=Path), help="What '-' is called.")
@click.option(
    "--format",
    "output_format",
    type=click.Choice(["text", "json", "sarif", "github"]),
    default="text",
    show_default=True,
    help="How to print the result.",
)
def command(
    paths: tuple[Path, ...],
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    fix: bool,
    fail_on: str,
    stdin_name: Path | None,
    output_format: str,
) -> None:
    """Find what a cluster will not forgive in notebooks, '# %%' scripts, and all of them in folders.

    A PATH of '-' is standard input. Settings stand under [tool.clusterbridge.lint] in pyproject.toml.
    """
    from jupyter_clusterbridge.app.lint import STANDARD_INPUT, LintOptions, lint_paths

    from_stdin = STANDARD_INPUT in paths
    if from_stdin and fix:
        raise click.UsageError("--fix cannot change standard input; name a file")
    options = LintOptions(
        select=_codes(select, "--select"),
        ignore=_codes(ignore, "--ignore"),
        fix=fix,
        file_lines=output_format != "text",
        stdin=sys.stdin.buffer.read() if from_stdin else b"",
        stdin_name=stdin_name or LintOptions.stdin_name,
    )
    with user_errors(output_format):
        run = lint_paths(paths, options)
    for note in run.notes:
        progress(f"note: {note}")
    _print(run.report, output_format)
    sys.exit(1 if run.report.reaches(Severity(fail_on)) else 0)


def _codes(texts: tuple[str, ...], option: str) -> tuple[str, ...] | None:
    from jupyter_clusterbridge.lint.registry import parse_codes

    if not texts:
        return None
    try:
        codes = parse_codes(texts, option)
    except ConfigInvalid as error:
        raise click.UsageError(f"{error.message}; docs/rules/README.md lists them") from None
    if not codes:
        raise click.UsageError(f"{option} names no code")
    return codes


def _print(report: LintReport, output_format: str) -> None:
    if output_format == "json":
        print_json(report)
    elif output_format == "sarif":
        from jupyter_clusterbridge.lint.formats.sarif import sarif_document

        print_json(sarif_document(report, Path.cwd()))
    elif output_format == "github":
        from jupyter_clusterbridge.lint.formats.github import github_lines

        print_lines(github_lines(report))
    else:
        print_lines(lint_lines(report))
