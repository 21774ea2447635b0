"""The command line: parse, call a use case, present."""

from __future__ import annotations


def main() -> None:
    """Entry point of ``clusterbridge`` and ``jupyter clusterbridge``."""
    from jupyter_clusterbridge.cli.group import cli

    cli()
