"""The README against the code: the help of every command stands in it word for word."""

from __future__ import annotations

import re
from pathlib import Path

from click.testing import CliRunner

from jupyter_clusterbridge.cli.group import COMMANDS, cli

BLOCK = re.compile(r"<!-- help: begin -->\n(.*?)<!-- help: end -->", re.DOTALL)


def help_section() -> str:
    """The help of each command as Markdown, at a fixed width."""
    parts: list[str] = []
    for name in COMMANDS:
        result = CliRunner().invoke(
            cli, [name, "--help"], prog_name="clusterbridge", terminal_width=100, max_content_width=100
        )
        assert result.exit_code == 0, result.output
        parts.append(f"```\n$ clusterbridge {name} --help\n{result.output.rstrip()}\n```\n")
    return "\n".join(parts)


def test_the_help_in_the_readme_is_what_the_commands_print(repository: Path, update_golden: bool) -> None:
    readme = repository / "README.md"
    text = readme.read_text()
    section = help_section()
    if update_golden:
        readme.write_text(BLOCK.sub(lambda _: f"<!-- help: begin -->\n{section}<!-- help: end -->", text))
        return
    found = BLOCK.search(text)
    assert found is not None
    assert found[1] == section, "run: pytest tests/arch/test_readme.py --update-golden"


def test_every_file_that_the_readme_links_is_there(repository: Path) -> None:
    text = (repository / "README.md").read_text()
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in link]
    assert links
    assert [link for link in links if not (repository / link).exists()] == []
