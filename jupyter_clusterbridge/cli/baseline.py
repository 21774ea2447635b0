"""``clusterbridge baseline``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from jupyter_clusterbridge.cli.door import exit_codes, format_option, print_json, progress, user_errors


@click.command(epilog=exit_codes("0 every cell ran", "39 to 143 how the replay ended"))
@click.argument("notebook", type=click.Path(path_type=Path))
@format_option
def command(notebook: Path, output_format: str) -> None:
    """Replay NOTEBOOK from top to bottom in its own environment and record that as the baseline."""
    from jupyter_clusterbridge.app.baseline import record_baseline

    with user_errors(output_format):
        result = record_baseline(notebook, progress)
    status = result.status
    if output_format == "json":
        print_json({"run_dir": str(result.run_dir), "status": status})
    else:
        click.echo(f"state     {status.state.value}")
        click.echo(f"reason    {status.reason}")
        click.echo(f"baseline  {result.run_dir}")
    sys.exit(status.exit_code if status.exit_code is not None else 1)
