"""Which part of an object code names: ``df["z"]``, ``df.loc[rows, "z"]``, ``Config.lr``."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Mapping

from jupyter_clusterbridge.recorder.effects import Effects, mark, parts_in

_LOCATORS = frozenset({"loc", "at"})
Constants = Mapping[str, tuple[str, ...]]
"""Names that hold texts which the cell spells out, with the texts."""


def labels_of(key: ast.expr, constants: Constants) -> tuple[str, ...] | None:
    """Labels that a key spells out; None where it may be anything.

    >>> labels_of(ast.parse("['a', 'b']", mode="eval").body, {})
    ('a', 'b')
    >>> labels_of(ast.parse("c + '_log'", mode="eval").body, {"c": ("a", "b")})
    ('a_log', 'b_log')
    """
    if isinstance(key, ast.Constant):
        known = isinstance(key.value, (str, int)) and not isinstance(key.value, bool)
        return (str(key.value),) if known else None
    if isinstance(key, ast.Name):
        return constants.get(key.id)
    if isinstance(key, ast.BinOp) and isinstance(key.op, ast.Add):
        leaves = [part.value for part in ast.walk(key) if isinstance(part, ast.Constant)]
        if not any(isinstance(leaf, str) for leaf in leaves):
            return None  # a sum of numbers, for all that the text says
        return _joined([labels_of(side, constants) for side in (key.left, key.right)])
    if isinstance(key, ast.JoinedStr):
        plain = all(isinstance(part, ast.Constant) or _is_bare(part) for part in key.values)
        sides = [part.value if isinstance(part, ast.FormattedValue) else part for part in key.values]
        return _joined([labels_of(side, constants) for side in sides]) if plain else None
    if isinstance(key, ast.List):
        found = [labels_of(element, constants) for element in key.elts]
        return tuple(label for some in found for label in some or ()) if None not in found else None
    return None


def _is_bare(part: ast.expr) -> bool:
    return isinstance(part, ast.FormattedValue) and part.conversion == -1 and part.format_spec is None


def _joined(sides: list[tuple[str, ...] | None]) -> tuple[str, ...] | None:
    """Every label that begins with one of the first texts, goes on with one of the second, and so forth."""
    known = [side for side in sides if side is not None]
    return tuple(map("".join, itertools.product(*known))) if len(known) == len(sides) else None


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

    def _remember_loop(self, node: ast.For | ast.AsyncFor) -> None:
        """In ``for c in ("a", "b")``: the texts that ``c`` stands for in turn."""
        every = ast.List(node.iter.elts, ast.Load()) if isinstance(node.iter, ast.Tuple) else node.iter
        self._remember(node.target, every)

    def _after_loop(self, node: ast.For | ast.AsyncFor) -> None:
        """A loop over spelled out columns has set every one of them."""
        if not isinstance(node.target, ast.Name) or any(isinstance(part, ast.Break) for part in ast.walk(node)):
            return
        for part in node.body:
            target = part.targets[0] if isinstance(part, ast.Assign) else None
            if isinstance(target, ast.Subscript):
                found = item_of(target, self.constants)
                keys = {part.id for part in ast.walk(target.slice) if isinstance(part, ast.Name)}
                if keys == {node.target.id} and found is not None and self._visible(found[0]):
                    self.bound |= {mark(found[0], label) for label in found[1]}
