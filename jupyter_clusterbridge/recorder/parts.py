"""Which part of an object code names: ``df["z"]``, ``df.loc[rows, "z"]``, ``Config.lr``."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from jupyter_clusterbridge.recorder.effects import Effects, mark, parts_in

_LOCATORS = frozenset({"loc", "at"})
Constants = Mapping[str, tuple[str, ...]]
"""Names that hold texts which the cell spells out, with the texts."""


def labels_of(key: ast.expr, constants: Constants) -> tuple[str, ...] | None:
    """Labels that a key spells out; None where it may be anything.

    >>> labels_of(ast.parse("['a', 'b']", mode="eval").body, {})
    ('a', 'b')
    """
    if isinstance(key, ast.Constant):
        known = isinstance(key.value, (str, int)) and not isinstance(key.value, bool)
        return (str(key.value),) if known else None
    if isinstance(key, ast.Name):
        return constants.get(key.id)
    if isinstance(key, ast.List):
        found = [labels_of(element, constants) for element in key.elts]
        return tuple(label for some in found for label in some or ()) if None not in found else None
    return None


def item_of(node: ast.Subscript, constants: Constants) -> tuple[str, tuple[str, ...], bool] | None:
    """Name, labels and whether all rows are meant, for an item of a name; None for anything else."""
    owner, key = node.value, node.slice
    if isinstance(owner, ast.Name):
        labels = labels_of(key, constants)
        return (owner.id, labels, True) if labels is not None else None
    if isinstance(owner, ast.Attribute) and isinstance(owner.value, ast.Name) and owner.attr in _LOCATORS:
        if not isinstance(key, ast.Tuple) or len(key.elts) != 2:
            return None
        labels = labels_of(key.elts[1], constants)
        rows = key.elts[0]
        every = isinstance(rows, ast.Slice) and rows.lower is rows.upper is rows.step is None
        return (owner.value.id, labels, every) if labels is not None else None
    return _grouped(owner, labels_of(key, constants), constants)


def _grouped(
    owner: ast.expr, labels: tuple[str, ...] | None, constants: Constants
) -> tuple[str, tuple[str, ...], bool] | None:
    """``df.groupby("a")["b"]`` reads two columns."""
    if labels is None or not isinstance(owner, ast.Call) or not isinstance(owner.func, ast.Attribute):
        return None
    if owner.func.attr != "groupby" or not isinstance(owner.func.value, ast.Name) or len(owner.args) != 1:
        return None
    keys = labels_of(owner.args[0], constants)
    plain = all(isinstance(keyword.value, ast.Constant) for keyword in owner.keywords)
    return (owner.func.value.id, (*keys, *labels), False) if keys is not None and plain else None


def chain_of(node: ast.expr) -> tuple[str, str] | None:
    """Name and dotted attributes of ``name.a.b``.

    >>> chain_of(ast.parse("np.random.seed", mode="eval").body)
    ('np', 'random.seed')
    """
    found: list[str] = []
    while isinstance(node, ast.Attribute):
        found.append(node.attr)
        node = node.value
    return (node.id, ".".join(reversed(found))) if isinstance(node, ast.Name) and found else None


class PartWalker(ast.NodeVisitor):
    """The half of the walk over a cell that notes parts of objects."""

    out: Effects
    bound: set[str]
    hidden: frozenset[str]
    constants: dict[str, tuple[str, ...]]
    imported: set[str]
    """Modules that the cell imports; what is done to them is done to old objects all the same."""

    def _visible(self, name: str) -> bool:
        return name not in self.bound and name not in self.hidden

    def _read_whole(self, name: str) -> None:
        if self._visible(name):
            self.out.add_whole(name, parts_in(name, self.bound))

    def _read_labels(self, name: str, labels: tuple[str, ...]) -> None:
        if self._visible(name):
            self.out.items |= {(name, label) for label in labels if mark(name, label) not in self.bound}

    def _visible_owner(self, name: str) -> bool:
        return name not in self.hidden and (name not in self.bound or name in self.imported)

    def _update_chain(self, node: ast.expr) -> None:
        """The object of an attribute is changed in place."""
        while isinstance(node, ast.Subscript):
            node = node.value
        found = chain_of(node)
        if found is not None and self._visible_owner(found[0]):
            self.out.attribute_updates.add(found)

    def _read_chain(self, name: str, chain: str) -> None:
        if self._visible_owner(name) and mark(name, chain) not in self.bound:
            self.out.add_attribute((name, chain), parts_in(name, self.bound))

    def _store_labels(
        self, name: str, labels: tuple[str, ...], every_row: bool, context: ast.expr_context
    ) -> None:
        if not self._visible(name):
            return
        whole = every_row and isinstance(context, ast.Store)
        (self.out.item_stores if whole else self.out.item_updates).update((name, label) for label in labels)
        if whole and len(labels) == 1:
            self.bound.add(mark(name, labels[0]))

    def _store_chain(self, name: str, chain: str) -> None:
        if self._visible_owner(name):
            self.out.attribute_stores.add((name, chain))
            self.bound.add(mark(name, chain))

    def _remember(self, target: ast.expr, value: ast.expr) -> None:
        """After ``target = value``: texts that the cell spells out."""
        if isinstance(target, ast.Name):
            labels = labels_of(value, self.constants)
            if labels is not None:
                self.constants[target.id] = labels

    def _after_loop(self, node: ast.For | ast.AsyncFor) -> None:
        """A loop over spelled out columns has set every one of them."""
        if not isinstance(node.target, ast.Name) or any(isinstance(part, ast.Break) for part in ast.walk(node)):
            return
        for part in node.body:
            target = part.targets[0] if isinstance(part, ast.Assign) else None
            if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Name):
                found = item_of(target, self.constants)
                if target.slice.id == node.target.id and found is not None and self._visible(found[0]):
                    self.bound |= {mark(found[0], label) for label in found[1]}
