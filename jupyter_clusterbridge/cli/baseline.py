"""``clusterbridge baseline``."""

from __future__ import annotations

from pathlib import Path

import click

from jupyter_clusterbridge.cli.door import exit_codes, finish_run, format_option, progress, user_errors


@click.command(epilog=exit_codes("0 every cell ran", "39 to 143 how the replay ended"))
@click.argument("notebook", type=click.Path(path_type=Path))
@format_option
def command(notebook: Path, output_format: str) -> None:
    """Replay NOTEBOOK from top to bottom in its own environment and record that as the baseline."""
    from jupyter_clusterbridge.app.baseline import record_baseline

    with user_errors(output_format):
        result = record_baseline(notebook, progress)
    finish_run(result.run_dir, result.status, output_format, "baseline")
