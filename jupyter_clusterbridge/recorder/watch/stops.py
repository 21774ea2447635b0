"""Where a cell was when a person interrupted it: the training step and the loops around it."""

from __future__ import annotations

import ast
import types
from collections.abc import Iterator

from jupyter_clusterbridge.model.events import StoppedAt
from jupyter_clusterbridge.recorder.watch.base import Ended, Watch
from jupyter_clusterbridge.runtime.source import parse_cell

_COUNTERS = frozenset({"epoch", "step", "i", "it", "iteration", "batch", "batch_idx", "n", "k", "t"})
"""Names of loop counters in functions, whose source is not at hand."""
_LIMIT = 4


class StopWatch(Watch):
    """Looks at the counters once, when a cell has been interrupted."""

    def stop(self) -> None:
        """Nothing was replaced."""

    def end_cell(self, ended: Ended) -> None:
        """Write the place."""
        if ended.status != "interrupted":
            return
        loops: dict[str, int] = {}
        for frame, line in _frames(ended.error):
            if frame.f_globals is self.scene.namespace:
                loops.update(self._counters(frame, line))
        steps = self.scene.steps()
        if steps or loops:
            self.scene.emit(StoppedAt(self.scene.run, steps or None, dict(list(loops.items())[:_LIMIT])))

    def _counters(self, frame: types.FrameType, line: int) -> dict[str, int]:
        space = frame.f_locals
        names = _loop_names(self.scene.source, line) if space is frame.f_globals else sorted(_COUNTERS)
        return {name: space[name] for name in names if type(space.get(name)) is int}


def _frames(error: BaseException | None) -> Iterator[tuple[types.FrameType, int]]:
    trace = error.__traceback__ if error is not None else None
    while trace is not None:
        yield trace.tb_frame, trace.tb_lineno
        trace = trace.tb_next


def _loop_names(source: str, line: int) -> list[str]:
    """Targets of the ``for`` loops of a cell that a line lies in, outermost first."""
    tree = parse_cell(source).tree
    loops = [node for node in ast.walk(tree) if isinstance(node, ast.For)] if tree is not None else []
    around = [loop for loop in loops if loop.lineno <= line <= (loop.end_lineno or loop.lineno)]
    around.sort(key=lambda loop: loop.lineno)
    return [name.id for loop in around for name in ast.walk(loop.target) if isinstance(name, ast.Name)]
