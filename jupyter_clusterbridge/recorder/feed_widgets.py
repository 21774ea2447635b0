"""Fingerprints of ipywidgets: what a person or the code sets in them, and not how they talk to the front end."""

from __future__ import annotations

from typing import Any

from jupyter_clusterbridge.recorder.feeding import Feeder

_LOOKS = frozenset({"layout", "style", "comm", "keys", "log", "tooltip", "tabbable", "outputs", "msg_id"})


def widget(feeder: Feeder, value: Any, depth: int) -> None:
    """The traits of one widget.

    Those that are empty count as missing: a trait gets its default when it is read for the first time, and to
    read a widget is no change of it.
    """
    feeder.by_value = False
    traits = vars(value).get("_trait_values", {})
    for name in sorted(traits):
        held = traits[name]
        empty = held is None or (type(held) in (list, tuple, dict, set, str) and not held)
        if not empty and name not in _LOOKS and not name.startswith("_"):
            feeder.mark(name)
            feeder.feed(held, depth + 1)
