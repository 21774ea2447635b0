"""Takes out of a recorded run what is nobody's business but its author's."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable

from jupyter_clusterbridge.export.secrets import is_secret
from jupyter_clusterbridge.model.environment import Environment
from jupyter_clusterbridge.model.record import RunRecord
from jupyter_clusterbridge.model.state import Intervention, InterventionKind

_NUMBER = r"[+-]?[0-9][0-9_]*(?:\.[0-9_]*)?(?:[eE][+-]?[0-9]+)?"
_PLAIN = re.compile(rf"(?:[A-Za-z_][\w.]* = )?(?:{_NUMBER}|True|False|None)")
"""What may be quoted of a source that the saved notebook no longer has: a name, and a number or a constant."""
_NAME = re.compile(r"[A-Za-z_]\w*")
_WITH_VALUES = (InterventionKind.EDITED_RERUN, InterventionKind.WIDGET_CHANGE)
"""Kinds whose messages hold what a person wrote or chose."""
_QUOTED = re.compile(r"`([^`]*)`")
_QUOTES = re.compile(r"`.*`", re.DOTALL)
_PATH = re.compile(r"`/[^`]*`")
_TAKEN_OUT = "`…`"


def without_private(record: RunRecord, may_name: Callable[[str], bool]) -> RunRecord:
    """The record as a bundle may hold it.

    Left out are where packages came from, which may name folders and people; files and folders that the bundle
    may not name; and text of cells as they once were, as a password may have been taken out of them since.

    Args:
        record: a recorded run of the notebook.
        may_name: whether the bundle may name a file or folder outside of the notebook's folder.
    """
    return dataclasses.replace(
        record,
        environment=_without_origins(record),
        files=tuple(file for file in record.files if _shown(file.path, may_name) and not is_secret(file.path)),
        listings=tuple(one for one in record.listings if _shown(one.path, may_name)),
        interventions=tuple(_without_quotes(one) for one in record.interventions),
        unreachable=tuple(_PATH.sub(_TAKEN_OUT, sentence) for sentence in record.unreachable),
    )


def _without_origins(record: RunRecord) -> Environment | None:
    if record.environment is None:
        return None
    packages = tuple(dataclasses.replace(package, origin=None) for package in record.environment.distributions)
    return dataclasses.replace(record.environment, distributions=packages)


def _shown(path: str, may_name: Callable[[str], bool]) -> bool:
    return not path.startswith("/") or may_name(path)


def _without_quotes(intervention: Intervention) -> Intervention:
    valued = intervention.kind in _WITH_VALUES
    names = intervention.kind is InterventionKind.WIDGET_CHANGE
    message, remedy = (
        _without_values(text, names) if valued else _PATH.sub(_TAKEN_OUT, text)
        for text in (intervention.message, intervention.remedy)
    )
    return dataclasses.replace(intervention, message=message, remedy=remedy)


def _without_values(text: str, names: bool) -> str:
    quoted = _QUOTED.findall(text)
    if (
        all(_PLAIN.fullmatch(one) or (names and _NAME.fullmatch(one)) for one in quoted)
        and text.count("`") % 2 == 0
    ):
        return text
    # from the first to the last quote, as what is quoted may hold that mark itself
    return _QUOTES.sub(_TAKEN_OUT, text)
