"""``clusterbridge lint``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from jupyter_clusterbridge.app.text import finding_lines
from jupyter_clusterbridge.cli.door import exit_codes, format_option, print_json, print_lines, user_errors


@click.command(epilog=exit_codes("0 no error-level finding", "1 at least one"))
@click.argument("notebooks", nargs=-1, required=True, type=click.Path(path_type=Path))
@format_option
def command(notebooks: tuple[Path, ...], output_format: str) -> None:
    """Find what a cluster will not forgive in each NOTEBOOK."""
    from jupyter_clusterbridge.app.lint import lint_notebooks

    with user_errors(output_format):
        report = lint_notebooks(notebooks)
    if output_format == "json":
        print_json(report)
    else:
        print_lines(finding_lines(report.findings))
    sys.exit(1 if report.has_errors else 0)
