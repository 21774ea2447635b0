"""``clusterbridge compare``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from jupyter_clusterbridge.app.text import comparison_lines
from jupyter_clusterbridge.cli.door import exit_codes, format_option, print_json, print_lines, user_errors
from jupyter_clusterbridge.model.verdict import Verdict

EXIT_CODES = {Verdict.SAME: 0, Verdict.DIFFERENT: 3, Verdict.CANNOT_TELL: 4}


@click.command(epilog=exit_codes("0 the same model", "3 different", "4 cannot tell"))
@click.argument("baseline", metavar="RUN_OR_BUNDLE", type=click.Path(path_type=Path))
@click.argument("run", type=click.Path(path_type=Path))
@format_option
def command(baseline: Path, run: Path, output_format: str) -> None:
    """Say whether RUN is still the model of RUN_OR_BUNDLE, and name the first difference if not."""
    from jupyter_clusterbridge.app.compare import compare_runs

    with user_errors(output_format):
        comparison = compare_runs(baseline, run)
    if output_format == "json":
        print_json(comparison)
    else:
        print_lines(comparison_lines(comparison))
    sys.exit(EXIT_CODES[comparison.verdict])
