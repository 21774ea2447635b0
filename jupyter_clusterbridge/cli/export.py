"""``clusterbridge export``."""

from __future__ import annotations

from pathlib import Path

import click

from jupyter_clusterbridge.cli.door import exit_codes, format_option, print_json, progress, user_errors
from jupyter_clusterbridge.model.canonical import short
from jupyter_clusterbridge.model.errors import ParameterInvalid
from jupyter_clusterbridge.model.findings import Severity


def parse_assignments(assignments: tuple[str, ...]) -> dict[str, str]:
    """Split ``NAME=VALUE`` texts.

    >>> parse_assignments(("lr=0.1",))
    {'lr': '0.1'}

    Raises:
        ParameterInvalid: a text has no equals sign, no name, or a name twice.
    """
    values: dict[str, str] = {}
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        if not equals or not name:
            raise ParameterInvalid(f"-p {assignment}: is not NAME=VALUE")
        if name in values:
            raise ParameterInvalid(f"-p {assignment}: {name} is given twice")
        values[name] = value
    return values


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
    manifest = result.manifest
    errors = sum(finding.severity is Severity.ERROR for finding in result.findings)
    click.echo(f"bundle    {result.folder}")
    click.echo(f"model     {short(manifest.identity.model)}")
    click.echo(f"packages  {len(manifest.lock.packages)} locked for {manifest.lock.platform}")
    image = manifest.base_image
    click.echo(f"image     {image.ref}{' (floating: no digest is known)' if image.floating else ''}")
    click.echo(f"baseline  {'recorded' if manifest.has_baseline else 'none: the verdict will be: cannot tell'}")
    for text in (*result.warnings, *manifest.unknown, *manifest.lock.known_differences):
        click.echo(f"note      {text}")
    if errors:
        click.echo(f"lint      {errors} error-level findings; see: clusterbridge lint {notebook}")
