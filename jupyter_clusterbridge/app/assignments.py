"""``NAME=VALUE`` texts, as every door takes them."""

from __future__ import annotations

from collections.abc import Iterable

from jupyter_clusterbridge.model.errors import ParameterInvalid


def parse_assignments(assignments: Iterable[str]) -> dict[str, str]:
    """Split ``NAME=VALUE`` texts; types are checked later, against the notebook.

    >>> parse_assignments(["lr=0.1"])
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
