"""``clusterbridge run``."""

from __future__ import annotations

import math
from pathlib import Path

import click

from jupyter_clusterbridge.cli.door import exit_codes, finish_run, format_option, progress, user_errors
from jupyter_clusterbridge.model.resources import Resources, parse_duration, parse_size


def _finite(context: click.Context, option: click.Parameter, value: float | None) -> float | None:
    """Refuse what a range lets through: ``nan`` is in every one, ``inf`` in one without an end."""
    if value is not None and not math.isfinite(value):
        raise click.BadParameter(f"{value} is no number of processors", context, option)
    return value


@click.command(
    epilog=exit_codes(
        "0 every cell ran and every artifact is there",
        "39 to 143 the job's own exit code, which names its end",
    )
)
@click.argument("bundle", type=click.Path(path_type=Path))
@click.option("--engine", default="local", show_default=True, help="Where to run: local or docker.")
@click.option("--out", type=click.Path(path_type=Path), help="Run directory; the default is a new one.")
@click.option(
    "--cpus",
    type=click.FloatRange(min=0, min_open=True),
    callback=_finite,
    help="Processors, for example 2 or 0.5.",
)
@click.option("--memory", metavar="SIZE", help="Memory limit, for example 4g.")
@click.option("--shm-size", metavar="SIZE", help="Size of /dev/shm, for example 1g.")
@click.option("--time-limit", metavar="DURATION", help="Time limit, for example 6h.")
@click.option("--data-dir", type=click.Path(path_type=Path), help="Folder that holds declared data files.")
@format_option
def command(
    bundle: Path,
    engine: str,
    out: Path | None,
    cpus: float | None,
    memory: str | None,
    shm_size: str | None,
    time_limit: str | None,
    data_dir: Path | None,
    output_format: str,
) -> None:
    """Run the bundle in folder BUNDLE on an engine, with its guards on."""
    from jupyter_clusterbridge.app.run import RunRequest, run_bundle

    with user_errors(output_format):
        resources = Resources(
            cpus=cpus,
            memory_bytes=parse_size(memory) if memory is not None else None,
            shm_bytes=parse_size(shm_size) if shm_size is not None else None,
            time_limit_s=parse_duration(time_limit) if time_limit is not None else None,
        )
        request = RunRequest(bundle=bundle, engine=engine, out=out, resources=resources, data_dir=data_dir)
        result = run_bundle(request, progress)
    finish_run(result.run_dir, result.status, output_format)
