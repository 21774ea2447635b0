"""Parts of objects before and after a cell: columns of frames, attributes of classes and modules."""

from __future__ import annotations

import enum
import sys
import types
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from jupyter_clusterbridge.recorder.feeding import is_of
from jupyter_clusterbridge.recorder.fingerprints import (
    Fingerprint,
    OutOfTime,
    fingerprint,
    frame_fingerprints,
    frame_labels,
    identity,
    is_notebook_class,
)
from jupyter_clusterbridge.recorder.names import CellNames
from jupyter_clusterbridge.runtime.local_modules import is_local

_MOST = 200
"""Parts of one object in a journal's line; an object with more is taken as a whole."""
_ROWS = "index"
_QUIET = frozenset({"sys.path", "sys.argv", "sys.modules", "os.environ"})
_CODE = (
    types.FunctionType,
    types.BuiltinFunctionType,
    types.ModuleType,
    type,
    classmethod,
    staticmethod,
    property,
)
Prints = dict[str, Fingerprint]


@dataclass
class Reading:
    """What a cell reads of the names in a namespace, itself and through functions."""

    whole: set[str] = field(default_factory=set)
    items: set[tuple[str, str]] = field(default_factory=set)
    attributes: set[tuple[str, str]] = field(default_factory=set)


@dataclass
class Changes:
    """Parts that a cell changed, as locations."""

    writes: dict[str, Fingerprint | None] = field(default_factory=dict)
    mutates: set[str] = field(default_factory=set)
    wholes: set[str] = field(default_factory=set)
    """Names of frames that changed in their rows or otherwise as a whole."""
    untracked: set[str] = field(default_factory=set)
    """Names for which there was no time."""


def has_parts(value: object) -> str | None:
    """Kind of the parts of an object: ``column``, ``attr``, or None where it is only followed as a whole."""
    if is_of(value, types.ModuleType):
        return "attr"
    if is_of(value, type):
        return "attr" if is_notebook_class(value) and not issubclass(value, enum.Enum) else None
    return "column" if frame_labels(value) is not None else None


class PartWatch:
    """Looks at the parts of some names before a cell and, in :meth:`finish`, after it.

    Args:
        names: the cell's analysis.
        reading: what it reads.
        namespace: the user's namespace; it is only read.
        touched: names whose objects the cell may change.
    """

    def __init__(
        self, names: CellNames, reading: Reading, namespace: Mapping[str, Any], touched: Iterable[str]
    ) -> None:
        self._total = names.total
        self._reading = reading
        self._namespace = namespace
        self._kinds: dict[str, str] = {}
        self.held: dict[str, int] = {}
        """Identity of each object that is followed by its parts."""
        self._before: dict[str, Prints] = {}
        self._blind: set[str] = set()
        self._touched = {name for name in touched if name in namespace and name not in self._total.binds}
        for name in self._touched:
            kind = has_parts(namespace[name])
            if kind is not None:
                self._kinds[name] = kind
                self.held[name] = identity(namespace[name])

    @property
    def names(self) -> set[str]:
        """Names that are followed by their parts, so that nobody else needs to look at their objects."""
        return set(self._kinds)

    def look(self, name: str, deadline: float) -> None:
        """Take the state before the cell, if there is time."""
        try:
            self._before[name] = self._prints(name, deadline)
        except OutOfTime:
            self._blind.add(name)

    def reads(self, name: str) -> set[str]:
        """Locations that the cell reads of one name of the namespace."""
        value = self._namespace[name]
        kind = has_parts(value)
        if kind == "column":
            return self._columns_read(name, value)
        if kind is None:
            return {f"name:{name}"}
        chains = {chain for owner, chain in self._reading.attributes if owner == name}
        if is_of(value, types.ModuleType):
            found = {label for chain in chains if (label := module_label(value, chain)) is not None}
        elif name in self._reading.whole or any(_is_code(value, chain) for chain in chains):
            found = set(_class_data(value)) | {chain.partition(".")[0] for chain in chains}
        else:
            found = {chain.partition(".")[0] for chain in chains}
        told = [label for label in sorted(found) if f"{name}.{label}" not in _QUIET]
        return {f"name:{name}"} | {f"attr:{name}.{label}" for label in told[:_MOST]}

    def _columns_read(self, name: str, value: Any) -> set[str]:
        whole = {f"name:{name}"}
        labels = set(frame_labels(value) or ())
        # a column that is not there counts too: somebody dropped it, or has not made it yet
        found = {label for owner, label in self._reading.items if owner == name}
        for owner, chain in self._reading.attributes:
            first = chain.partition(".")[0]
            if owner != name:
                continue
            if first not in labels and first != _ROWS:
                return whole
            found.add(first)
        for owner, key in self._total.keys:
            if owner == name:
                chosen = _labels_in(self._namespace.get(key)) if key not in self._total.binds else None
                if chosen is None:
                    return whole
                found |= chosen & labels
        if name in self._reading.whole or len(found) > _MOST:
            return whole
        return {f"column:{name}.{label}" for label in found or {_ROWS}}

    def finish(self, ok: bool, repeatable: set[str], deadline: float) -> Changes:
        """Compare.

        Args:
            ok: whether the cell ran to its end.
            repeatable: names whose parts the cell sets to what does not depend on them.
            deadline: see :func:`~jupyter_clusterbridge.recorder.fingerprints.fingerprint`.
        """
        out = Changes()
        for name in self.held:
            if name not in self._namespace or identity(self._namespace[name]) != self.held[name]:
                continue
            try:
                if name not in self._blind:
                    self._compare(name, self._before[name], ok, repeatable, out, deadline)
                    continue
            except OutOfTime:
                pass
            out.untracked.add(name)
            out.writes.update({location: None for location in self._stored_for_certain(name) if ok})
        for name, chain in self._total.attribute_stores:
            if name in self._total.imports and name not in self._before:
                self._stored_after_import(name, chain, out, deadline)
        return out

    def _stored_for_certain(self, name: str) -> set[str]:
        kind, total = self._kinds[name], self._total
        stores = total.attribute_stores | (total.item_stores if kind == "column" else set())
        return {f"{kind}:{owner}.{label}" for owner, label in stores if owner == name}

    def _compare(
        self, name: str, before: Prints, ok: bool, repeatable: set[str], out: Changes, deadline: float
    ) -> None:
        kind, after = self._kinds[name], self._prints(name, deadline)
        if kind == "column" and (not before or not after or before.get("") != after.get("")):
            out.wholes.add(name)
            return
        module = self._namespace[name] if is_of(self._namespace[name], types.ModuleType) else None
        library = module is not None and not is_local(module)
        for label in before.keys() | after.keys():
            old, new = before.get(label), after.get(label)
            anew = self._is_stored(name, label) and not self._is_read_before(name, label)
            if not _differs(old, new) and not (
                ok and self._is_stored(name, label) and (anew or _unsure(old, new))
            ):
                continue
            location = f"{kind}:{name}.{label}"
            out.writes[location] = new
            if not (anew or library or name in repeatable):
                out.mutates.add(location)

    def _stored_after_import(self, name: str, chain: str, out: Changes, deadline: float) -> None:
        """A cell imports a module and sets an attribute of it, which may be an old module."""
        module = self._namespace.get(name)
        label = module_label(module, chain, always=True) if is_of(module, types.ModuleType) else None
        if label is not None and f"{name}.{label}" not in _QUIET:
            location = f"attr:{name}.{label}"
            try:
                out.writes[location] = fingerprint(_attribute(module, label), deadline)
            except OutOfTime:
                out.writes[location] = None
            if (name, chain) in self._total.attributes:
                out.mutates.add(location)

    def _is_stored(self, name: str, label: str) -> bool:
        total = self._total
        if self._kinds[name] == "column" and (name, label) in total.item_stores:
            return True
        return (name, label) in total.attribute_stores

    def _is_read_before(self, name: str, label: str) -> bool:
        """Whether the new value of a part may come from the old one."""
        total = self._total
        if (name, label) in total.items or any(owner == name for owner, _ in total.keys):
            return True
        if any(name == owner for owner, _ in self._reading.items - total.items) or (
            name in self._reading.whole and name not in total.whole
        ):
            return True  # through a function
        if label not in total.whole.get(name, frozenset({label})):
            return True
        for (owner, chain), stored in total.attributes.items():
            first = chain.partition(".")[0]
            if owner == name and label not in stored and (first == label or self._reads_all(name, first)):
                return True
        return False

    def _reads_all(self, name: str, first: str) -> bool:
        value = self._namespace[name]
        if self._kinds[name] == "column":
            return first not in (frame_labels(value) or ()) and first != _ROWS
        return not is_of(value, types.ModuleType) and _is_code(value, first)

    def _prints(self, name: str, deadline: float) -> Prints:
        value = self._namespace[name]
        if self._kinds[name] == "column":
            return frame_fingerprints(value, deadline)
        if is_of(value, types.ModuleType):
            return {label: fingerprint(_attribute(value, label), deadline) for label in self._labels(name, value)}
        return {label: fingerprint(item, deadline) for label, item in _own(value)}

    def _labels(self, name: str, module: types.ModuleType) -> set[str]:
        total = self._total
        chains = {chain for owner, chain in total.attribute_stores | total.attribute_updates if owner == name}
        found = {label for chain in chains if (label := module_label(module, chain, always=True)) is not None}
        if is_local(module):
            found |= {label for label, item in vars(module).items() if _is_data(label, item)}
            found = set(sorted(found)[:_MOST])
        return {label for label in found if f"{name}.{label}" not in _QUIET}


def _differs(old: Fingerprint | None, new: Fingerprint | None) -> bool:
    if old is None or new is None or old.digest != new.digest:
        return True
    return _unsure(old, new) and old.identity != new.identity


def _unsure(old: Fingerprint | None, new: Fingerprint | None) -> bool:
    """Whether equal fingerprints prove nothing."""
    return old is not None and new is not None and not (old.exact and new.exact)


def module_label(module: types.ModuleType, chain: str, always: bool = False) -> str | None:
    """The attribute that a chain of names leads to, across modules: ``backends.cudnn.benchmark``.

    Args:
        module: where the chain begins.
        chain: dotted names.
        always: also when it holds code, or nothing yet.
    """
    steps = chain.split(".")
    owner: Any = module
    for count, step in enumerate(steps, start=1):
        held = vars(owner)
        inner = held.get(step, owner)
        if is_of(inner, types.ModuleType) and inner is not owner:
            owner = inner
            continue
        label = ".".join(steps[:count])
        if always:
            return label
        wanted = step in held and (is_local(owner) or not (is_of(inner, _CODE) or callable(inner)))
        return label if wanted and not step.startswith("__") else None
    return None


def _attribute(value: Any, label: str) -> Any:
    for step in label.split("."):
        value = vars(value).get(step)
        if value is None:
            return None
    return value


def _own(cls: Any) -> list[tuple[str, Any]]:
    return [(name, item) for name, item in vars(cls).items() if not name.startswith(("__", "_abc_"))]


def _class_data(cls: Any) -> list[str]:
    return [name for name, item in _own(cls) if not is_of(item, _CODE) or _is_put_in(cls, item)]


def _is_put_in(cls: Any, item: object) -> bool:
    """Whether a function was put into a class after its definition."""
    code = getattr(item, "__func__", item)
    return is_of(code, types.FunctionType) and not code.__qualname__.startswith(f"{cls.__qualname__}.")


def class_parts(cls: type, namespace: Mapping[str, Any]) -> set[str]:
    """Locations of the settings of a class of the notebook, under the name that it has there."""
    if not is_notebook_class(cls) or namespace.get(cls.__name__) is not cls or issubclass(cls, enum.Enum):
        return set()
    return {f"attr:{cls.__name__}.{label}" for label in _class_data(cls)[:_MOST]}


def class_names(names: Iterable[str], namespace: Mapping[str, Any]) -> set[str]:
    """Names of the notebook's classes of which these names hold objects, whose methods may change the class."""
    classes = {type(namespace[name]) for name in names if name in namespace}
    return {cls.__name__ for cls in classes if is_notebook_class(cls) and namespace.get(cls.__name__) is cls}


def _is_code(cls: Any, chain: str) -> bool:
    """Whether an attribute of a class is code, which may read any other attribute of it."""
    first = chain.partition(".")[0]
    for base in cls.__mro__:
        if first in vars(base):
            return is_of(vars(base)[first], _CODE)
    return True


def _is_data(label: str, item: object) -> bool:
    return not label.startswith("__") and not is_of(item, _CODE)


def _labels_in(key: Any) -> set[str] | None:
    """Labels that a value used as a key stands for."""
    if type(key) in (str, int):
        return {str(key)}
    if type(key) in (list, tuple) and all(type(one) in (str, int) for one in key):
        return {str(one) for one in key}
    pandas = sys.modules.get("pandas")
    index = getattr(pandas, "Index", None)
    if index is not None and is_of(key, index) and len(key) <= _MOST:
        return {str(one) for one in key.tolist()}
    return None
