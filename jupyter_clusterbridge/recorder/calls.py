"""What the form of a call tells about the objects in it."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

PURE_CALLS = frozenset(
    {
        "abs",
        "all",
        "any",
        "ascii",
        "bin",
        "bool",
        "bytes",
        "callable",
        "chr",
        "complex",
        "dict",
        "dir",
        "display",
        "divmod",
        "enumerate",
        "float",
        "format",
        "frozenset",
        "hash",
        "hex",
        "id",
        "int",
        "isinstance",
        "issubclass",
        "len",
        "list",
        "max",
        "min",
        "oct",
        "ord",
        "pow",
        "print",
        "range",
        "repr",
        "reversed",
        "round",
        "set",
        "slice",
        "sorted",
        "str",
        "sum",
        "tuple",
        "type",
        "zip",
    }
)
"""Calls that change none of their arguments and draw nothing."""

_WAITS = frozenset({"result", "wait", "gather", "as_completed", "shutdown", "run_until_complete"})
_WAITS_ALONE = frozenset({"join", "get"})
"""Methods that wait where they are called without anything but a time: strings are joined, too."""
RUNS_TEXT = frozenset({"exec", "eval", "globals"})
"""Functions that run code in the notebook's names, or that open these names to it."""
SHELL_RUNS = frozenset({"run_cell", "run_cell_magic", "run_line_magic"})
"""Methods of the shell that do."""

MUTATING_METHODS = frozenset(
    {
        "add",
        "append",
        "appendleft",
        "clear",
        "discard",
        "extend",
        "extendleft",
        "insert",
        "intersection_update",
        "load_state_dict",
        "partial_fit",
        "pop",
        "popitem",
        "popleft",
        "remove",
        "reverse",
        "rotate",
        "setdefault",
        "shuffle",
        "sort",
        "step",
        "symmetric_difference_update",
        "update",
        "setflags",
        "fill",
        "put",
        "itemset",
        "resize",
        "backward",
    }
)
_FITS = frozenset({"fit", "fit_transform", "fit_predict"})
_ASKS = frozenset(
    {
        "decision_function",
        "inverse_transform",
        "predict",
        "predict_log_proba",
        "predict_proba",
        "score",
        "score_samples",
        "transform",
    }
)
"""Methods by which an estimator is asked for what it has learned."""
_FIRST_ARGUMENT = frozenset(
    {
        "setattr",
        "delattr",
        "next",
        "heappush",
        "heappop",
        "heapify",
        "heappushpop",
        "heapreplace",
        "shuffle",
        "insort",
    }
)
_SEEDERS = frozenset(
    {
        "seed",
        "manual_seed",
        "manual_seed_all",
        "seed_everything",
        "seed_all",
        "set_seed",
        "set_seeds",
        "set_random_seed",
        "setstate",
        "set_state",
        "set_rng_state",
        "fix_seed",
        "set_all_seeds",
    }
)
ALL_STREAMS = frozenset({"python", "numpy", "torch", "torch_cuda"})


@dataclass
class CallChanges:
    """Root names of objects that a call changes for certain, may refit, or may change."""

    stores: set[str] = field(default_factory=set)
    fits: set[str] = field(default_factory=set)
    touches: set[str] = field(default_factory=set)
    asks: set[str] = field(default_factory=set)
    """Those that the call may change, but not where they are estimators of a library."""


def root_name(node: ast.AST) -> str | None:
    """The name at the root of ``a.b[c].d`` or ``a.b()``; None for anything else."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Starred)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def parts_of(node: ast.AST) -> list[ast.AST]:
    """The expressions that a value may be or hold: elements, branches, and the owner and arguments of a call."""
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return [part for element in node.elts for part in parts_of(element)]
    if isinstance(node, ast.IfExp):
        return [*parts_of(node.body), *parts_of(node.orelse)]
    if isinstance(node, ast.Call):
        method = node.func if isinstance(node.func, ast.Attribute) else None
        owner = [method.value] if method is not None and method.attr not in _ASKS else []
        return [part for inner in (*owner, *node.args) for part in parts_of(inner)]
    return [node]


def dotted_name(node: ast.AST) -> str:
    """``a.b.c`` for a chain of names, else an empty string."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def call_changes(node: ast.Call) -> CallChanges:
    """Which names' objects a call changes or may change."""
    out = CallChanges()
    name = ""
    if isinstance(node.func, ast.Attribute):
        name = node.func.attr
        owner = root_name(node.func.value)
        if owner is not None:
            if name in MUTATING_METHODS or (name.endswith("_") and not name.startswith("_")):
                out.stores.add(owner)
            elif name in _FITS:
                out.fits.add(owner)
            (out.asks if name in _ASKS else out.touches).add(owner)
    elif isinstance(node.func, ast.Name):
        name = node.func.id
        out.touches.add(name)
    if node.args and name in _FIRST_ARGUMENT:
        out.stores.update(_roots(node.args[0]))
    for keyword in node.keywords:
        if keyword.arg == "out":
            out.stores.update(_roots(keyword.value))
        elif keyword.arg == "inplace" and isinstance(keyword.value, ast.Constant) and keyword.value.value is True:
            out.stores.update(_roots(node.func))
    for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
        out.touches.update(_roots(argument))
    return out


def _roots(node: ast.AST) -> set[str]:
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return {name for element in node.elts for name in _roots(element)}
    name = root_name(node)
    return {name} if name is not None else set()


def env_access(node: ast.Subscript | ast.Call) -> str | None:
    """The variable in ``os.environ["X"]``, ``os.environ.get("X")``, ``os.getenv("X")`` and their like."""
    if isinstance(node, ast.Subscript):
        owner, key = dotted_name(node.value), node.slice
        if owner not in ("os.environ", "environ"):
            return None
    else:
        called = dotted_name(node.func)
        owner, _, method = called.rpartition(".")
        is_environ = owner in ("os.environ", "environ") and method in ("get", "pop", "setdefault")
        if not (is_environ or called in ("os.getenv", "getenv", "os.putenv", "os.unsetenv")) or not node.args:
            return None
        key = node.args[0]
    return key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else None


def env_updates(node: ast.Call) -> list[str]:
    """The variables that ``os.environ.update(X="1")`` sets, as far as they are spelled out."""
    if dotted_name(node.func) not in ("os.environ.update", "environ.update"):
        return []
    found = [keyword.arg for keyword in node.keywords if keyword.arg is not None]
    keys = [key for argument in node.args if isinstance(argument, ast.Dict) for key in argument.keys]
    return found + [key.value for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str)]


def asks_for_folder(node: ast.Call) -> bool:
    """Whether a call depends on the working directory by what it is: asks for it, or steps from it."""
    called = dotted_name(node.func)
    if called in ("os.getcwd", "getcwd", "Path.cwd", "pathlib.Path.cwd"):
        return True
    target = node.args[0] if node.args and called in ("os.chdir", "chdir") else None
    return isinstance(target, ast.Constant) and is_relative(str(target.value))


def is_relative(path: str) -> bool:
    """Whether a path given to a change of folder goes on from the folder before.

    >>> is_relative("../data"), is_relative("/data"), is_relative("~/data")
    (True, False, False)
    """
    return bool(path) and not path.startswith(("/", "~", "\\", "-")) and path[1:2] != ":"


def seeded_streams(node: ast.Call) -> set[str]:
    """Random streams that a call sets to a fixed state; empty for other calls and for ``seed()``."""
    called = dotted_name(node.func)
    owner, _, name = called.rpartition(".")
    if name not in _SEEDERS or not (node.args or node.keywords):
        return set()
    if "cuda" in owner:
        return {"torch_cuda"}
    if owner.startswith("torch"):
        return {"torch", "torch_cuda"}
    if owner in ("np.random", "numpy.random"):
        return {"numpy"}
    if owner == "random":
        return {"python"}
    return set(ALL_STREAMS)


def waits(node: ast.Call) -> bool:
    """Whether a call waits for a thread, a task or a queue.

    >>> texts = ("t.join()", "q.get()", "','.join(xs)", "d.get('k')")
    >>> [waits(ast.parse(text, mode="eval").body) for text in texts]
    [True, True, False, False]
    """
    if not isinstance(node.func, ast.Attribute):
        return False
    if node.func.attr in _WAITS:
        return True
    times = [argument.value for argument in node.args if isinstance(argument, ast.Constant)]
    alone = len(times) == len(node.args) and all(isinstance(time, (int, float)) for time in times)
    return node.func.attr in _WAITS_ALONE and alone
