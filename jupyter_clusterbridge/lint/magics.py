"""What magics do to the names that a notebook knows, and the commands that shell escapes run."""

from __future__ import annotations

import re

from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.lint.scope import words
from jupyter_clusterbridge.runtime.source import Magic

_KNOWN_LINE_MAGICS = words("""
    alias autoawait automagic autoreload bookmark cat cd clear clusterbridge colors conda config cp debug
    dirs env gui history inline ldir less lf lk ll load_ext logoff logon logstart logstate logstop ls lsmagic
    lx magic mamba man matplotlib memit micromamba mkdir more mprun mv notebook page pdb pdef pdoc pfile
    pinfo pinfo2 pip popd precision profile prun psearch psource pushd pwd pycat quickref recall rehashx
    reload_ext rm rmdir save set_env system sx tb tensorboard time timeit unalias unload_ext uv watermark who
    who_ls whos xdel xmode
""")
_KNOWN_CELL_MAGICS = words("""
    ! HTML SVG bash capture cmd file html javascript js latex markdown memit perl pip prun python python2
    python3 ruby script sh svg sx system time timeit writefile
""")
_HERE_TEXT = re.compile(r"<<-?\s*[\"'\\]?(\w+)")
_SHELL_CELLS = ("bash", "sh", "!", "sx", "system", "script", "cmd")


def note_magic(magic: Magic, cell: CellContext) -> None:
    """Note the names that a magic binds, or that it may bind any name at all."""
    if magic.kind == "cell":
        if magic.name == "capture":
            for name in re.findall(r"(?:^|\s)([A-Za-z_]\w*)", magic.body):
                cell.binds.setdefault(name, magic.line)
        elif magic.name in _SHELL_CELLS:
            for name in re.findall(r"--(?:out|err|proc|bg)[ =]+([A-Za-z_]\w*)", magic.body):
                cell.binds.setdefault(name, magic.line)
        elif magic.name not in _KNOWN_CELL_MAGICS:
            _opaque(cell)
    elif magic.kind == "line" and magic.name not in _KNOWN_LINE_MAGICS:
        _opaque(cell)


def _opaque(cell: CellContext) -> None:
    if cell.notebook.opaque_from is None:
        cell.notebook.opaque_from = cell.cell.index


def shell_lines(magic: Magic, cell: CellContext) -> list[tuple[int, str]]:
    """The shell commands that a shell escape or a shell cell runs, each with its line in the cell."""
    if magic.kind == "shell":
        return [(magic.line, magic.body)]
    if magic.kind == "cell" and magic.name in _SHELL_CELLS:
        return _commands(cell.cell.source.split("\n")[magic.line :], magic.line + 1)
    return []


def _commands(lines: list[str], first: int) -> list[tuple[int, str]]:
    """The lines of a shell cell that are commands: no comments, and no text that one writes to a file."""
    found: list[tuple[int, str]] = []
    until: str | None = None
    for number, line in enumerate(lines, start=first):
        text = line.strip()
        if until is not None:
            until = None if text == until else until
        elif text and not text.startswith("#"):
            found.append((number, text))
            begins = _HERE_TEXT.search(text)
            until = begins[1] if begins else None
    return found
