"""Cells as sequences of statements, so that cells that were split or merged are known again by what they say."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jupyter_clusterbridge.recorder.names import CellNames, analyse_cell
from jupyter_clusterbridge.recorder.runs import Run
from jupyter_clusterbridge.runtime.source import parse_cell

_DRAWS = re.compile(r"rand|shuffle|sample|choice|seed|permut|dropout|normal|fit", re.IGNORECASE)
"""Words of code that draws from a random stream, or sets one."""


@dataclass(frozen=True)
class Piece:
    """A cell of the saved file, or one of the parts that ran before they were merged into it."""

    cell: int
    """Position among the code cells."""
    source: str

    @property
    def key(self) -> str:
        """Equal for equal code in other formatting."""
        return analyse_cell(self.source).key


@functools.lru_cache(maxsize=4096)
def statement_keys(source: str) -> tuple[str, ...]:
    """One key for each statement and magic; a cell that is no Python, or has a cell magic, is one.

    >>> len(statement_keys("x = 1\\ny = 2  # two")), statement_keys("  # nothing")
    (2, ())
    """
    parsed = parse_cell(source)
    if parsed.tree is None or any(magic.kind == "cell" for magic in parsed.magics):
        return (analyse_cell(source).key,)
    said = {magic.line: f"|{magic.kind} {magic.name} {magic.body}" for magic in parsed.magics}
    return tuple(ast.dump(node) + said.get(node.lineno, "") for node in parsed.tree.body)


def split_run(run: Run, pieces: Sequence[Piece]) -> list[Run]:
    """A whole run as the runs of the cells into which its cell was split.

    What no statement names, since a call did it, counts for the first piece that calls anything.
    """
    names = [analyse_cell(piece.source) for piece in pieces]
    caller = next((number for number, one in enumerate(names) if one.total.calls), len(names) - 1)
    streams = _streams(run, [bool(_DRAWS.search(piece.source)) for piece in pieces], caller)
    made: set[str] = set()
    left = (set(run.reads), set(run.writes))
    out: list[Run] = []
    for number, (piece, one) in enumerate(zip(pieces, names, strict=True)):
        part = Run(run.kernel, None, piece.source, run.at, streams[number], streams[number + 1])
        part.status, part.cell, part.duration_s = run.status, piece.cell, run.duration_s
        part.reads = set(_read(one)) & (run.reads | made)
        part.writes = set(_written(one)) & run.writes
        part.mutates = part.writes & (run.mutates | (made & set(_changed(one))))
        made |= part.writes
        left[0].difference_update(part.reads)
        left[1].difference_update(part.writes)
        out.append(part)
    out[0].seen, out[0].outside = run.seen, run.outside
    _give(out[caller], run, *left)
    for part in out:
        part.untracked = run.untracked & (part.reads | part.writes)
    return out


def _streams(run: Run, draws: Sequence[bool], caller: int) -> list[dict[str, str]]:
    """Where the random streams stood between the pieces, as far as their text tells who draws."""
    movers = [number for number, drawn in enumerate(draws) if drawn] or [caller]
    out = [dict(run.rng_before)]
    for number in range(len(draws)):
        now = dict(out[-1])
        if number == movers[-1]:
            now = dict(run.rng_after)
        elif number in movers:
            now.update({name: f"{run.rng_after.get(name)}-{number}" for name in run.shifted_streams()})
        out.append(now)
    return out


def _give(part: Run, run: Run, reads: set[str], writes: set[str]) -> None:
    part.reads |= reads
    part.writes |= writes
    part.mutates |= run.mutates & writes


def _read(names: CellNames) -> Iterator[str]:
    total = names.total
    yield from (f"name:{name}" for name in total.reads.union(*(body.reads for body in total.defines.values())))
    yield from (f"env:{name}" for name in total.env_reads)


def _written(names: CellNames) -> Iterator[str]:
    total = names.total
    yield from (f"name:{name}" for name in total.binds | total.stores | total.touches | total.asks)
    yield from (f"env:{name}" for name in total.env_writes)


def _changed(names: CellNames) -> Iterator[str]:
    """What goes on from what it was."""
    yield from (f"name:{name}" for name in (names.total.stores | names.rebinds) - names.total.fits)
