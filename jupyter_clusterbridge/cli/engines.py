"""``clusterbridge engines``."""

from __future__ import annotations

import click

from jupyter_clusterbridge.cli.door import exit_codes, format_option, print_json, user_errors


@click.command(epilog=exit_codes("0 the list was printed"))
@format_option
def command(output_format: str) -> None:
    """Say which engines are usable here, and if not, why."""
    from jupyter_clusterbridge.app.engines import list_engines

    with user_errors(output_format):
        report = list_engines()
    if output_format == "json":
        print_json(report)
        return
    for engine in report.engines:
        click.echo(f"{engine.name:<12}{'usable' if engine.usable else 'not usable':<12}{engine.reason}")
