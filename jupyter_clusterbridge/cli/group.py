"""The ``clusterbridge`` group: commands are imported when they are called."""

from __future__ import annotations

import importlib

import click

from jupyter_clusterbridge.model.version import VERSION

COMMANDS = {
    "lint": "Find what a cluster will not forgive.",
    "check": "Hold the journal against the saved notebook.",
    "export": "Write the notebook as a pinned job bundle.",
    "run": "Run a bundle on an engine, guarded.",
    "baseline": "Replay the notebook cleanly, here and now, as the baseline.",
    "compare": "Say whether a run is still the model that was tested.",
    "engines": "Say which engines are usable here.",
}


class LazyGroup(click.Group):
    """A group whose commands live in one module each."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order of the workflow."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command's module."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"jupyter_clusterbridge.cli.{cmd_name}")
        command = module.command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(VERSION, prog_name="clusterbridge")
def cli() -> None:
    """From a notebook that works to a cluster job that is still the same model."""
