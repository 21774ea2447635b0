"""Parts of old objects that a cell sets to values that do not depend on those parts: twice is as good as once."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from jupyter_clusterbridge.recorder.calls import dotted_name
from jupyter_clusterbridge.recorder.effects import Effects

_LOOKS = frozenset({"head", "tail", "info", "describe", "items", "keys", "values", "get", "sample"})
"""Methods that people end a cell with and that change nothing."""
_LOCATORS = frozenset({"loc", "iloc", "at", "iat"})
_TORCH_SETTERS = frozenset(
    {"eval", "train", "zero_grad", "requires_grad_", "to", "cuda", "cpu", "half", "float", "double", "bfloat16"}
)
_NORMAL_FORMS = ("=astype", "=drop_duplicates", "=dropna", "=fillna", "=rename", "=sort_index", "=sort_values")
_TEXT_FORMS = ("=str.strip", "=str.lower", "=str.upper")
_CONVERTERS = frozenset(
    f"{module}.{name}"
    for modules, names in (
        (("np", "numpy"), ("array", "asarray", "float32", "float64", "abs", "sort", "unique")),
        (("pd", "pandas"), ("DataFrame", "Series", "to_datetime", "to_numeric")),
        (("torch",), ("as_tensor", "abs")),
    )
    for module in modules
    for name in names
)
_FREE_FORMS = (
    "=reshape",
    "=view",
    "=ravel",
    "=reindex",
    "=clip",
    "=to",
    "=float",
    "=double",
    "=half",
    "=cpu",
    "=cuda",
)
"""Those that give what they gave before whatever their arguments are."""
_NORMALIZERS = frozenset({"abs", "bool", "dict", "float", "int", "list", "set", "sorted", "str", "tuple"})
SETTERS: dict[str, frozenset[str]] = {
    "torch": _TORCH_SETTERS
    | {"=reshape", "=view", "=ravel", "=to", "=float", "=double", "=half", "=cpu", "=cuda"},
    "dict": frozenset({"update", "setdefault", "clear"}),
    "set": frozenset({"add", "discard", "clear", "update"}),
    "list": frozenset({"clear", "sort"}),
    "deque": frozenset({"clear"}),
    "ndarray": frozenset({"fill", "sort", "=astype", "=reshape", "=ravel", "=clip"}),
    "DataFrame": frozenset({".", "=reindex", "=clip", *_NORMAL_FORMS, *_TEXT_FORMS}),
    "Series": frozenset({"=reindex", "=clip", *_NORMAL_FORMS, *_TEXT_FORMS}),
    "str": frozenset({"=strip", "=lower", "=upper", "=casefold", "=rstrip", "=lstrip"}),
}
"""Methods that leave the same when called twice with the same arguments, by kind of object; ``.`` stands for
reading one attribute, which elsewhere may be computed from any other, and ``=`` for a value that is bound to the
name that it came from."""
_WHOLES = frozenset(
    {"T", "at", "axes", "columns", "dtypes", "iat", "iloc", "index", "loc", "plot", "shape", "size", "values"}
)
_ANY_SETTER = frozenset().union(*SETTERS.values())
_WHOLE = ("", "")
Part = tuple[str, object]


@dataclass
class _Store:
    """One place that sets a part of an object."""

    name: str
    part: Part
    reads: set[Part] | None
    """Parts of the same name that the value or the place depends on; None when it may be any."""
    method: str = ""


@dataclass
class _Parts:
    written: set[Part] = field(default_factory=set)
    read: set[Part] = field(default_factory=set)
    methods: set[str] = field(default_factory=set)


def overwritten(body: Sequence[ast.stmt], statements: Sequence[Effects]) -> dict[str, frozenset[str]]:
    """Names of which a cell sets parts only, with the methods among the ways in which it does so.

    The values read no part of the same name that is set later, so that a second run finds and leaves the same.
    Methods count only where the object is of a kind that :data:`SETTERS` names.

    >>> tree = ast.parse("t['b'] = t['a'] * 2; u['a'] = u['a'] * 2; v.a = v.sum(); w.loc[mask, 'z'] = 0")
    >>> sorted(overwritten(tree.body, [Effects()] * 4))
    ['t', 'w']
    """
    found: dict[str, _Parts] = defaultdict(_Parts)
    spoiled: set[str] = set()
    for node, effects in zip(body, statements, strict=True):
        spoiled.update(*(inner.reads for inner in effects.defines.values()))
        stores = _stores(node)
        if stores is None:
            if not (effects.inert or _only_looks(node)):
                spoiled |= (
                    effects.reads
                    | effects.stores
                    | effects.touches
                    | effects.asks
                    | effects.binds
                    | effects.deletes
                )
            continue
        spoiled |= (effects.stores | effects.touches | effects.asks) - {store.name for store in stores}
        for store in stores:
            parts = found[store.name]
            if store.reads is None:
                spoiled.add(store.name)
                continue
            read = {part for part in store.reads if part not in parts.written and _WHOLE not in parts.written}
            parts.read |= read
            parts.written.add(store.part)
            parts.methods |= {store.method} if store.method else set()
            parts.methods |= {"."} if any(kind == "." for kind, _ in store.reads) else set()
    return {
        name: frozenset(parts.methods)
        for name, parts in found.items()
        if name not in spoiled and not _meet(parts.written, parts.read)
    }


def allows(value: object, methods: frozenset[str]) -> bool:
    """Whether calling these methods of an object again leaves it as it is.

    >>> allows({1}, frozenset({"add"})), allows(object(), frozenset({"add"}))
    (True, False)
    """
    bases = type(value).__mro__
    own = [vars(cls) for cls in bases if cls.__module__ == "__main__"]
    if any(name in members for members in own for name in ("__setitem__", "__setattr__")):
        return False  # what setting a part does is the notebook's own affair
    kinds = {cls.__name__ for cls in bases if cls.__module__ != "__main__"}
    kinds |= {"torch"} if any(cls.__module__.partition(".")[0] == "torch" for cls in bases) else set()
    return methods <= frozenset().union(*(SETTERS[kind] for kind in kinds & SETTERS.keys()))


def _meet(written: set[Part], read: set[Part]) -> bool:
    """Whether one of the parts read may be one of those written."""
    if not read:
        return False
    vague = any(part[1] is None for part in written) or _WHOLE in written or any(part[1] is None for part in read)
    # a column may be meant by an attribute, and by an item of it
    return vague or bool({label for _, label in written} & {label for _, label in read})


def _stores(node: ast.stmt) -> list[_Store] | None:
    """What a statement sets; None when it does anything else to objects."""
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        store = _normalized(node.targets[0], node.value) or _assigned(node.targets[0], node.value)
        return [store] if store is not None else None
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        store = _called(node.value)
        return [store] if store is not None else None
    if isinstance(node, ast.For) and not node.orelse and isinstance(node.target, ast.Name):
        inner = [_stores(part) for part in node.body]
        stores = [store for some in inner if some is not None for store in some]
        names = {store.name for store in stores}
        if None in inner or _names(node.iter) & names or node.target.id in names:
            return None
        blind = all(store.reads == set() for store in stores)  # nothing that is set depends on the object itself
        return stores if blind else None
    return None


def _assigned(target: ast.expr, value: ast.expr) -> _Store | None:
    name, part = _part(target)
    if name is None or part is None:
        return None
    reads = _parts_read([value], name)
    places = _places(target)
    if isinstance(value, ast.Constant) and all(_elementwise(place, name) for place in places):
        return _Store(name, part, set())  # where a condition held the value is set; where it holds now it is that
    inside = _parts_read(places, name)
    return _Store(name, part, reads | inside if reads is not None and inside is not None else None)


def _normalized(target: ast.expr, value: ast.expr) -> _Store | None:
    """``x = x.dropna()``, ``df["a"] = df["a"].fillna(0)``: what was brought to a form once has that form."""
    if not _plain_part(target) or not isinstance(value, ast.Call):
        return None
    name, part = (target.id, None) if isinstance(target, ast.Name) else _part(target)
    if name is None:
        return None
    arguments = [*value.args, *(keyword.value for keyword in value.keywords)]
    if dotted_name(value.func) in _CONVERTERS | _NORMALIZERS and arguments:
        first, *others = arguments
        known = _same(first, target) and name not in _names(*others)
        known &= not (others and dotted_name(value.func) in _NORMALIZERS)
        return _Store(name, part or ("=", dotted_name(value.func)), set()) if known else None
    if not isinstance(value.func, ast.Attribute):
        return None
    form, owner = value.func.attr, value.func.value
    if isinstance(owner, ast.Attribute) and owner.attr == "str":
        form, owner = f"str.{form}", owner.value
    free = f"={form}" in _FREE_FORMS
    if not _same(owner, target) or name in _names(*arguments) or not (free or not _swaps(arguments)):
        return None
    return _Store(name, part or ("=", form), set(), f"={form}")


def _same(node: ast.expr, target: ast.expr) -> bool:
    """Whether an expression is what is assigned to; a column may be meant by an item and by an attribute."""
    if isinstance(target, ast.Name):
        return isinstance(node, ast.Name) and node.id == target.id
    return _plain_part(node) and not isinstance(node, ast.Name) and _labelled(node) == _labelled(target)


def _labelled(node: ast.expr) -> tuple[str | None, object]:
    name, part = _part(node)
    return name, part[1] if part is not None else None


def _swaps(arguments: Iterable[ast.expr]) -> bool:
    """Whether a mapping among the arguments gives a name that it takes, or cannot be read."""
    for argument in arguments:
        if isinstance(argument, ast.Dict):
            sides = [*argument.keys, *argument.values]
            labels = [side.value for side in sides if isinstance(side, ast.Constant)]
            if len(set(labels)) < len(sides):
                return True
        elif not isinstance(argument, (ast.Constant, ast.List)):
            return True
    return False


def _called(call: ast.Call) -> _Store | None:
    if not isinstance(call.func, ast.Attribute) or not isinstance(call.func.value, ast.Name):
        return None
    name, method = call.func.value.id, call.func.attr
    arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
    if method not in _ANY_SETTER or name in _names(*arguments):
        return None
    return _Store(name, _WHOLE if method in ("clear", "fill") else ("()", method), set(), method)


def _part(node: ast.expr) -> tuple[str | None, Part | None]:
    """The name and the part in ``name["part"]``, ``name.part`` and ``name.loc[rows, "part"]``."""
    while isinstance(node, (ast.Attribute, ast.Subscript)) and not _is_outermost(node):
        node = node.value
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return node.value.id, (".", node.attr)
    if not isinstance(node, ast.Subscript):
        return None, None
    owner, key = node.value, node.slice
    if isinstance(owner, ast.Attribute) and owner.attr in _LOCATORS and isinstance(owner.value, ast.Name):
        column = key.elts[-1] if isinstance(key, ast.Tuple) and len(key.elts) == 2 else None
        return owner.value.id, ("[]", column.value if isinstance(column, ast.Constant) else None)
    if isinstance(owner, ast.Name):
        return owner.id, ("[]", key.value if isinstance(key, ast.Constant) else None)
    return None, None


def _is_outermost(node: ast.Attribute | ast.Subscript) -> bool:
    """Whether it names a part of a name itself, not a part of a part."""
    owner = node.value
    if isinstance(node, ast.Subscript) and isinstance(owner, ast.Attribute) and owner.attr in _LOCATORS:
        owner = owner.value
    return isinstance(owner, ast.Name)


def _places(target: ast.expr) -> list[ast.expr]:
    return [node.slice for node in ast.walk(target) if isinstance(node, ast.Subscript)]


def _elementwise(node: ast.expr, name: str) -> bool:
    """Whether a place depends on ``name`` only by comparing each element of it with something else."""
    if name not in _names(node):
        return True
    if isinstance(node, ast.Tuple):
        return all(_elementwise(part, name) for part in node.elts)
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.BitAnd, ast.BitOr, ast.BitXor)):
        return _elementwise(node.left, name) and _elementwise(node.right, name)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert):
        return _elementwise(node.operand, name)
    if isinstance(node, ast.Compare) and len(node.comparators) == 1:
        sides = [node.left, node.comparators[0]]
        return all(name not in _names(side) or _plain_part(side) for side in sides)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        known = node.func.attr in (
            "isna",
            "isnull",
            "notna",
            "notnull",
            "isin",
            "eq",
            "ne",
            "lt",
            "le",
            "gt",
            "ge",
        )
        return known and _plain_part(node.func.value) and name not in _names(*node.args)
    return False


def _plain_part(node: ast.expr) -> bool:
    """Whether it is a name, or a part of one whose place is a constant."""
    if isinstance(node, ast.Subscript):
        return isinstance(node.value, ast.Name) and isinstance(node.slice, ast.Constant)
    return isinstance(node, ast.Name) or (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name))


def _parts_read(values: Iterable[ast.expr], name: str) -> set[Part] | None:
    """Parts of a name that expressions read; None where they may read any."""
    parts: set[Part] = set()
    for value in values:
        called = {node.func for node in ast.walk(value) if isinstance(node, ast.Call)}
        items = [node for node in ast.walk(value) if isinstance(node, (ast.Subscript, ast.Attribute))]
        found = [
            _part(n)[1] for n in items if isinstance(n.value, ast.Name) and n.value.id == name and n not in called
        ]
        whole = sum(isinstance(node, ast.Name) and node.id == name for node in ast.walk(value))
        known = [part for part in found if part is not None and part[1] is not None]
        if whole != len(known) or any(kind == "." and label in _WHOLES for kind, label in known):
            return None
        parts.update(known)
    return parts


def _names(*nodes: ast.AST) -> set[str]:
    return {part.id for node in nodes for part in ast.walk(node) if isinstance(part, ast.Name)}


def _only_looks(node: ast.stmt) -> bool:
    if not isinstance(node, ast.Expr):
        return False
    call = node.value
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return False
    return call.func.attr in _LOOKS and isinstance(call.func.value, ast.Name)
