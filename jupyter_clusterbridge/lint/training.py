"""What a training loop looks like, for rules about loops, checkpoints and losses."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from jupyter_clusterbridge.lint.scope import words
from jupyter_clusterbridge.lint.trees import children

LOOPS = (ast.For, ast.AsyncFor, ast.While)

STEPS = words("backward zero_grad train_on_batch apply_gradients training_step train_step partial_fit fit_batch")
"""Methods and functions that only training calls."""
_SAVES = re.compile(r"(?i)save|dump|checkpoint|ckpt|to_parquet|to_csv|write_")
_LOSS = re.compile(r"(?i)(?:^|_)loss(?:es)?(?:_|$)|loss(?:es)?$|^loss")


def called_names(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Last names of everything that is called within the nodes, functions defined there left out."""
    todo = list(nodes)
    while todo:
        node = todo.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            continue
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute):
                yield node.func.attr
            elif isinstance(node.func, ast.Name):
                yield node.func.id
        todo += children(node)


def trains(nodes: Iterable[ast.AST]) -> bool:
    """Whether a step of training stands within the nodes."""
    return not STEPS.isdisjoint(called_names(nodes))


def saves(nodes: Iterable[ast.AST]) -> bool:
    """Whether something within the nodes is called like what writes a checkpoint.

    >>> saves(ast.parse("torch.save(model.state_dict(), path)").body)
    True
    """
    return any(_SAVES.search(name) for name in called_names(nodes))


def names_a_loss(node: ast.expr) -> bool:
    """Whether an expression is named like a loss: ``loss``, ``train_losses``, ``out.loss``, ``loss.item()``.

    >>> [names_a_loss(ast.parse(text, mode="eval").body) for text in ("val_loss", "loss.item()", "gloss_map")]
    [True, True, False]
    """
    while True:
        if isinstance(node, ast.Name):
            return _LOSS.search(node.id) is not None
        if isinstance(node, ast.Attribute):
            if _LOSS.search(node.attr):
                return True
            node = node.value
        elif isinstance(node, ast.Subscript):
            if (
                isinstance(node.slice, ast.Constant)
                and isinstance(node.slice.value, str)
                and _LOSS.search(node.slice.value)
            ):
                return True
            node = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.args:
                return False
            node = node.func
        elif isinstance(node, ast.Call) and node.args:
            node = node.args[0]
        else:
            return False
