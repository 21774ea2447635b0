"""Replacing attributes of other people's modules and classes, and putting them back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass
class _Patch:
    owner: Any
    name: str
    original: object
    ours: object


class Patches:
    """A set of replaced attributes that undoes itself.

    Where someone else has replaced an attribute after us, it is left alone at the end: theirs calls ours, and
    ours, once :attr:`active` is false, must do nothing but call the original.
    """

    def __init__(self) -> None:
        self._patches: list[_Patch] = []
        self.active = False

    def replace(self, owner: Any, name: str, wrap: Callable[[Any], Any]) -> None:
        """Replace ``owner.name`` by ``wrap(original)``; the attribute must be the owner's own."""
        original = vars(owner)[name]
        ours = wrap(original)
        setattr(owner, name, ours)
        self._patches.append(_Patch(owner, name, original, ours))
        self.active = True

    def undo(self) -> None:
        """Put back what is still ours; idempotent."""
        self.active = False
        for patch in reversed(self._patches):
            if vars(patch.owner).get(patch.name) is patch.ours:
                setattr(patch.owner, patch.name, patch.original)
        self._patches.clear()
