"""Effects of code on the namespace of a notebook."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass
class Effects:
    """Effects of one statement, of one cell, or of the body of a function on the namespace of the notebook."""

    dump: str = ""
    """Canonical form of the statement: equal for equal code in other formatting."""
    reads: set[str] = field(default_factory=set)
    """Names read before they are bound."""
    binds: set[str] = field(default_factory=set)
    """Names bound on some path."""
    sure: set[str] = field(default_factory=set)
    """Names bound on every path."""
    deletes: set[str] = field(default_factory=set)
    stores: set[str] = field(default_factory=set)
    """Old objects changed in place for certain: item and attribute stores, known mutating calls."""
    fits: set[str] = field(default_factory=set)
    """Those of ``stores`` only by ``.fit``, which starts anew in scikit-learn and goes on in Keras."""
    touches: set[str] = field(default_factory=set)
    """Old objects that a call may change in place: a method's owner, an argument, a called object."""
    imports: set[str] = field(default_factory=set)
    env_reads: set[str] = field(default_factory=set)
    env_writes: set[str] = field(default_factory=set)
    seeds: set[str] = field(default_factory=set)
    """Random streams that are set to a fixed state."""
    calls: bool = False
    """Whether anything is called that is not known to be pure."""
    defines: dict[str, Effects] = field(default_factory=dict)
    """Functions and classes, with what their bodies do when called."""

    @property
    def inert(self) -> bool:
        """Whether nothing but output can come of it."""
        return not (self.calls or self.binds or self.stores or self.deletes or self.env_writes)

    def merge(self, other: Effects, fresh: Iterable[str] = ()) -> None:
        """Add what ``other`` does after this; names in ``fresh`` are already bound."""
        known = set(fresh)
        self.reads |= other.reads - known
        self.stores |= other.stores - known
        self.fits |= other.fits - known
        self.touches |= other.touches - known
        for name in ("binds", "deletes", "imports", "env_reads", "env_writes", "seeds"):
            getattr(self, name).update(getattr(other, name))
        self.calls |= other.calls
        self.defines.update(other.defines)
