"""Code that a cell runs from elsewhere: a script in the notebook's names, a text that a variable holds."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from jupyter_clusterbridge.recorder.effects import Effects
from jupyter_clusterbridge.recorder.names import CellNames, analyse_cell

_LONGEST = 1 << 18


def with_texts(names: CellNames, namespace: Mapping[str, Any]) -> CellNames:
    """The analysis of a cell with that of the code it runs by ``%run -i`` and ``exec`` as it stands now."""
    texts = [*_scripts(names), *_variables(names, namespace)]
    if not texts:
        return names
    total = Effects()
    total.merge(names.total)
    total.sure = set(names.total.sure)
    for text in texts:
        inner = analyse_cell(text).total
        total.merge(inner, total.sure)
        total.sure |= inner.sure
    return dataclasses.replace(names, total=total, overwrites={})


def _scripts(names: CellNames) -> Iterator[str]:
    for magic in names.magics:
        if magic.kind != "line" or magic.name != "run" or not names.total.opaque:
            continue
        try:
            words = [word for word in shlex.split(magic.body) if not word.startswith("-")]
            path = Path(words[0] if words[0].endswith((".py", ".ipy")) else f"{words[0]}.py").expanduser()
            if path.stat().st_size <= _LONGEST:
                yield path.read_text(encoding="utf-8", errors="replace")
        except (OSError, ValueError, IndexError):
            continue  # the cell itself will say what is wrong with it


def _variables(names: CellNames, namespace: Mapping[str, Any]) -> Iterator[str]:
    for name in sorted(names.total.texts):
        value = namespace.get(name)
        if type(value) is str and len(value) <= _LONGEST:
            yield value
