"""Which nondeterministic torch operation a call is."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint import torch_ops
from jupyter_clusterbridge.lint.calls import argument, constant, is_constant, method
from jupyter_clusterbridge.lint.context import CellContext, NotebookContext, installed_torch
from jupyter_clusterbridge.lint.scope import words
from jupyter_clusterbridge.lint.torch_ops import NondeterministicOp
from jupyter_clusterbridge.lint.trees import descend

CALLS = frozenset(torch_ops.FUNCTIONS)
METHODS = frozenset(torch_ops.METHODS) | {"median", "cumsum"}
_SWITCHES = ("torch.use_deterministic_algorithms", "torch.set_deterministic_debug_mode")
_NO_GRADIENT = ("no_grad", "inference_mode")
"""Contexts and decorators in which torch records no graph."""
_TRAINING = words("backward( autograd.grad Trainer( .fit( .fit_one_cycle( .fine_tune( SFTTrainer loss_fn(")


def trains(notebook: NotebookContext) -> bool:
    """Whether the notebook computes gradients, as far as its words tell."""
    return any(word in notebook.source for word in _TRAINING)


def asks_for_determinism(node: ast.Call, cell: CellContext) -> bool | None:
    """True where the call makes torch raise, False where it only switches and warns, None for other calls."""
    if cell.callee not in _SWITCHES:
        return None
    mode = constant(argument(node, "mode", 0) or argument(node, "debug_mode", 0), cell)
    if mode in (False, 0, "default"):
        return None
    if cell.callee == _SWITCHES[1]:
        return mode in (2, "error")
    return mode is True and argument(node, "warn_only") is None


def torch_operation(node: ast.Call, cell: CellContext) -> tuple[str, NondeterministicOp] | None:
    """Name and hazard of a call, when it is one in the installed torch (or the newest)."""
    called = cell.callee
    if called is not None and called.startswith("torch."):
        op = _function(called, node, cell)
        name = called.rpartition(".")[2]
    elif called is None or "." not in called:
        name = method(node) or ""
        op = _method(name, node, cell)
    else:
        return None
    if op is None or not op.applies(installed_torch()):
        return None
    return None if op.backward and not _differentiated(node, cell) else (name, op)


def _differentiated(node: ast.Call, cell: CellContext) -> bool:
    """Whether a gradient may go through what the call returns."""
    if not trains(cell.notebook) or _without_gradient(node, cell):
        return False
    # a layer is made at top level and trained elsewhere; a function's result is used where it is called
    is_layer = (cell.callee or "").rpartition(".")[2][:1].isupper()
    at_once = any(isinstance(parent, ast.Attribute) and parent.attr == "backward" for parent in cell.parents)
    in_training = cell.in_loop() and any(word in cell.cell.source for word in _TRAINING)
    return is_layer or cell.function is not None or at_once or in_training


def _without_gradient(node: ast.Call, cell: CellContext) -> bool:
    """Whether what the call returns is never differentiated."""
    if under_no_grad(cell):
        return True
    return any(isinstance(inner, ast.Attribute) and inner.attr in ("detach", "numpy") for inner in descend(node))


def under_no_grad(cell: CellContext) -> bool:
    """Whether the visited node stands in ``with torch.no_grad()`` or in a function decorated by it.

    The name alone decides, since ``from fastai.vision import *`` hides where ``torch`` comes from.
    """
    for node in cell.within(ast.With, ast.FunctionDef, ast.AsyncFunctionDef):
        if isinstance(node, ast.With):
            guards = [item.context_expr for item in node.items]
        else:
            assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
            guards = node.decorator_list
        for guard in guards:
            called = guard.func if isinstance(guard, ast.Call) else guard
            if getattr(called, "attr", getattr(called, "id", None)) in _NO_GRADIENT:
                return True
    return False


def _function(called: str, node: ast.Call, cell: CellContext) -> NondeterministicOp | None:
    op = torch_ops.FUNCTIONS.get(called)
    function = called.rpartition(".")[2]
    if function in ("interpolate", "Upsample"):
        mode = argument(node, "mode", 2 if function == "Upsample" else 3)
        return op if constant(mode, cell) in torch_ops.INTERPOLATE_MODES else None
    if function == "bincount" and argument(node, "weights", 1) is None:
        return None
    if function == "median" and (argument(node, "dim", 1) is None or _only_values(cell)):
        return None
    if function == "EmbeddingBag" and not is_constant(argument(node, "mode"), "max", cell):
        return None
    if function == "scatter":
        return op if _has_source(argument(node, "src", 3), node) else None
    if function == "scatter_reduce":
        return _reduced(argument(node, "reduce", 4), cell)
    return op


def _method(name: str, node: ast.Call, cell: CellContext) -> NondeterministicOp | None:
    if name == "median" and _only_values(cell):
        return None
    if name in ("median", "cumsum"):
        # other libraries have these names, and none of them calls the argument dim
        return torch_ops.FUNCTIONS[f"torch.{name}"] if argument(node, "dim") is not None else None
    if name == "put_" and is_constant(argument(node, "accumulate", 2), True, cell):
        return torch_ops.PUT_ACCUMULATE
    if name == "scatter_":
        return torch_ops.METHODS[name] if _has_source(argument(node, "src", 2), node) else None
    if name.startswith("scatter_reduce"):
        return _reduced(argument(node, "reduce", 3), cell)
    return torch_ops.METHODS.get(name)


def _only_values(cell: CellContext) -> bool:
    """Whether of a pair of values and indices only the values are used."""
    parent = cell.parents[-1] if cell.parents else None
    if isinstance(parent, ast.Subscript):
        return isinstance(parent.slice, ast.Constant) and parent.slice.value == 0
    return isinstance(parent, ast.Attribute) and parent.attr == "values"


def _has_source(value: ast.expr | None, node: ast.Call) -> bool:
    """Whether ``scatter`` writes a tensor; writing one number is deterministic."""
    number = isinstance(value, (ast.Constant, ast.UnaryOp))
    return value is not None and not number and argument(node, "reduce") is None


def _reduced(reduce: ast.expr | None, cell: CellContext) -> NondeterministicOp | None:
    kind = constant(reduce, cell)
    return torch_ops.SCATTER_REDUCE.get(kind) if isinstance(kind, str) else None
