"""Effects of code on the namespace of a notebook."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field


def mark(name: str, part: str) -> str:
    """How a part that is set is kept among bound names."""
    return f"{name}\0{part}"


def parts_in(name: str, bound: Iterable[str]) -> frozenset[str]:
    """Parts of a name that are among bound names."""
    prefix = mark(name, "")
    return frozenset(one.removeprefix(prefix) for one in bound if one.startswith(prefix))


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
    asks: set[str] = field(default_factory=set)
    """Old objects of which a method is called that changes no estimator, but may change anything else."""
    items: set[tuple[str, str]] = field(default_factory=set)
    """Items read by a spelled out label, as name and label, before they are set here."""
    attributes: dict[tuple[str, str], frozenset[str]] = field(default_factory=dict)
    """Attributes read, as name and dotted attributes, before they are set here, with the parts set before."""
    whole: dict[str, frozenset[str]] = field(default_factory=dict)
    """Names read otherwise, each with the parts that are certainly set before."""
    keys: set[tuple[str, str]] = field(default_factory=set)
    """Items read by a label that another name holds: name and that name."""
    item_stores: set[tuple[str, str]] = field(default_factory=set)
    """Items set anew in full."""
    item_updates: set[tuple[str, str]] = field(default_factory=set)
    """Items set in part, or deleted."""
    attribute_stores: set[tuple[str, str]] = field(default_factory=set)
    attribute_updates: set[tuple[str, str]] = field(default_factory=set)
    """Attributes whose objects are changed in place."""
    iterates: set[str] = field(default_factory=set)
    """Old objects that are gone through, which uses up an iterator."""
    modes: set[str] = field(default_factory=set)
    """Old objects that are switched by ``.train()`` or ``.eval()``."""
    texts: set[str] = field(default_factory=set)
    """Names of which the text is run as code."""
    joins: bool = False
    """Whether it waits for something that runs beside it: a task, a thread."""
    opaque: bool = False
    """Whether it runs code that the text does not show, in the names of the notebook."""
    imports: set[str] = field(default_factory=set)
    env_reads: set[str] = field(default_factory=set)
    env_writes: set[str] = field(default_factory=set)
    seeds: set[str] = field(default_factory=set)
    """Random streams that are set to a fixed state."""
    looks_around: bool = False
    """Whether the working directory is read: asked for, or left by a step that is relative to it."""
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
        self._merge_parts(other, known)
        self.reads |= other.reads - known
        self.stores |= other.stores - known
        self.fits |= other.fits - known
        self.touches |= other.touches - known
        self.asks |= other.asks - known
        self.iterates |= other.iterates - known
        self.modes |= other.modes - known
        self.opaque |= other.opaque
        self.joins |= other.joins
        self.texts |= other.texts - known
        self.env_reads |= {name for name in other.env_reads if mark("", name) not in known}
        for name in ("binds", "deletes", "imports", "env_writes", "seeds"):
            getattr(self, name).update(getattr(other, name))
        self.calls |= other.calls
        self.looks_around |= other.looks_around
        self.defines.update(other.defines)

    def _merge_parts(self, other: Effects, known: set[str]) -> None:
        for kind in ("items", "item_stores", "item_updates", "attribute_stores", "attribute_updates", "keys"):
            found = {part for part in getattr(other, kind) if part[0] not in known or part[0] in self.imports}
            getattr(self, kind).update({part for part in found if kind != "items" or mark(*part) not in known})
        for part, stored in other.attributes.items():
            if (part[0] not in known or part[0] in self.imports) and mark(*part) not in known:
                self.add_attribute(part, stored | parts_in(part[0], known))
        for name, stored in other.whole.items():
            if name not in known:
                self.add_whole(name, stored | parts_in(name, known))

    def add_attribute(self, part: tuple[str, str], stored: frozenset[str]) -> None:
        """An attribute is read after these parts were set."""
        self.attributes[part] = self.attributes.get(part, stored) & stored

    def add_whole(self, name: str, stored: frozenset[str]) -> None:
        """A name is read as a whole after these parts were set."""
        self.whole[name] = self.whole.get(name, stored) & stored
