"""``clusterbridge export``."""

from __future__ import annotations

from pathlib import Path

import click

from jupyter_clusterbridge.app.assignments import parse_assignments
from jupyter_clusterbridge.app.text import export_lines
from jupyter_clusterbridge.cli.door import (
    exit_codes,
    format_option,
    print_json,
    print_lines,
    progress,
    user_errors,
)


@click.command(epilog=exit_codes("0 the bundle was written"))
@click.argument("notebook", type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="Folder to write.")
@click.option("--to", "engines", multiple=True, metavar="ENGINE", help="Also write files for this engine.")
@click.option("--base-image", metavar="REF", help="Base image; the default is Python's own of the same version.")
@click.option(
    "--scope",
    type=click.Choice(["used", "all"]),
    default="used",
    show_default=True,
    help="Lock what the kernel loaded, or all that is installed.",
)
@click.option("-p", "--parameter", "parameters", multiple=True, metavar="NAME=VALUE", help="Set a parameter.")
@click.option("--platform", default="linux/amd64", show_default=True, help="Platform of the cluster.")
@click.option("--python", type=click.Path(path_type=Path), help="Interpreter to lock when there is no journal.")
@format_option
def command(
    notebook: Path,
    output: Path,
    engines: tuple[str, ...],
    base_image: str | None,
    scope: str,
    parameters: tuple[str, ...],
    platform: str,
    python: Path | None,
    output_format: str,
) -> None:
    """Write NOTEBOOK as a job bundle: locked environment, data digests, baseline, guards."""
    from jupyter_clusterbridge.app.export import ExportRequest, export_notebook

    with user_errors(output_format):
        request = ExportRequest(
            notebook=notebook,
            output=output,
            engines=engines,
            base_image=base_image,
            scope=scope,
            parameters=parse_assignments(parameters),
            platform=platform,
            python=python,
        )
        result = export_notebook(request, progress)
    if output_format == "json":
        print_json(
            {
                "folder": str(result.folder),
                "bundle": result.manifest,
                "findings": result.findings,
                "warnings": result.warnings,
            }
        )
        return
    print_lines(export_lines(result.folder, result.manifest, result.findings, result.warnings))
