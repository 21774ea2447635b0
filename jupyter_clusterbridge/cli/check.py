"""``clusterbridge check``."""

from __future__ import annotations

from pathlib import Path

import click

from jupyter_clusterbridge.app.text import check_lines, finding_lines
from jupyter_clusterbridge.cli.door import exit_codes, format_option, print_json, print_lines, user_errors


@click.command(epilog=exit_codes("0 the report was printed, whatever it says"))
@click.argument("notebook", type=click.Path(path_type=Path))
@format_option
def command(notebook: Path, output_format: str) -> None:
    """Hold the journal against the saved NOTEBOOK: state of each cell, interventions, findings."""
    from jupyter_clusterbridge.app.check import check_notebook_file

    with user_errors(output_format):
        report = check_notebook_file(notebook)
    if output_format == "json":
        print_json(report)
    else:
        print_lines(check_lines(report))
        print_lines(finding_lines(report.findings))
